"""Kernels of the bit signatures: masks of words, signatures of sentences, and the search for signatures few bits apart.

A table is the rows of a collection in the order of their signatures, rotated to begin with one piece. It is a binary trie
without nodes: the rows that begin with the same bits are in one range, and the next bit cuts the range in two.

Signatures come in planes of 64 bits, the lowest first: a tuple of columns, whose length the compiler knows. With a single plane
nothing of that is left in the compiled loops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
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
    """The signatures of a collection in planes, `n_bits` wide, and its tables, one per piece, concatenated.

    A table is `rows` in its order; its directory, `starts`, says where those with each value of the first `n_directory` bits
    begin.
    """

    signatures: tuple[Numbers, ...]
    rows: Numbers
    starts: Numbers
    n_bits: int
    n_directory: int


class Pieces(NamedTuple):
    """How signatures are cut: where pieces begin, counted from the highest bit, and where the last one ends.

    `masks` are those of their bits, plane by plane for each piece. `limits` says in how many bits each
    may differ from the query (-1: the piece is left out).
    """

    begins: Numbers
    masks: Numbers
    limits: Numbers


@outer_kernel
def make_masks(hashes, n_bits, bits_per_word, masks):
    """Add to the masks, planes that are all 0: `bits_per_word` distinct bits below `n_bits`, all choices equally likely.

    Floyd's sampling: one draw per bit, none rejected. A draw is the high half of the hash, scaled (its bias is below 2^-23).
    """
    for i in range(len(hashes)):
        state = mix(hashes[i], SEED)
        for last in range(n_bits - bits_per_word, n_bits):
            state = mix(state, SEED)
            bit = np.int64((state >> _HALF) * np.uint64(last + 1) >> _HALF)
            if masks[bit >> 6][i] & _ONE << np.uint64(bit & 63) != 0:
                bit = np.int64(last)
            masks[bit >> 6][i] |= _ONE << np.uint64(bit & 63)


@outer_kernel
def join_masks(masks, word_ids, first, signatures):
    """Write the signature of each sentence: the masks of its words, joined."""
    for s in range(len(signatures)):
        signature = np.uint64(0)
        for i in range(first[s], first[s + 1]):
            signature |= masks[word_ids[i]]
        signatures[s] = signature


@inlined_kernel
def _distance(signatures, row, queries, q):
    """Count the bits in which a row differs from a query."""
    n = np.uint64(0)
    for plane in range(len(signatures)):
        n += np.uint64(popcount(signatures[plane][row] ^ queries[plane][q]))
    return n


@inlined_kernel
def _has_bit(signatures, row, bit):
    """Whether a row has a bit, counted from the lowest."""
    return signatures[bit >> 6][row] >> np.uint64(bit & 63) & _ONE != 0


@inner_kernel
def _count_within(signatures, begin, end, queries, q, radius):
    """Count the rows of a range within the radius, without a branch, so that several are compared at once."""
    n = np.uint64(0)
    for row in range(np.uint64(begin), np.uint64(end)):
        n += np.uint64(_distance(signatures, row, queries, q) <= radius)
    return n


@inner_kernel
def _scan_query(signatures, queries, q, radius, found, results):
    """Write the rows within the radius from `found` on; return where they end, or -1 if there is no room."""
    n_rows = len(signatures[0])
    for begin in range(0, n_rows, _BLOCK):
        end = min(begin + _BLOCK, n_rows)
        n = np.int64(_count_within(signatures, begin, end, queries, q, radius))
        if n == 0:
            continue
        if found + n > len(results):
            return -1
        for row in range(begin, end):
            if _distance(signatures, row, queries, q) <= radius:
                results[found] = row
                found += 1
    return found


@outer_kernel
def scan(signatures, queries, radius, query_from, ends, results):
    """Write, for the queries from `query_from` on, the rows within the radius, and to `ends` where those of each query end.

    Return the query to continue with when the room is full. There is room for every row: one query always fits.
    """
    found = 0
    n_queries = len(queries[0])
    for q in range(query_from, n_queries):
        end = _scan_query(signatures, queries, q, np.uint64(radius), found, results)
        if end < 0:
            return q
        found = end
        ends[q] = found
    return n_queries


@inner_kernel
def _cut(signatures, rows, table, low, high, bit):
    """Return where the rows of a range with the bit begin; those without it come first."""
    while low < high:
        middle = (low + high) >> 1
        if _has_bit(signatures, rows[table + middle], bit):
            high = middle
        else:
            low = middle + 1
    return low


@inlined_kernel
def _is_within(signatures, row, queries, q, masks, limits, p):
    """Whether a row differs from a query in no more bits of piece p than it may."""
    n = np.int64(0)
    for plane in range(len(signatures)):
        n += np.int64(popcount((signatures[plane][row] ^ queries[plane][q]) & masks[p * len(signatures) + plane]))
    return n <= limits[p]


@inner_kernel
def _qualifies(signatures, row, queries, q, piece, masks, limits):
    """Return whether this piece is the first within its limit: only its table reports the row."""
    for p in range(piece):
        if _is_within(signatures, row, queries, q, masks, limits, p):
            return False
    return _is_within(signatures, row, queries, q, masks, limits, piece)


@inlined_kernel
def _bit_number(begin, depth, n_bits):
    """The bit at a depth of a table whose bits are taken from `begin` on, counted from the highest one, and round again."""
    position = begin + depth
    return n_bits - 1 - (position if position < n_bits else position - n_bits)


@inner_kernel
def _search_piece(tables, pieces, piece, queries, q, radius, work, found, stack, results):
    """Write the rows within the radius whose first piece within its limit is this one.

    Descends the table bit by bit, branching wherever another bit may still differ: in the piece up to its limit, in the bits
    after it up to the radius. Empty ranges end at once, long ones continue beyond the piece, so skew costs little. Return the
    end of the results (-1: no room, -2: no work left) and the remaining work.
    """
    signatures, rows, starts = tables.signatures, tables.rows, tables.starts
    n_bits, n_directory = tables.n_bits, tables.n_directory
    begins, masks, limits = pieces.begins, pieces.masks, pieces.limits
    n = len(signatures[0])
    width = begins[piece + 1] - begins[piece]
    limit = limits[piece]
    table = piece * n
    directory = piece * ((1 << n_directory) + 1)
    known = min(width, n_directory)  # the bits of the piece that the directory covers
    prefix = np.int64(0)
    for depth in range(known):
        prefix = prefix << 1 | np.int64(_has_bit(queries, q, _bit_number(begins[piece], depth, n_bits)))

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
                middle = _cut(signatures, rows, table, low, high, _bit_number(begins[piece], depth, n_bits))
                work -= _CUT_COST
            has_bit = _has_bit(queries, q, _bit_number(begins[piece], depth, n_bits))
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
            is_near = np.int64(_distance(signatures, row, queries, q)) <= radius
            if is_near and _qualifies(signatures, row, queries, q, piece, masks, limits):
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
    n_queries = len(queries[0])
    for q in range(query_from, n_queries):
        end = found
        work = patience
        for piece in range(len(pieces.limits)):
            if pieces.limits[piece] >= 0 and end >= 0:
                end, work = _search_piece(tables, pieces, piece, queries, q, radius, work, end, stack, results)
        if end == -2:
            patience = max(patience >> 1, max_work >> 5)
            end = _scan_query(tables.signatures, queries, q, np.uint64(radius), found, results)
        elif end >= 0:
            patience = max_work
            sort_numbers(found, end, results)  # tables give them in increasing runs, usually few
        if end < 0:
            return q
        found = end
        ends[q] = found
    return n_queries
