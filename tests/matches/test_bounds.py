"""The bounds of the set-similarity join, against all sizes and overlaps."""

from __future__ import annotations

import numba
import pytest

from ibidem.matches.kernels import bounds

SIZES = range(1, 25)


@numba.njit
def bounds_of(x: int, y: int, n_left: int, p: int, q: int) -> tuple[int, int, int, int, int]:
    return (
        bounds.needed_overlap(x, y, p, q),
        bounds.smallest_partner(x, p, q),
        bounds.largest_partner(x, n_left, p, q),
        bounds.probe_prefix(x, p, q),
        bounds.index_prefix(x, p, q),
    )


@pytest.mark.parametrize(("p", "q"), [(1, 10), (1, 3), (1, 2), (3, 5), (4, 5), (9, 10), (999_983, 1_000_000), (1, 1)])
def test_bounds_are_exact(p: int, q: int) -> None:
    def similar(x: int, y: int, overlap: int) -> bool:
        return q * overlap >= p * (x + y - overlap)

    for x in SIZES:
        for y in SIZES:
            needed, smallest, _, n_probe, n_index = bounds_of(x, y, x, p, q)
            # Sets that are too different in size need more elements than the smaller one has.
            assert needed == next(n for n in range(x + y + 1) if similar(x, y, n))
            assert (y < smallest) == (y < x and needed > y)
            # A prefix has more elements than similar sets may lack: the larger one in the smaller one, and the other way round.
            if y <= x and needed <= y:
                assert n_probe > x - needed
            if y >= x and needed <= x:
                assert n_index > x - needed
        _, smallest, _, n_probe, n_index = bounds_of(x, x, x, p, q)
        assert n_probe == x - bounds_of(x, smallest, x, p, q)[0] + 1
        assert n_index == x - bounds_of(x, x, x, p, q)[0] + 1
        for n_left in range(1, x + 1):
            largest = bounds_of(x, 1, n_left, p, q)[2]
            assert similar(x, largest, n_left) or largest < 1
            assert not similar(x, largest + 1, n_left)
