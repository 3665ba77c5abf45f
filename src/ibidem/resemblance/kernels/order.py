"""Kernels of the order measure: sketches of sequences, and the length of the longest common subsequence (LCS) of two.

Documents are sequences of shingle hashes in reading order, `hashes[first[d] : first[d + 1]]`. The limit is the fraction p/q;
all bounds use integer arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import GOLDEN, mix
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.join import popcount

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class OrderLimits(NamedTuple):
    """The limit, and whether bitmaps reject by the paper's bound, which loses pairs below 1/2."""

    p: int
    q: int
    paper_bound: bool


class Bitmaps(NamedTuple):
    """A bitmap of `n_words` words per document, concatenated; 0 words: no bitmaps."""

    words: NDArray[np.uint64]
    n_words: int


class OrderRoom(NamedTuple):
    """Working memory of a comparison: slots with their keys, entries (three columns), the row and its words with zeros, and the
    first entries of elements found from the other sequence.
    """

    slots: NDArray[np.int32]
    slot_keys: NDArray[np.uint64]
    entry_word: NDArray[np.int32]
    entry_bits: NDArray[np.uint64]
    entry_next: NDArray[np.int32]
    row: NDArray[np.uint64]
    with_zeros: NDArray[np.uint64]
    found: NDArray[np.int32]


@outer_kernel
def fill_bitmaps(hashes, first, document_from, document_to, n_words, bitmaps):
    """Set a bit for every element, for documents [document_from, document_to); a bitmap has n_words (1, 2 or 4) words."""
    shift = np.uint64(58)
    width = n_words
    while width > 1:
        shift -= _ONE
        width //= 2
    for d in range(document_from, document_to):
        for w in range(n_words):
            bitmaps[d * n_words + w] = np.uint64(0)
        for i in range(first[d], first[d + 1]):
            bit = np.int64(hashes[i] * GOLDEN >> shift)
            bitmaps[d * n_words + (bit >> 6)] |= _ONE << np.uint64(bit & 63)


@inlined_kernel
def _only_one(bitmaps, a, b):
    """Return the number of bits that only a has, and that only b has.

    A bit that only a has means an element that b lacks, so a position of a that no common subsequence uses; different bits mean
    different positions. So the LCS is at most |a| minus the first number, and |b| minus the second.
    """
    only_a = np.int64(0)
    only_b = np.int64(0)
    for w in range(bitmaps.n_words):
        x = bitmaps.words[a * bitmaps.n_words + w]
        y = bitmaps.words[b * bitmaps.n_words + w]
        only_a += np.int64(popcount(x & ~y))
        only_b += np.int64(popcount(y & ~x))
    return only_a, only_b


@inlined_kernel
def _slot_of(key, mask, slots, slot_keys):
    """Return the slot of a key in an open-addressing table, or the free slot where it belongs; -1 marks a free slot."""
    slot = np.int64(key * GOLDEN >> np.uint64(20)) & mask
    while slots[slot] >= 0 and slot_keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@inner_kernel
def _clear_slots(n, slots):
    """Free as many slots as a table of n keys needs; return the mask of slot numbers."""
    n_slots = 4
    while n_slots < 2 * n:
        n_slots *= 2
    for k in range(n_slots):
        slots[k] = -1
    return n_slots - 1


@outer_kernel
def number_occurrences(hashes, first, document_from, document_to, slots, slot_keys, seen, numbered):
    """Write every element with its occurrence number in the document mixed in; first occurrences are unchanged."""
    for d in range(document_from, document_to):
        mask = _clear_slots(first[d + 1] - first[d], slots)
        for i in range(first[d], first[d + 1]):
            key = hashes[i]
            slot = _slot_of(key, mask, slots, slot_keys)
            if slots[slot] < 0:
                slots[slot] = 0
                slot_keys[slot] = key
                seen[slot] = 0
            seen[slot] += 1
            numbered[i] = key if seen[slot] == 1 else mix(key, np.uint64(seen[slot]))


@inner_kernel
def _index_places(hashes, begin, low, high, room):
    """Index the places [low, high) of the sequence that starts at `begin`; return the mask of slot numbers.

    The slot of an element has the first of its entries. An entry is a word (64 positions) that contains the element, the bits
    of its positions there, and the element's next entry or -1; words increase.
    """
    slots, slot_keys, entry_word, entry_bits = room.slots, room.slot_keys, room.entry_word, room.entry_bits
    mask = _clear_slots(high - low, slots)
    n = 0
    for place in range(high - 1, low - 1, -1):
        key = hashes[begin + place]
        slot = _slot_of(key, mask, slots, slot_keys)
        entry = slots[slot]
        bit = _ONE << np.uint64(place & 63)
        if entry >= 0 and entry_word[entry] == place >> 6:
            entry_bits[entry] |= bit
        else:
            entry_word[n] = place >> 6
            entry_bits[n] = bit
            room.entry_next[n] = entry
            slots[slot] = n
            slot_keys[slot] = key
            n += 1
    return mask


@inlined_kernel
def _note_zeros(word, row, with_zeros):
    """Note whether a word of the row has a zero."""
    bit = _ONE << np.uint64(word & 63)
    if row[word] == _ALL:
        with_zeros[word >> 6] &= ~bit
    else:
        with_zeros[word >> 6] |= bit


