"""The same text under another id: noticed within a batch, across batches, after merges and removals, and in older indexes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.index import segment as segments
from ibidem.index.index import Index
from ibidem.index.same_texts import NewTexts, TextList, is_not_in
from ibidem.index.segment import Segment
from tests.texts import documents, text


def test_across_batches(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        index.add(documents(a=text(1, 2, 3), b=text(4, 5)))
        assert index.same_texts == {}
        index.add(documents(c=text(1, 2, 3), d=text(6), e=text(4, 5)))
        assert index.same_texts == {"c": "a", "e": "b"}
        index.add(documents(f=text(7)))
        assert index.same_texts == {}
        index.add(documents(g=text(1, 2, 3)))
        assert index.same_texts == {"g": "a"}  # the first that has it


def test_within_a_batch(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        index.add(documents(a=text(1, 2, 3), b=text(4, 5), c=text(1, 2, 3), d=text(1, 2, 3)))
        assert index.same_texts == {"c": "a", "d": "a"}


def test_within_a_batch_of_many_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ibidem.index.index._CHUNK_BYTES", 1)
    monkeypatch.setattr("ibidem.formats.reader.MIN_BATCH_BYTES", 1)
    monkeypatch.setattr("ibidem.formats.records.MAX_BATCH_BYTES", 1)
    numbers = [n % 7 for n in range(40)]
    with Index(tmp_path / "idx") as index:
        index.add([{"id": f"d{place:02}", "text": text(number, 90)} for place, number in enumerate(numbers)])
        assert index.same_texts == {f"d{place:02}": f"d{place % 7:02}" for place in range(7, 40)}


def test_what_counts_as_the_same_text(tmp_path: Path) -> None:
    whole = "The harbour was closed on Monday. Two ferries stayed in port. All were asked to stay at home."
    others = {
        "case": whole.upper(),
        "spacing": whole.replace(". ", ".\n\n   "),
        "punctuation": whole.replace("port.", "port!"),
        "one word": whole.replace("Two", "Three"),
        "order": "Two ferries stayed in port. The harbour was closed on Monday. All were asked to stay at home.",
        "less": whole.removesuffix(" All were asked to stay at home."),
        "more": f"{whole} It rained.",
        "twice": f"{whole} {whole}",
        "nothing": "",
    }
    with Index(tmp_path / "idx") as index:
        index.add([{"id": "whole", "text": whole}])
        index.add([{"id": name, "text": other} for name, other in others.items()])
        assert index.same_texts == {"case": "whole", "spacing": "whole", "punctuation": "whole"}
        index.add([{"id": "also nothing", "text": ""}, {"id": "marks", "text": "… !"}])
        assert index.same_texts == {}


def test_removed_and_replaced_documents(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        index.add(documents(a=text(1, 2), b=text(1, 2), c=text(3)))
        index.remove("a")
        index.add(documents(d=text(1, 2)))
        assert index.same_texts == {"d": "b"}
        index.add(documents(b=text(1, 2)), replace=True)  # once more under its own id
        assert index.same_texts == {"b": "d"}
        index.add(documents(c=text(3)), replace=True)
        assert index.same_texts == {}
        index.remove(["b", "d"])
        index.add(documents(e=text(1, 2)))
        assert index.same_texts == {}
        index.add(documents(c=text(9)), replace=True)
        index.add(documents(f=text(3)))
        assert index.same_texts == {}


def test_after_merging_counting_and_opening_again(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        for number in range(12):
            index.add([{"id": f"d{number}", "text": text(number, 70, 80)}])
        index.compact(recount=True)
    with Index(tmp_path / "idx", create=False) as index:
        index.add([{"id": f"again{number}", "text": text(number, 70, 80)} for number in range(11, -1, -1)])
        assert index.same_texts == {f"again{number}": f"d{number}" for number in range(12)}
        assert index.verify() == []


def test_a_stream_of_documents(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        index.add(documents(a=text(1, 2, 3)))
        arriving = documents(b=text(4, 5), c=text(1, 2, 3), d=text(4, 5), e=text(6))
        answers = list(index.watch(arriving, commit_every="2"))
        assert [answer.same_text_as for answer in answers] == [None, "a", "b", None]
        (answer,) = index.watch(documents(d=text(4, 5)), replace=True)
        assert answer.same_text_as == "b"


def test_documents_that_nobody_took_an_answer_for(tmp_path: Path) -> None:
    with Index(tmp_path / "idx") as index:
        answers = index.watch(documents(a=text(1, 2), b=text(3, 4), c=text(5)))
        next(answers)
        answers.close()  # only a is added
        index.add(documents(d=text(3, 4), e=text(1, 2)))
        assert index.same_texts == {"e": "a"}


def test_an_index_of_an_earlier_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its segments have no digests of texts: they are worked out, and stored when segments are merged."""
    columns = Segment.arrays
    without = ("text_digests", "documents_by_text")
    with monkeypatch.context() as earlier:
        earlier.setattr(Segment, "arrays", lambda self: {k: v for k, v in columns(self).items() if k not in without})
        with Index(tmp_path / "idx") as index:
            index.add(documents(a=text(1, 2, 3), b=text(4, 5), c=text(6)))
            index.add(documents(d=text(7)))
    with Index(tmp_path / "idx", create=False) as index:
        assert all(part.segment.text_digests is None for part in index._reader.current().parts)
        index.add(documents(e=text(4, 5), f=text(7), g=text(8)))
        assert index.same_texts == {"e": "b", "f": "d"}
        index.compact()
        assert all(part.segment.text_digests is not None for part in index._reader.current().parts)
        index.add(documents(h=text(1, 2, 3)))
        assert index.same_texts == {"h": "a"}


