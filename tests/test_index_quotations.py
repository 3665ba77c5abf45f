"""Quotations against an index: what is word for word there, what was changed, and what is not there."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment.differences import words_of
from ibidem.errors import IndexSettingsError, InputError
from ibidem.index import quotation_windows
from ibidem.index.claims import claims_of
from ibidem.index.kernels.segment import ByteLists
from ibidem.index.quotation_windows import read_posting
from ibidem.index.quotations import FEWEST_WORDS
from ibidem.index.quoted_parts import parts_of
from tests.cli.test_find import run
from tests.formats.document_writers import WRITERS
from tests.texts import text, word

__all__ = ["run"]

TEXTS = {
    "ferry": '"Nobody was in danger," said the harbour master, "but nobody had a good morning either." ' + text(1, 2, 3, 4),
    "copy": text(3, 4) + " Later that day, the harbour master said that nobody was in danger at any point. " + text(30, 31),
    "日報": "桜が咲いて、川の水は冷たかった。人々は橋を渡った。" + text(40, 41),
    "other": text(50, 51, 52, 53, 54),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ibidem.Index]:
    with ibidem.Index(tmp_path_factory.mktemp("quotations"), workers=1) as index:
        index.add([{"id": name, "text": content} for name, content in TEXTS.items()])
        yield index


@pytest.mark.parametrize(
    ("quotation", "source", "status", "found_in", "found"),
    [
        ("but nobody had a good morning either", None, "verbatim", "ferry", "but nobody had a good morning either"),
        ("But nobody had — a good morning, either!", None, "verbatim", "ferry", "but nobody had a good morning either"),
        ("the harbour master, but nobody had a good evening either", None, "altered", "ferry", None),
        ("nobody was in danger at any point", "ferry", "elsewhere", "copy", "nobody was in danger at any point"),
        ("Nobody was in danger", "ferry", "verbatim", "ferry", "Nobody was in danger"),
        ("nobody was in danger", "copy", "verbatim", "copy", "nobody was in danger"),
        ("川の水は冷たかった", None, "verbatim", "日報", "川の水は冷たかった"),
        ("the moon is made of green cheese", None, "absent", None, None),
        (text(3, 4), "copy", "verbatim", "copy", text(3, 4).removesuffix(".")),
    ],
)
def test_what_is_found(
    index: ibidem.Index, quotation: str, source: str | None, status: str, found_in: str | None, found: str | None
) -> None:
    checked = index.verify(quotation, source=source)
    assert (checked.status, checked.id) == (status, found_in)
    assert found is None or checked.text == found
    if checked.id is not None:
        content = TEXTS[checked.id]
        assert content[checked.start : checked.end] == checked.text
        assert content[: checked.start].endswith(checked.before)
        assert content[checked.end :].startswith(checked.after)
        assert len(checked.before) == min(160, checked.start or 0)


def test_differences_lead_from_the_quotation_to_the_source(index: ibidem.Index) -> None:
    first, *middle, last = text(51).rstrip(".").split()
    quotation = " ".join(["Surely", *middle[:2], "not", *middle[2:], "indeed"])
    checked = index.verify(quotation)
    assert (checked.status, checked.id) == ("altered", "other")
    assert checked.text == " ".join([first, *middle, last])
    changes = [
        (d.operation, quotation[d.a_start : d.a_end].strip(), checked.text[d.b_start : d.b_end].strip())
        for d in checked.differences
        if d.operation != "equal"
    ]
    assert changes == [("replace", "Surely", first), ("delete", "not", ""), ("replace", "indeed", last)]
    assert checked.similarity == pytest.approx(2 * 4 / (7 + 6))


@given(st.data())
def test_every_stretch_of_a_text_is_verbatim_and_a_changed_one_is_not(index: ibidem.Index, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["ferry", "copy", "other"]))
    content = TEXTS[name]
    words, places = words_of(content)
    first = data.draw(st.integers(0, len(words) - 5))
    last = data.draw(st.integers(first + 4, min(len(words), first + 20) - 1))
    quotation = content[places[first][0] : places[last][1]]
    checked = index.verify(quotation, source=name)
    assert (checked.status, checked.id) == ("verbatim", name)
    asked, _ = words_of(quotation)
    assert words_of(checked.text or "")[0] == asked
    # One word that occurs nowhere.
    at = data.draw(st.integers(first, last))
    other = word(20_000 % 12**4 - random.Random(at).randrange(9))
    changed = content[places[first][0] : places[at][0]] + other + content[places[at][1] : places[last][1]]
    checked = index.verify(changed, source=name)
    twin = any(_contains(words_of(each)[0], words_of(changed)[0]) for each in TEXTS.values())
    assert not twin
    assert checked.status in ("altered", "elsewhere", "absent")
    if last - first >= 9 and first < at < last:
        assert checked.status == "altered"
        assert other in {changed[d.a_start : d.a_end].strip(' ",.') for d in checked.differences if d.operation != "equal"}


def _contains(words: list[str], wanted: list[str]) -> bool:
    return any(words[k : k + len(wanted)] == wanted for k in range(len(words) - len(wanted) + 1))


def _is_within(content: str, wanted: list[str], n_sentences: int) -> bool:
    """Whether so many neighbouring sentences of a text have the words in a row: how far a quotation is looked for."""
    spans = ibidem.split_sentences(content)
    windows = [content[spans[at][0] : spans[min(at + n_sentences, len(spans)) - 1][1]] for at in range(len(spans))]
    return any(_contains(words_of(window)[0], wanted) for window in windows)


def test_what_cannot_be_checked_is_said(index: ibidem.Index, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(ibidem.UsageError, match=f"at least {FEWEST_WORDS} words"):
        index.verify("good morning")
    with ibidem.Index(tmp_path_factory.mktemp("bare"), texts=False, workers=1) as bare:
        bare.add([{"id": "a", "text": text(1, 2, 3)}])
        with pytest.raises(IndexSettingsError, match="which this index does not keep"):
            bare.verify(text(1))


# Against a twin that looks into every text, over indexes that were filled in one step and in several.

_VOCABULARY = ["the", "ferry", "was", "late", "in", "port", "no", "mayor", "said", "storm", "of", "rain", "中", "文"]
_SENTENCE = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=9).map(" ".join)
_TEXT = st.lists(_SENTENCE, min_size=1, max_size=4).map(lambda sentences: ". ".join(s.capitalize() for s in sentences) + ".")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(_TEXT, min_size=1, max_size=6),
    st.lists(st.lists(st.sampled_from(_VOCABULARY), min_size=3, max_size=8), max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6), st.data(),
)  # fmt: skip
def test_verbatim_is_what_a_twin_finds_however_documents_arrived(
    texts: list[str], asked: list[list[str]], parted: list[bool], data: st.DataObject
) -> None:
    documents = [{"id": f"d{row}", "text": content} for row, content in enumerate(texts)]
    words = {each["id"]: words_of(each["text"])[0] for each in documents}
    contents = {each["id"]: each["text"] for each in documents}
    quotations = [" ".join(each) for each in asked]
    for each in documents:  # stretches that are there, with other punctuation
        own = words[each["id"]]
        if len(own) >= FEWEST_WORDS:
            first = data.draw(st.integers(0, len(own) - FEWEST_WORDS))
            last = data.draw(st.integers(first + FEWEST_WORDS, len(own)))
            places = words_of(each["text"])[1]
            cut = each["text"][places[first][0] : places[last - 1][1]]
            quotations.append(", ".join(own[first:last]) if cut.isascii() and "." not in cut else cut.upper())
    removed = data.draw(st.sampled_from([None, "d0"]))
    with (
        tempfile.TemporaryDirectory() as folder,
        ibidem.Index(f"{folder}/one", workers=1, hash_seed=0) as one,
        ibidem.Index(f"{folder}/many", workers=1, hash_seed=0) as many,
    ):
        one.add(documents)
        waiting: list[dict[str, str]] = []
        for each, is_cut in zip(documents, parted, strict=False):
            waiting.append(each)
            if is_cut:
                many.add(waiting)
                waiting = []
        many.add(waiting) if waiting else None
        if removed is not None:
            one.remove([removed])
            many.remove([removed])
            many.compact()
        left = {name: content for name, content in contents.items() if name != removed}
        for quotation in quotations:
            wanted = words_of(quotation)[0]
            if len(wanted) < FEWEST_WORDS:
                continue
            answer = one.verify(quotation)
            n_sentences = len(ibidem.split_sentences(quotation)) + 1
            having = {name for name, content in left.items() if _is_within(content, wanted, n_sentences)}
            if quotation.isascii():
                assert (answer.status == "verbatim") == bool(having)
            else:  # beside a stop, characters of scripts without spaces are other words than inside a sentence
                assert answer.status != "verbatim" or having
            assert answer.is_exhaustive
            if answer.status == "verbatim":
                assert answer.id in left
                assert words_of(answer.text or "")[0] == wanted
            if answer.id is not None:
                content = texts[int(answer.id[1:])]
                assert content[answer.start : answer.end] == answer.text
            other = many.verify(quotation)
            assert (other.status == "verbatim") == (answer.status == "verbatim")
            if answer.status == "verbatim":
                assert (other.id, other.start, other.end) == (answer.id, answer.start, answer.end)
            for name in left:  # a source that has it is the one that is named
                named = many.verify(quotation, source=name)
                if name in having and quotation.isascii():
                    assert (named.status, named.id) == ("verbatim", name)
                elif name not in having:
                    assert named.status != "verbatim"


def test_postings_are_read_as_they_are_written() -> None:
    lists = [[0], [5, 130, 131, 20_000], [1, 2, 3], [127, 128, 16_384]]
    data, first = bytearray(), [0]
    for own in lists:
        before = 0
        for number in own:
            step, before = number - before, number
            while step >= 128:
                data.append(step & 127 | 128)
                step >>= 7
            data.append(step)
        first.append(len(data))
    postings = ByteLists(np.array(first, np.uint32), np.frombuffer(bytes(data), np.uint8))
    assert [read_posting(postings, word).tolist() for word in range(len(lists))] == lists


@pytest.mark.parametrize(
    ("quotation", "status", "found"),
    [
        ("Nobody was in danger … nobody had a good morning", "verbatim", "Nobody was"),
        ("Nobody was in danger [...] but nobody had a good morning", "verbatim", "Nobody was"),
        ("nobody had a good morning … Nobody was in danger", "absent", None),
        ("Nobody [on board] was in danger", "verbatim", "Nobody was"),
        ("[N]obody was in danger [sic], said the harbour master", "verbatim", "Nobody was"),
        ("Nobody was in danger, said the [old] harbour master, but nobody had a bad morning", "altered", "Nobody was"),
    ],
)
def test_ellipses_and_brackets(index: ibidem.Index, quotation: str, status: str, found: str | None) -> None:
    answer = index.verify(quotation)
    assert answer.status == status
    if found is not None:
        assert answer.id == "ferry"
        assert (answer.text or "").startswith(found)


@pytest.mark.parametrize(
    ("quotation", "kind"),
    [
        ("the harbour master said that nobody was never in danger at any point", "negation"),
        ("the harbor master said that nobody was in danger at any point", "spelling"),
        ("the harbour master said that was nobody in danger at any point", "order"),
    ],
)
def test_alterations_have_kinds(index: ibidem.Index, quotation: str, kind: str) -> None:
    answer = index.verify(quotation)
    assert (answer.status, answer.id, answer.kinds) == ("altered", "copy", [kind])


def test_several_at_once(index: ibidem.Index) -> None:
    answers = index.verify(["Nobody was in danger", ("nobody was in danger at any point", "ferry")])
    assert [(each.status, each.id, each.source) for each in answers] == [
        ("verbatim", "ferry", None),
        ("elsewhere", "copy", "ferry"),
    ]
    assert index.verify("Nobody was in danger", source="unknown").status == "elsewhere"
    assert index.verify() == []  # no damage


def test_parts_of_a_quotation() -> None:
    assert [(p.text.strip(), p.may_skip) for p in parts_of("one … two [three] four ... five")] == [
        ("one", "none"), ("two", "any"), ("four", "few"), ("five", "any"),
    ]  # fmt: skip
    assert [p.text for p in parts_of("no marks at all")] == ["no marks at all"]
    assert parts_of("… [only] …") == []


def test_claims_in_text_and_markdown() -> None:
    content = (
        'He wrote “one two three”.[^1] And "four five six" (doc-b), «sieben acht neun» [@doc-c], „drei vier fünf“; '
        "‘it's single too’ and 「一二三四」. \"Too short\". Don't stop.\n\n> a quoted block\n> of two lines\n\n"
        "[^1]: See doc-a, page 3.\n"
    )
    claims = claims_of(content, "a.md", lambda name: name in ("doc-a", "doc-b"))
    assert [(claim.quotation, claim.source, claim.line) for claim in claims] == [
        ("one two three", "doc-a", 1), ("four five six", "doc-b", 1), ("sieben acht neun", "doc-c", 1),
        ("drei vier fünf", None, 1), ("it's single too", None, 1), ("一二三四", None, 1),
        ("a quoted block\nof two lines", None, 3),
    ]  # fmt: skip


def test_claims_as_records() -> None:
    lines = '{"quotation": "one two three", "source": "a"}\n\n{"text": "four five six"}\n'
    assert [(claim.quotation, claim.source, claim.line) for claim in claims_of(lines, "c.jsonl", bool)] == [
        ("one two three", "a", 1), ("four five six", None, 3),
    ]  # fmt: skip
    for broken in ('{"quotation": 3}', "[1]", "{", '{"quotation": "a b c", "source": 5}'):
        with pytest.raises(InputError, match=r"c\.jsonl, line 1"):
            claims_of(broken, "c.jsonl", bool)


def test_the_command(index: ibidem.Index, tmp_path: Path, run: Any) -> None:
    found = run("verify", str(index.path), "nobody was in danger at any point")
    assert (found.code, found.out.splitlines()[0].startswith("verbatim in copy [")) == (0, True)
    found = run("verify", str(index.path), "nobody was in danger at any time", "--format", "jsonl")
    assert found.code == 1
    record = json.loads(found.out)
    assert (record["status"], record["id"], record["kinds"]) == ("altered", "copy", ["reworded"])
    assert [(each["a"].strip(), each["b"].strip()) for each in record["differences"]] == [("time", "point")]
    article = tmp_path / "article.md"
    article.write_text("They said “Nobody was in danger” (ferry).\n\n“Nothing like that exists here”\n", "utf-8")
    found = run("verify", str(index.path), str(article))
    assert found.code == 1
    assert "2 quotations: 1 verbatim, 1 absent" in found.err
    assert f"{article}:3: absent" in found.out
    (tmp_path / "stock.txt").write_text("Nothing like that exists here.\n", "utf-8")
    found = run("verify", str(index.path), str(article), "--ignore", str(tmp_path / "stock.txt"))
    assert (found.code, found.err.splitlines()[-1]) == (0, "2 quotations: 1 verbatim, 1 ignored")
    found = run("verify", str(index.path), "nothing like that exists here", "--ignore", str(tmp_path / "stock.txt"))
    assert found.code == 1  # one quotation is always checked


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]), max_size=40), st.integers(1, 12))
def test_the_largest_values(values: list[float], n_most: int) -> None:
    expected = sorted(range(len(values)), key=lambda at: (-values[at], at))[:n_most]
    assert quotation_windows._largest(np.array(values), n_most).tolist() == expected


def test_ignored_quotations_are_not_looked_up(index: ibidem.Index, tmp_path: Path) -> None:
    stock = tmp_path / "stock.txt"
    stock.write_text("Nobody was in danger. Nothing like that exists here.\n", "utf-8")
    asked = ["nobody was in danger", ("Nothing like that exists here.", "copy"), "nobody was in danger at any point"]
    found = index.verify(asked, ignore=str(stock))
    assert [answer.status for answer in found] == ["ignored", "ignored", "verbatim"]
    assert (found[0].id, found[1].source, found[1].differences) == (None, "copy", ())
    assert found[2] == index.verify(asked)[2]
    assert [answer.status for answer in index.verify(asked)] == ["verbatim", "absent", "verbatim"]
    assert index.verify("nobody was in danger", ignore=[str(stock)]).status == "ignored"
    with ibidem.Index(index.path, ignore=str(stock)) as opened:
        assert opened.verify("nobody was in danger").status == "ignored"
        assert opened.verify("nobody was in danger", ignore="none").status == "verbatim"


def test_the_command_reads_documents(index: ibidem.Index, tmp_path: Path, run: Any) -> None:
    written = ["Nobody knew.", "They said “Nobody was in danger” (ferry).", "“Nothing like that exists here”"]
    for name in ("a.pdf", "b.docx", "i.eml"):
        WRITERS[name](tmp_path / name, written * 3, "en")
        found = run("verify", str(index.path), str(tmp_path / name), "--format", "jsonl")
        assert (found.code, "6 quotations: 3 verbatim, 3 absent" in found.err) == (1, True)
        records = [json.loads(line) for line in found.out.splitlines()]
        assert [record["line"] for record in records] == [None] * 6
        assert [record["page"] for record in records] == ([1, 1, 1, 1, 2, 2] if name == "a.pdf" else [None] * 6)
        first = run("verify", str(index.path), str(tmp_path / name)).out.splitlines()[0]
        assert first.startswith(f"{tmp_path / name}{', page 1' if name == 'a.pdf' else ''}: verbatim in ferry [")
    (tmp_path / "c.docx").write_bytes(b"no Word file")
    found = run("verify", str(index.path), str(tmp_path / "c.docx"))
    assert (found.code, "c.docx cannot be checked: not a Word file" in found.err) == (3, True)


def test_the_command_names_a_missing_file_and_an_unknown_source(index: ibidem.Index, run: Any) -> None:
    found = run("verify", str(index.path), "drafts/article.md")
    assert (found.code, found.out) == (3, "")
    assert "there is no file drafts/article.md" in found.err
    found = run("verify", str(index.path), "drafts/article.md", "--type", "quotation")
    assert (found.code, found.out.splitlines()[0]) == (1, "absent")
    found = run("verify", str(index.path), "nobody was in danger at any point", "--source", "nowhere")
    assert found.code == 1
    assert found.out.splitlines()[0].endswith(", attributed to nowhere, which is not in the index")
    found = run("verify", str(index.path), "nobody was in danger at any point", "--source", "copy")
    assert (found.code, "not in the index" in found.out) == (0, False)
