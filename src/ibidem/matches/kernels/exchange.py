"""Kernels of the join of sets: their order, which may be similar, and which are. The limit is the fraction p/q."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import GOLDEN, mix
from ibidem.columns.kernels.shell_sort import shell_sort
from ibidem.columns.kernels.union_find import find_root, unite
from ibidem.execution.compiler import inlined_kernel, outer_kernel
from ibidem.matches.kernels.bounds import index_prefix, needed_overlap, probe_prefix, smallest_partner
from ibidem.matches.kernels.join import overlap_of, popcount

LONG_SET = 256


@inlined_kernel
def _insert_member(begin, gap, i, hashes, ranks):
    """Order by frequency rank, then by hash."""
    value = hashes[i]
    rank = ranks[i]
    while i >= begin + gap and (ranks[i - gap] > rank or (ranks[i - gap] == rank and hashes[i - gap] > value)):
        hashes[i] = hashes[i - gap]
        ranks[i] = ranks[i - gap]
        i -= gap
    hashes[i] = value
    ranks[i] = rank


_sort_members = shell_sort(_insert_member)


@outer_kernel
def order_sets(hashes, ranks, first, bitmaps):
    """Sort the members of every set by frequency rank and hash, in place; write the sets' parity bitmaps."""
    for t in range(len(first) - 1):
        _sort_members(first[t], first[t + 1], hashes, ranks)
        bitmap = np.uint64(0)
        for i in range(first[t], first[t + 1]):
            bitmap ^= np.uint64(1) << (hashes[i] * GOLDEN >> np.uint64(58))
        bitmaps[t] = bitmap


@outer_kernel
def look_up(hashes, frequent, ranks, table_bits, table_first, out):
    """Write the frequency rank of each hash, 0 if it is not frequent.

    `frequent` are sorted; `table_first` says by their top `table_bits` where they begin.
    """
    shift = np.uint64(64 - table_bits)
    for i in range(len(hashes)):
        value = hashes[i]
        at = table_first[value >> shift]
        end = table_first[(value >> shift) + np.uint64(1)]
        while at < end and frequent[at] < value:
            at += 1
        out[i] = ranks[at] if at < end and frequent[at] == value else 0


@outer_kernel
def list_prefixes(hashes, ranks, least_common, sizes_in_twos, first, p, q, keys, which, is_indexed):
    """Write the keys where every set is met: its first members (`probe_prefix`) in order of frequency rank.

    Members of rank `least_common` or above are in too many sets. Sets that must share two members share a second one among
    these and one more: there, two members together are a key. Sets that may be similar by one member alone are also met by it.
    So are sets of `sizes_in_twos[0]` members or more, and only so beyond `sizes_in_twos[1]`: pairs of many members would be too
    many. Also written are the number of the set, and whether the key is of the `index_prefix` (with the second: and one more).
    Writes only as far as there is room; returns how many there are.
    """
    least_alone, most_in_twos = sizes_in_twos
    n = 0
    for t in range(len(first) - 1):
        begin = first[t]
        size = first[t + 1] - begin
        n_probe = probe_prefix(size, p, q) if size > 0 else 0
        n_index = index_prefix(size, p, q)
        for k in range(n_probe):
            is_common = ranks[begin + k] >= least_common
            if not is_common or n_probe == size or size >= least_alone:
                if n < len(keys):
                    keys[n] = hashes[begin + k]
                    which[n] = t
                    is_indexed[n] = k < n_index
                n += 1
            if is_common and size <= most_in_twos:
                for second in range(k + 1, min(n_probe + 1, size)):
                    if n < len(keys):
                        keys[n] = mix(hashes[begin + k], hashes[begin + second])
                        which[n] = t
                        is_indexed[n] = second <= n_index
                    n += 1
    return n


