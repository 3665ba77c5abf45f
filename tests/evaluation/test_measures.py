"""Scores of things that are there or not are those of twins that count them in sets, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.errors import InputError
from ibidem.evaluation import (
    CountScores,
    Sentences,
    evaluate_clusters,
    evaluate_pairs,
    evaluate_sentence_pairs,
    evaluate_sentences,
    evaluate_verdicts,
)
from ibidem.evaluation.confidence import count_scores
from ibidem.evaluation.document_numbers import PLACES

NAMES = st.sampled_from("pqrs")
CATEGORIES = st.sampled_from(["x", "y", None])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    kinds = [
        pa.large_string() if name.endswith("id") or name in ("cluster", "category")
        else pa.bool_() if name == "duplicated"
        else pa.int64()
        for name in columns
    ]  # fmt: skip
    return pa.table([pa.array(column, kind) for column, kind in zip(values, kinds, strict=True)], names=list(columns))


def twin_scores(truth: set[Any], found: set[Any]) -> tuple[float, float, float]:
    if not truth and not found:
        return 1.0, 1.0, 1.0
    shared = len(truth & found)
    precision, recall = shared / max(len(found), 1), shared / max(len(truth), 1)
    return (2 * precision * recall / (precision + recall) if shared else 0.0), precision, recall


def assert_same(scores: CountScores, truth: set[Any], found: set[Any]) -> None:
    assert scores[:3] == pytest.approx(twin_scores(truth, found))
    assert (scores.n_truth, scores.n_found, scores.n_matched) == (len(truth), len(found), len(truth & found))


def unordered(a: Any, b: Any) -> tuple[Any, Any]:
    return (a, b) if a <= b else (b, a)


@given(st.lists(st.tuples(NAMES, NAMES, CATEGORIES), max_size=8), st.lists(st.tuples(NAMES, NAMES), max_size=8))
def test_pairs_of_documents(truth: list[tuple[str, str, str | None]], found: list[tuple[str, str]]) -> None:
    evaluation = evaluate_pairs(table(("a_id", "b_id", "category"), truth), table(("a_id", "b_id"), found))
    true_pairs, found_pairs = {unordered(a, b) for a, b, _ in truth if a != b}, {unordered(a, b) for a, b in found if a != b}
    assert_same(evaluation.overall.scores, true_pairs, found_pairs)
    # A pair that the truth has in two categories counts in both.
    assert set(evaluation.categories) == {category for a, b, category in truth if category and a != b}
    for category, group in evaluation.categories.items():
        chosen = {unordered(a, b) for a, b, of in truth if of == category and a != b}
        assert_same(group.scores, chosen, found_pairs & chosen)


SENTENCE_PAIR = st.tuples(NAMES, st.integers(0, 2), NAMES, st.integers(0, 2))
COLUMNS = ("a_id", "a_sentence", "b_id", "b_sentence")


SENTENCE_PAIRS = st.lists(SENTENCE_PAIR, max_size=10)


@given(SENTENCE_PAIRS, SENTENCE_PAIRS, st.lists(st.tuples(NAMES, NAMES), max_size=4))
def test_pairs_of_sentences(
    truth: list[tuple[str, int, str, int]], found: list[tuple[str, int, str, int]], pairs: list[tuple[str, str]]
) -> None:
    true_things, found_things = ({unordered((a, i), (b, j)) for a, i, b, j in rows} for rows in (truth, found))
    tables = table(COLUMNS, truth), table(COLUMNS, found)
    assert_same(evaluate_sentence_pairs(*tables).overall.scores, true_things, found_things)
    listed = {unordered(a, b) for a, b in pairs}
    evaluation = evaluate_sentence_pairs(*tables, table(("a_id", "b_id"), pairs))
    chosen = [
        {(one, other) for one, other in things if unordered(one[0], other[0]) in listed}
        for things in (true_things, found_things)
    ]
    assert_same(evaluation.overall.scores, chosen[0], chosen[1])
    assert evaluation.overall.scores.n_units == len(listed)
    n_ignored = sum(unordered(a, b) not in listed for a, _, b, _ in found)
    assert evaluation.n_ignored_found == n_ignored


SPANS = {"p": [(0, 4), (5, 8), (8, 9)], "q": [(1, 6)], "r": [], "s": [(0, 2), (2, 4), (4, 7), (9, 12)]}
PLACE = st.tuples(st.sampled_from("pqs"), st.integers(0, 12), st.integers(0, 12)).map(lambda p: (p[0], *sorted(p[1:])))
PASSAGE = st.tuples(PLACE, PLACE).map(lambda sides: (*sides[0], *sides[1]))


def held(rows: Iterable[Sequence[Any]]) -> set[Any]:
    """The twin: sentences of which half of the characters are in a passage, with the pair of documents that it is of."""
    things = set()
    for a_id, a_start, a_end, b_id, b_start, b_end in rows:
        for name, start, end in ((a_id, a_start, a_end), (b_id, b_start, b_end)):
            for number, span in enumerate(SPANS[name]):
                covered = set(range(*span)) & set(range(start, end))
                if covered and 2 * len(covered) >= span[1] - span[0]:
                    things.add((unordered(a_id, b_id), name, number))
    return things


def sentences() -> Sentences:
    rows = [(number, *span) for number, spans in enumerate(SPANS.values()) for span in spans]
    columns = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Sentences(pa.array(list(SPANS), pa.large_string()), np.full(len(SPANS), 12), *columns)


PASSAGES = st.lists(PASSAGE, max_size=6)


@given(PASSAGES, PASSAGES)
def test_passages_by_sentences(truth: list[Any], found: list[Any]) -> None:
    evaluation = evaluate_sentences(table(PLACES, truth), table(PLACES, found), sentences())
    assert_same(evaluation.overall.scores, held(truth), held(found))
    assert evaluation.n_empty_truth == sum(not held([row]) for row in truth)
    assert evaluation.n_empty_found == sum(not held([row]) for row in found)


PAIR_LISTS = st.lists(st.tuples(st.sampled_from("pqs"), st.sampled_from("pqs")), unique_by=lambda pair: frozenset(pair))


@given(PASSAGES, PASSAGES, PAIR_LISTS)
def test_sentences_of_listed_pairs(truth: list[Any], found: list[Any], pairs: list[tuple[str, str]]) -> None:
    rows = [(a, b, "xy"[k % 2]) for k, (a, b) in enumerate(pairs)]
    listed = {unordered(a, b): category for a, b, category in rows}
    # Documents of other pairs need not be there.
    beside = ("unknown", 0, 4, "p", 0, 4)
    evaluation = evaluate_sentences(
        table(PLACES, [*truth, beside]), table(PLACES, found), sentences(), table(("a_id", "b_id", "category"), rows)
    )
    true_things, found_things = held(truth), held(found)
    for name, scores in [("all", evaluation.overall.scores), *((n, g.scores) for n, g in evaluation.categories.items())]:
        chosen = {pair for pair, category in listed.items() if name in ("all", category)}
        assert_same(scores, *({x for x in things if x[0] in chosen} for things in (true_things, found_things)))
    assert evaluation.n_ignored_truth == 1 + sum(unordered(row[0], row[3]) not in listed for row in truth)
    assert evaluation.n_ignored_found == sum(unordered(row[0], row[3]) not in listed for row in found)


def test_a_pair_listed_in_two_categories_is_an_error() -> None:
    rows = table(("a_id", "b_id", "category"), [("p", "q", "x"), ("q", "p", "y")])
    with pytest.raises(InputError, match="in two categories"):
        evaluate_pairs(table(("a_id", "b_id"), [("p", "q")]), table(("a_id", "b_id"), []), rows)


def test_passages_beyond_the_end_of_a_document_are_told_of() -> None:
    with pytest.raises(InputError, match="a passage ends at 13 in q, which has 12 characters"):
        evaluate_sentences(table(PLACES, []), table(PLACES, [("p", 0, 4, "q", 0, 13)]), sentences())


def test_documents_that_are_not_there_are_named() -> None:
    with pytest.raises(InputError, match="no such document: unknown"):
        evaluate_sentences(table(PLACES, [("p", 0, 4, "unknown", 0, 4)]), table(PLACES, []), sentences())


LABELS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"))


def together(labels: dict[str, str], chosen: set[str]) -> set[tuple[str, str]]:
    return {(a, b) for a, b in combinations(sorted(chosen), 2) if a in labels and b in labels and labels[a] == labels[b]}


@given(LABELS, LABELS, st.dictionaries(st.sampled_from("abcdefgh"), CATEGORIES))
def test_clusters(truth: dict[str, str], found: dict[str, str], of: dict[str, str | None]) -> None:
    evaluation = evaluate_clusters(
        table(("cluster", "id", "category"), [(label, name, of.get(name)) for name, label in truth.items()]),
        table(("cluster", "id"), [(label, name) for name, label in found.items()]),
    )
    groups = [(evaluation.overall.scores, {*truth, *found})]
    groups += [(group.scores, {name for name in truth if of.get(name) == x}) for x, group in evaluation.categories.items()]
    for scores, chosen in groups:
        true_pairs, found_pairs = together(truth, chosen), together(found, chosen)
        assert_same(scores, true_pairs, found_pairs)
        n_all = len(chosen) * (len(chosen) - 1) / 2
        by_chance = len(true_pairs) * len(found_pairs) / n_all if n_all else 0
        most = (len(true_pairs) + len(found_pairs)) / 2
        rand = (len(true_pairs & found_pairs) - by_chance) / (most - by_chance) if most != by_chance else 1.0
        assert scores.adjusted_rand == pytest.approx(rand)


def test_the_adjusted_rand_index_of_a_known_case() -> None:
    # Two clusters of three (6 pairs), found as one of two and one of four (7 pairs, 4 of them true); 15 pairs in all.
    truth = table(("cluster", "id"), [(label, str(k)) for k, label in enumerate("111222")])
    found = table(("cluster", "id"), [(label, str(k)) for k, label in enumerate("112222")])
    rand = evaluate_clusters(truth, found).overall.scores.adjusted_rand
    assert rand == pytest.approx((4 - 6 * 7 / 15) / (6.5 - 6 * 7 / 15))


def test_a_document_in_two_clusters_is_an_error() -> None:
    rows = table(("cluster", "id"), [("1", "a"), ("2", "a")])
    with pytest.raises(InputError, match="the result lists the document a twice"):
        evaluate_clusters(rows.slice(0, 1), rows)


ANSWERS = st.dictionaries(st.sampled_from("abcdef"), st.booleans())


@given(ANSWERS, ANSWERS, st.dictionaries(st.sampled_from("abcdef"), CATEGORIES))
def test_verdicts(truth: dict[str, bool], found: dict[str, bool], of: dict[str, str | None]) -> None:
    evaluation = evaluate_verdicts(
        table(("id", "duplicated", "category"), [(name, answer, of.get(name)) for name, answer in truth.items()]),
        table(("id", "duplicated"), found.items()),
    )
    assert evaluation.n_ignored_found == len(set(found) - set(truth))
    groups = [(evaluation.overall.scores, set(truth))]
    groups += [(group.scores, {name for name in truth if of.get(name) == x}) for x, group in evaluation.categories.items()]
    for scores, chosen in groups:
        assert_same(scores, {x for x in chosen if truth[x]}, {x for x in chosen if found.get(x)})
        right = sum(truth[x] == found.get(x, False) for x in chosen)
        assert scores.accuracy == pytest.approx(right / len(chosen) if chosen else 1.0)
        assert scores.n_units == len(chosen)


def test_intervals_hold_the_score_and_are_those_of_drawn_pairs() -> None:
    rows = [(str(k), "z", k % 3 == 0) for k in range(30)]
    truth = table(("a_id", "b_id"), [row[:2] for row in rows])
    found = table(("a_id", "b_id"), [row[:2] for row in rows if row[2]])
    group = evaluate_pairs(truth, found, n_samples=2000).overall
    assert set(group.intervals) == {"f1", "precision", "recall"}
    low, high = group.intervals["recall"]
    # Of 30 pairs, a third found: the interval of a binomial share of 1/3.
    assert (low, high) == pytest.approx((1 / 6, 1 / 2), abs=0.04)
    assert group.intervals["precision"] == (1, 1)


def test_intervals_of_clusters_and_verdicts_are_drawn_from_documents() -> None:
    truth = table(("cluster", "id"), [(str(k // 2), str(k)) for k in range(40)])
    found = table(("cluster", "id"), [(str(k // 2) if k < 20 else str(k), str(k)) for k in range(40)])
    group = evaluate_clusters(truth, found, n_samples=500).overall
    assert set(group.intervals) == {"f1", "precision", "recall", "adjusted_rand"}
    assert group.intervals["recall"].low < 0.5 < group.intervals["recall"].high
    answers = table(("id", "duplicated"), [(str(k), k % 2 == 0) for k in range(40)])
    group = evaluate_verdicts(answers, table(("id", "duplicated"), [(str(k), True) for k in range(40)]), n_samples=500).overall
    assert set(group.intervals) == {"f1", "precision", "recall", "accuracy"}
    assert 0.3 < group.intervals["accuracy"].low < 0.5 < group.intervals["accuracy"].high < 0.7


def test_sums_may_be_of_many_collections_at_once() -> None:
    scores = count_scores(np.array([[[2.0, 2, 1, 10]], [[0, 0, 0, 0]]]))
    assert scores.shape == (2, 1, 5)
    assert scores[0, 0].tolist() == pytest.approx([0.5, 0.5, 0.5, 0.8, (1 - 0.4) / (2 - 0.4)])
    assert scores[1, 0].tolist() == [1, 1, 1, 1, 1]
