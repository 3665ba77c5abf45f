"""The limits that separate confirmed pairs of documents from rejected ones.

A pair is kept if any of its passages is similar and long enough, and if these cover enough of one of the two documents: what
`find` reports with these limits. Every combination of a few values of each limit is tried. Values lie between neighbouring
values of confirmed and rejected pairs, as round as they can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.passages.reported import Spans, are_long_and_similar, coverages

Numbers = NDArray[np.int64]
Figures = NDArray[np.float64]
Truths = NDArray[np.bool_]
Choice = tuple[int, int, int]

NAMES = ("similarity", "chars", "coverage")
_MOST_VALUES = 20  # of each limit, besides none
_NEAR = 1e-8  # views store shares in billionths
_STEPS = (1000, 500, 100, 50, 10, 5, 1)
_SEED = 20147


class Judged(NamedTuple):
    """Judged pairs, counted from 0, with their passages; `n_chars` are those of both documents of each pair (columns)."""

    is_confirmed: Truths
    spans: Spans
    n_chars: Numbers

    def take(self, pairs: Numbers) -> Judged:
        """Return some of the pairs, in order."""
        number = np.full(len(self.is_confirmed), -1)
        number[pairs] = np.arange(len(pairs))
        chosen = number[self.spans.pair] >= 0
        spans = self.spans.where(chosen)
        return Judged(self.is_confirmed[pairs], spans._replace(pair=number[spans.pair]), self.n_chars[pairs])


class Values(NamedTuple):
    """The values of each limit that are tried; the first one of each, 0, is no limit."""

    similarity: Sequence[Fraction]
    chars: Sequence[int]
    coverage: Sequence[Fraction]

    @classmethod
    def between(cls, judged: Judged, names: Sequence[str] = NAMES) -> Values:
        """Return values between those of judged pairs, for some of the limits."""
        similarity, chars = (_largest(judged, column) for column in (judged.spans.similarity, judged.spans.chars))
        tried: dict[str, list[Fraction]] = {}
        for name, of_pairs in zip(NAMES, (similarity, chars, coverages(judged.spans, judged.n_chars)), strict=True):
            gaps = _gaps(of_pairs, judged.is_confirmed) if name in names else []
            rounded = _round_number if name == "chars" else _round_share
            tried[name] = [Fraction(0), *(value for low, high in gaps for value in rounded(low, high))]
        return cls(tried["similarity"], [int(value) for value in tried["chars"]], tried["coverage"])


class Counted(NamedTuple):
    """How many confirmed and rejected pairs are kept (`right`, `wrong`), of how many confirmed ones."""

    right: Figures
    wrong: Figures
    n_confirmed: Figures

    @property
    def precision(self) -> Figures:
        """The share of kept pairs that are confirmed; 1 if none is kept."""
        kept = self.right + self.wrong
        share: Figures = np.where(kept > 0, self.right / np.maximum(kept, 1e-300), 1.0)
        return share

    @property
    def recall(self) -> Figures:
        """The share of confirmed pairs that are kept."""
        return self.right / self.n_confirmed

    @property
    def f1(self) -> Figures:
        """The harmonic mean of both."""
        return 2 * self.right / (self.right + self.wrong + self.n_confirmed)


class Grid:
    """Which pairs each combination of limits keeps."""

    def __init__(self, judged: Judged, values: Values) -> None:
        self.is_confirmed = judged.is_confirmed
        self.shape = tuple(len(each) for each in values)
        limits = np.array([float(value) for value in values.coverage])
        # For each similarity and length: how many values of coverage keep the pair; 0 if no passage is left.
        self._n_values = np.zeros((*self.shape[:2], len(judged.is_confirmed)), np.int64)
        for (i, similarity), (j, chars) in product(enumerate(values.similarity), enumerate(values.chars)):
            left = judged.spans.where(are_long_and_similar(judged.spans, similarity, chars))
            has_any = np.bincount(left.pair, minlength=len(judged.is_confirmed)) > 0
            n_values = np.searchsorted(limits, coverages(left, judged.n_chars), side="right")
            self._n_values[i, j] = np.where(has_any, n_values, 0)

    def keeps(self, choice: Choice) -> Truths:
        """Return which pairs a combination keeps."""
        i, j, k = choice
        kept: Truths = self._n_values[i, j] > k
        return kept

    def counted(self, weights: Figures) -> Counted:
        """Return the counts of all combinations, if pairs count so many times."""
        n_cells, n_bins = self.shape[0] * self.shape[1], self.shape[2] + 1
        bins = np.arange(n_cells)[:, None] * n_bins + self._n_values.reshape(n_cells, -1)
        right, wrong = (
            np.bincount(
                bins[:, which].ravel(), np.broadcast_to(weights[which], (n_cells, int(which.sum()))).ravel(), n_cells * n_bins
            ).reshape(*self.shape[:2], n_bins)[:, :, :0:-1].cumsum(axis=2)[:, :, ::-1]
            for which in (self.is_confirmed, ~self.is_confirmed)
        )  # fmt: skip
        return Counted(right, wrong, weights[self.is_confirmed].sum())

    def best(self, weights: Figures, min_precision: float | None) -> Choice:
        """Return the best combination: of the highest F1, or of the highest recall with at least this precision.

        If none is as precise, the most precise one. Of equally good ones, that with the fewest limits, then the lowest ones. A
        limit that may be higher with the same outcome is in the middle of all that have it.
        """
        score = scores(self.counted(weights), min_precision)
        equal = np.argwhere(score >= score.max() - 1e-12)
        order = np.lexsort((*equal.T[::-1], equal.sum(axis=1), np.count_nonzero(equal, axis=1)))
        chosen = equal[order[0]].tolist()
        for axis in range(3):
            if chosen[axis]:
                along = score[tuple(slice(None) if a == axis else chosen[a] for a in range(3))]
                last = chosen[axis]
                while last + 1 < len(along) and along[last + 1] >= score.max() - 1e-12:
                    last += 1
                chosen[axis] = (chosen[axis] + last) // 2
        return chosen[0], chosen[1], chosen[2]


def scores(counted: Counted, min_precision: float | None) -> Figures:
    """Return how good each combination is; with a wanted precision, those that reach it are above all others."""
    if min_precision is None:
        return counted.f1
    is_precise = (counted.precision >= min_precision) & (counted.right > 0)
    return np.where(is_precise, 1 + counted.recall, np.where(counted.right > 0, counted.precision, 0.0))


class Resampled(NamedTuple):
    """Combinations chosen from samples of the pairs (rows), and F1, precision and recall on the pairs left out of each."""

    choices: Numbers
    left_out: Figures


def resample(grid: Grid, min_precision: float | None, n_samples: int) -> Resampled:
    """Choose again from pairs drawn with replacement. Samples need pairs of both kinds, in them and left out."""
    random = np.random.default_rng(_SEED)
    n = len(grid.is_confirmed)
    choices, left_out = [], []
    for _ in range(n_samples):
        weights = random.multinomial(n, np.full(n, 1 / n)).astype(np.float64)
        out = weights == 0
        if not all(part[grid.is_confirmed].any() and part[~grid.is_confirmed].any() for part in (weights > 0, out)):
            continue
        choice = grid.best(weights, min_precision)
        choices.append(choice)
        found = count_pairs(grid.keeps(choice)[out], grid.is_confirmed[out])
        left_out.append((found.f1, found.precision, found.recall))
    return Resampled(np.array(choices, np.int64).reshape(-1, 3), np.array(left_out, np.float64).reshape(-1, 3))


def count_pairs(is_kept: Truths, is_confirmed: Truths) -> Counted:
    """Return the counts of one combination."""
    right, wrong, confirmed = (
        np.asarray(np.count_nonzero(which), np.float64)
        for which in (is_kept & is_confirmed, is_kept & ~is_confirmed, is_confirmed)
    )
    return Counted(right, wrong, confirmed)


def share_interval(n_some: float, n_all: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson's)."""
    if n_all == 0:
        return 0.0, 1.0
    z, share = 1.959963984540054, n_some / n_all
    middle, spread = share + z * z / (2 * n_all), z * (share * (1 - share) / n_all + z * z / (4 * n_all * n_all)) ** 0.5
    whole = 1 + z * z / n_all
    return max(0.0, min(share, (middle - spread) / whole)), min(1.0, max(share, (middle + spread) / whole))


