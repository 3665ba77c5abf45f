"""What is cut also appears earlier, in text that is kept; the cuts are exactly the promised ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.clusters import cuts as cuts_module
from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.cuts import Cuts, find_cuts
from ibidem.clusters.removals import cut_spans
from ibidem.columns.collection import Collection
from ibidem.columns.hashes import SEED, mix
from ibidem.columns.rows import Rows
from ibidem.columns.sets import HashSets
from ibidem.execution.threads import Threads
from ibidem.matches import Cells, join_types, sort_sets
from tests.clusters.cut_twins import Place, expected_cuts, expected_near_cuts
from tests.oracles import components, jaccard


def rows_of(documents: list[list[int]], words: list[list[int]] | None = None) -> Rows:
    lengths = [len(d) for d in documents]
    classes = np.array([c for d in documents for c in d], np.uint64)
    n_words = np.ones(len(classes), np.int32)
    if words is not None:
        n_words = np.array([n for d in words for n in d], np.int32)
    return Rows(
        classes,
        np.repeat(np.arange(len(documents), dtype=np.int32), lengths),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        n_words,
        np.cumsum(n_words) - n_words,
        np.arange(len(classes), dtype=np.int32),
    )


def located(cuts: Cuts, rows: Rows) -> dict[Place, Place]:
    def place(row: int) -> Place:
        d = int(rows.document[row])
        return d, row - int(rows.document_first[d])

    assert (np.diff(cuts.row) > 0).all()
    return {place(row): place(source) for row, source in zip(cuts.row.tolist(), cuts.source_row.tolist(), strict=True)}


def reading_order(documents: list[list[int]]) -> np.ndarray:
    return np.arange(len(documents), dtype=np.int64)


def cut(documents: list[list[int]], size: int, is_reference: Sequence[bool] = (), **options: Any) -> dict[Place, Place]:
    rows, rank = rows_of(documents), reading_order(documents)
    return located(find_cuts(rows, rank, None, Rule(size, **options), np.array(is_reference, np.bool_)), rows)


@st.composite
def references(draw: st.DrawFn, n_documents: int) -> list[bool]:
    if draw(st.booleans()):
        return []
    return draw(st.lists(st.booleans(), min_size=n_documents, max_size=n_documents))


@st.composite
def class_collections(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    """Documents of few classes, often with stretches of one another; words, ranks (equal ones too) and a reference."""
    n_classes = draw(st.integers(1, 6))
    documents: list[list[int]] = []
    for _ in range(draw(st.integers(1, 6))):
        text = draw(st.lists(st.integers(1, n_classes), max_size=8))
        if documents and draw(st.booleans()):
            other = draw(st.sampled_from(documents))
            begin = draw(st.integers(0, len(other)))
            text = text[:4] + other[begin : begin + draw(st.integers(0, 8))] + text[4:]
        documents.append(text)
    words = [[c % 3 + 1 for c in d] for d in documents]
    rank = draw(st.lists(st.integers(0, 6), min_size=len(documents), max_size=len(documents)))
    return documents, words, rank, draw(references(len(documents)))


@settings(max_examples=3000, deadline=None)
@given(class_collections(), st.integers(1, 4), st.sampled_from([1, 1, 2, 3, 5]), st.booleans())
def test_cuts_are_exactly_the_promised_ones(collection, size, min_words, same_document) -> None:  # type: ignore[no-untyped-def]
    documents, words, rank, is_reference = collection
    rows = rows_of(documents, words)
    cuts = find_cuts(
        rows,
        np.array(rank, np.int64),
        None,
        Rule(size, min_words, same_document),
        np.array(is_reference, np.bool_),
    )
    assert located(cuts, rows) == expected_cuts(documents, words, rank, size, min_words, same_document, is_reference)
    assert not set(cuts.source_row.tolist()) & set(cuts.row.tolist()), "what a row goes for must stay"
    gone = set(located(cuts, rows))
    if is_reference:
        assert not any(is_reference[d] for d, _ in gone)
    else:
        first: dict[int, Place] = {}
        for d in sorted(range(len(documents)), key=lambda d: (rank[d], d)):
            for j, c in enumerate(documents[d]):
                first.setdefault(c, (d, j))
        assert not gone & set(first.values()), "the first of its class stays"


@settings(max_examples=500, deadline=None)
@given(class_collections(), st.booleans())
def test_cutting_single_sentences_twice_changes_nothing(collection, same_document) -> None:  # type: ignore[no-untyped-def]
    """Only single ones: where a passage was taken out, what was on both sides of it may make a new window."""
    documents, _, rank, _ = collection
    rows = rows_of(documents)
    once = located(find_cuts(rows, np.array(rank), None, Rule(1, same_document=same_document)), rows)
    rest = rows_of([[c for j, c in enumerate(text) if (d, j) not in once] for d, text in enumerate(documents)])
    assert len(find_cuts(rest, np.array(rank), None, Rule(1, same_document=same_document))) == 0


def test_passages_cut_twice_may_lose_more() -> None:
    documents = [[1, 2], [5, 6], [1, 5, 6, 2]]
    assert set(cut(documents, 2)) == {(2, 1), (2, 2)}
    assert set(cut([[1, 2], [5, 6], [1, 2]], 2)) == {(2, 0), (2, 1)}


@st.composite
def near_collections(draw: st.DrawFn):  # type: ignore[no-untyped-def]
    """Documents whose sentences are sets of words, many of them slight changes of one another."""
    element = st.integers(0, 9)
    sets = [frozenset(draw(st.sets(element, min_size=2, max_size=6)))]
    for _ in range(draw(st.integers(1, 8))):
        changed = set(draw(st.sampled_from(sets))) ^ draw(st.sets(element, min_size=1, max_size=2))
        if changed and frozenset(changed) not in sets:
            sets.append(frozenset(changed))
    number = st.integers(0, len(sets) - 1)
    types = draw(st.lists(st.lists(number, max_size=8), min_size=1, max_size=6))
    rank = draw(st.permutations(range(len(types))))
    return sets, types, rank, draw(references(len(types)))


def hash_sets(sets: list[frozenset[int]]) -> HashSets:
    hashes = np.array([mix(SEED, np.uint64(x)) for s in sets for x in sorted(s)], np.uint64)
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64))


def near_rows(sets: list[frozenset[int]], types: list[list[int]], limit: Fraction) -> tuple[Rows, Cells]:
    type_sets = sort_sets(hash_sets(sets))
    classes = join_types(type_sets, limit).of_type
    rows = rows_of([[int(classes[t]) + 1 for t in d] for d in types], [[len(sets[t]) for t in d] for d in types])
    cells = Cells(np.array([t for d in types for t in d], np.int32), type_sets, limit.as_integer_ratio())
    return rows, cells


LIMITS = [Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), Fraction(4, 5), Fraction(1)]


@pytest.mark.parametrize("most_leaders", [16, 2])
def test_near_cuts_are_sound_and_as_promised(most_leaders: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts_module, "_MOST_LEADERS", most_leaders)

    @settings(max_examples=1000, deadline=None)
    @given(near_collections(), st.sampled_from(LIMITS), st.integers(1, 3), st.sampled_from([1, 1, 6]), st.booleans())
    def check(collection, limit, size, min_words, same_document) -> None:  # type: ignore[no-untyped-def]
        sets, types, rank, is_reference = collection
        rows, cells = near_rows(sets, types, limit)
        cuts = find_cuts(
            rows,
            np.array(rank, np.int64),
            cells,
            Rule(size, min_words, same_document),
            np.array(is_reference, np.bool_),
        )
        found = located(cuts, rows)

        def match(x: Place, y: Place) -> bool:
            return jaccard(sets[types[x[0]][x[1]]], sets[types[y[0]][y[1]]]) >= limit

        for (b, j), (a, i) in found.items():
            assert (a, i) not in found, "what a row goes for must stay"
            assert match((a, i), (b, j))
            assert a != b or (same_document and i < j)
            assert not is_reference or (is_reference[a] and not is_reference[b])
            assert is_reference or a == b or rank[a] < rank[b]
            assert any(
                min(i, j) >= t
                and i - t + size <= len(types[a])
                and j - t + size <= len(types[b])
                and all(match((a, i - t + k), (b, j - t + k)) for k in range(size))
                for t in range(size)
            ), "not inside of a passage"
        parents = components(sets, limit)
        documents = [[parents[t] for t in d] for d in types]
        words = [[len(sets[t]) for t in d] for d in types]
        rules = (rank, size, min_words, same_document, is_reference)
        assert found == expected_near_cuts(documents, types, words, *rules, match, most_leaders)
        if limit == 1:
            assert found == expected_cuts(types, words, *rules)

    check()


@settings(max_examples=300, deadline=None)
@given(near_collections(), st.integers(1, 3), st.booleans())
def test_a_limit_of_nothing_is_equality_of_classes(collection, size, same_document) -> None:  # type: ignore[no-untyped-def]
    sets, types, rank, _ = collection
    rows, cells = near_rows(sets, types, Fraction(1, 2))
    rule = Rule(size, same_document=same_document)
    equal = find_cuts(rows, np.array(rank), None, rule)
    near = find_cuts(rows, np.array(rank), Cells(cells.types, cells.sets, (0, 1)), rule)
    assert located(equal, rows) == located(near, rows)


def test_equal_texts_go_however_many_variants_a_class_has() -> None:
    """Each variant resembles the next two, so all are one class, and there are far more of them than leaders."""
    sets = [frozenset(range(i, i + 10)) for i in range(200)]
    types = [[t] for t in range(0, 200, 5)] * 2
    rows, cells = near_rows(sets, types, Fraction(2, 3))
    assert len(set(rows.classes.tolist())) == 1
    cuts = find_cuts(rows, np.arange(80), cells, Rule(1))
    assert located(cuts, rows) == {(40 + i, 0): (i, 0) for i in range(40)}


def test_the_first_by_rank_stays() -> None:
    documents = [[1, 2, 3], [9, 1, 2, 3], [1, 2, 3]]
    rows = rows_of(documents)
    cuts = find_cuts(rows, np.array([2, 1, 0]), None, Rule(3))
    assert located(cuts, rows) == {(d, i + (d == 1)): (2, i) for d in (0, 1) for i in range(3)}


def test_what_is_too_short_stays() -> None:
    documents = [[1, 2, 3, 4], [9, 2, 3, 8], [1, 2, 3, 7]]
    assert set(cut(documents, 3)) == {(2, 0), (2, 1), (2, 2)}
    assert cut(documents, 3, min_words=4) == {}


def test_a_text_in_very_many_places_stays_once() -> None:
    documents = [[1000 + d, 1, 2, 3, 4, 5] for d in range(20_000)]
    assert cut(documents, 3) == {(d, j): (0, j) for d in range(1, 20_000) for j in range(1, 6)}


def test_a_long_window_in_few_texts() -> None:
    text = list(range(1, 1501))
    documents = [text, [*text[:1200], 7777], [8888, *text[400:]], text[:999]]
    expected = {(1, j): (0, j) for j in range(1200)} | {(2, j + 1): (0, 400 + j) for j in range(1100)}
    assert cut(documents, 1000) == expected


def test_nothing_comes_of_nothing() -> None:
    for documents in ([], [[]], [[], [1], []]):
        assert cut(documents, 2) == {}
        assert cut(documents, 1, is_reference=[True] * len(documents)) == {}


def test_workers_change_nothing() -> None:
    random = np.random.default_rng(4)
    sets = [frozenset(random.integers(0, 40, 12).tolist()) for _ in range(60)]
    sets += [s ^ {int(random.integers(0, 40))} for s in sets]
    types = [random.integers(0, len(sets), random.integers(0, 30)).tolist() for _ in range(100)]
    types += [(types[i] + types[i + 1])[5:40] for i in range(90)]
    rows, cells = near_rows(sets, types, Fraction(7, 10))
    rank = random.permutation(len(types))
    alone = find_cuts(rows, rank, cells, Rule(2))
    with Threads(3) as engine:
        shared = find_cuts(rows, rank, cells, Rule(2), run_tasks=engine.run_tasks)
    assert len(alone) > 500
    assert np.array_equal(alone.row, shared.row)
    assert np.array_equal(alone.source_row, shared.source_row)


def spans_of(documents: list[str], pairs: list[tuple[int, int]]) -> tuple[list[tuple[int, ...]], list[str]]:
    """Cut rows for their sources in texts of sentences of two characters; `-` has no row. Return the spans and what is left."""
    places = [(d, 3 * i, 3 * i + 2) for d, text in enumerate(documents) for i in range((len(text) + 1) // 3)]
    document, start, end = (np.array([p[k] for p in places], np.int64) for k in range(3))
    has_row = np.array([documents[d][s] != "-" for d, s, _ in places], np.bool_)
    rows = rows_of([[1] * int(has_row[document == d].sum()) for d in range(len(documents))])
    rows = Rows(
        rows.classes, rows.document, rows.document_first, rows.n_words, rows.words_before,
        np.flatnonzero(has_row).astype(np.int32),
    )  # fmt: skip
    row, source = (np.array([p[k] for p in pairs], np.int32) for k in range(2))
    n_chars = np.array([len(text) for text in documents], np.int64)
    nothing = np.zeros(len(places), np.uint32)
    collection = Collection(
        [], n_chars, len(documents), document=document.astype(np.int32), start_byte=nothing, end_byte=nothing,
        start_char=start.astype(np.uint32), end_char=end.astype(np.uint32), n_words=np.ones(len(places), np.int32),
        digest=np.ones(len(places), np.uint64),
    )  # fmt: skip
    spans = cut_spans(collection, rows, Cuts(row, source))
    columns = (spans.document, spans.start, spans.end, spans.matched, spans.matched_start, spans.matched_end, spans.n_sentences)
    found = list(zip(*(c.tolist() for c in columns), strict=True))
    assert (np.diff(spans.document) >= 0).all()
    left = []
    for d, text in enumerate(documents):
        mine = [span for span in found if span[0] == d]
        for (_, _, before, *_), (_, after, *_) in pairwise(mine):
            assert before <= after
        for _, begin, stop, *_ in reversed(mine):
            assert begin < stop <= len(text)
            text = text[:begin] + text[stop:]
        left.append(text)
    is_gone = [not text.strip() for text in left]
    assert spans.is_dropped.tolist() == [is_gone[span[0]] for span in found]
    return found, left


def test_neighbours_that_stood_together_are_one_passage() -> None:
    texts = ["a. b. c.", "x. a. b. y. c."]  # rows 0 to 2, 3 to 7
    spans, left = spans_of(texts, [(4, 0), (5, 1), (7, 2)])
    assert spans == [(1, 3, 9, 0, 0, 5, 2), (1, 12, 14, 0, 6, 8, 1)]
    assert left == ["a. b. c.", "x. y. "]


def test_neighbours_that_stood_apart_are_two_passages() -> None:
    texts = ["a. b. c.", "c. a. b. "]
    spans, left = spans_of(texts, [(3, 2), (4, 0), (5, 1)])
    assert spans == [(1, 0, 3, 0, 6, 8, 1), (1, 3, 9, 0, 0, 5, 2)]
    assert left == ["a. b. c.", ""]


def test_the_end_of_one_text_and_the_start_of_the_next_stood_apart() -> None:
    spans, left = spans_of(["a.", "b.", "a. b."], [(2, 0), (3, 1)])
    assert [s[3] for s in spans] == [0, 1]
    spans, left = spans_of(["a. b.", "a.", "b."], [(2, 0), (3, 1)])
    assert spans == [(1, 0, 2, 0, 0, 2, 1), (2, 0, 2, 0, 3, 5, 1)]
    assert left == ["a. b.", "", ""]


def test_sentences_known_by_nothing_stay() -> None:
    texts = ["a. b. c.", "-- a. -- b. -- c. --"]  # rows 0 to 2, 3 to 5
    spans, left = spans_of(texts, [(3, 0), (4, 1)])
    assert spans == [(1, 3, 6, 0, 0, 2, 1), (1, 9, 12, 0, 3, 5, 1)]
    assert left[1] == "-- -- -- c. --"
    spans, left = spans_of(texts, [(3, 0), (4, 1), (5, 2)])
    assert left[1] == "-- -- -- --"


def test_no_cuts_make_no_spans() -> None:
    assert spans_of(["a. b.", ""], []) == ([], ["a. b.", ""])
