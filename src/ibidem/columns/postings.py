"""Postings: the rows of each key with several rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels import postings as kernels


@dataclass(frozen=True)
class Postings:
    """Rows of equal keys, by key: those of key g are `rows[first[g]:first[g + 1]]`, increasing, two or more."""

    rows: NDArray[np.int32]
    first: NDArray[np.int64]

    def costs(self, max_places: int) -> NDArray[np.int64]:
        """Return the pairs that the rows of each key may make."""
        places = np.diff(self.first)
        return np.where(places > max_places, 1, places * (places - 1) // 2 + 1)


def postings_of(keys: NDArray[np.uint64]) -> Postings:
    """Return the rows of equal keys; key 0 means none. Keys that occur once are left out before anything is sorted."""
    n = len(keys)
    row_bits = max(1, n.bit_length())
    counts = np.zeros(1 << max(10, (4 * n).bit_length()), np.uint8)
    kernels.count_slots(keys, counts)
    packed = np.empty(n, np.uint64)
    packed = packed[: kernels.pack_repeated(keys, counts, row_bits, packed)]
    packed.sort()
    rows = np.empty(len(packed), np.int32)
    first = np.empty(len(packed) // 2 + 1, np.int64)
    n_keys = kernels.list_postings(packed, keys, row_bits, rows, first)
    first = first[: n_keys + 1].copy()
    return Postings(rows[: first[-1]], first)