def _largest(judged: Judged, column: NDArray[np.float64] | Numbers) -> Figures:
    largest = np.zeros(len(judged.is_confirmed))
    np.maximum.at(largest, judged.spans.pair, column.astype(np.float64))
    return largest


def _gaps(of_pairs: Figures, is_confirmed: Truths) -> list[tuple[float, float]]:
    """Return neighbouring values between which a limit makes a difference, a few of them, evenly chosen.

    Between two values that only confirmed pairs have, or only rejected ones, no limit is better than one beyond them.
    """
    distinct, which = np.unique(of_pairs[np.isfinite(of_pairs)], return_inverse=True)
    confirmed, rejected = (
        np.bincount(which[side[np.isfinite(of_pairs)]], minlength=len(distinct)) for side in (is_confirmed, ~is_confirmed)
    )
    found = [
        (float(low), float(high))
        for (low, high), (a, b) in zip(pairwise(distinct), pairwise(range(len(distinct))), strict=True)
        if not (confirmed[[a, b]].sum() == 0 or rejected[[a, b]].sum() == 0)
    ]
    if len(found) <= _MOST_VALUES:
        return found
    return [found[at] for at in np.linspace(0, len(found) - 1, _MOST_VALUES).round().astype(int)]


def _round_share(low: float, high: float) -> Iterator[Fraction]:
    """Yield the shortest decimal near the middle that is above the low value, and not above the high one."""
    for digits in range(1, 7):
        value = Fraction(f"{(low + high) / 2:.{digits}f}")
        if low + _NEAR < value <= high - _NEAR:
            yield value
            return


def _round_number(low: float, high: float) -> Iterator[Fraction]:
    """Yield a number of characters in between, as round as possible."""
    for step in _STEPS:
        value = Fraction(round((low + high) / 2 / step) * step)
        if low < value <= high:
            yield value
            return
