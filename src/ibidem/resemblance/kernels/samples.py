"""Kernels of samples of a fixed size: the shingles of a document that come first in an order that all documents share.

The order is that of the hashes times an odd number, not of the hashes themselves: those that come first would begin with the
same bits, by which later stages tell hashes apart.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN
from ibidem.execution.compiler import inner_kernel, outer_kernel

_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner_kernel
def _sift_down(heap, begin, size, key):
    """Put a hash in the place of the last one of a heap, which is at `begin`."""
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[begin + child] * GOLDEN < heap[begin + child + 1] * GOLDEN:
            child += 1
        if heap[begin + child] * GOLDEN <= key * GOLDEN:
            break
        heap[begin + at] = heap[begin + child]
        at = child
    heap[begin + at] = key


@outer_kernel
def keep_first(hashes, first, wanted, n_most, document_from, document_to, kept, n_kept):
    """Copy the `n_most` first hashes of each wanted document, in any order; returns their number.

    They are a heap with the last of them on top: whatever the order of the hashes, it costs no more than a sort.
    """
    n = 0
    for document in range(document_from, document_to):
        n_kept[document] = 0
        if not wanted[document]:
            continue
        size = 0
        for i in range(first[document], first[document + 1]):
            key = hashes[i]
            if size == n_most:
                if key * GOLDEN < kept[n] * GOLDEN:
                    _sift_down(kept, n, size, key)
                continue
            at = size
            size += 1
            while at > 0 and kept[n + (at - 1) // 2] * GOLDEN < key * GOLDEN:
                kept[n + at] = kept[n + (at - 1) // 2]
                at = (at - 1) // 2
            kept[n + at] = key
        n_kept[document] = size
        n += size
    return n


@inner_kernel
def _last_of(hashes, begin, end, n_most):
    """Return how far a sample goes: to its last hash if it is full, otherwise to the end of all."""
    if end - begin < n_most:
        return _LAST
    last = np.uint64(0)
    for i in range(begin, end):
        last = max(last, hashes[i] * GOLDEN)
    return last


@inner_kernel
def _count_up_to(hashes, begin, end, last):
    n = 0
    for i in range(begin, end):
        if hashes[i] * GOLDEN <= last:
            n += 1
    return n


@outer_kernel
def count_comparable(hashes, first, n_most, a, b, of_a, of_b):
    """Write for each pair of documents how many hashes of each lie as far as both samples go."""
    for k in range(len(a)):
        begin_a, end_a = first[a[k]], first[a[k] + 1]
        begin_b, end_b = first[b[k]], first[b[k] + 1]
        last = min(_last_of(hashes, begin_a, end_a, n_most), _last_of(hashes, begin_b, end_b, n_most))
        of_a[k] = _count_up_to(hashes, begin_a, end_a, last)
        of_b[k] = _count_up_to(hashes, begin_b, end_b, last)
