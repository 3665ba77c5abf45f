"""Kernels of the set-similarity join: sorted sets, postings, the join itself.

A *set* is the signature of a type: distinct token ranks, rarest token first, `values[start[t] : start[t] + size[t]]`.
The limit is the fraction p/q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ibidem.columns.hashes import GOLDEN
from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.columns.kernels.union_find import find_root, unite
from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import index_prefix, largest_partner, needed_overlap, probe_prefix, smallest_partner

_HALF, _LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
_AHEAD = 8  # sets, for what is fetched early
_FETCHED = 4  # elements of each
_IDS_AHEAD = 32


class OrderedSets(NamedTuple):
    """Sets by increasing size: the i-th is set `order[i]`. `bitmaps` are their parity bitmaps.

    The first `n_single` ranks occur in only one set and lead to no pair.
    """

    order: NDArray[np.int64]
    size: NDArray[np.int32]
    start: NDArray[np.int64]
    values: NDArray[Any]
    bitmaps: NDArray[np.uint64]
    n_single: int


class Postings(NamedTuple):
    """The sets of rank r, by increasing size, at [`first`[r], `first`[r + 1]).

    An entry is two numbers, so that both are in one place in memory: size (high bits) with the place in the order, and bitmap.
    """

    first: NDArray[np.int64]
    entries: NDArray[np.uint64]


class Probes(NamedTuple):
    """What a thread needs to look sets up.

    The places of the postings of rank r to begin and to end with are at 2r and 2r + 1 in `bounds`, none for elements of too
    many sets. `slack` is how many elements a set and a partner may not share, by the size of the partner from the smallest on;
    `largest` is the size of the largest partner, by place in the set.
    """

    bounds: NDArray[np.int64]
    slack: NDArray[np.int64]
    largest: NDArray[np.int64]


@intrinsic
def popcount(typing_context, word):
    """Return the number of set bits of a 64-bit word: one machine instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@outer_kernel
def sort_sets(ids, start, type_from, type_to, rank, size, bitmaps):
    """Turn token numbers into sorted distinct ranks, in place, for types [type_from, type_to); also their parity bitmaps.

    A bitmap has one bit per rank, combined by exclusive or: it never fills up, and two bitmaps differ in at most as many bits
    as the sets differ in elements.
    """
    for t in range(type_from, type_to):
        begin = start[t]
        n = start[t + 1] - begin
        segment = ids[begin : begin + n]
        for i in range(n):
            fetch_ahead(rank, ids[min(begin + i + _IDS_AHEAD, len(ids) - 1)])
            segment[i] = rank[segment[i]]
        sort_numbers(0, n, segment)
        distinct = 0
        bitmap = np.uint64(0)
        for i in range(n):
            if i == 0 or segment[i] != segment[distinct - 1]:
                segment[distinct] = segment[i]
                distinct += 1
                bitmap ^= np.uint64(1) << (np.uint64(segment[distinct - 1]) * GOLDEN >> np.uint64(58))
        size[t] = distinct
        bitmaps[t] = bitmap


@outer_kernel
def order_by_count(keys, starts, items, ordered):
    """Stable counting sort: write `items` in increasing order of `keys[item]`; `starts` has a zero per key and one more."""
    for i in range(len(items)):
        starts[keys[items[i]] + 1] += 1
    for k in range(len(starts) - 1):
        starts[k + 1] += starts[k]
    for i in range(len(items)):
        key = keys[items[i]]
        ordered[starts[key]] = items[i]
        starts[key] += 1


@inlined_kernel
def _fetch_elements(i, end, sets):
    """Have memory fetched that sets after the i-th need: where their elements begin, and the elements."""
    if i + 2 * _AHEAD < end:
        fetch_ahead(sets.size, sets.order[i + 2 * _AHEAD])
        fetch_ahead(sets.start, sets.order[i + 2 * _AHEAD])
        fetch_ahead(sets.values, sets.start[sets.order[i + _AHEAD]])


@outer_kernel
def count_postings(sets, p, q, set_from, set_to, counts):
    """Count, by rank, the postings of the indexing prefixes (`index_prefix`) of sets `order[set_from:set_to]`.

    Ranks of one set have none.
    """
    for i in range(set_from, set_to):
        _fetch_elements(i, set_to, sets)
        t = sets.order[i]
        prefix = index_prefix(np.int64(sets.size[t]), p, q)
        for k in range(prefix):
            r = sets.values[sets.start[t] + k]
            if r >= sets.n_single:
                counts[r] += 1


