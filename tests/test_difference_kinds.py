"""What kind of change a difference is, the passages chosen by it, and documents that are kept because of their facts."""

from __future__ import annotations

import doctest
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment import difference_kinds, facts
from ibidem.alignment.difference_kinds import is_spelling_variant, kinds_in, typed_differences
from ibidem.alignment.differences import word_differences, word_places
from ibidem.alignment.facts import facts_of, same_number
from ibidem.config.settings import DIFFERENCE_KINDS, FACT_KINDS
from ibidem.errors import IndexSettingsError, SettingsError, UsageError
from ibidem.model import Difference
from tests.execution.parity import found_apart, removed_apart
from tests.index_twins import temporary_folder
from tests.test_differences import TEXTS

_EXAMPLES = [
    ("number", "Two ferries lay in port.", "Three ferries lay in port."),
    ("number", "about 1,200 people came", "about 1,300 people came"),
    ("number", "temperatures of -5 degrees", "temperatures of 5 degrees"),
    ("number", "er zahlte 12 Euro dafür", "er zahlte 13 Euro dafür"),
    ("number", "elle a trois enfants", "elle a quatre enfants"),
    ("number", "the B12 engine", "the B14 engine"),
    ("date", "on 3 May 2019 he left", "on 4 June 2019 he left"),
    ("date", "he left in 1998 for good", "he left in 1999 for good"),
    ("date", "the train at 10:30 was late", "the train at 11:30 was late"),
    ("date", "closed on Monday again", "closed on Friday again"),
    ("date", "er kam am Montag an", "er kam am Dienstag an"),
    ("date", "他在2019年5月3日去北京", "他在2019年5月4日去北京"),
    ("date", "彼は3月5日に行きました", "彼は3月6日に行きました"),
    ("date", "그는 3월 5일에 갔다", "그는 3월 6일에 갔다"),
    ("name", "a letter from Anna arrived", "a letter from Maria arrived"),
    ("name", "said President Emmanuel Macron yesterday", "said President Macron yesterday"),
    ("negation", "she did go home", "she did not go home"),
    ("negation", "he is here", "he isn't here"),
    ("negation", "it is possible today", "it is impossible today"),
    ("negation", "a careful plan", "a careless plan"),
    ("negation", "er kommt heute", "er kommt heute nicht"),
    ("negation", "il a vu le film", "il n'a pas vu le film"),
    ("negation", "ella vino a casa", "ella nunca vino a casa"),
    ("negation", "他去北京", "他不去北京"),
    ("negation", "彼は行きました", "彼は行きませんでした"),
    ("unit", "it is 5 km from here", "it is 5 miles from here"),
    ("unit", "it cost $300 million", "it cost €300 million"),
    ("unit", "12% more", "12 more"),
    ("unit", "it cost 20 dollars", "it cost 20 euros"),
    ("spelling", "the colour of the centre", "the color of the center"),
    ("spelling", "a modern house", "a modem house"),
    ("spelling", "a long-term plan", "a longterm plan"),
    ("spelling", "we do not know", "we don't know"),
    ("spelling", "he paid 3,500 for it", "he paid 3500 for it"),
    ("spelling", "three apples", "3 apples"),
    ("spelling", "Müller kam", "Mueller kam"),
    ("order", "fast and simple tools", "simple and fast tools"),
    ("order", "the team won 3 to 2", "the team won 2 to 3"),
    ("added", "a fox ran", "a quick brown fox ran"),
    ("removed", "a quick brown fox ran", "a fox ran"),
    ("reworded", "he walked home", "he walks home"),
    ("reworded", "the mayor said so", "the officials announced so"),
]


def changes(a: str, b: str) -> list[Difference]:
    return [each for each in typed_differences(a, b) if each.operation != "equal"]


@pytest.mark.parametrize(("kind", "a", "b"), _EXAMPLES)
def test_the_kind_of_a_change(kind: str, a: str, b: str) -> None:
    assert {each.kind for each in changes(a, b)} == {kind}
    turned = {"added": "removed", "removed": "added"}.get(kind, kind)
    assert {each.kind for each in changes(b, a)} == {turned}


