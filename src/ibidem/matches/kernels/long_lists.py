"""Kernels of the join for elements of very many sets: who meets there, who is similar, who can be ruled out together.

An *entry* is a set that has the elements of a *group* in common with all others of the group: `items` are their numbers in
`order` (by size), rising in each group, `positions` say where in the set the last common element is. Sets, limit and forest
are those of `kernels`.
"""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import mix
from ibidem.columns.kernels.union_find import find_root, unite
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import largest_partner, needed_overlap, probe_prefix
from ibidem.matches.kernels.join import overlap_of, popcount


@outer_kernel
def list_members(order, size, start, values, posting_first, most_postings, rank_from, rank_to, p, q, keys, items, positions):
    """Write the entries of elements [rank_from, rank_to) with more than `most_postings` postings, as far as there is room.

    These are the probing prefixes (`probe_prefix`). Returns how many there are.
    """
    n = 0
    for i in range(len(order)):
        t = order[i]
        prefix = probe_prefix(np.int64(size[t]), p, q)
        for k in range(prefix):
            r = values[start[t] + k]
            if r >= rank_from and r < rank_to and posting_first[r + 1] - posting_first[r] > most_postings:
                if n < len(keys):
                    keys[n] = np.uint64(r)
                    items[n] = i
                    positions[n] = k
                n += 1
    return n


@outer_kernel
def count_members(order, size, start, values, posting_first, most_postings, p, q, counts):
    """Count, by element, the entries that `list_members` would write."""
    for i in range(len(order)):
        t = order[i]
        prefix = probe_prefix(np.int64(size[t]), p, q)
        for k in range(prefix):
            r = values[start[t] + k]
            if posting_first[r + 1] - posting_first[r] > most_postings:
                counts[r] += 1


@inner_kernel
def _largest_partner(n, position, depth, p, q):
    """Largest set that one of n elements may resemble if they share `depth` elements up to this position and all after it."""
    return largest_partner(n, depth + n - position - 1, p, q)


@outer_kernel
def mark_possible(group_first, items, positions, depth, order, size, p, q, reach, is_possible):
    """Tell which entries may resemble another one of their group, given the sizes and where the last common element is.

    `reach` has room for the largest group: the largest partner that any of the entries up to each allows.
    """
    for group in range(len(group_first) - 1):
        begin = group_first[group]
        n = group_first[group + 1] - begin
        for k in range(n):
            largest = _largest_partner(np.int64(size[order[items[begin + k]]]), positions[begin + k], depth, p, q)
            reach[k] = largest if k == 0 else max(largest, reach[k - 1])
        for k in range(n):
            size_x = np.int64(size[order[items[begin + k]]])
            largest = _largest_partner(size_x, positions[begin + k], depth, p, q)
            low = 0
            high = n
            while low < high:  # entries rise by size
                middle = (low + high) // 2
                if size[order[items[begin + middle]]] <= largest:
                    low = middle + 1
                else:
                    high = middle
            is_possible[begin + k] = low > 0 and reach[low - 1] >= size_x


@inner_kernel
def _unite_similar(t, u, size, start, values, bitmaps, p, q, parent):
    """Unite two sets if they are similar; tell whether they are in one component now."""
    if find_root(parent, t) == find_root(parent, u):
        return True
    size_t = np.int64(size[t])
    size_u = np.int64(size[u])
    needed = needed_overlap(size_t, size_u, p, q)
    if np.int64(popcount(bitmaps[t] ^ bitmaps[u])) > size_t + size_u - 2 * needed:
        return False
    if overlap_of(values, start[t], size_t, start[u], size_u, needed) < 0:
        return False
    unite(parent, t, u)
    return True


@inner_kernel
def _distance(t, u, size, start, values):
    """Number of elements that only one of two sets has. It obeys the triangle inequality."""
    return np.int64(size[t]) + size[u] - 2 * overlap_of(values, start[t], size[t], start[u], size[u], 0)


@outer_kernel
def unite_with_leaders(
    group_first, items, depth, order, size, start, values, bitmaps, p, q, parent, leaders, roots,
):  # fmt: skip
    """Compare every entry with the one before it and with a few leaders of its group: those before that matched no leader.

    A crowd of similar sets becomes one component in a time that grows with the crowd. Also found are all pairs that need no
    more than `depth` elements in common: those of a group have as many. Writes the component of every entry.
    """
    most_together = depth * (p + q) // p  # two sets of so many elements together need `depth` in common
    for group in range(len(group_first) - 1):
        begin = group_first[group]
        first = order[items[begin]]  # the smallest
        n_leaders = 1
        leaders[0] = first
        for at in range(begin + 1, group_first[group + 1]):
            t = order[items[at]]
            if np.int64(size[t]) + size[first] <= most_together:
                _unite_similar(t, first, size, start, values, bitmaps, p, q, parent)
            if _unite_similar(t, order[items[at - 1]], size, start, values, bitmaps, p, q, parent):
                continue
            known = False
            for k in range(n_leaders):
                if _unite_similar(t, leaders[k], size, start, values, bitmaps, p, q, parent):
                    known = True
                    break
            if not known and n_leaders < len(leaders):
                leaders[n_leaders] = t
                n_leaders += 1
    for at in range(len(items)):
        roots[at] = find_root(parent, order[items[at]])


