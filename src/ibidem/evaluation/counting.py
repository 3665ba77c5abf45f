"""Things that are there or not (pairs of sentences, pairs of documents, verdicts, …), and how many of them were found.

Things belong to *units*, pairs of documents or documents, which are what the bootstrap draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.evaluation.categories import NONE, category_numbers
from ibidem.evaluation.confidence import Figures, Interval, bootstrap_intervals, count_scores
from ibidem.evaluation.numbering import Numbers

_NAMES = ("f1", "precision", "recall", "accuracy", "adjusted_rand")


class CountScores(NamedTuple):
    """How many things were found. `n_matched` counts those that are true and found; `accuracy` is given for verdicts only, and
    `adjusted_rand`, the adjusted Rand index, for clusters."""

    f1: float
    precision: float
    recall: float
    accuracy: float | None
    adjusted_rand: float | None
    n_truth: int
    n_found: int
    n_matched: int
    n_units: int


class CountGroup(NamedTuple):
    """Scores of all things or of a category, and by name of the score the intervals, if they were asked for."""

    scores: CountScores
    intervals: dict[str, Interval]


class CountEvaluation(NamedTuple):
    """Scores over all and by category, and how many things were ignored because nothing is said of their unit."""

    overall: CountGroup
    categories: dict[str, CountGroup]
    n_ignored_truth: int = 0
    n_ignored_found: int = 0


class Things(NamedTuple):
    """Rows of numbers, one a thing (the same thing may stand twice), and the unit of each."""

    rows: Numbers
    unit: Numbers

    def take(self, chosen: NDArray[np.bool_]) -> Things:
        """Return some of the things, by mask."""
        return Things(self.rows[chosen], self.unit[chosen])


def evaluate_things(
    things: Sequence[Things],
    truth_table: pa.Table,
    n_units: int,
    listed: Numbers | None = None,
    pairs: pa.Table | None = None,
    n_samples: int = 0,
    is_verdict: bool = False,
) -> CountEvaluation:
    """Return the scores of things, true ones and found ones, over all and by category.

    With `listed`, the units of the rows of `pairs`, only things of these units count. A thing's category is that of its unit in
    `pairs`, or without such, the one that the truth says of it; what is found only has the category of its unit's first thing.
    With `is_verdict`, a unit is one thing that is so or not, and accuracy is given.
    """
    truth, found = things
    counted = np.full(n_units, listed is None)
    if listed is not None:
        counted[listed] = True
    of_truth, of_found = counted[truth.unit], counted[found.unit]
    names, of_row = category_numbers(truth_table)
    of_unit = np.full(n_units, NONE, np.int64)
    if pairs is not None and listed is not None and "category" in pairs.column_names:
        names, of_pair = category_numbers(pairs)
        of_unit[listed] = of_pair
        of_row = of_unit[truth.unit]
    else:
        named = of_row != NONE
        # Of numbers that are written to one place the last one stays: from the end on, the first.
        of_unit[truth.unit[named][::-1]] = of_row[named][::-1]
    truth, found, of_row = truth.take(of_truth), found.take(of_found), of_row[of_truth]
    unit, is_true, is_found, category = _put_together(truth, found, of_row, of_unit)
    possible = counted if is_verdict else np.zeros(n_units, np.bool_)

    def score(chosen: NDArray[np.bool_], units: NDArray[np.bool_]) -> CountGroup:
        columns = (is_true, is_found, is_true & is_found)
        sums = [np.bincount(unit[chosen & column], minlength=n_units) for column in columns]
        units = units.copy()
        units[unit[chosen]] = True
        tallies = np.stack([*sums, possible & units], axis=-1, dtype=np.float64)[units]
        return count_group(tallies, n_samples, {"accuracy"} if is_verdict else set())

    return CountEvaluation(
        score(np.ones(len(unit), np.bool_), counted),
        {name: score(category == number, counted & (of_unit == number)) for number, name in enumerate(names)},
        n_ignored_truth=int((~of_truth).sum()),
        n_ignored_found=int((~of_found).sum()),
    )


def count_group(tallies: Figures, n_samples: int, more: set[str]) -> CountGroup:
    """Return the scores of units (rows: how many are true, found, both, possible); `more` names scores besides F1's."""
    sums = tallies.sum(axis=0)
    told = {"f1", "precision", "recall", *more}
    f1, precision, recall, *others = count_scores(sums).tolist()
    accuracy, rand = (value if name in more else None for name, value in zip(_NAMES[3:], others, strict=True))
    intervals = {}
    if n_samples and len(tallies):
        ends = bootstrap_intervals(tallies, n_samples, count_scores).T.tolist()
        intervals = {name: Interval(*ends[k]) for k, name in enumerate(_NAMES) if name in told}
    n_truth, n_found, n_matched, _ = (round(value) for value in sums.tolist())
    scores = CountScores(f1, precision, recall, accuracy, rand, n_truth, n_found, n_matched, n_units=len(tallies))
    return CountGroup(scores, intervals)


def _put_together(
    truth: Things, found: Things, of_row: Numbers, of_unit: Numbers
) -> tuple[Numbers, NDArray[np.bool_], NDArray[np.bool_], Numbers]:
    """Return each thing once: its unit, whether it is true, whether it was found, and its category."""
    rows = np.concatenate([truth.rows, found.rows])
    distinct, number = np.unique(rows, axis=0, return_inverse=True)
    of_truth, of_found = np.split(number.reshape(-1), [len(truth.rows)])
    unit = np.empty(len(distinct), np.int64)
    unit[of_truth], unit[of_found] = truth.unit, found.unit
    is_true, is_found = np.zeros(len(distinct), np.bool_), np.zeros(len(distinct), np.bool_)
    is_true[of_truth] = is_found[of_found] = True
    category = of_unit[unit]
    category[of_truth[::-1]] = of_row[::-1]
    return unit, is_true, is_found, category