@inlined_kernel
def _next_with_zeros(word, end, with_zeros):
    """Return the first word of [word, end) that has a zero, or `end`."""
    if word >= end:
        return end
    block = word >> 6
    bits = with_zeros[block] & (_ALL << np.uint64(word & 63))
    while bits == 0 and block < (end - 1) >> 6:
        block += 1
        bits = with_zeros[block]
    if bits == 0:
        return end
    return min(end, (block << 6) + np.int64(popcount((bits & (~bits + _ONE)) - _ONE)))


@inner_kernel
def _common_subsequence(n_found, low, high, needed, room):
    """Return the LCS length of positions [low, high) of one sequence and the elements of the other found in it.

    Returns -1 as soon as the length cannot reach `needed`. The row of the dynamic programme is stored as bits, with a zero
    where it increases. An element with the positions M turns it into (V + (V & M)) | (V & ~M). Words without a position of the
    element change only where a carry ends, at their first zero, so only these two kinds of words are visited; `with_zeros` has
    a bit for each word that stops a carry. A carry out of the last word makes one more zero.
    """
    entry_word, entry_next, row, with_zeros = room.entry_word, room.entry_next, room.row, room.with_zeros
    first_word = low >> 6
    last_word = (high - 1) >> 6
    # Positions below `low` are zeros, where no carry begins; those from `high` on stay ones, which pass every carry on.
    row[first_word] = _ALL << np.uint64(low & 63)
    for w in range(first_word + 1, last_word + 1):
        row[w] = _ALL
    for w in range(first_word >> 6, (last_word >> 6) + 1):
        with_zeros[w] = np.uint64(0)
    last_bits = _ALL >> np.uint64(63 - ((high - 1) & 63))
    length = 0
    for k in range(n_found):
        if length + n_found - k < needed:
            return -1
        entry = room.found[k]
        while entry >= 0 and entry_word[entry] < first_word:
            entry = entry_next[entry]
        carry = np.uint64(0)
        while entry >= 0 and entry_word[entry] <= last_word:
            word = np.int64(entry_word[entry])
            bits = room.entry_bits[entry] & (last_bits if word == last_word else _ALL)
            old = row[word]
            partial = old + (old & bits)
            total = partial + carry
            carry = np.uint64(1) if partial < old or total < partial else np.uint64(0)
            row[word] = total | (old & ~bits)
            _note_zeros(word, row, with_zeros)
            entry = entry_next[entry]
            if carry != 0:
                end = last_word + 1
                if entry >= 0 and entry_word[entry] < end:
                    end = np.int64(entry_word[entry])
                word = _next_with_zeros(word + 1, end, with_zeros)
                if word < end:
                    row[word] |= row[word] + _ONE
                    _note_zeros(word, row, with_zeros)
                    carry = np.uint64(0)
        length += np.int64(carry)
    return length


@outer_kernel
def compare_orders(hashes, first, a, b, pair_from, pair_to, limits, bitmaps, room, overlaps, counts):
    """Write the LCS length of every pair in [pair_from, pair_to) with 2 LCS / (|a| + |b|) at least p/q, -1 for the others.

    Adds to `counts` the pairs rejected by size, those rejected by bitmaps, and those compared.
    """
    p, q, paper_bound = limits.p, limits.q, limits.paper_bound
    indexed = np.int64(-1)
    mask = np.int64(0)
    for i in range(pair_from, pair_to):
        x = np.int64(a[i])
        y = np.int64(b[i])
        begin_x = first[x]
        begin_y = first[y]
        size_x = first[x + 1] - begin_x
        size_y = first[y + 1] - begin_y
        both = size_x + size_y
        overlaps[i] = -1
        # Similar if 2 q LCS >= p (|a| + |b|); products instead of a division, since most pairs stop here.
        if min(size_x, size_y) == 0 or (not paper_bound and 2 * q * min(size_x, size_y) < p * both):
            counts[0] += 1
            continue
        if bitmaps.n_words > 0:
            only_x, only_y = _only_one(bitmaps, x, y)
            if paper_bound:  # at most half the sum of sizes, whatever the limit
                rejected = 2 * (only_x + only_y) > both
            else:
                rejected = 2 * q * min(size_x - only_x, size_y - only_y) < p * both
            if rejected:
                counts[1] += 1
                continue
        counts[2] += 1
        needed = (p * both + 2 * q - 1) // (2 * q)
        # A common beginning and end are part of some longest common subsequence.
        shorter = min(size_x, size_y)
        low = np.int64(0)
        while low < shorter and hashes[begin_x + low] == hashes[begin_y + low]:
            low += 1
        tail = np.int64(0)
        while tail < shorter - low and hashes[begin_x + size_x - 1 - tail] == hashes[begin_y + size_y - 1 - tail]:
            tail += 1
        high = size_x - tail
        if low + tail == shorter:
            if shorter >= needed:
                overlaps[i] = shorter
            continue

        if indexed != x:
            # Other pairs of this document need other positions of it; if there are none, those between head and tail suffice.
            shared = i + 1 < pair_to and np.int64(a[i + 1]) == x
            from_place = np.int64(0) if shared else low
            to_place = size_x if shared else high
            mask = _index_places(hashes, begin_x, from_place, to_place, room)
            indexed = x if shared else np.int64(-1)
        n_found = 0
        for k in range(begin_y + low, begin_y + size_y - tail):
            entry = room.slots[_slot_of(hashes[k], mask, room.slots, room.slot_keys)]
            if entry >= 0:
                room.found[n_found] = entry
                n_found += 1
        length = _common_subsequence(n_found, low, high, needed - low - tail, room)
        if length >= 0 and low + tail + length >= needed:
            overlaps[i] = low + tail + length
