"""Kernels of the join of documents by their shingles: rarity, prefixes, postings, pairs.

Documents go by *rank*: their place in the order of size. Their shared shingles are *keys*, sorted: the top four bits say how
common a shingle is, the rest is its hash, so rising keys are rising frequency and every document agrees on the order.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from ibidem.compiling import inner_kernel, outer_kernel
from ibidem.matches.kernels import overlap_of

_ONE = np.uint64(1)
_FOUR = np.uint64(4)
_MOST = np.uint8(127)


@outer_kernel
def count_often(hashes, begin, end, table_bits, counters):
    """Count hashes, up to 127, at the hash's top `table_bits`; counters may be shared by several."""
    shift = np.uint64(64 - table_bits)
    for i in range(begin, end):
        if counters[hashes[i] >> shift] < _MOST:
            counters[hashes[i] >> shift] += np.uint8(1)


@outer_kernel
def make_keys(hashes, begin, end, table_bits, counters, keys):
    """Turn hashes into keys: the number of bits of the count, then the hash but for its last four bits."""
    shift = np.uint64(64 - table_bits)
    for i in range(begin, end):
        count = counters[hashes[i] >> shift]
        level = np.uint64(0)
        while count > 1:
            count >>= 1
            level += _ONE
        keys[i] = level << np.uint64(60) | hashes[i] >> _FOUR


@outer_kernel
def list_prefixes(keys, start, rank_bits, n_probe, n_index, prefix_first, entries):
    """Write an entry for each of the first `n_probe` keys of every document: the key's low bits, the rank, and whether
    it is indexed, being one of the first `n_index`.

    Two keys that share their low bits only lead to pairs that are compared for nothing.
    """
    for rank in range(len(n_probe)):
        at = prefix_first[rank]
        for k in range(n_probe[rank]):
            key = keys[start[rank] + k] << np.uint64(rank_bits + 1)
            entries[at + k] = key | np.uint64(rank) << _ONE | np.uint64(k < n_index[rank])


@outer_kernel
def locate_groups(entries, rank_bits, max_documents, prefix_first, n_listed, group_from, own_place, hot_bounds):
    """Tell every document where the groups of its entries begin, and where its own entries are.

    Groups of more than `max_documents` entries are hot: they are told to nobody. Returns the number of hot groups and writes
    where they begin and end to `hot_bounds`, as far as there is room.
    """
    low = np.uint64((1 << (rank_bits + 1)) - 1)
    n_hot = 0
    i = 0
    while i < len(entries):
        j = i + 1
        while j < len(entries) and (entries[j] & ~low) == (entries[i] & ~low):
            j += 1
        if j - i > max_documents:
            if 2 * n_hot + 1 < len(hot_bounds):
                hot_bounds[2 * n_hot] = i
                hot_bounds[2 * n_hot + 1] = j
            n_hot += 1
        elif j - i > 1:
            for k in range(i, j):
                rank = np.int64((entries[k] & low) >> _ONE)
                at = prefix_first[rank] + n_listed[rank]
                group_from[at] = i
                own_place[at] = k
                n_listed[rank] += 1
        i = j
    return n_hot


@inner_kernel
def first_entry(entries, low, begin, end, least_rank):
    """Place of the first entry in [begin, end) of a rank of at least `least_rank`."""
    while begin < end:
        middle = (begin + end) // 2
        if np.int64((entries[middle] & low) >> _ONE) < least_rank:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner_kernel
def needed_of(larger, smaller, needed_by_sum, needed_by_small):
    """Overlap that two documents of these sizes need."""
    needed = needed_by_sum[larger + smaller]
    if len(needed_by_small) > 0:
        needed = min(needed, needed_by_small[smaller])
    return needed