@outer_kernel
def fill_postings(sets, p, q, set_from, set_to, cursor, postings):
    """Write the postings of the same sets by rank, in increasing order of set size.

    `cursor` says where the first one of each rank is written.
    """
    for i in range(set_from, set_to):
        _fetch_elements(i, set_to, sets)
        t = sets.order[i]
        prefix = index_prefix(np.int64(sets.size[t]), p, q)
        for k in range(prefix):
            r = sets.values[sets.start[t] + k]
            if r < sets.n_single:
                continue
            at = cursor[r]
            postings.entries[2 * at] = np.uint64(sets.size[t]) << _HALF | np.uint64(i)
            postings.entries[2 * at + 1] = sets.bitmaps[t]
            cursor[r] = at + 1


@inner_kernel
def overlap_of(values, start_a, size_a, start_b, size_b, needed):
    """Return the size of the intersection of two sorted sets, or -1 as soon as it cannot reach `needed`."""
    i = 0
    j = 0
    overlap = 0
    while i < size_a and j < size_b:
        if overlap + min(size_a - i, size_b - j) < needed:
            return -1
        x = values[start_a + i]
        y = values[start_b + j]
        if x == y:
            overlap += 1
            i += 1
            j += 1
        elif x < y:
            i += 1
        else:
            j += 1
    return overlap if overlap >= needed else -1


@inner_kernel
def similarity_of(x, y, cells):
    """Jaccard similarity of the types of two rows, or -1 below p/q."""
    if cells.types[x] == cells.types[y]:
        return 1.0
    t = cells.set_of_row[x]
    u = cells.set_of_row[y]
    size = cells.size
    needed = needed_overlap(size[t], size[u], cells.p, cells.q)
    overlap = overlap_of(cells.values, cells.start[t], size[t], cells.start[u], size[u], needed)
    return overlap / (size[t] + size[u] - overlap) if overlap >= 0 else -1.0


@inlined_kernel
def _fetch_probes(x, sets, probes, postings):
    """Have memory fetched that sets after x need: their elements, then where the postings of these are, then the postings."""
    order, start, values = sets.order, sets.start, sets.values
    if x + 3 * _AHEAD < len(order):
        fetch_ahead(sets.size, order[x + 3 * _AHEAD])
        fetch_ahead(start, order[x + 3 * _AHEAD])
        fetch_ahead(sets.bitmaps, order[x + 3 * _AHEAD])
        fetch_ahead(values, start[order[x + 2 * _AHEAD]])
        t = order[x + _AHEAD]
        for k in range(min(_FETCHED, np.int64(sets.size[t]))):
            fetch_ahead(probes.bounds, 2 * np.int64(values[start[t] + k]))
        t = order[x + 2]
        for k in range(min(_FETCHED, np.int64(sets.size[t]))):
            at = probes.bounds[2 * np.int64(values[start[t] + k])]
            fetch_ahead(postings.entries, min(2 * at, len(postings.entries) - 1))


@outer_kernel
def join_sets(sets, postings, p, q, probe_from, probe_to, parent, probes):
    """Unite every set of `order[probe_from:probe_to]` with each smaller or equal one whose Jaccard similarity is at least p/q.

    Only components are needed, so a pair that is already joined is not verified, and no edge is stored. Probes come in
    increasing order of size, so the first posting of admissible size, by rank, only moves forward.
    """
    order, start, values = sets.order, sets.start, sets.values
    entries, bounds, slack, largest = postings.entries, probes.bounds, probes.slack, probes.largest
    size_x = smallest = prefix = np.int64(-1)
    for x in range(probe_from, probe_to):
        _fetch_probes(x, sets, probes, postings)
        t = order[x]
        if sets.size[t] != size_x:
            size_x = np.int64(sets.size[t])
            smallest = smallest_partner(size_x, p, q)
            prefix = probe_prefix(size_x, p, q)
            for size_y in range(smallest, size_x + 1):
                slack[size_y - smallest] = size_x + size_y - 2 * needed_overlap(size_x, size_y, p, q)
            for k in range(prefix):
                largest[k] = largest_partner(size_x, size_x - k, p, q)
        bitmap = sets.bitmaps[t]
        for k in range(prefix):
            r = np.int64(values[start[t] + k])
            low = bounds[2 * r]
            end = bounds[2 * r + 1]
            if low == end:
                continue
            while low < end and np.int64(entries[2 * low] >> _HALF) < smallest:
                low += 1
            bounds[2 * r] = low
            # Postings are in order of size: they end where the rest of x can no longer suffice.
            for at in range(low, end):
                y = np.int64(entries[2 * at] & _LOW_HALF)
                size_y = np.int64(entries[2 * at] >> _HALF)
                if y >= x or size_y > largest[k]:
                    break
                if np.int64(popcount(bitmap ^ entries[2 * at + 1])) <= slack[size_y - smallest]:
                    u = order[y]
                    if find_root(parent, t) != find_root(parent, u):
                        needed = (size_x + size_y - slack[size_y - smallest]) >> 1
                        if overlap_of(values, start[t], size_x, start[u], size_y, needed) >= 0:
                            unite(parent, t, u)
