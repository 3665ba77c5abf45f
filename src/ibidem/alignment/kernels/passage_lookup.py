"""Kernels that look up which passages of a pair of documents lie around a point, without looking at all of them.

A passage is a rectangle: a span of words in a and one in b. Passages of about one size lie in a grid of cells of that size, so
that each of them is in four cells at most, and what lies around a point is in one cell a size. Cells are slots of a table:
`heads` has the last passage put into each (or -1), `following` the one before it, four entries for each passage.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import inner_kernel

ENTRIES = 4  # of a passage: it may lie across the corner of four cells


@inner_kernel
def size_class(spans, i):
    """Return the class of a passage by its longer side: the number of bits that its length needs."""
    length = max(spans[4 * i + 1] - spans[4 * i], spans[4 * i + 3] - spans[4 * i + 2])
    bits = np.int64(0)
    while np.int64(1) << bits < length:
        bits += 1
    return bits


@inner_kernel
def cell_slot(pair, bits, cell_a, cell_b, n_slots):
    """Return the slot of a cell; other cells may share it. The number of slots is a power of two."""
    key = mix(mix(mix(SEED, np.uint64(pair)), np.uint64(cell_a) << np.uint64(6) | np.uint64(bits)), np.uint64(cell_b))
    return np.int64(mix(key, SEED) & np.uint64(n_slots - 1))


@inner_kernel
def put_into_cells(pair, spans, i, slack, heads, following):
    """Put a passage, wider by `slack` on all sides, into its cells; return its class."""
    bits = size_class(spans, i)
    while np.int64(1) << bits < 2 * slack:  # so that it still lies in four cells at most
        bits += 1
    bits += slack > 0
    low_a, high_a = (spans[4 * i] - slack) >> bits, (spans[4 * i + 1] + slack) >> bits
    low_b, high_b = (spans[4 * i + 2] - slack) >> bits, (spans[4 * i + 3] + slack) >> bits
    entry = ENTRIES * i
    for cell_a in range(low_a, high_a + 1):
        for cell_b in range(low_b, high_b + 1):
            slot = cell_slot(pair, bits, cell_a, cell_b, len(heads))
            following[entry] = heads[slot]
            heads[slot] = entry
            entry += 1
    return bits
