"""Kernels that count the documents of shingles, by the first bits of their hashes, and choose shingles by it: those of only one
document, which lead to no pair, and those of very many.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


@inlined_kernel
def _choose(hashes, begin, end, part, part_bits, chosen):
    """Write which hashes of [begin, end) begin with the bits `part`; return how many. No branch is predicted wrongly."""
    # Unsigned indices, because numba treats negative ones as counted from the end.
    n = np.uint64(0)
    shift = np.uint64(64 - part_bits)
    for i in range(np.uint64(begin), np.uint64(end)):
        chosen[n] = i
        n += np.uint64(hashes[i] >> shift == part)
    return np.int64(n)


@outer_kernel
def mark_twice(hashes, first, wanted, part, part_bits, table_bits, chosen, marks):
    """Mark the hashes of one part, of wanted documents, as seen once or twice: two bits each, four per byte, without a branch.

    Marks are indexed by the first `table_bits` of the hash after those of its part, and may be shared: a hash may wrongly seem
    to be seen twice, never the reverse.
    """
    shift, mask = np.uint64(64 - part_bits - table_bits), (_ONE << np.uint64(table_bits)) - _ONE
    for document in range(len(wanted)):
        if not wanted[document]:
            continue
        for begin in range(first[document], first[document + 1], len(chosen)):
            end = min(begin + len(chosen), first[document + 1])
            n = _choose(hashes, begin, end, part, part_bits, chosen)
            for k in range(n):
                fetch_ahead(marks, (hashes[chosen[k]] >> shift & mask) >> _TWO)
            for k in range(n):
                at = hashes[chosen[k]] >> shift & mask
                once = np.uint8(1) << np.uint8((at & _THREE) << _ONE)
                byte = marks[at >> _TWO]
                marks[at >> _TWO] = byte | once | (byte & once) << np.uint8(1)


@outer_kernel
def count_single(hashes, first, wanted, part, part_bits, table_bits, chosen, marks, is_shared, n_single):
    """Note which hashes of one part seem to be in several wanted documents, and count per document those that are not."""
    shift, mask = np.uint64(64 - part_bits - table_bits), (_ONE << np.uint64(table_bits)) - _ONE
    for document in range(len(wanted)):
        n_single[document] = 0
        if not wanted[document]:
            continue
        for begin in range(first[document], first[document + 1], len(chosen)):
            end = min(begin + len(chosen), first[document + 1])
            n = _choose(hashes, begin, end, part, part_bits, chosen)
            for k in range(n):
                fetch_ahead(marks, (hashes[chosen[k]] >> shift & mask) >> _TWO)
            for k in range(n):
                at = hashes[chosen[k]] >> shift & mask
                shared = (np.uint64(marks[at >> _TWO]) >> (((at & _THREE) << _ONE) | _ONE)) & _ONE
                is_shared[chosen[k]] = shared != 0
                n_single[document] += np.int32(1 - shared)


@outer_kernel
def keep_shared(hashes, first, wanted, is_shared, document_from, document_to, kept, n_kept):
    """Copy the hashes of wanted documents that are noted as shared; return their number, and write it per document."""
    n = 0
    for document in range(document_from, document_to):
        begin = n
        if wanted[document]:
            for i in range(first[document], first[document + 1]):
                kept[n] = hashes[i]
                n += is_shared[i]
        n_kept[document] = n - begin
    return n


@outer_kernel
def sample_hashes(hashes, first, wanted, every, rest, document_from, document_to, kept, n_kept):
    """Copy the hashes of wanted documents with remainder `rest` modulo `every`; return their number."""
    n = 0
    for document in range(document_from, document_to):
        begin = n
        if wanted[document]:
            for i in range(first[document], first[document + 1]):
                kept[n] = hashes[i]
                n += hashes[i] % every == rest
        n_kept[document] = n - begin
    return n


@outer_kernel
def count_roughly(hashes, first, wanted, document_from, document_to, table_bits, counters):
    """Count the hashes of wanted documents at their top `table_bits`; several may share a counter."""
    shift = np.uint64(64 - table_bits)
    for document in range(document_from, document_to):
        if wanted[document]:
            for i in range(first[document], first[document + 1]):
                counters[hashes[i] >> shift] += np.uint32(1)


@outer_kernel
def select_marked(hashes, first, wanted, document_from, document_to, table_bits, marks, selected):
    """Copy the hashes of wanted documents that are marked at their top `table_bits`; return their number."""
    shift = np.uint64(64 - table_bits)
    n = 0
    for document in range(document_from, document_to):
        if wanted[document]:
            for i in range(first[document], first[document + 1]):
                selected[n] = hashes[i]
                n += marks[hashes[i] >> shift]
    return n


@inner_kernel
def place_of(value, values, table_bits, marks):
    """Return the index of a hash among sorted ones, or -1. Hashes not marked at their top `table_bits` are not among them."""
    if not marks[value >> np.uint64(64 - table_bits)]:
        return -1
    begin, end = 0, len(values)
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < value:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < len(values) and values[begin] == value else -1


@outer_kernel
def count_members(hashes, first, least, document_from, document_to, values, table_bits, marks, counts):
    """Count per document how many of its hashes are among `values`; 0 if fewer than `least`."""
    for document in range(document_from, document_to):
        most_others = first[document + 1] - first[document] - least[document]
        n_others = 0
        i = first[document]
        while n_others <= most_others and i < first[document + 1]:
            n_others += place_of(hashes[i], values, table_bits, marks) < 0
            i += 1
        counts[document] = i - first[document] - n_others if n_others <= most_others else 0


@outer_kernel
def list_first_members(hashes, first, document_from, document_to, values, table_bits, marks, listed_first, listed):
    """Write for each document the smallest indices of its hashes in `values`, in order, as many as it has room for."""
    for document in range(document_from, document_to):
        begin, end = listed_first[document], listed_first[document]
        if end == listed_first[document + 1]:
            continue
        for i in range(first[document], first[document + 1]):
            place = place_of(hashes[i], values, table_bits, marks)
            if place < 0 or (end == listed_first[document + 1] and place > listed[end - 1]):
                continue
            at = end
            if end < listed_first[document + 1]:
                end += 1
            else:
                at -= 1
            while at > begin and listed[at - 1] > place:
                listed[at] = listed[at - 1]
                at -= 1
            listed[at] = place
