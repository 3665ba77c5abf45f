"""Scores from the contributions of pairs of documents, or documents, and their confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Scores = Callable[[Figures], Figures]
SEED = 20131
_DRAWS_AT_ONCE = 1 << 22


def macro_scores(tallies: Figures) -> Figures:
    """Return plagdet, precision, recall and granularity (last axis) from sums over passages.

    The sums (last axis): shares of true passages that were found, their number, shares of found passages that are true, their
    number, meetings of true and found passages, and true passages that were met.
    """
    found_share, n_truth, true_share, n_found, n_meetings, n_matched = np.moveaxis(tallies, -1, 0)
    nothing = (n_truth == 0) & (n_found == 0)
    recall = np.where(nothing, 1.0, found_share / np.maximum(n_truth, 1))
    precision = np.where(nothing, 1.0, true_share / np.maximum(n_found, 1))
    granularity = np.where(n_matched > 0, n_meetings / np.maximum(n_matched, 1), 1.0)
    both = precision + recall
    harmonic_mean = 2 * precision * recall / np.where(both > 0, both, 1.0)
    return np.stack([harmonic_mean / np.log2(1 + granularity), precision, recall, granularity], axis=-1)


class Interval(NamedTuple):
    """A score is between these two in 95 % of the samples drawn from the pairs of documents, or documents."""

    low: float
    high: float


def count_scores(tallies: Figures) -> Figures:
    """Return F1, precision, recall, accuracy and the adjusted Rand index (last axis) from sums over things that are or are not.

    The sums (last axis): how many are true, found, both, and possible. Accuracy is of all that are possible; the Rand index
    takes them for the pairs of documents. With nothing true and nothing found, all are 1.
    """
    n_true, n_found, n_both, n_possible = np.moveaxis(tallies, -1, 0)
    nothing = (n_true == 0) & (n_found == 0)
    precision = np.where(nothing, 1.0, n_both / np.where(n_found > 0, n_found, 1.0))
    recall = np.where(nothing, 1.0, n_both / np.where(n_true > 0, n_true, 1.0))
    f1 = np.where(nothing, 1.0, 2 * n_both / np.where(nothing, 1.0, n_true + n_found))
    some = np.where(n_possible > 0, n_possible, 1.0)
    accuracy = np.where(n_possible > 0, 1 - (n_true + n_found - 2 * n_both) / some, 1.0)
    by_chance = n_true * n_found / some
    best = (n_true + n_found) / 2
    is_certain = best - by_chance <= 1e-12 * best  # all apart, or all together, in both
    rand = np.where(is_certain, 1.0, (n_both - by_chance) / np.where(is_certain, 1.0, best - by_chance))
    return np.stack([f1, precision, recall, accuracy, rand], axis=-1)


def bootstrap_intervals(tallies: Figures, n_samples: int, scores: Scores = macro_scores) -> Figures:
    """Return the lower and upper end (rows) of 95 % intervals of the scores (columns), by resampling rows of `tallies`.

    The same tallies give the same intervals.
    """
    # Pairs with equal contributions are drawn together: only how often any of them is drawn matters.
    kinds, counts = np.unique(tallies, axis=0, return_counts=True)
    random = np.random.default_rng(SEED)
    n_rows = max(1, _DRAWS_AT_ONCE // len(kinds))
    samples = [
        scores(random.multinomial(len(tallies), counts / len(tallies), min(n_rows, n_samples - done)) @ kinds)
        for done in range(0, n_samples, n_rows)
    ]
    ends: Figures = np.percentile(np.concatenate(samples), [2.5, 97.5], axis=0)
    return ends