def test_several_changes_side_by_side_are_told_apart() -> None:
    a, b = "In 1998 John Smith paid 3 dollars.", "In 1999 Peter Jones paid 4 euros."
    assert [(each.kind, a[each.a_start : each.a_end].strip()) for each in changes(a, b)] == [
        ("date", "1998"), ("name", "John Smith"), ("number", "3"), ("unit", "dollars."),
    ]  # fmt: skip


_WORDS = [
    "Two",
    "three",
    "4",
    "$5",
    "€5",
    "5%",
    "-5",
    "1,500",
    "1500",
    "not",
    "never",
    "May",
    "3 May",
    "Monday",
    "Anna",
    "Bob",
    "km",
]
_SENTENCES = st.lists(
    st.sampled_from([*_WORDS, "possible", "impossible", "colour", "color", "the", "and", ".", "中", "不"]), max_size=30
)
_FACTUAL = st.one_of(TEXTS, _SENTENCES.map(" ".join))


@settings(max_examples=300)
@given(_FACTUAL, _FACTUAL)
def test_typed_differences_divide_the_differences_of_words(a: str, b: str) -> None:
    found = typed_differences(a, b)
    assert "".join(a[d.a_start : d.a_end] for d in found) == a
    assert "".join(b[d.b_start : d.b_end] for d in found) == b
    assert all(one.a_end == other.a_start and one.b_end == other.b_start for one, other in pairwise(found))
    for each in found:
        assert each.kind in ((None,) if each.operation == "equal" else DIFFERENCE_KINDS)
    inside = [(d.a_start, d.a_end, d.b_start, d.b_end) for d in word_differences(a, b) if d.operation == "equal"]
    for each in found:
        if each.operation == "equal":
            own, other = a[each.a_start : each.a_end], b[each.b_start : each.b_end]
            assert len(word_places(own)) == len(word_places(other))
            assert [d.operation for d in word_differences(own, other)] in (["equal"], [])
    covered = sum(end - start for start, end, _, _ in inside)
    assert sum(d.a_end - d.a_start for d in found if d.kind in ("added", "removed", "reworded")) <= len(a) - covered


@settings(max_examples=200)
@given(_FACTUAL, _FACTUAL)
def test_the_other_way_round_the_kinds_are_the_same(a: str, b: str) -> None:
    turned = {"equal": "equal", "replace": "replace", "delete": "insert", "insert": "delete"}
    kinds = {"added": "removed", "removed": "added"}
    mirrored = [
        Difference(turned[d.operation], d.b_start, d.b_end, d.a_start, d.a_end, kinds.get(str(d.kind), d.kind))
        for d in typed_differences(a, b)
    ]
    assert typed_differences(b, a) == mirrored