@outer_kernel
def measure_parts(part_first, least, items, order, size, start, values, radius):
    """Write for every part (the entries of a group in one component) how far its entries lie from the first one; -1 if they are
    fewer than `least`.
    """
    for part in range(len(part_first) - 1):
        begin = part_first[part]
        radius[part] = -1
        if part_first[part + 1] - begin >= least:
            for at in range(begin, part_first[part + 1]):
                radius[part] = max(radius[part], _distance(order[items[begin]], order[items[at]], size, start, values))


@inner_kernel
def _is_apart(a, b, part_first, items, order, size, start, values, p, q, radius):
    """Whether two parts lie too far from one another for any two of their entries to be similar."""
    if radius[a] < 0 or radius[b] < 0:
        return False
    t = order[items[part_first[a]]]
    u = order[items[part_first[b]]]
    # The last entries are the largest: two sets may differ in (q - p) / (p + q) of their elements.
    largest = np.int64(size[order[items[part_first[a + 1] - 1]]]) + size[order[items[part_first[b + 1] - 1]]]
    return _distance(t, u, size, start, values) - radius[a] - radius[b] > largest * (q - p) // (p + q)


@outer_kernel
def count_pairs(group_parts, part_first, items, order, size, start, values, p, q, most_parts, radius, pairs):
    """Count, by group, the pairs of entries in different parts that are not apart; groups of many parts are not looked at.

    Group g has the parts [group_parts[g], group_parts[g + 1]).
    """
    for group in range(len(group_parts) - 1):
        begin = group_parts[group]
        end = group_parts[group + 1]
        pairs[group] = 0
        if end - begin > most_parts:
            before = np.int64(0)
            for part in range(begin, end):
                n = part_first[part + 1] - part_first[part]
                pairs[group] += n * before
                before += n
            continue
        for a in range(begin, end):
            for b in range(a + 1, end):
                if not _is_apart(a, b, part_first, items, order, size, start, values, p, q, radius):
                    pairs[group] += (part_first[a + 1] - part_first[a]) * (part_first[b + 1] - part_first[b])


@outer_kernel
def compare_parts(
    group_parts, chosen, part_first, items, positions, depth, order, size, start, values, bitmaps, p, q, radius, parent,
):  # fmt: skip
    """Compare the entries of different parts in the chosen groups, until the two parts are one component."""
    for group in chosen:
        for a in range(group_parts[group], group_parts[group + 1]):
            for b in range(a + 1, group_parts[group + 1]):
                t = order[items[part_first[a]]]
                u = order[items[part_first[b]]]
                if find_root(parent, t) == find_root(parent, u):
                    continue
                if _is_apart(a, b, part_first, items, order, size, start, values, p, q, radius):
                    continue
                _compare_two(
                    a, b, part_first, items, positions, depth, order, size, start, values, bitmaps, p, q, radius, parent
                )


@inner_kernel
def _compare_two(a, b, part_first, items, positions, depth, order, size, start, values, bitmaps, p, q, radius, parent):
    """Unite two parts if any two of their entries are similar."""
    for x in range(part_first[a], part_first[a + 1]):
        t = order[items[x]]
        size_t = np.int64(size[t])
        largest_u = _largest_partner(size_t, positions[x], depth, p, q)
        if radius[b] >= 0:
            largest = size_t + size[order[items[part_first[b + 1] - 1]]]
            away = _distance(t, order[items[part_first[b]]], size, start, values)
            if away - radius[b] > largest * (q - p) // (p + q):
                continue
        size_u = np.int64(-1)
        needed = np.int64(0)
        for y in range(part_first[b], part_first[b + 1]):
            u = order[items[y]]
            if size[u] != size_u:
                size_u = np.int64(size[u])
                if size_u > largest_u:
                    break  # entries rise by size
                needed = needed_overlap(size_t, size_u, p, q)
            if depth + size_u - positions[y] - 1 < needed:
                continue
            if np.int64(popcount(bitmaps[t] ^ bitmaps[u])) > size_t + size_u - 2 * needed:
                continue
            if overlap_of(values, start[t], size_t, start[u], size_u, needed) >= 0:
                unite(parent, t, u)
                return


@outer_kernel
def count_children(items, positions, depth, order, size, p, q, counts):
    """Count, by entry, the elements that may be the next one in common: similar sets share one more this far."""
    for at in range(len(items)):
        n = np.int64(size[order[items[at]]])
        reach = probe_prefix(n, p, q) + depth
        counts[at] = max(np.int64(0), min(reach, n) - positions[at] - 1)


@outer_kernel
def list_children(
    group_first, keys, items, positions, child_first, order, start, values, out_keys, out_items, out_positions, out_group,
):  # fmt: skip
    """Write the entries of the groups that have one element more in common, and the group that each comes from."""
    for group in range(len(group_first) - 1):
        for at in range(group_first[group], group_first[group + 1]):
            for k in range(child_first[at + 1] - child_first[at]):
                n = child_first[at] + k
                position = positions[at] + 1 + k
                out_keys[n] = mix(keys[at], np.uint64(values[start[order[items[at]]] + position]))
                out_items[n] = items[at]
                out_positions[n] = position
                out_group[n] = group
