"""Things that are there or not (pairs of sentences, pairs of documents, verdicts, …), and how many of them were found.

Things belong to *units*, pairs of documents or documents, which are what the bootstrap draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.evaluation.confidence import Figures, Interval, bootstrap_intervals, count_scores
from ibidem.evaluation.document_numbers import NONE, Numbers, category_numbers, check_one_category

_NAMES = ("f1", "precision", "recall", "accuracy", "adjusted_rand")
Mask = NDArray[np.bool_]


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
    """Scores over all and by category.

    `n_ignored_…` counts rows of units that are not listed, `n_empty_…` passages that contain no sentence.
    """

    overall: CountGroup
    categories: dict[str, CountGroup]
    n_ignored_truth: int = 0
    n_ignored_found: int = 0
    n_empty_truth: int = 0
    n_empty_found: int = 0


class Things(NamedTuple):
    """Rows of numbers, one per thing (the same thing may come twice), and the unit of each."""

    rows: Numbers
    unit: Numbers

    def take(self, chosen: Mask) -> Things:
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
    `pairs`, or without such, those that the truth says of it; what is found only has the first category of its unit. With
    `is_verdict`, a unit is one thing that is so or not, and accuracy is given.
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
        check_one_category(pairs, of_pair, of_unit[listed])
        of_row = of_unit[truth.unit]
    else:
        named = of_row != NONE
        # Of numbers that are written to one place the last one stays: from the end on, the first.
        of_unit[truth.unit[named][::-1]] = of_row[named][::-1]
    truth, found, of_row = truth.take(of_truth), found.take(of_found), of_row[of_truth]
    scorer = _Scorer(truth, found, counted if is_verdict else None, n_samples)
    return CountEvaluation(
        scorer.score(np.arange(scorer.n_things), np.flatnonzero(counted)),
        {name: scorer.score(*of) for name, *of in scorer.by_category(names, of_row, np.where(counted, of_unit, NONE))},
        n_ignored_truth=int((~of_truth).sum()),
        n_ignored_found=int((~of_found).sum()),
    )


def count_group(tallies: Figures, n_samples: int, more: set[str]) -> CountGroup:
    """Return the scores of units (rows: how many are true, found, both, possible); `more` names scores besides F1's."""
    sums = tallies.sum(axis=0)
    wanted = {"f1", "precision", "recall", *more}
    f1, precision, recall, *others = count_scores(sums).tolist()
    accuracy, rand = (value if name in more else None for name, value in zip(_NAMES[3:], others, strict=True))
    intervals = {}
    if n_samples and len(tallies):
        ends = bootstrap_intervals(tallies, n_samples, count_scores).T.tolist()
        intervals = {name: Interval(*ends[k]) for k, name in enumerate(_NAMES) if name in wanted}
    n_truth, n_found, n_matched, _ = (round(value) for value in sums.tolist())
    scores = CountScores(f1, precision, recall, accuracy, rand, n_truth, n_found, n_matched, n_units=len(tallies))
    return CountGroup(scores, intervals)


class _Scorer:
    """Each thing once: its unit, whether it is true and whether it was found; and the scores of some of them."""

    def __init__(self, truth: Things, found: Things, possible: Mask | None, n_samples: int) -> None:
        rows = np.concatenate([truth.rows, found.rows])
        order = np.lexsort(rows.T)
        is_new = np.ones(len(rows), np.bool_)
        is_new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
        number = np.empty(len(rows), np.int64)
        number[order] = np.cumsum(is_new) - 1
        self.n_things = int(is_new.sum())
        self._of_truth, of_found = np.split(number, [len(truth.rows)])
        self._unit = np.empty(self.n_things, np.int64)
        self._unit[self._of_truth], self._unit[of_found] = truth.unit, found.unit
        self._is_true, self._is_found = np.zeros(self.n_things, np.bool_), np.zeros(self.n_things, np.bool_)
        self._is_true[self._of_truth] = self._is_found[of_found] = True
        self._possible, self._n_samples = possible, n_samples

    def score(self, things: Numbers, units: Numbers) -> CountGroup:
        """Return the scores of some things; `units` are drawn even if there is no thing in them."""
        units, at = np.unique(np.concatenate([units, self._unit[things]]), return_inverse=True)
        at = at.reshape(-1)[len(at) - len(things) :]
        is_true, is_found = self._is_true[things], self._is_found[things]
        sums = [np.bincount(at[column], minlength=len(units)) for column in (is_true, is_found, is_true & is_found)]
        possible = np.zeros(len(units)) if self._possible is None else self._possible[units]
        tallies = np.stack([*sums, possible], axis=-1, dtype=np.float64)
        return count_group(tallies, self._n_samples, set() if self._possible is None else {"accuracy"})

    def by_category(self, names: list[str], of_row: Numbers, of_unit: Numbers) -> list[tuple[str, Numbers, Numbers]]:
        """Return the things and the units of every category: those that the truth puts there, and what is found beside."""
        found_only = np.flatnonzero(~self._is_true)
        things = np.concatenate([self._of_truth, found_only])
        category = np.concatenate([of_row, of_unit[self._unit[found_only]]])
        order, unit_order = np.argsort(category, kind="stable"), np.argsort(of_unit, kind="stable")
        numbers = np.arange(len(names) + 1)
        bounds, unit_bounds = np.searchsorted(category[order], numbers), np.searchsorted(of_unit[unit_order], numbers)
        return [
            (name, np.unique(things[order[bounds[k] : bounds[k + 1]]]), unit_order[unit_bounds[k] : unit_bounds[k + 1]])
            for k, name in enumerate(names)
        ]
