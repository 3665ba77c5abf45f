"""Kernels of the sketches: MinHash signatures and their bands, SimHash codes and those that are few bits apart.

The set of document d is `hashes[first[d] : first[d + 1]]`, distinct 64-bit hashes.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, SEED, mix
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.join import popcount

EMPTY = np.uint32(0xFFFFFFFF)  # the components of an empty set, and only of that
_LARGEST = np.uint32(0xFFFFFFFE)
_FACTOR = np.uint32(0x85EBCA6B)
_HALF = np.uint32(15)
_ONE = np.uint64(1)


@outer_kernel
def take_minima(hashes, first, document_from, document_to, offsets, factors, minima, signatures):
    """Write the signatures (flat) of documents [document_from, document_to): component i is the least h_i of the set.

    h_i is a permutation of 32-bit numbers: an offset (exclusive or), an odd factor, and one more round for the high bits. The
    inner loop runs over the permutations, branch-free and over one small array: eight or more are computed at once.
    """
    n = len(minima)
    for d in range(document_from, document_to):
        for i in range(n):
            minima[i] = EMPTY
        for e in range(first[d], first[d + 1]):
            x = np.uint32(hashes[e] * GOLDEN >> np.uint64(32))
            for i in range(n):
                v = np.uint32(np.uint32(x ^ offsets[i]) * factors[i])
                v = np.uint32(np.uint32(v ^ (v >> _HALF)) * _FACTOR)
                minima[i] = min(minima[i], v)
        largest = _LARGEST if first[d + 1] > first[d] else EMPTY
        for i in range(n):
            signatures[d * n + i] = min(minima[i], largest)


@outer_kernel
def count_agreements(signatures, n, a, b, shares):
    """Write the share of the n components in which the documents of each pair are equal; empty sets agree in nothing."""
    for k in range(len(a)):
        # Unsigned: signed indices are tested for being negative, which prevents comparing eight components at once.
        begin_a = np.uint64(a[k]) * np.uint64(n)
        begin_b = np.uint64(b[k]) * np.uint64(n)
        equal = 0
        for i in range(n):
            if signatures[begin_a + np.uint64(i)] == signatures[begin_b + np.uint64(i)]:
                equal += 1
        shares[k] = equal / n if signatures[begin_a] != EMPTY else 0.0


@outer_kernel
def hash_bands(signatures, n, column, n_rows, documents, row_bits, keys):
    """Write the hash of components [column, column + n_rows) of each document, the document's number in its low bits."""
    low_bits = (_ONE << np.uint64(row_bits)) - _ONE
    for k in range(len(documents)):
        begin = documents[k] * n + column
        key = SEED
        for i in range(n_rows):
            key = mix(key, np.uint64(signatures[begin + i]))
        keys[k] = (mix(key, SEED) & ~low_bits) | np.uint64(documents[k])


@inner_kernel
def _bands_equal(signatures, n, column, n_rows, x, y):
    """Return whether two documents have the same components [column, column + n_rows)."""
    i = column
    while i < column + n_rows and signatures[x * n + i] == signatures[y * n + i]:
        i += 1
    return i == column + n_rows


@outer_kernel
def pair_bands(keys, row_bits, signatures, n, column, n_rows, max_bucket, pairs):
    """Write the pairs (smaller number in the high half) of documents with equal bands; return how many there are.

    `keys` are sorted. If `pairs` is empty, they are only counted. A bucket of more than `max_bucket` documents gives only the
    pairs of its first one. Bands are compared in full: keys only bring documents together.
    """
    low_bits = (_ONE << np.uint64(row_bits)) - _ONE
    writes = len(pairs) > 0
    found = 0
    begin = 0
    while begin < len(keys):
        end = begin + 1
        while end < len(keys) and keys[end] & ~low_bits == keys[begin] & ~low_bits:
            end += 1
        star = end - begin > max_bucket
        for j in range(begin + 1, end):
            y = np.int64(keys[j] & low_bits)
            for i in range(begin, j):
                x = np.int64(keys[i] & low_bits)
                if _bands_equal(signatures, n, column, n_rows, x, y):
                    if writes:
                        pairs[found] = np.uint64(x) << np.uint64(32) | np.uint64(y)
                    found += 1
                    if star:
                        break
        begin = end
    return found


@outer_kernel
def vote(hashes, first, document_from, document_to, planes, codes):
    """Write the 64-bit codes of documents [document_from, document_to): a bit is set if more than half of the hashes have it.

    The 64 counts are stored as bit planes, plane j with bit j of all counts: adding a hash is a carry through the planes, a few
    steps instead of 64.
    """
    for d in range(document_from, document_to):
        size = first[d + 1] - first[d]
        n_planes = 0
        for i in range(first[d], first[d + 1]):
            carry = hashes[i]
            j = 0
            while carry != 0:
                if j == n_planes:
                    planes[j] = np.uint64(0)
                    n_planes += 1
                old = planes[j]
                planes[j] = old ^ carry
                carry &= old
                j += 1
        code = np.uint64(0)
        for bit in range(64):
            count = np.int64(0)
            for j in range(n_planes):
                count += np.int64(planes[j] >> np.uint64(bit) & _ONE) << j
            if 2 * count > size:
                code |= _ONE << np.uint64(bit)
        codes[d] = code


@outer_kernel
def pair_codes(keys, row_bits, codes, masks, table, max_bits_apart, start, left, right):
    """Find pairs of codes at most `max_bits_apart` bits apart that agree in `masks[table]` and in no earlier mask.

    `keys` are sorted: the masked bits of the codes (or the high ones of them) above the numbers of the codes; `codes` are in
    the same order. Begins at row `start`; returns the row to continue with when the room is full, and the number found.
    """
    low_bits = (_ONE << np.uint64(row_bits)) - _ONE
    most_apart = np.uint64(max_bits_apart)
    found = 0
    for i in range(start, len(keys)):
        before = found
        j = i + 1
        while j < len(keys) and (keys[i] ^ keys[j]) <= low_bits:
            apart = codes[i] ^ codes[j]
            if popcount(apart) <= most_apart:
                agreeing = 0  # the first mask in which they agree; there is one if they are this few bits apart
                while apart & masks[agreeing] != 0:
                    agreeing += 1
                if agreeing == table:
                    if found == len(left):
                        return i, before
                    x = np.int32(keys[i] & low_bits)
                    y = np.int32(keys[j] & low_bits)
                    left[found] = min(x, y)
                    right[found] = max(x, y)
                    found += 1
            j += 1
    return len(keys), found