@outer_kernel
def pair_documents(
    entries, rank_bits, prefix_first, n_listed, group_from, own_place, keys, start, n_shared, size, smallest_rank,
    needed_by_sum, needed_by_small, side, probe_from, probe_to, seen, out_a, out_b, out_overlap, n_out,
):  # fmt: skip
    """Write the ranks and the overlap of every pair whose larger document's rank is in [probe_from, probe_to).

    Returns (the next rank to probe, the number of pairs); the former is below `probe_to` if the room was too small.
    `seen` holds for each rank the last one it was compared with. With `side` only documents of two sides are compared.
    """
    low = np.uint64((1 << (rank_bits + 1)) - 1)
    for x in range(probe_from, probe_to):
        n_before = n_out
        for k in range(prefix_first[x], prefix_first[x] + n_listed[x]):
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
                needed = needed_of(size[x], size[y], needed_by_sum, needed_by_small)
                overlap = overlap_of(keys, start[x], n_shared[x], start[y], n_shared[y], needed)
                if overlap < 0:
                    continue
                if n_out == len(out_a):
                    for z in range(len(seen)):
                        seen[z] = -1
                    return x, n_before
                out_a[n_out] = y
                out_b[n_out] = x
                out_overlap[n_out] = overlap
                n_out += 1
    return probe_to, n_out


@outer_kernel
def pair_with_leaders(
    entries, rank_bits, hot_bounds, keys, start, n_shared, size, smallest_rank, needed_by_sum, needed_by_small, side,
    falling, leaders, n_met, max_met, out_a, out_b, out_overlap,
):  # fmt: skip
    """Pair the documents of hot groups with leaders: those met before, of admissible size, that matched no leader themselves.

    The square of pairs of a hot group is never walked: a document meets at most `len(leaders)` others in each of its first
    `max_met` groups. Groups are walked in rising order of size, or, `falling`, in the other. With `side` only documents of
    the reference lead, and only the others are paired with them.
    Returns the number of pairs; there is room for one by document and group met.
    """
    low = np.uint64((1 << (rank_bits + 1)) - 1)
    n_out = 0
    for group in range(len(hot_bounds) // 2):
        n_leaders = 0
        begin, end = hot_bounds[2 * group], hot_bounds[2 * group + 1]
        for step in range(end - begin):
            at = end - 1 - step if falling else begin + step
            x = np.int64((entries[at] & low) >> _ONE)
            if n_met[x] == max_met:
                continue
            n_met[x] += 1
            may_lead = len(side) == 0 or side[x] == 1
            may_pair = len(side) == 0 or side[x] == 0
            matched = False
            for k in range(n_leaders):
                y = leaders[k]
                larger, smaller = (y, x) if falling else (x, y)
                if smaller < smallest_rank[larger]:
                    continue
                needed = needed_of(size[larger], size[smaller], needed_by_sum, needed_by_small)
                overlap = overlap_of(keys, start[x], n_shared[x], start[y], n_shared[y], needed)
                if overlap >= 0:
                    if may_pair:
                        out_a[n_out] = y
                        out_b[n_out] = x
                        out_overlap[n_out] = overlap
                        n_out += 1
                    matched = True
                    break
            if not matched and may_lead:
                if n_leaders == len(leaders):  # the oldest makes room: its size is farthest away
                    for k in range(1, n_leaders):
                        leaders[k - 1] = leaders[k]
                    n_leaders -= 1
                leaders[n_leaders] = x
                n_leaders += 1
    return n_out


@outer_kernel
def count_overlaps(keys, start, size, a, b, needed_by_sum, needed_by_small, pair_from, pair_to, overlaps):
    """Count what the sorted keys of each pair have in common, or write -1 where that is less than needed."""
    for i in range(pair_from, pair_to):
        x, y = a[i], b[i]
        if size[x] < size[y]:
            x, y = y, x
        needed = needed_of(size[x], size[y], needed_by_sum, needed_by_small)
        overlaps[i] = overlap_of(keys, start[x], size[x], start[y], size[y], needed)
