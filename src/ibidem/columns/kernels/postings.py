"""Kernels that find the rows of equal keys."""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import outer_kernel

_ONE = np.uint64(1)
_AHEAD = 16  # keys, for what is fetched early


@outer_kernel
def count_slots(keys, counts):
    """Count the keys by slot, up to 2: a key alone in its slot occurs nowhere else and needs no sorting."""
    mask = np.uint64(len(counts) - 1)
    for row in range(len(keys)):
        fetch_ahead(counts, (keys[min(row + _AHEAD, len(keys) - 1)] >> np.uint64(7)) & mask)
        key = keys[row]
        if key != 0:
            slot = (key >> np.uint64(7)) & mask
            if counts[slot] < 2:
                counts[slot] += 1


@outer_kernel
def pack_repeated(keys, counts, row_bits, packed):
    """Pack (high key bits, row) of every key that shares its slot into one word for sorting; return how many there are."""
    mask = np.uint64(len(counts) - 1)
    row_mask = (_ONE << np.uint64(row_bits)) - _ONE
    n = 0
    for row in range(len(keys)):
        fetch_ahead(counts, (keys[min(row + _AHEAD, len(keys) - 1)] >> np.uint64(7)) & mask)
        key = keys[row]
        if key != 0 and counts[(key >> np.uint64(7)) & mask] > 1:
            packed[n] = (key & ~row_mask) | np.uint64(row)
            n += 1
    return n


@outer_kernel
def list_postings(packed, keys, row_bits, rows, first):
    """Unpack sorted words into the postings of keys with two or more rows: `rows` increase within each key, `first` bounds
    them.

    Keys that agree only in their high bits are separated here, so packing loses nothing.
    """
    row_mask = (_ONE << np.uint64(row_bits)) - _ONE
    n_keys = 0
    n_rows = 0
    i = 0
    n = len(packed)
    first[0] = 0
    while i < n:
        fetch_ahead(keys, np.int64(packed[min(i + _AHEAD, n - 1)] & row_mask))
        head = packed[i] & ~row_mask
        used = head | row_mask  # no row has this number
        j = i + 1
        while j < n and packed[j] & ~row_mask == head:
            j += 1
        # Almost always one key; otherwise take the members of one key at a time, marking them as used.
        left = j - i
        k = i
        while left > 1:
            while packed[k] == used:
                k += 1
            key = keys[np.int64(packed[k] & row_mask)]
            begin = n_rows
            for m in range(k, j):
                if packed[m] != used:
                    row = np.int64(packed[m] & row_mask)
                    if keys[row] == key:
                        rows[n_rows] = row
                        n_rows += 1
                        packed[m] = used
                        left -= 1
            if n_rows - begin > 1:
                n_keys += 1
                first[n_keys] = n_rows
            else:
                n_rows = begin
        i = j
    return n_keys
