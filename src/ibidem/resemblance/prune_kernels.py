"""Kernels that find out which shingles stand in one document only, and which documents therefore resemble none."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from ibidem.compiling import outer_kernel

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


@outer_kernel
def count_twice(hashes, first, wanted, part, part_bits, table_bits, counters):
    """Count the hashes of wanted documents whose top bits are `part`, as none, one or more: four counters a byte.

    A counter is at the hash's top `table_bits` and may be shared by several: a count may be too high, never too low.
    """
    shift = np.uint64(64 - table_bits)
    part_shift = np.uint64(64 - part_bits)
    for document in range(len(wanted)):
        if not wanted[document]:
            continue
        for i in range(first[document], first[document + 1]):
            key = hashes[i]
            if key >> part_shift != part:
                continue
            at = key >> shift
            byte = at >> _TWO
            bits = (at & _THREE) << _ONE
            if (np.uint64(counters[byte]) >> bits) & _THREE < _TWO:
                counters[byte] += np.uint8(_ONE << bits)


@outer_kernel
def keep_shared(hashes, first, wanted, least_shared, document_from, document_to, table_bits, counters, kept, n_kept):
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
            end += (np.uint64(counters[at >> _TWO]) >> ((at & _THREE) << _ONE)) & _THREE == _TWO
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
