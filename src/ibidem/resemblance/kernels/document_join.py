"""Kernels of the join of documents by their shingles: rarity, prefixes, postings, pairs.

Documents are identified by *rank*: their position in the order of size. Their shared shingles are sorted *keys*: the top four
bits say how many documents have a shingle, the rest is its hash, so keys increase with frequency and all documents have the
same order. The common shingles come last. `limits` are `OverlapLimits`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.machine_words import fetch_ahead
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.join import overlap_of
from ibidem.resemblance.kernels.counts import place_of

_AHEAD = 16  # hashes, for what is fetched early
_ONE = np.uint64(1)
_FOUR = np.uint64(4)
_MOST = np.uint8(127)
_COMMON = np.uint64(15) << np.uint64(60)


class SizedDocuments(NamedTuple):
    """Documents in order of size, then number: document i has the sorted keys [`start`[i], `start`[i] + `n_keys`[i]).

    `size` counts all its shingles; `keys` are at least those that it shares with others. `side` is empty for none.
    """

    keys: NDArray[np.uint64]
    start: NDArray[np.int64]
    n_keys: NDArray[np.int64]
    size: NDArray[np.int64]
    smallest_partner: NDArray[np.int64]
    side: NDArray[np.int8]


class Prefixes(NamedTuple):
    """The sorted entries of all prefixes, and per document, from `first` on, its `n_listed` groups of entries that others also
    have: where they begin, and where its own entries are.
    """

    entries: NDArray[np.uint64]
    rank_bits: int
    first: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    group_from: NDArray[np.int64]
    own_place: NDArray[np.int64]


class PairRoom(NamedTuple):
    """Room for pairs of documents and the number of shingles they share."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    overlap: NDArray[np.int32]


@outer_kernel
def count_often(hashes, begin, end, table_bits, counters):
    """Count hashes, up to 127, at their top `table_bits`; several may share a counter."""
    shift = np.uint64(64 - table_bits)
    for i in range(begin, end):
        fetch_ahead(counters, hashes[min(i + _AHEAD, end - 1)] >> shift)
        if counters[hashes[i] >> shift] < _MOST:
            counters[hashes[i] >> shift] += np.uint8(1)


@outer_kernel
def make_keys(hashes, begin, end, table_bits, counters, common, common_bits, common_marks):
    """Turn hashes into keys, in place: the number of bits of the count, or all ones for common ones, then all but the last four
    bits.
    """
    shift = np.uint64(64 - table_bits)
    for i in range(begin, end):
        fetch_ahead(counters, hashes[min(i + _AHEAD, end - 1)] >> shift)
        if len(common) > 0 and place_of(hashes[i], common, common_bits, common_marks) >= 0:
            hashes[i] = _COMMON | hashes[i] >> _FOUR
            continue
        count = counters[hashes[i] >> shift]
        frequency_rank = np.uint64(0)
        while count > 1:
            count >>= 1
            frequency_rank += _ONE
        hashes[i] = frequency_rank << np.uint64(60) | hashes[i] >> _FOUR


@outer_kernel
def leave_out_common(keys, start, n_probe, n_index):
    """Remove common shingles from the ends of prefixes."""
    for rank in range(len(n_probe)):
        while n_probe[rank] > 0 and keys[start[rank] + n_probe[rank] - 1] >= _COMMON:
            n_probe[rank] -= 1
        n_index[rank] = min(n_index[rank], n_probe[rank])


@outer_kernel
def list_prefixes(keys, start, rank_bits, n_probe, n_index, prefix_first, entries):
    """Write an entry for each of the first `n_probe` keys of every document: the key's low bits, the rank, and whether
    it is indexed, being one of the first `n_index`.

    Different keys with the same low bits only cause unnecessary comparisons.
    """
    for rank in range(len(n_probe)):
        at = prefix_first[rank]
        for k in range(n_probe[rank]):
            key = keys[start[rank] + k] << np.uint64(rank_bits + 1)
            entries[at + k] = key | np.uint64(rank) << _ONE | np.uint64(k < n_index[rank])


@outer_kernel
def locate_groups(prefixes):
    """Write for every document where the groups of its entries begin, and where its own entries are."""
    entries, n_listed = prefixes.entries, prefixes.n_listed
    low = np.uint64((1 << (prefixes.rank_bits + 1)) - 1)
    i = 0
    while i < len(entries):
        j = i + 1
        while j < len(entries) and (entries[j] & ~low) == (entries[i] & ~low):
            j += 1
        if j - i > 1:
            for k in range(i, j):
                rank = np.int64((entries[k] & low) >> _ONE)
                at = prefixes.first[rank] + n_listed[rank]
                prefixes.group_from[at] = i
                prefixes.own_place[at] = k
                n_listed[rank] += 1
        i = j


