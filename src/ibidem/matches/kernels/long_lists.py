"""Kernels of the join for elements of very many sets: which sets meet there, which are similar, which can be ruled out
together.

An *entry* is a set that shares the elements of a *group* with all others of the group: `items` are their numbers in `order` (by
size), increasing in each group; `positions` say where in the set the last common element is. Sets, limit and forest are those
of `kernels.join`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import mix
from ibidem.columns.kernels.union_find import find_root, unite
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import largest_partner, needed_overlap, probe_prefix
from ibidem.matches.kernels.join import overlap_of, popcount


class Components(NamedTuple):
    """The entries of groups by component: group g has those [`of_group`[g], `of_group`[g + 1]), each bounded by `first`.

    `radius` is the largest distance of the entries of a component from its first one; -1 if not known.
    """

    of_group: NDArray[np.int64]
    first: NDArray[np.int64]
    items: NDArray[np.int32]
    positions: NDArray[np.int32]
    radius: NDArray[np.int64]


@outer_kernel
def list_members(sets, is_long, rank_from, rank_to, p, q, keys, items, positions):
    """Write the entries of the long lists of elements [rank_from, rank_to).

    These are the probing prefixes (`probe_prefix`). Sets have their rarest elements first, so each is read from the end of its
    prefix to the first element that is too rare.
    """
    n = 0
    for i in range(len(sets.order)):
        t = sets.order[i]
        k = probe_prefix(np.int64(sets.size[t]), p, q) - 1
        while k >= 0 and sets.values[sets.start[t] + k] >= rank_from:
            r = sets.values[sets.start[t] + k]
            if r < rank_to and is_long[r]:
                keys[n] = np.uint64(r)
                items[n] = i
                positions[n] = k
                n += 1
            k -= 1


@outer_kernel
def count_members(sets, is_long, rank_from, p, q, counts):
    """Count, by element, the entries that `list_members` would write from an element on."""
    for i in range(len(sets.order)):
        t = sets.order[i]
        k = probe_prefix(np.int64(sets.size[t]), p, q) - 1
        while k >= 0 and sets.values[sets.start[t] + k] >= rank_from:
            r = sets.values[sets.start[t] + k]
            if is_long[r]:
                counts[r] += 1
            k -= 1


@inner_kernel
def _largest_partner(n, position, depth, p, q):
    """Return the largest set that one of n elements may resemble if they share `depth` elements up to this position and all
    after it.
    """
    return largest_partner(n, depth + n - position - 1, p, q)


@outer_kernel
def mark_possible(group_first, items, positions, depth, sets, p, q, reach, is_possible):
    """Return which entries may resemble another one of their group, given the sizes and where the last common element is.

    `reach` has room for the largest group: the largest partner that any entry up to each one allows.
    """
    for group in range(len(group_first) - 1):
        begin = group_first[group]
        n = group_first[group + 1] - begin
        for k in range(n):
            largest = _largest_partner(np.int64(sets.size[sets.order[items[begin + k]]]), positions[begin + k], depth, p, q)
            reach[k] = largest if k == 0 else max(largest, reach[k - 1])
        for k in range(n):
            size_x = np.int64(sets.size[sets.order[items[begin + k]]])
            largest = _largest_partner(size_x, positions[begin + k], depth, p, q)
            low = 0
            high = n
            while low < high:  # entries are sorted by size
                middle = (low + high) // 2
                if sets.size[sets.order[items[begin + middle]]] <= largest:
                    low = middle + 1
                else:
                    high = middle
            is_possible[begin + k] = low > 0 and reach[low - 1] >= size_x


@inner_kernel
def _unite_similar(t, u, sets, p, q, parent):
    """Unite two sets if they are similar; return whether they are now in one component."""
    if find_root(parent, t) == find_root(parent, u):
        return True
    size_t = np.int64(sets.size[t])
    size_u = np.int64(sets.size[u])
    needed = needed_overlap(size_t, size_u, p, q)
    if np.int64(popcount(sets.bitmaps[t] ^ sets.bitmaps[u])) > size_t + size_u - 2 * needed:
        return False
    if overlap_of(sets.values, sets.start[t], size_t, sets.start[u], size_u, needed) < 0:
        return False
    unite(parent, t, u)
    return True


@inner_kernel
def _distance(t, u, sets):
    """Return the number of elements that only one of two sets has. It obeys the triangle inequality."""
    n_shared = overlap_of(sets.values, sets.start[t], sets.size[t], sets.start[u], sets.size[u], 0)
    return np.int64(sets.size[t]) + sets.size[u] - 2 * n_shared


@outer_kernel
def unite_with_leaders(group_first, items, depth, sets, p, q, parent, leaders, roots):
    """Compare every entry with the previous one and with a few leaders of its group: earlier ones that matched no leader.

    A crowd of similar sets becomes one component in linear time. All pairs that need no more than `depth` elements in common
    are also found: entries of a group have that many. Writes the component of every entry.
    """
    most_together = depth * (p + q) // p  # two sets with this many elements together need `depth` in common
    for group in range(len(group_first) - 1):
        begin = group_first[group]
        first = sets.order[items[begin]]  # the smallest
        n_leaders = 1
        leaders[0] = first
        for at in range(begin + 1, group_first[group + 1]):
            t = sets.order[items[at]]
            if np.int64(sets.size[t]) + sets.size[first] <= most_together:
                _unite_similar(t, first, sets, p, q, parent)
            if _unite_similar(t, sets.order[items[at - 1]], sets, p, q, parent):
                continue
            known = False
            for k in range(n_leaders):
                if _unite_similar(t, leaders[k], sets, p, q, parent):
                    known = True
                    break
            if not known and n_leaders < len(leaders):
                leaders[n_leaders] = t
                n_leaders += 1
    for at in range(len(items)):
        roots[at] = find_root(parent, sets.order[items[at]])


@outer_kernel
def measure_components(components, least, sets):
    """Write for every component of a group how far its entries are from the first one; -1 if they are fewer than `least`."""
    first, items, radius = components.first, components.items, components.radius
    for component in range(len(first) - 1):
        begin = first[component]
        radius[component] = -1
        if first[component + 1] - begin >= least:
            for at in range(begin, first[component + 1]):
                away = _distance(sets.order[items[begin]], sets.order[items[at]], sets)
                radius[component] = max(radius[component], away)


@inner_kernel
def _is_apart(a, b, components, sets, p, q):
    """Return whether two components are too far apart for any two of their entries to be similar."""
    order, first, items, radius = sets.order, components.first, components.items, components.radius
    if radius[a] < 0 or radius[b] < 0:
        return False
    t = order[items[first[a]]]
    u = order[items[first[b]]]
    # The last entries are the largest: two sets may differ in (q - p) / (p + q) of their elements.
    largest = np.int64(sets.size[order[items[first[a + 1] - 1]]]) + sets.size[order[items[first[b + 1] - 1]]]
    return _distance(t, u, sets) - radius[a] - radius[b] > largest * (q - p) // (p + q)


@outer_kernel
def count_pairs(components, sets, p, q, most_components, pairs):
    """Count, by group, the pairs of entries in different components that are not apart.

    For groups of many components, all pairs are counted.
    """
    first = components.first
    for group in range(len(components.of_group) - 1):
        begin = components.of_group[group]
        end = components.of_group[group + 1]
        pairs[group] = 0
        if end - begin > most_components:
            before = np.int64(0)
            for component in range(begin, end):
                n = first[component + 1] - first[component]
                pairs[group] += n * before
                before += n
            continue
        for a in range(begin, end):
            for b in range(a + 1, end):
                if not _is_apart(a, b, components, sets, p, q):
                    pairs[group] += (first[a + 1] - first[a]) * (first[b + 1] - first[b])


@outer_kernel
def compare_components(components, chosen, depth, sets, p, q, parent):
    """Compare the entries of different components in the chosen groups, until the two are one component."""
    of_group, first, items = components.of_group, components.first, components.items
    for group in chosen:
        for a in range(of_group[group], of_group[group + 1]):
            for b in range(a + 1, of_group[group + 1]):
                t = sets.order[items[first[a]]]
                u = sets.order[items[first[b]]]
                if find_root(parent, t) == find_root(parent, u):
                    continue
                if _is_apart(a, b, components, sets, p, q):
                    continue
                _compare_two(a, b, components, depth, sets, p, q, parent)


@inner_kernel
def _compare_two(a, b, components, depth, sets, p, q, parent):
    """Unite two components if any two of their entries are similar."""
    order, size, start, bitmaps = sets.order, sets.size, sets.start, sets.bitmaps
    first, items, positions, radius = components.first, components.items, components.positions, components.radius
    for x in range(first[a], first[a + 1]):
        t = order[items[x]]
        size_t = np.int64(size[t])
        largest_u = _largest_partner(size_t, positions[x], depth, p, q)
        if radius[b] >= 0:
            largest = size_t + size[order[items[first[b + 1] - 1]]]
            away = _distance(t, order[items[first[b]]], sets)
            if away - radius[b] > largest * (q - p) // (p + q):
                continue
        size_u = np.int64(-1)
        needed = np.int64(0)
        for y in range(first[b], first[b + 1]):
            u = order[items[y]]
            if size[u] != size_u:
                size_u = np.int64(size[u])
                if size_u > largest_u:
                    break  # entries are sorted by size
                needed = needed_overlap(size_t, size_u, p, q)
            if depth + size_u - positions[y] - 1 < needed:
                continue
            if np.int64(popcount(bitmaps[t] ^ bitmaps[u])) > size_t + size_u - 2 * needed:
                continue
            if overlap_of(sets.values, start[t], size_t, start[u], size_u, needed) >= 0:
                unite(parent, t, u)
                return


@outer_kernel
def count_children(items, positions, depth, sets, p, q, counts):
    """Count, by entry, the elements that may be the next common one: similar sets share one more up to here."""
    for at in range(len(items)):
        n = np.int64(sets.size[sets.order[items[at]]])
        reach = probe_prefix(n, p, q) + depth
        counts[at] = max(np.int64(0), min(reach, n) - positions[at] - 1)


@outer_kernel
def list_children(group_first, keys, items, positions, child_first, sets, out_keys, out_items, out_positions, out_group):
    """Write the entries of the groups that have one element more in common, and the group that each comes from."""
    for group in range(len(group_first) - 1):
        for at in range(group_first[group], group_first[group + 1]):
            for k in range(child_first[at + 1] - child_first[at]):
                n = child_first[at] + k
                position = positions[at] + 1 + k
                out_keys[n] = mix(keys[at], np.uint64(sets.values[sets.start[sets.order[items[at]]] + position]))
                out_items[n] = items[at]
                out_positions[n] = position
                out_group[n] = group
