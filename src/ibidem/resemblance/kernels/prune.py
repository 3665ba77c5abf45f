"""Kernels that find out which shingles stand in one document only, and which documents therefore resemble none."""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import outer_kernel

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_ONCE = np.uint8(0b01010101)


@outer_kernel
def mark_twice(hashes, first, wanted, document_from, document_to, table_bits, marks):
    """Mark the hashes of wanted documents as seen once or twice: two bits each, four hashes a byte, without a branch.

    A mark is at the hash's top `table_bits` and may be shared by several: one too many may seem seen twice, never one too few.
    """
    shift = np.uint64(64 - table_bits)
    for document in range(document_from, document_to):
        if not wanted[document]:
            continue
        for i in range(first[document], first[document + 1]):
            at = hashes[i] >> shift
            once = np.uint8(1) << np.uint8((at & _THREE) << _ONE)
            byte = marks[at >> _TWO]
            marks[at >> _TWO] = byte | once | (byte & once) << np.uint8(1)


@outer_kernel
def unite_marks(marks, other):
    """Add the marks of other documents: what both have seen was seen twice."""
    for i in range(len(marks)):
        both = marks[i] & other[i] & _ONCE
        marks[i] = marks[i] | other[i] | both << np.uint8(1)


@outer_kernel
def keep_shared(hashes, first, wanted, least_shared, document_from, document_to, table_bits, marks, kept, n_kept):
    """Copy the hashes that seem to stand in several documents, for the wanted ones that have `least_shared` of them.

    `n_kept` is the number by document; 0 means that it is in no pair. Returns the number of hashes.
    """
    shift = np.uint64(64 - table_bits)
    n = 0
    for document in range(document_from, document_to):
        n_kept[document] = 0
        if not wanted[document]:
            continue
        end = n
        for i in range(first[document], first[document + 1]):
            at = hashes[i] >> shift
            kept[end] = hashes[i]
            end += (np.uint64(marks[at >> _TWO]) >> (((at & _THREE) << _ONE) | _ONE)) & _ONE
        if end - n >= max(least_shared[document], 1):
            n_kept[document] = end - n
            n = end
    return n


@outer_kernel
def sample_hashes(hashes, first, wanted, every, rest, document_from, document_to, kept, n_kept):
    """Copy the hashes of wanted documents that leave `rest` when divided by `every`; returns their number."""
    n = 0
    for document in range(document_from, document_to):
        begin = n
        if wanted[document]:
            for i in range(first[document], first[document + 1]):
                kept[n] = hashes[i]
                n += hashes[i] % every == rest
        n_kept[document] = n - begin
    return n