def test_files_under_the_ids_of_an_earlier_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder was known by paths relative to itself: adding it again is noticed."""
    (tmp_path / "essays").mkdir()
    for name, numbers in {"mia.txt": (1, 2, 3), "noah.txt": (4, 5, 6)}.items():
        (tmp_path / "essays" / name).write_text(text(*numbers), "utf-8")
    monkeypatch.chdir(tmp_path)
    with Index("idx") as index:
        index.add([{"id": name, "text": (tmp_path / "essays" / name).read_text("utf-8")} for name in ("mia.txt", "noah.txt")])
        assert index.add("essays") == 2
        assert index.same_texts == {"essays/mia.txt": "mia.txt", "essays/noah.txt": "noah.txt"}


def test_the_committed_index_of_an_earlier_version(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parent / "compat/index_v1", tmp_path / "idx")
    with Index(tmp_path / "idx", create=False) as index:
        index.add([{"id": "new one", "text": text(1, 2, 3)}, {"id": "new two", "text": text(1, 2, 3)}])
        assert index.same_texts == {"new two": "new one"}


@st.composite
def batches(draw: st.DrawFn) -> list[list[tuple[str, tuple[int, ...]]]]:
    """Batches of documents: texts of few sentences, so that many are the same."""
    texts = st.lists(st.integers(0, 2), max_size=3).map(tuple)
    numbers = iter(range(1000))
    return [
        [(f"d{next(numbers)}", draw(texts)) for _ in range(draw(st.integers(1, 5)))] for _ in range(draw(st.integers(1, 5)))
    ]


@given(given_batches=batches(), removed=st.sets(st.integers(0, 24)))
def test_brute_force(tmp_path_factory: pytest.TempPathFactory, given_batches: list[Any], removed: set[int]) -> None:
    known: dict[str, tuple[int, ...]] = {}
    with Index(tmp_path_factory.mktemp("idx") / "idx") as index:
        for batch in given_batches:
            expected: dict[str, str] = {}
            for name, numbers in batch:
                first = next((other for other, text_of in known.items() if text_of == numbers), None)
                if first is not None and numbers:
                    expected[name] = first
                known[name] = numbers
            index.add([{"id": name, "text": text(*numbers) if numbers else ""} for name, numbers in batch])
            assert index.same_texts == expected
            gone = [name for name in known if int(name[1:]) in removed]
            index.remove(gone)
            for name in gone:
                del known[name]


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=8), st.integers(1, 6))
def test_digests_of_texts(types_of_documents: Sequence[Sequence[int]], step: int) -> None:
    """However many sentences are looked at together, texts have the same digest if and only if they have the same types."""
    before = segments._SENTENCES_A_STEP
    segments._SENTENCES_A_STEP = step
    try:
        first = np.cumsum([0, *map(len, types_of_documents)])
        types = np.array([number for types in types_of_documents for number in types], np.uint32)
        found = segments.text_order(first, types, np.array([7, 11, 13, 17], np.uint64))
    finally:
        segments._SENTENCES_A_STEP = before
    assert sorted(found.documents.tolist()) == [n for n, types in enumerate(types_of_documents) if types]
    assert found.digests.tolist() == sorted(found.digests.tolist())
    rows = list(zip(found.digests.tolist(), found.documents.tolist(), strict=True))
    assert rows == sorted(rows)
    for one, other in ((one, other) for one in rows for other in rows):
        assert (one[0] == other[0]) == (list(types_of_documents[one[1]]) == list(types_of_documents[other[1]]))


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), max_size=8), st.lists(st.integers(0, 6), unique=True))
def test_lists_of_new_texts(parts: list[list[int]], wanted: list[int]) -> None:
    new = NewTexts()
    serials: dict[int, list[int]] = {}
    serial = 0
    for digests in parts:
        ordered = sorted(digests)
        new.add(TextList(np.array(ordered, np.uint64), np.arange(serial, serial + len(ordered))))
        for digest in ordered:
            serials.setdefault(digest, []).append(serial)
            serial += 1
    found: dict[int, list[int]] = {}
    for number, those in new.known(np.array(wanted, np.uint64)):
        found.setdefault(wanted[number], []).extend(those.tolist())
    assert found == {digest: serials[digest] for digest in wanted if digest in serials}


@given(st.lists(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_is_not_in(values: list[int], column: set[int]) -> None:
    found = is_not_in(np.array(values, np.int64), np.array(sorted(column), np.int64))
    assert found.tolist() == [value not in column for value in values]