@outer_kernel
def distinct(hashes, first, sizes):
    """Keep every hash of a set once, in place, set by set; write sizes, return how many are left.

    Sets are short: each hash is searched among those kept. Sets of more than LONG_SET hashes are already sorted.
    """
    n = 0
    for t in range(len(first) - 1):
        begin = n
        for i in range(first[t], first[t + 1]):
            value = hashes[i]
            known = False
            looked_at = begin if first[t + 1] - first[t] <= LONG_SET else max(begin, n - 1)
            for k in range(looked_at, n):
                if hashes[k] == value:
                    known = True
                    break
            if not known:
                hashes[n] = value
                n += 1
        sizes[t] = n - begin
    return n


@inlined_kernel
def _first_met(member, size, x, begin, p, q):
    """Return the first set at the member of set x that is not too small for it; `begin` is the answer for the previous set."""
    if x > 0 and member[x] != member[x - 1]:
        begin = x
    smallest = smallest_partner(np.int64(size[x]), p, q)
    while size[begin] < smallest:
        begin += 1
    return begin


@inlined_kernel
def _may_be_similar(x, y, size, bitmap, is_indexed, p, q):
    """Return whether size and bitmap allow set x to resemble y, which comes before it. A bitmap differs in at most one bit for
    each member that two sets do not share.
    """
    size_x = np.int64(size[x])
    size_y = np.int64(size[y])
    most_differing = size_x + size_y - 2 * needed_overlap(size_x, size_y, p, q)
    return is_indexed[y] and np.int64(popcount(bitmap[x] ^ bitmap[y])) <= most_differing


@outer_kernel
def find_possible(member, size, bitmap, is_indexed, p, q, following, indexed, active):
    """Mark the sets that meet another at their member which may be similar by size and bitmap.

    Sets are sorted by member (only its number matters), then by size: an indexed one is met by those after it. Sets that are
    marked are skipped, so that a crowd of similar sets does not take quadratic time. `following` and `indexed` are room for one
    number more than there are sets: the next one that is not marked (the root of a forest), the next one that is indexed, both
    among the indexed.
    """
    following[len(member)] = indexed[len(member)] = len(member)
    for x in range(len(member) - 1, -1, -1):
        indexed[x] = x if is_indexed[x] else indexed[x + 1]
        following[x] = x if is_indexed[x] else x + 1
    begin = 0
    for x in range(len(member)):
        begin = _first_met(member, size, x, begin, p, q)
        y = find_root(following, begin)
        while y < x:
            if _may_be_similar(x, y, size, bitmap, is_indexed, p, q):
                active[x] = True
                active[y] = True
                following[y] = y + 1
            y = find_root(following, y + 1)
        if not active[x]:
            z = indexed[begin]
            while z < x:
                if active[z] and _may_be_similar(x, z, size, bitmap, is_indexed, p, q):
                    active[x] = True
                    break
                z = indexed[z + 1]
        if active[x]:
            following[x] = x + 1


@outer_kernel
def find_possible_near(size, bitmap, is_indexed, n_near, p, q, active):
    """Mark the sets that may be similar to one of the `n_near` before or after them; sets are sorted by size."""
    for x in range(len(size)):
        for y in range(max(0, x - n_near), x):
            if (not active[x] or not active[y]) and _may_be_similar(x, y, size, bitmap, is_indexed, p, q):
                active[x] = True
                active[y] = True


@outer_kernel
def unite_similar(member, number, size, bitmap, is_indexed, first, values, p, q, parent):
    """Unite every two sets that meet at a member and are similar; sets are sorted as in `find_possible`, with their hashes in
    increasing order.
    """
    begin = 0
    for x in range(len(member)):
        size_x = np.int64(size[x])
        begin = _first_met(member, size, x, begin, p, q)
        size_y = np.int64(-1)
        needed = np.int64(0)
        for y in range(begin, x):
            if size[y] != size_y:
                size_y = np.int64(size[y])
                needed = needed_overlap(size_x, size_y, p, q)
            if np.int64(popcount(bitmap[x] ^ bitmap[y])) > size_x + size_y - 2 * needed or not is_indexed[y]:
                continue
            if find_root(parent, number[x]) == find_root(parent, number[y]):
                continue
            if overlap_of(values, first[x], size_x, first[y], size_y, needed) >= 0:
                unite(parent, number[x], number[y])
