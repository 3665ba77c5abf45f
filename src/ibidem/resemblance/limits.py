"""How many shingles two documents must share, as tables over their sizes: integers, so that no rounding loses a pair.

The join knows nothing about similarity measures. It receives the least overlap of two documents of sizes x ≥ y as
min(`needed_by_sum`[x + y], `needed_by_small`[y]); all its bounds follow from these two tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.matches.kernels.bounds import needed_overlap

_EXACT_SIZES = 256


@dataclass(frozen=True)
class SizeBounds:
    """What the limits mean for documents of given sizes, one entry each.

    `smallest_partner`: smaller documents cannot reach the overlap. `probe_prefix` and `index_prefix`: with shingles in one
    common order, this many first shingles of the larger and of the smaller document must contain a common one. `least_shared`:
    a document that shares fewer shingles with all others together is in no pair.
    """

    smallest_partner: NDArray[np.int64]
    probe_prefix: NDArray[np.int64]
    index_prefix: NDArray[np.int64]
    least_shared: NDArray[np.int64]


class OverlapLimits(NamedTuple):
    """The overlap that two documents need, by the sum of their sizes and by the size of the smaller one (empty: never)."""

    needed_by_sum: NDArray[np.int64]
    needed_by_small: NDArray[np.int64]

    def bounds(self, sizes: NDArray[np.int64]) -> SizeBounds:
        """Return what follows for documents of these sizes."""
        # The smallest y with needed(x + y) ≤ y; the difference only grows with y.
        smallest = _bisect(np.ones_like(sizes), np.maximum(sizes, 1), lambda y: self.needed_by_sum[sizes + y] <= y)
        as_larger = self.needed_by_sum[sizes + np.minimum(smallest, sizes)]
        as_smaller = self.needed_by_sum[2 * sizes]
        if len(self.needed_by_small):
            smallest = np.ones_like(sizes)
            as_larger = np.ones_like(sizes)
            as_smaller = np.minimum(as_smaller, self.needed_by_small[sizes])
        return SizeBounds(
            smallest,
            np.maximum(sizes - as_larger + 1, 0),
            np.maximum(sizes - as_smaller + 1, 0),
            np.minimum(as_larger, as_smaller),
        )


def resemblance_limits(min_similarity: Fraction, min_containment: Fraction, largest: int) -> OverlapLimits:
    """Return the limits for overlap / union ≥ `min_similarity`, or overlap / smaller ≥ `min_containment` unless that is 0."""
    p, q = min_similarity.as_integer_ratio()
    by_sum = needed_overlap.py_func(_numbers(2 * largest + 1), 0, p, q)  # over a whole array at once
    if min_containment == 0:
        return OverlapLimits(by_sum, _numbers(0))
    p, q = min_containment.as_integer_ratio()
    return OverlapLimits(by_sum, -(-p * _numbers(largest + 1) // q))


def sampled_limits(min_similarity: Fraction, min_containment: Fraction, miss_probability: float, largest: int) -> OverlapLimits:
    """Return limits for samples of shingles that duplicates miss with at most this probability; see `resemblance_limits`.

    Of Y sampled shingles of both documents together, the shared ones are binomial(Y, similarity); of those of one document,
    binomial(Y, containment).
    """
    least = _binomial_quantiles(float(min_similarity), miss_probability, 2 * largest)
    # The smallest overlap X with X ≥ least[sum - X]; it grows by 0 or 1 with the sum.
    sums = _numbers(2 * largest + 1)
    overlap = _bisect(np.zeros_like(sums), sums.copy(), lambda x: x >= least[sums - x])
    by_small = _numbers(0)
    if min_containment > 0:
        by_small = np.maximum(_binomial_quantiles(float(min_containment), miss_probability, largest), 1)
    return OverlapLimits(np.maximum(overlap, 1), by_small)


def _bisect(
    low: NDArray[np.int64], high: NDArray[np.int64], is_enough: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> NDArray[np.int64]:
    """Return the smallest numbers from `low` to `high` that are enough, or `high`."""
    while (low < high).any():
        middle = (low + high) // 2
        enough = is_enough(middle)
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return low


def _binomial_quantiles(share: float, probability: float, largest: int) -> NDArray[np.int64]:
    """Return for each n the largest k such that binomial(n, share) is below k with at most this probability."""
    sizes = _numbers(largest + 1)
    deviation = NormalDist().inv_cdf(probability) * np.sqrt(sizes * share * (1 - share))
    # One less than the normal approximation, which is safe for sizes that are not computed exactly.
    quantiles = np.maximum(np.floor(sizes * share + deviation).astype(np.int64) - 1, 0)
    for n in range(min(_EXACT_SIZES, largest + 1)):
        below, k = 0.0, 0
        while k < n:
            below += math.comb(n, k) * share**k * (1 - share) ** (n - k)
            if below > probability:
                break
            k += 1
        quantiles[n] = k
    return np.maximum.accumulate(quantiles)


def _numbers(n: int) -> NDArray[np.int64]:
    return np.arange(n, dtype=np.int64)