@given(_FACTUAL)
def test_facts_are_in_order_and_do_not_overlap(text: str) -> None:
    found = facts_of(text)
    assert all(0 <= fact.start < fact.end <= len(text) and fact.kind in FACT_KINDS for fact in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    for kind in FACT_KINDS:
        assert facts_of(text, [kind]) == [fact for fact in found if fact.kind == kind]


def test_german_nouns_and_headlines_are_no_names() -> None:
    german = "Der Bürgermeister von Bergen hat das Haus und die Brücke nicht mit Angela Merkel besucht, sagt die Zeitung."
    assert [german[f.start : f.end] for f in facts_of(german, ["name"])] == ["Angela", "Merkel"]
    headline = "Mayor Opens New Bridge After Long Delay And Many Complaints"
    assert facts_of(headline, ["name"]) == []


def test_numbers_written_in_different_ways() -> None:
    assert same_number("3,500", "3500")
    assert same_number("3.5", "3,50")
    assert same_number("twelve", "12")
    assert not same_number("3.5", "35")
    assert not same_number("3,500", "3,501")


def test_inflected_words_are_not_spellings_of_one_word() -> None:
    assert not is_spelling_variant("working", "worked")
    assert not is_spelling_variant("house", "houses")
    assert is_spelling_variant("analyse", "analyze")
    assert is_spelling_variant("goverment", "government")


@pytest.mark.parametrize("module", [difference_kinds, facts])
def test_the_examples_in_the_docstrings(module: Any) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


# Passages chosen by their differences.

_STORY = (
    "The harbour was closed on Monday because of the storm. Two ferries stayed in port over night. The mayor asked everyone to "
    "stay at home until the wind had gone down. No one was hurt, said the fire brigade of Bergen."
)
_EDITS = [
    ("Two", "Three"),
    ("Monday", "Sunday"),
    ("No one was", "One was"),
    ("harbour", "harbor"),
    ("wind", "gale"),
    ("the storm", "storm"),
]


@st.composite
def stories(draw: st.DrawFn) -> list[dict[str, str]]:
    texts = []
    for _ in range(draw(st.integers(2, 5))):
        text = _STORY
        for old, new in draw(st.lists(st.sampled_from(_EDITS), max_size=2)):
            text = text.replace(old, new)
        texts.append(text)
    return [{"id": f"d{row}", "text": text} for row, text in enumerate(texts)]


@settings(max_examples=30)
@given(
    stories(), st.sets(st.sampled_from(["number", "date", "negation", "spelling", "reworded"]), min_size=1), st.integers(1, 4)
)
def test_only_passages_that_differ_in_what_is_wanted(
    documents: list[dict[str, str]], kinds: set[str], n_partitions: int
) -> None:
    chosen: dict[str, Any] = {"align": True, "min_aligned_words": 10}
    everything = ibidem.find(documents, difference_kinds=True, **chosen)
    expected = []
    for row, passage in zip(everything.passages.to_pylist(), everything, strict=True):
        own = {each.kind for each in passage.differences if each.kind}
        assert set(row["differences"]) == own
        if own and own <= kinds:
            expected.append(row)
    found = ibidem.find(documents, only_differences=",".join(kinds), **chosen)
    assert found.passages.to_pylist() == expected
    assert found.documents == everything.documents
    passages, _, _ = found_apart(documents, None, n_partitions, only_differences=",".join(kinds), **chosen)
    assert sorted(passages, key=str) == sorted(expected, key=str)


_KINDS = st.sets(st.sampled_from(["number", "date", "negation", "spelling", "reworded"]), min_size=1)


@settings(max_examples=20, deadline=None)
@given(stories(), _KINDS)
def test_an_index_chooses_passages_as_find_does(documents: list[dict[str, str]], kinds: set[str]) -> None:
    chosen: dict[str, Any] = {"signature": "exact", "only_differences": ",".join(kinds)}
    known, new = documents[1:], documents[:1]
    expected = sorted(ibidem.find(new, against=known, **chosen).passages.to_pylist(), key=str)
    whole = ibidem.find(documents, **chosen).passages.to_pylist()
    with temporary_folder() as folder, ibidem.Index(Path(folder) / "known", **chosen) as index:
        index.add(known)
        assert sorted(index.query(new).passages.to_pylist(), key=str) == expected
        (verdict,) = index.check(new)
        assert sorted(_without_texts(verdict.passages), key=str) == expected
        (arrival,) = index.watch(new)
        assert arrival.n_passages == len(expected)
        assert sorted(_without_texts(arrival.passages), key=str) == expected
    with temporary_folder() as folder, ibidem.Index(Path(folder) / "grown", signature="exact") as index:
        streamed = [row for arrival in index.watch(documents, **chosen) for row in _without_texts(arrival.passages)]
        assert sorted(map(_undirected, streamed)) == sorted(map(_undirected, whole))


@settings(max_examples=20, deadline=None)
@given(stories(), _KINDS, st.booleans())
def test_a_query_reports_only_what_is_wanted(documents: list[dict[str, str]], kinds: set[str], align: bool) -> None:
    limits: dict[str, Any] = {"align": align, "min_aligned_words": 10}
    with temporary_folder() as folder, ibidem.Index(Path(folder) / "known") as index:
        index.add(documents[1:])
        everything = index.query(documents[0], difference_kinds=True, **limits).with_texts().to_pylist()
        assert [row["differences"] for row in everything] == [
            kinds_in(typed_differences(row["a_text"], row["b_text"])) for row in everything
        ]
        expected = [row for row in everything if row["differences"] and set(row["differences"]) <= kinds]
        found = index.query(documents[0], only_differences=",".join(kinds), **limits)
        assert found.with_texts().to_pylist() == expected
        plain = index.query(documents[0], **limits)
        assert found.hits == plain.hits
        assert "differences" not in plain.passages.column_names


def _without_texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("a_text", "b_text")} for row in rows]


