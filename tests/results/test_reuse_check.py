"""Documents that share too much: what counts, what a baseline knows, and where places are."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem import InputError, UsageError
from ibidem.columns.line_numbers import LineMap
from tests.texts import documents, text

LIMIT = 0


def write(folder: Path, **pages: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in pages.items():
        (folder / f"{name}.md").write_text(content, "utf-8")
    return folder


def wrapped(content: str, width: int) -> str:
    """Return a text with its lines broken elsewhere: after every so many words."""
    words = content.split(" ")
    return "\n".join(" ".join(words[at : at + width]) for at in range(0, len(words), width))


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def paragraph(number: int) -> str:
    """Return three sentences of twelve words."""
    return text(*range(3 * number, 3 * number + 3), count=12)


def check(folder: Any, baseline: Any = None, share: float = LIMIT, **more: Any) -> Any:
    with ibidem.find(folder, **more) as result:
        return result.check_reuse(share, baseline=baseline)


def accept(folder: Any, **more: Any) -> str:
    with ibidem.find(folder, **more) as result:
        result.write_baseline("reuse.json")
    return "reuse.json"


def places(found: Any) -> list[str]:
    return [str(each.place) for each in found.places]


@given(st.text(alphabet="ab\n\r é", max_size=40))
def test_lines_and_columns_are_those_of_editors(content: str) -> None:
    lines = LineMap(content)
    for offset in range(len(content) + 1):
        line, column = lines.place(offset)
        before = content[:offset].split("\n")
        assert (line, column) == (len(before), len(before[-1]) + 1)


def test_a_copied_paragraph_is_found_on_both_pages_by_line_and_column() -> None:
    copied = paragraph(1)
    start = f"---\nx: y\n---\n\nWelcome. {wrapped(copied, 4)}\n"
    folder = write(Path("docs"), install=f"# Install\n\n{copied}\n\n{text(7)}\n", start=start)
    found = check(folder)
    assert not found.passed
    assert list(found.documents) == ["docs/install.md", "docs/start.md"]
    assert places(found) == ["docs/install.md:3:1", "docs/start.md:5:10"]
    assert [str(each.other) for each in found.places] == ["docs/start.md:5:10", "docs/install.md:3:1"]
    assert {(each.n_sentences, each.n_documents) for each in found.places} == {(3, 1)}


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_share_is_that_of_the_characters_of_all_passages(data: st.DataObject) -> None:
    numbers = st.lists(st.integers(1, 9), min_size=1, max_size=7)
    pages = {name: text(*data.draw(numbers)) for name in "abc"}
    share = Fraction(data.draw(st.integers(0, 10)), 10)
    with ibidem.find(documents(**pages), same_document=data.draw(st.booleans())) as result:
        covered: dict[str, set[int]] = {name: set() for name in pages}
        for passage in result:
            for side, other in ((passage.a, passage.b), (passage.b, passage.a)):
                before = None  # the sentence before, if it is in the other text, too: then what is between them counts
                for start, end in ibidem.split_sentences(side.text):
                    is_there = side.text[start:end] in other.text
                    if is_there:
                        covered[side.id].update(range(side.start + (start if before is None else before), side.start + end))
                    before = end if is_there else None
        wanted = {name: len(own) / len(pages[name]) for name, own in covered.items()}
        found = result.check_reuse(share)
    assert found.documents == {name: part for name, part in wanted.items() if part > share}
    assert {each.place.id for each in found.places} == set(found.documents)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_a_baseline_has_does_not_count_wherever_it_moves(data: st.DataObject) -> None:
    """Paragraphs change places, lines break elsewhere, pages get other names, and own text is written between them."""
    numbers = st.lists(st.integers(1, 6), unique=True, max_size=4)
    pages = {name: data.draw(numbers) for name in "abcd"}
    rng = random.Random(data.draw(st.integers(0, 999)))

    def told(pages: dict[str, list[int]], width: int) -> list[dict[str, str]]:
        own = iter(range(1000, 2000))
        return [
            {"id": name, "text": "\n\n".join(wrapped(f"{paragraph(n)} {paragraph(next(own))}", width) for n in [0, *numbers])}
            for name, numbers in pages.items()
        ]

    known = accept(told(pages, 9))
    moved = {name: rng.sample(numbers, len(numbers)) for name, numbers in pages.items()}
    for name in data.draw(st.sets(st.sampled_from("abcd"), max_size=2)):
        moved[f"{name} under another name"] = moved.pop(name)
    assert check(told(moved, 5), known).places == []
    # One more copy of a paragraph counts, in the page that has got it.
    name = data.draw(st.sampled_from(sorted(set(moved) & set("abcd"))))
    moved[name].append(missing := 7)
    assert check(told(moved, 7), known).passed, "it is nowhere else"
    moved[f"new {name}"] = [missing]
    assert check(told(moved, 7), known).documents.keys() >= {name}


def test_a_text_that_grows_counts_with_its_new_part_only() -> None:
    folder = write(Path("docs"), a=f"{paragraph(1)}\n\n{paragraph(8)}\n", b=f"{paragraph(1)}\n\n{paragraph(9)}\n")
    known = accept(folder)
    assert check(folder, known).passed
    write(folder, b=f"{paragraph(9)}\n\n{paragraph(1)}\n{paragraph(8)}\n")
    found = check(folder, known)
    assert places(found) == ["docs/a.md:3:1", "docs/b.md:4:1"]
    assert [each.text for each in found.places] == [paragraph(8), paragraph(8)]
    assert list(found.documents.values()) == pytest.approx(
        [len(paragraph(8)) / len(Path(f"docs/{n}.md").read_text()) for n in "ab"]
    )
    write(folder, b=f"{paragraph(9)}\n\n{text(3, 4, count=12)}\n")  # a part of what is known
    assert check(folder, known).passed
    assert check(folder, known).n_gone > 0


def test_a_third_copy_counts_where_it_is_new() -> None:
    folder = write(Path("docs"), a=f"{paragraph(1)} {paragraph(8)}", b=f"{paragraph(1)} {paragraph(9)}", c=paragraph(4))
    known = accept(folder)
    write(folder, c=f"{paragraph(4)}\n\n{paragraph(1)}")
    (place,) = check(folder, known).places
    assert str(place.place) == "docs/c.md:3:1"
    assert place.n_documents == 2


def test_text_in_very_many_places_counts_too() -> None:
    pages = [{"id": f"{n}.md", "text": f"{paragraph(n + 5)} {paragraph(1)}"} for n in range(4)]
    with ibidem.find(pages, max_places=3) as result:
        assert result.repeats.num_rows
        found = result.check_reuse(0)
        result.write_baseline("reuse.json")
    assert len(found.documents) == 4
    assert {each.n_documents for each in found.places} == {3}
    assert check(pages, "reuse.json", max_places=3).passed
    assert check(pages, "reuse.json").passed, "as pairs, it is the same text"


def test_only_the_inputs_count_if_there_is_a_reference() -> None:
    new = write(Path("new"), a=f"{paragraph(1)} {paragraph(2)}")
    old = write(Path("old"), a=paragraph(1), b=paragraph(2) + paragraph(3))
    found = check(new, against=old)
    assert list(found.documents) == ["new/a.md"]
    assert [str(each.other) for each in found.places] == ["old/a.md:1:1", "old/b.md:1:1"]


def test_other_records_have_offsets_instead_of_lines() -> None:
    found = check(documents(a=f"{paragraph(2)} {paragraph(1)}", b=paragraph(1)))
    assert places(found) == [
        f"a [{len(paragraph(2)) + 1}:{len(paragraph(2)) + 1 + len(paragraph(1))}]",
        f"b [0:{len(paragraph(1))}]",
    ]


def test_memory_and_disk_say_the_same() -> None:
    folder = write(
        Path("docs"),
        **{f"p{n}": f"{paragraph(n + 20)}\n\n{paragraph(n % 3)}\n{paragraph(1)}\n{paragraph(n % 2 + 5)}" for n in range(7)},
    )
    known = accept(folder)
    on_disk = Path("disk.json")
    with ibidem.find(folder, partitions=3) as result:
        assert result.backing.storage == "disk"
        result.write_baseline(on_disk)
    assert on_disk.read_text("utf-8") == Path(known).read_text("utf-8")
    write(folder, p8=f"{paragraph(22)} {paragraph(1)}")
    for baseline in (None, known):
        for more in ({}, {"max_places": 4}):
            assert check(folder, baseline, partitions=3, **more) == check(folder, baseline, **more)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a baseline"),
        ('{"documents": {}}', "is not a baseline"),
        ('{"ibidem_baseline": 99, "documents": {}}', "has format 99, and this version of ibidem reads format 1"),
        ('{"ibidem_baseline": 1, "splitter": 1}', "is damaged: 'documents' is missing"),
        (
            '{"ibidem_baseline": 1, "splitter": 1, "documents": {"a": ["zz"]}}',
            "is damaged: 'zz' does not begin with a fingerprint",
        ),
        ('{"ibidem_baseline": 1, "splitter": 1, "documents": {"a": [7]}}', "is damaged"),
    ],
)
def test_a_broken_baseline_is_named(content: str, message: str) -> None:
    Path("reuse.json").write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"baseline|reuse") as error:
        check(documents(a=paragraph(1), b=paragraph(1)), "reuse.json")
    assert message in str(error.value)


def test_a_baseline_of_another_splitter_is_noticed() -> None:
    pages = documents(a=paragraph(1), b=paragraph(1))
    content = json.loads(Path(accept(pages)).read_text("utf-8"))
    assert check(pages, "reuse.json").is_current
    Path("reuse.json").write_text(json.dumps(content | {"splitter": 0}), "utf-8")
    assert not check(pages, "reuse.json").is_current


def test_a_share_is_from_0_to_1() -> None:
    with ibidem.find(documents(a=paragraph(1), b=paragraph(1))) as result:
        assert not result.check_reuse(1).documents
        assert "2 of 2 documents share more than 0.5" in repr(result.check_reuse(0.5))
        with pytest.raises(UsageError, match="max_share must be from 0 to 1, not 5"):
            result.check_reuse(5)
