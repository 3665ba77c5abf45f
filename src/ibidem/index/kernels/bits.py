"""Kernels of the bit signatures: masks of words, signatures of sentences, and the search for signatures few bits apart.

A table is the rows of a collection in the order of their signatures, rotated to begin with one piece. It is a binary trie
without nodes: the rows that begin with the same bits are in one range, and the next bit cuts the range in two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.join import popcount

_ONE = np.uint64(1)
_HALF = np.uint64(32)
_BLOCK = 256  # rows scanned without a branch
_FEW = 32  # rows compared directly rather than by halving, whose reads wait for each other

# The cost of a search, in rows of a scan (a third of a nanosecond), which reads in sequence, several at once.
STEP_COST = 16
_READ_COST = 16
_CUT_COST = 64

Numbers = NDArray[Any]


class Tables(NamedTuple):
    """The signatures of a collection, `n_bits` wide, and its tables, one per piece, concatenated.

    A table is `rows` in its order; its directory, `starts`, says where those with each value of the first `n_directory` bits
    begin.
    """

    signatures: Numbers
    rows: Numbers
    starts: Numbers
    n_bits: int
    n_directory: int


class Pieces(NamedTuple):
    """How signatures are cut: where pieces begin, counted from the highest bit, and where the last one ends; their masks.

    `limits` says in how many bits each may differ from the query (-1: the piece is left out).
    """

    begins: Numbers
    masks: Numbers
    limits: Numbers


@inner_kernel
def word_mask(word, n_bits, bits_per_word):
    """Return the mask of a word: `bits_per_word` distinct bits below `n_bits`, all choices equally likely.

    Floyd's sampling: one draw per bit, none rejected. A draw is the high half of the hash, scaled (its bias is below 2^-26).
    """
    mask = np.uint64(0)
    state = mix(word, SEED)
    for last in range(n_bits - bits_per_word, n_bits):
        state = mix(state, SEED)
        bit = _ONE << ((state >> _HALF) * np.uint64(last + 1) >> _HALF)
        if mask & bit != 0:
            bit = _ONE << np.uint64(last)
        mask |= bit
    return mask


@outer_kernel
def make_masks(hashes, n_bits, bits_per_word, masks):
    """Write the mask of each word."""
    for i in range(len(hashes)):
        masks[i] = word_mask(hashes[i], n_bits, bits_per_word)


@outer_kernel
def join_masks(masks, word_ids, first, signatures):
    """Write the signature of each sentence: the bitwise or of the masks of its words."""
    for s in range(len(signatures)):
        signature = np.uint64(0)
        for i in range(first[s], first[s + 1]):
            signature |= masks[word_ids[i]]
        signatures[s] = signature


@inner_kernel
def _count_within(signatures, begin, end, query, radius):
    """Count the rows of a range within the radius, without a branch, so that several are compared at once."""
    n = np.uint64(0)
    for row in range(np.uint64(begin), np.uint64(end)):
        n += np.uint64(popcount(query ^ signatures[row]) <= radius)
    return n


@inner_kernel
def _scan_query(signatures, query, radius, found, results):
    """Write the rows within the radius from `found` on; return where they end, or -1 if there is no room."""
    for begin in range(0, len(signatures), _BLOCK):
        end = min(begin + _BLOCK, len(signatures))
        n = np.int64(_count_within(signatures, begin, end, query, radius))
        if n == 0:
            continue
        if found + n > len(results):
            return -1
        for row in range(begin, end):
            if popcount(query ^ signatures[row]) <= radius:
                results[found] = row
                found += 1
    return found


@outer_kernel
def scan(signatures, queries, radius, query_from, ends, results):
    """Write, for the queries from `query_from` on, the rows within the radius, and to `ends` where those of each query end.

    Return the query to continue with when the room is full. There is room for every row: one query always fits.
    """
    found = 0
    for q in range(query_from, len(queries)):
        end = _scan_query(signatures, queries[q], np.uint64(radius), found, results)
        if end < 0:
            return q
        found = end
        ends[q] = found
    return len(queries)


@inner_kernel
def _cut(signatures, rows, table, low, high, bit):
    """Return where the rows of a range with the bit begin; those without it come first."""
    while low < high:
        middle = (low + high) >> 1
        if signatures[rows[table + middle]] & bit != 0:
            high = middle
        else:
            low = middle + 1
    return low


@inner_kernel
def _qualifies(difference, piece, masks, limits):
    """Return whether this piece is the first within its limit: only its table reports the row."""
    for p in range(piece):
        if np.int64(popcount(difference & masks[p])) <= limits[p]:
            return False
    return np.int64(popcount(difference & masks[piece])) <= limits[piece]


@inner_kernel
def _rotate(signature, n_bits, begin):
    """Return a signature rotated so that the bit `begin` from above is the highest."""
    signature &= ~np.uint64(0) >> np.uint64(64 - n_bits)
    if begin == 0:
        return signature
    return (signature << np.uint64(begin) | signature >> np.uint64(n_bits - begin)) & (~np.uint64(0) >> np.uint64(64 - n_bits))


@inner_kernel
def _search_piece(tables, pieces, piece, query, radius, work, found, stack, results):
    """Write the rows within the radius whose first piece within its limit is this one.

    Descends the table bit by bit, branching wherever another bit may still differ: in the piece up to its limit, in the bits
    after it up to the radius. Empty ranges end at once, long ones continue beyond the piece, so skew costs little. Return the
    end of the results (-1: no room, -2: no work left) and the remaining work.
    """
    signatures, rows, starts = tables.signatures, tables.rows, tables.starts
    n_bits, n_directory = tables.n_bits, tables.n_directory
    begins, masks, limits = pieces.begins, pieces.masks, pieces.limits
    n = len(signatures)
    width = begins[piece + 1] - begins[piece]
    limit = limits[piece]
    table = piece * n
    directory = piece * ((1 << n_directory) + 1)
    key = _rotate(query, n_bits, begins[piece])
    known = min(width, n_directory)  # the bits of the piece that the directory covers
    prefix = np.int64(key >> np.uint64(n_bits - known)) if known > 0 else 0

    # A branch: its range of rows, its bits as the directory counts them, their number, and how many differ from the query.
    stack[0, 0] = 0
    stack[0, 1] = n
    stack[0, 2] = 0
    stack[0, 3] = 0
    stack[0, 4] = 0
    n_branches = 1
    while n_branches > 0:
        n_branches -= 1
        low = stack[n_branches, 0]
        high = stack[n_branches, 1]
        branch = stack[n_branches, 2]
        depth = stack[n_branches, 3]
        unlike = stack[n_branches, 4]
        while high - low > _FEW and depth < n_bits:
            work -= STEP_COST
            if depth < known and unlike == limit:  # the rest of the piece is as in the query
                branch = branch << (known - depth) | (prefix & ((1 << (known - depth)) - 1))
                depth = known
                low = np.int64(starts[directory + (branch << (n_directory - known))])
                high = np.int64(starts[directory + ((branch + 1) << (n_directory - known))])
                continue
            if depth < n_directory:
                middle = np.int64(starts[directory + ((2 * branch + 1) << (n_directory - depth - 1))])
            else:
                position = begins[piece] + depth
                if position >= n_bits:
                    position -= n_bits
                middle = _cut(signatures, rows, table, low, high, _ONE << np.uint64(n_bits - 1 - position))
                work -= _CUT_COST
            has_bit = key >> np.uint64(n_bits - 1 - depth) & _ONE != 0
            may_differ = unlike < (limit if depth < width else radius)
            depth += 1
            if may_differ and (middle > low if has_bit else middle < high):
                stack[n_branches, 0] = low if has_bit else middle
                stack[n_branches, 1] = middle if has_bit else high
                stack[n_branches, 2] = 2 * branch + (0 if has_bit else 1)
                stack[n_branches, 3] = depth
                stack[n_branches, 4] = unlike + 1
                n_branches += 1
            branch = 2 * branch + (1 if has_bit else 0)
            if has_bit:
                low = middle
            else:
                high = middle
        work -= _READ_COST * (high - low) + STEP_COST
        if work < 0:
            return -2, work
        for i in range(table + low, table + high):
            row = rows[i]
            difference = query ^ signatures[row]
            if np.int64(popcount(difference)) <= radius and _qualifies(difference, piece, masks, limits):
                if found == len(results):
                    return -1, work
                results[found] = row
                found += 1
    return found, work


@outer_kernel
def search(tables, pieces, queries, radius, max_work, query_from, stack, ends, results):
    """Like `scan`, using the tables; a query that has used up `max_work` is scanned instead.

    Queries are alike: after one that was given up, the next may use only half as much, until one succeeds.
    """
    found = 0
    patience = max_work
    for q in range(query_from, len(queries)):
        end = found
        work = patience
        for piece in range(len(pieces.limits)):
            if pieces.limits[piece] >= 0 and end >= 0:
                end, work = _search_piece(tables, pieces, piece, queries[q], radius, work, end, stack, results)
        if end == -2:
            patience = max(patience >> 1, max_work >> 5)
            end = _scan_query(tables.signatures, queries[q], np.uint64(radius), found, results)
        elif end >= 0:
            patience = max_work
            sort_numbers(found, end, results)  # tables give them in increasing runs, usually few
        if end < 0:
            return q
        found = end
        ends[q] = found
    return len(queries)