@inner_kernel
def first_entry(entries, low, begin, end, least_rank):
    """Return the first entry in [begin, end) with a rank of at least `least_rank`."""
    while begin < end:
        middle = (begin + end) // 2
        if np.int64((entries[middle] & low) >> _ONE) < least_rank:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner_kernel
def needed_of(larger, smaller, limits):
    """Return the overlap that two documents of these sizes need."""
    needed = limits.needed_by_sum[larger + smaller]
    if len(limits.needed_by_small) > 0:
        needed = min(needed, limits.needed_by_small[smaller])
    return needed


@outer_kernel
def pair_documents(prefixes, documents, smallest_rank, limits, probe_from, probe_to, seen, found, n_found):
    """Write the ranks and the overlap of every pair whose larger document's rank is in [probe_from, probe_to).

    Returns (the next rank to probe, the number of pairs); the former is below `probe_to` if the room was too small. `seen` has
    for each rank the last one it was compared with. With sides, only documents on different sides are compared.
    """
    entries, group_from, own_place = prefixes.entries, prefixes.group_from, prefixes.own_place
    keys, start, n_keys, size, side = documents.keys, documents.start, documents.n_keys, documents.size, documents.side
    low = np.uint64((1 << (prefixes.rank_bits + 1)) - 1)
    for x in range(probe_from, probe_to):
        n_before = n_found
        for k in range(prefixes.first[x], prefixes.first[x] + prefixes.n_listed[x]):
            at = first_entry(entries, low, group_from[k], own_place[k], smallest_rank[x])
            while at < own_place[k]:
                entry = entries[at] & low
                at += 1
                y = np.int64(entry >> _ONE)
                if entry & _ONE == 0 or seen[y] == x:
                    continue
                seen[y] = x
                if len(side) > 0 and side[x] == side[y]:
                    continue
                needed = needed_of(size[x], size[y], limits)
                overlap = overlap_of(keys, start[x], n_keys[x], start[y], n_keys[y], needed)
                if overlap < 0:
                    continue
                if n_found == len(found.a):
                    for z in range(len(seen)):
                        seen[z] = -1
                    return x, n_before
                found.a[n_found] = y
                found.b[n_found] = x
                found.overlap[n_found] = overlap
                n_found += 1
    return probe_to, n_found


@outer_kernel
def pair_with_leaders(members, group_first, group_from, group_to, documents, limits, falling, leaders, found):
    """Pair the documents that meet at a common shingle with leaders: earlier ones of admissible size that matched no leader.

    The work is never quadratic: a document is compared with at most `len(leaders)` others. Groups are walked in the order of
    `members`, which is that of size or, if `falling`, in reverse. With sides, only documents of the reference lead, and only
    the others are paired with them. Returns the number of pairs; there is room for one per member.
    """
    keys, start, n_keys, size, side = documents.keys, documents.start, documents.n_keys, documents.size, documents.side
    n_found = 0
    for group in range(group_from, group_to):
        n_leaders = 0
        begin, end = group_first[group], group_first[group + 1]
        for step in range(end - begin):
            x = members[end - 1 - step if falling else begin + step]
            may_lead = len(side) == 0 or side[x] == 1
            may_pair = len(side) == 0 or side[x] == 0
            matched = False
            for k in range(n_leaders):
                y = leaders[k]
                larger, smaller = (y, x) if falling else (x, y)
                if size[smaller] < documents.smallest_partner[larger]:
                    continue
                needed = needed_of(size[larger], size[smaller], limits)
                overlap = overlap_of(keys, start[x], n_keys[x], start[y], n_keys[y], needed)
                if overlap >= 0:
                    if may_pair:
                        found.a[n_found] = y
                        found.b[n_found] = x
                        found.overlap[n_found] = overlap
                        n_found += 1
                    matched = True
                    break
            if not matched and may_lead:
                if n_leaders == len(leaders):  # the oldest is replaced: its size is farthest away
                    for k in range(1, n_leaders):
                        leaders[k - 1] = leaders[k]
                    n_leaders -= 1
                leaders[n_leaders] = x
                n_leaders += 1
    return n_found


@outer_kernel
def count_overlaps(keys, start, size, a, b, limits, pair_from, pair_to, overlaps):
    """Count the common keys of each pair, or write -1 if they are fewer than needed."""
    for i in range(pair_from, pair_to):
        x, y = a[i], b[i]
        if size[x] < size[y]:
            x, y = y, x
        needed = needed_of(size[x], size[y], limits)
        overlaps[i] = overlap_of(keys, start[x], size[x], start[y], size[y], needed)