def _undirected(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the places of a passage in the order of their ids, with the kinds of differences that do not depend on it."""
    places = sorted((row[f"{side}_id"], row[f"{side}_start"], row[f"{side}_end"]) for side in "ab")
    return places, [kind for kind in row["differences"] if kind not in ("added", "removed")]


def test_kinds_of_differences_need_the_texts_of_an_index(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "x.idx", texts=False) as index:
        index.add([{"id": "a", "text": _STORY}])
        with pytest.raises(IndexSettingsError, match="kinds of differences need the texts"):
            index.query({"id": "b", "text": _STORY}, only_differences="number")


def test_compared_texts_and_pairs_are_chosen_the_same_way() -> None:
    other = _STORY.replace("Two", "Three")
    assert len(ibidem.compare(_STORY, other, only_differences="number")) == 1
    assert ibidem.compare(_STORY, other, only_differences="date") == []
    assert ibidem.compare(_STORY, _STORY, only_differences="number") == []
    documents = [{"id": "a", "text": _STORY}, {"id": "b", "text": other}]
    listed = ibidem.compare_pairs(documents, [("a", "b")], only_differences=["number", "negation"])
    assert listed.passages["differences"].to_pylist() == [["number"]]


def test_kinds_that_do_not_exist() -> None:
    with pytest.raises(SettingsError, match="must be one of number, date"):
        ibidem.find([_STORY], only_differences="numbers")
    with pytest.raises(SettingsError, match="keep_if_differs"):
        ibidem.dedup([_STORY], keep_if_differs="spelling")
    with pytest.raises(UsageError, match="document"):
        ibidem.dedup([_STORY], keep_if_differs="number", level="passage")


# Documents that are kept because of their facts.


@settings(max_examples=40)
@given(stories(), st.sets(st.sampled_from(FACT_KINDS), min_size=1), st.integers(1, 4), st.sampled_from(["word", "line"]))
def test_no_document_is_removed_whose_facts_are_not_those_of_the_one_kept(
    documents: list[dict[str, str]], kinds: set[str], n_partitions: int, unit: str
) -> None:
    chosen: dict[str, Any] = {"min_similarity": 0.3, "shingle_size": 3 if unit == "word" else 1, "shingle_unit": unit}
    texts = {each["id"]: each["text"] for each in documents}

    def facts_in(name: str) -> list[tuple[str, str]]:
        return [(fact.kind, fact.value) for fact in facts_of(texts[name], kinds)]

    result = ibidem.dedup(documents, keep_if_differs=",".join(sorted(kinds)), **chosen)
    rows = result.removed.to_pylist()
    assert all(facts_in(row["id"]) == facts_in(row["matched_id"]) for row in rows)
    assert removed_apart(documents, None, n_partitions, keep_if_differs=",".join(sorted(kinds)), **chosen) == rows
    if unit == "word":  # all these stories resemble one another
        assert len(rows) == len(documents) - len({tuple(facts_in(name)) for name in texts})


def test_signs_of_numbers_count_where_the_words_are_the_same() -> None:
    texts = ["The whole building had cost about $300 in that year.", "The whole building had cost about €300 in that year."]
    assert len(ibidem.dedup(texts).removed) == 1
    assert len(ibidem.dedup(texts, keep_if_differs="unit").removed) == 0


def test_a_negation_in_another_sentence_counts() -> None:
    one = "He did not pay the bill on time. She answered the letter at once. They met again in spring near the old harbour."
    other = "He did pay the bill on time. She not answered the letter at once. They met again in spring near the old harbour."
    assert len(ibidem.dedup([one, other], min_similarity=0.2, shingle_size=2).removed) == 1
    assert len(ibidem.dedup([one, other], min_similarity=0.2, shingle_size=2, keep_if_differs="negation").removed) == 0
