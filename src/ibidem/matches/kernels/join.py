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
from ibidem.columns.kernels.shell_sort import sort_numbers
from ibidem.columns.kernels.union_find import find_root, unite
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import index_prefix, largest_partner, needed_overlap, probe_prefix, smallest_partner


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
    """The sets of rank r, by increasing size, at [`first`[r], `first`[r + 1]): their places in the order, sizes and bitmaps."""

    first: NDArray[np.int64]
    who: NDArray[np.int32]
    size: NDArray[np.int32]
    bitmap: NDArray[np.uint64]


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


@outer_kernel
def count_postings(sets, p, q, posting_first):
    """Count, by rank, the postings of the indexing prefixes (`index_prefix`) of all sets. Ranks of one set have none."""
    for i in range(len(sets.order)):
        t = sets.order[i]
        prefix = index_prefix(np.int64(sets.size[t]), p, q)
        for k in range(prefix):
            r = sets.values[sets.start[t] + k]
            if r >= sets.n_single:
                posting_first[r + 1] += 1
    for r in range(len(posting_first) - 1):
        posting_first[r + 1] += posting_first[r]


@outer_kernel
def fill_postings(sets, p, q, cursor, postings):
    """Write the postings of every rank in increasing order of set size, with bitmaps and sizes beside them."""
    for i in range(len(sets.order)):
        t = sets.order[i]
        prefix = index_prefix(np.int64(sets.size[t]), p, q)
        for k in range(prefix):
            r = sets.values[sets.start[t] + k]
            if r < sets.n_single:
                continue
            at = cursor[r]
            postings.who[at] = i
            postings.size[at] = sets.size[t]
            postings.bitmap[at] = sets.bitmaps[t]
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


@outer_kernel
def join_sets(sets, postings, most_postings, p, q, probe_from, probe_to, parent, cursor):
    """Unite every set of `order[probe_from:probe_to]` with each smaller or equal one whose Jaccard similarity is at least p/q.

    Only components are needed, so a pair that is already joined is not verified, and no edge is stored. Probes come in
    increasing order of size, so `cursor`, the first posting of admissible size by rank, only moves forward. Elements of more
    than `most_postings` postings are skipped: `long_lists` joins what meets there.
    """
    order, start, values = sets.order, sets.start, sets.values
    for x in range(probe_from, probe_to):
        t = order[x]
        size_x = np.int64(sets.size[t])
        bitmap = sets.bitmaps[t]
        smallest = smallest_partner(size_x, p, q)
        prefix = probe_prefix(size_x, p, q)
        for k in range(prefix):
            r = values[start[t] + k]
            if r < sets.n_single:
                continue
            end = postings.first[r + 1]
            if end - postings.first[r] > most_postings:
                continue
            low = cursor[r]
            while low < end and postings.size[low] < smallest:
                low += 1
            cursor[r] = low
            # Postings are in order of size: they end where the rest of x can no longer suffice.
            largest = largest_partner(size_x, size_x - k, p, q)
            size_y = np.int64(-1)
            needed = np.int64(0)
            slack = np.uint64(0)
            at = low
            while at < end and postings.who[at] < x:
                if postings.size[at] != size_y:
                    size_y = np.int64(postings.size[at])
                    if size_y > largest:
                        break
                    needed = needed_overlap(size_x, size_y, p, q)
                    slack = np.uint64(size_x + size_y - 2 * needed)
                if popcount(bitmap ^ postings.bitmap[at]) <= slack:
                    y = postings.who[at]
                    u = order[y]
                    if find_root(parent, t) != find_root(parent, u):
                        if overlap_of(values, start[t], size_x, start[u], size_y, needed) >= 0:
                            unite(parent, t, u)
                at += 1
