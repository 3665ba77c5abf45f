"""Scores of passages are those of a twin that counts single characters in sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.errors import InputError
from ibidem.evaluation import evaluate_passages, passage_scores, score_passages
from ibidem.evaluation.confidence import bootstrap_intervals, macro_scores
from ibidem.evaluation.document_numbers import PLACES

Row = tuple[str, int, int, str, int, int]
Character = tuple[str, str, int, int]


def mirrored(row: Row) -> Row:
    return (*row[3:], *row[:3])


# The twin: a passage is the set of its characters.


def characters(row: Row) -> tuple[set[Character], set[Character]]:
    a_id, a_start, a_end, b_id, b_start, b_end = min(row, mirrored(row))
    places = ((a_start, a_end), (b_start, b_end))
    one, other = ({(a_id, b_id, side, at) for at in range(*places[side])} for side in (0, 1))
    return one, other


def twin_meets(row: Row, other: Row) -> bool:
    return all(mine & theirs for mine, theirs in zip(characters(row), characters(other), strict=True))


def twin_shares(rows: Sequence[Row], others: Sequence[Row]) -> list[float]:
    """The share of each row that those of the others which meet it cover."""
    shares = []
    for row in rows:
        mine = set().union(*characters(row))
        theirs = set().union(*(set().union(*characters(other)) for other in others if twin_meets(row, other)))
        shares.append(len(mine & theirs) / len(mine) if mine else 0.0)
    return shares


def twin_micro(truth: Sequence[Row], found: Sequence[Row]) -> tuple[float, float]:
    if not truth and not found:
        return 1.0, 1.0
    true_chars, found_chars = (set().union(*(side for row in rows for side in characters(row))) for rows in (truth, found))
    shared = set().union(
        *(set().union(*characters(t)) & set().union(*characters(f)) for t in truth for f in found if twin_meets(t, f))
    )
    return len(shared) / max(len(found_chars), 1), len(shared) / max(len(true_chars), 1)


def twin(truth: Sequence[Row], found: Sequence[Row]) -> dict[str, float]:
    if truth and found:
        recall, precision = np.mean(twin_shares(truth, found)), np.mean(twin_shares(found, truth))
    else:
        recall = precision = 0.0 if truth or found else 1.0
    met = [n for n in (sum(twin_meets(row, other) for other in found) for row in truth) if n]
    granularity = np.mean(met) if met else 1.0
    harmonic_mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    micro_precision, micro_recall = twin_micro(truth, found)
    return {
        "plagdet": harmonic_mean / math.log2(1 + granularity), "precision": precision, "recall": recall,
        "granularity": granularity, "micro_precision": micro_precision, "micro_recall": micro_recall,
        "n_truth": len(truth), "n_found": len(found), "n_matched": len(met),
    }  # fmt: skip


def agree(scores: Any, expected: dict[str, float]) -> None:
    assert {name: getattr(scores, name) for name in expected} == pytest.approx(expected)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    documents = st.sampled_from(["x", "y", "z"])
    places = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda place: (place[0], place[0] + place[1]))
    return (draw(documents), *draw(places), draw(documents), *draw(places))


def tables(max_size: int = 8) -> st.SearchStrategy[list[Row]]:
    return st.lists(rows(), max_size=max_size)


@settings(max_examples=600, deadline=None)
@given(tables(), tables(), st.sampled_from([1, 3, 1 << 18]))
def test_scores_are_those_of_the_twin(truth: list[Row], found: list[Row], n_rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passage_scores, "_ROWS_AT_ONCE", n_rows)
        agree(score_passages(truth, found), twin(truth, found))


@settings(max_examples=100, deadline=None)
@given(tables(), tables(), st.randoms(use_true_random=False))
def test_neither_order_nor_side_matters(truth: list[Row], found: list[Row], random: Any) -> None:
    def turned(rows: list[Row]) -> list[Row]:
        rows = [mirrored(row) if row[0] != row[3] and random.random() < 0.5 else row for row in rows]
        random.shuffle(rows)
        return rows

    agree(score_passages(turned(truth), turned(found)), score_passages(truth, found)._asdict())


@settings(max_examples=100, deadline=None)
@given(tables(), tables())
def test_precision_and_recall_change_places_with_truth_and_found(truth: list[Row], found: list[Row]) -> None:
    there, back = score_passages(truth, found), score_passages(found, truth)
    swapped = (back.recall, back.precision, back.micro_recall, back.micro_precision)
    assert (there.precision, there.recall, there.micro_precision, there.micro_recall) == pytest.approx(swapped)


# By hand.

TRUE: Row = ("x", 0, 100, "y", 200, 300)


@pytest.mark.parametrize(
    ("found", "precision", "recall", "granularity"),
    [
        ([TRUE], 1, 1, 1),
        ([("y", 200, 300, "x", 0, 100)], 1, 1, 1),
        ([("x", 0, 50, "y", 200, 250)], 1, 0.5, 1),
        ([("x", 0, 50, "y", 200, 300)], 1, 0.75, 1),
        ([("x", 0, 100, "y", 200, 500)], 0.5, 1, 1),
        ([("x", 0, 50, "y", 200, 250), ("x", 50, 100, "y", 250, 300)], 1, 1, 2),
        ([("x", 0, 60, "y", 200, 260), ("x", 40, 80, "y", 240, 280)], 1, 0.8, 2),
        ([TRUE, ("x", 0, 100, "y", 300, 400)], 0.5, 1, 1),  # overlaps on one side only
        ([TRUE, ("x", 0, 100, "z", 200, 300)], 0.5, 1, 1),
        ([("x", 100, 200, "y", 200, 300)], 0, 0, 1),  # touches
        ([("x", 200, 300, "y", 0, 100)], 0, 0, 1),
        ([("x", 50, 50, "y", 250, 250)], 0, 0, 1),  # an empty stretch meets nothing
        ([], 0, 0, 1),
    ],
)  # fmt: skip
def test_one_true_passage(found: list[Row], precision: float, recall: float, granularity: float) -> None:
    scores = score_passages([TRUE], found)
    assert scores[1:4] == pytest.approx((precision, recall, granularity))
    harmonic_mean = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert scores.plagdet == pytest.approx(harmonic_mean / math.log2(1 + granularity))


def test_nothing_true_and_nothing_found_is_right() -> None:
    assert score_passages([], [])[:6] == (1, 1, 1, 1, 1, 1)
    assert score_passages([], [TRUE])[:6] == (0, 0, 0, 1, 0, 0)


def test_means_are_over_passages_and_micro_averages_over_characters() -> None:
    truth: list[Row] = [TRUE, ("x", 500, 510, "y", 500, 510)]
    scores = score_passages(truth, [TRUE, TRUE])
    assert (scores.recall, scores.micro_recall) == pytest.approx((1 / 2, 200 / 220))
    assert (scores.precision, scores.micro_precision, scores.granularity, scores.n_matched) == (1, 1, 2, 1)


def test_places_in_one_document_are_the_same_either_way() -> None:
    truth: list[Row] = [("x", 0, 10, "x", 50, 60)]
    assert score_passages(truth, truth).plagdet == 1
    assert score_passages(truth, [("x", 50, 60, "x", 0, 10)]).plagdet == 1


@pytest.mark.parametrize("place", [(-1, 5), (5, 4), (0, (1 << 32) + 1)])
def test_what_is_no_place_is_refused(place: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="is not inside two texts"):
        score_passages([TRUE], [("x", *place, "y", 0, 10)])


def test_a_million_passages() -> None:
    random = np.random.default_rng(3)

    def table(n_rows: int, n_documents: int) -> pa.Table:
        columns: dict[str, Any] = {}
        for side in "ab":
            columns[f"{side}_id"] = pa.array([f"document {n}" for n in random.integers(0, n_documents, n_rows)])
            start = random.integers(0, 100_000, n_rows)
            columns |= {f"{side}_start": start, f"{side}_end": start + random.integers(1, 5000, n_rows)}
        return pa.table(columns).select(PLACES)

    scores = score_passages(table(20_000, 300), table(1_000_000, 300))
    assert (scores.n_truth, scores.n_found) == (20_000, 1_000_000)
    assert scores.n_matched > 1000


# Categories and listed pairs.


def with_categories(rows: Iterable[Sequence[Any]], names: Sequence[str] = (*PLACES, "category")) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def pairs_table(*rows: tuple[str, str, str | None]) -> pa.Table:
    return with_categories(rows, ("a_id", "b_id", "category"))


HERE: Row = ("x", 0, 10, "z", 0, 10)


def test_a_found_passage_belongs_to_the_category_of_its_pair() -> None:
    truth = with_categories([(*TRUE, "copied"), (*HERE, "edited")])
    wrong: Row = ("z", 70, 80, "x", 70, 80)
    elsewhere: Row = ("y", 0, 10, "z", 0, 10)
    outcome = evaluate_passages(truth, [TRUE, mirrored(HERE), wrong, elsewhere])
    assert list(outcome.categories) == ["copied", "edited"]
    assert [scores.precision for scores, _ in outcome.categories.values()] == [1, 0.5]
    assert outcome.overall.scores.precision == 0.5
    assert [group.scores.n_pairs for group in (outcome.overall, *outcome.categories.values())] == [3, 1, 1]
    assert (outcome.n_ignored_truth, outcome.n_ignored_found) == (0, 0)


def test_a_pair_of_two_categories_gives_each_what_it_met() -> None:
    later: Row = ("x", 500, 510, "y", 500, 510)
    truth = with_categories([(*TRUE, "copied"), (*later, "edited")])
    outcome = evaluate_passages(truth, [later, TRUE, ("x", 900, 910, "y", 900, 910)])
    figures = {name: (scores.precision, scores.recall, scores.n_found) for name, (scores, _) in outcome.categories.items()}
    assert figures == {"copied": (0.5, 1, 2), "edited": (1, 1, 1)}


def test_pairs_say_what_counts_and_their_category() -> None:
    pairs = pairs_table(("y", "x", "copied"), ("v", "w", "none"), ("v", "z", "none"), ("q", "r", "quiet"))
    truth = with_categories([(*TRUE, "other"), (*HERE, "other")])
    wrong: Row = ("w", 0, 10, "v", 0, 10)
    outcome = evaluate_passages(truth, [TRUE, wrong, HERE, HERE], pairs)
    assert (outcome.n_ignored_truth, outcome.n_ignored_found) == (1, 2)
    assert outcome.overall.scores[:4] == pytest.approx((2 / 3, 0.5, 1, 1))
    assert outcome.overall.scores.n_pairs == 4
    figures = {name: (scores.plagdet, scores.n_truth, scores.n_found) for name, (scores, _) in outcome.categories.items()}
    assert figures == {"copied": (1, 1, 1), "none": (0, 0, 1), "quiet": (1, 0, 0)}


def test_pairs_without_categories_leave_those_of_the_truth() -> None:
    truth = with_categories([(*TRUE, "copied"), (*HERE, None)])
    outcome = evaluate_passages(truth, [TRUE], pairs_table(("x", "y", None)).select(["a_id", "b_id"]))
    assert {name: scores.plagdet for name, (scores, _) in outcome.categories.items()} == {"copied": 1}
    assert outcome.n_ignored_truth == 1


def test_a_pair_that_is_listed_in_two_categories_is_refused() -> None:
    with pytest.raises(InputError, match=r"(x and y|y and x) in two categories"):
        evaluate_passages([TRUE], [TRUE], pairs_table(("x", "y", "copied"), ("y", "x", "edited")))
    evaluate_passages([TRUE], [TRUE], pairs_table(("x", "y", "copied"), ("y", "x", "copied")))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(rows(), st.sampled_from(["one", "two"])), max_size=8), tables(), st.booleans())
def test_groups_are_those_of_the_twin(truth: list[tuple[Row, str]], found: list[Row], listed: bool) -> None:
    def key(row: Row) -> tuple[str, str]:
        return min(row[0], row[3]), max(row[0], row[3])

    of_pair: dict[tuple[str, str], str] = {}
    for row, name in truth:
        of_pair.setdefault(key(row), name)
    table = with_categories([(*row, of_pair[key(row)]) for row, _ in truth] or [(*TRUE, "one")])
    if not truth:
        table = table.slice(0, 0)
    pairs = pairs_table(*((*pair, name) for pair, name in of_pair.items())) if listed and of_pair else None
    outcome = evaluate_passages(table, found, pairs)
    counted = [row for row in found if pairs is None or key(row) in of_pair]
    agree(outcome.overall.scores, twin([row for row, _ in truth], counted))
    for name, (scores, _) in outcome.categories.items():
        own: Callable[[Row], bool] = lambda row, name=name: of_pair.get(key(row)) == name  # type: ignore[misc]  # noqa: E731
        agree(scores, twin([row for row, _ in truth if own(row)], [row for row in counted if own(row)]))


# Intervals.


def test_intervals_hold_their_scores_and_are_always_the_same() -> None:
    random = np.random.default_rng(8)
    truth: list[Row] = [(f"a{n}", 0, 100, f"b{n}", 0, 100) for n in range(200)]
    found: list[Row] = [(f"a{n}", 0, int(random.integers(50, 150)), f"b{n}", 0, 100) for n in range(200) if n % 4]
    outcome = evaluate_passages(truth, found, n_samples=300).overall
    assert outcome == evaluate_passages(truth, found, n_samples=300).overall
    assert set(outcome.intervals) == {"plagdet", "precision", "recall"}
    for name, (low, high) in outcome.intervals.items():
        assert low < getattr(outcome.scores, name) < high
        assert high - low < 0.2
    assert evaluate_passages(truth, found).overall.intervals == {}


def test_intervals_are_those_of_drawing_single_pairs() -> None:
    random = np.random.default_rng(9)
    tallies = np.repeat(random.random((20, 6)), random.integers(1, 6, 20), axis=0)
    drawn = [macro_scores(tallies[random.integers(0, len(tallies), len(tallies))].sum(axis=0)) for _ in range(4000)]
    expected = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
    assert bootstrap_intervals(tallies, 4000) == pytest.approx(expected, abs=0.03)
