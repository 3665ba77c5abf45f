"""Macro-averaged scores from what each pair of documents adds to them, and how sure they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
SEED = 20131
_BLOCK_DRAWS = 1 << 22


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


def bootstrap_intervals(tallies: Figures, n_samples: int) -> Figures:
    """Return the lower and upper end (rows) of 95 % intervals of the macro scores (columns), by resampling rows of `tallies`.

    The same tallies give the same intervals.
    """
    # Pairs that add the same are drawn together: how often any of them is drawn is all that matters.
    kinds, counts = np.unique(tallies, axis=0, return_counts=True)
    random = np.random.default_rng(SEED)
    n_rows = max(1, _BLOCK_DRAWS // len(kinds))
    samples = [
        macro_scores(random.multinomial(len(tallies), counts / len(tallies), min(n_rows, n_samples - done)) @ kinds)
        for done in range(0, n_samples, n_rows)
    ]
    ends: Figures = np.percentile(np.concatenate(samples), [2.5, 97.5], axis=0)
    return ends
