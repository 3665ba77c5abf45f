"""Kernels of the cuts: one pass over the documents that decides, row by row, what goes because it stands earlier and stays.

A *window* starts at a row and spans `size` rows of one document; equal windows form a *group*. A *slot* is a place in the
text of a group, and holds the first row there that stays. Groups that always follow one another are one text and share
their slots: the slot of a row is its window's `base` plus the row's place in the window, whichever of its windows is asked.

`source` holds by row what the row is cut for, or -1 for a row that stays. Rows of documents [first, end) are its own.
"""

from __future__ import annotations

import numpy as np

from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import needed_overlap
from ibidem.matches.kernels.join import overlap_of, popcount


@outer_kernel
def drop_short_windows(keys, n_words, size, min_words):
    """Take the key from every window of fewer than `min_words` words. The rows of a window that has a key exist."""
    words = np.int64(0)
    for row in range(len(keys) + size - 1):
        if row < len(keys):
            words += n_words[row]
        begin = row - size + 1
        if begin >= 0:
            if words < min_words:
                keys[begin] = 0
            words -= n_words[begin]


@outer_kernel
def number_windows(window_rows, window_first, group_of_row):
    """Write the group of the window that starts at each row; the others keep what they have."""
    for group in range(len(window_first) - 1):
        for i in range(window_first[group], window_first[group + 1]):
            group_of_row[window_rows[i]] = group


@outer_kernel
def place_slots(following, preceding, size, base):
    """Write the first slot of each group; return the number of slots.

    Groups linked in both directions lie one slot apart. There are no circles: the last window of a text is followed by none.
    """
    n_slots = np.int64(0)
    for head in range(len(base)):
        if preceding[head] >= 0 and following[preceding[head]] == head:
            continue
        group = np.int64(head)
        while True:
            base[group] = n_slots
            n_slots += 1
            after = following[group]
            if after < 0 or preceding[after] != group:
                break
            group = after
        n_slots += size - 1
    return n_slots


@inner_kernel
def _may_give(source_row, row, first, end, lag):
    """Whether a row that stays may be the source of another one: in other documents always, in the same one `lag` before."""
    return source_row < first or source_row >= end or source_row <= row - lag


@inner_kernel
def _match(x, y, length, types, start, size, values, bitmaps, p, q):
    """Whether `length` cells in a row reach the similarity p/q."""
    for k in range(length):
        t = types[x + k]
        u = types[y + k]
        if t == u:
            continue
        needed = needed_overlap(size[t], size[u], p, q)
        # Bits in which the bitmaps differ are at most the elements in which the sets do.
        if np.int64(popcount(bitmaps[t] ^ bitmaps[u])) > size[t] + size[u] - 2 * needed:
            return False
        if overlap_of(values, start[t], size[t], start[u], size[u], needed) < 0:
            return False
    return True


@inner_kernel
def _cut_by_leaders(
    row, first, end, lag, length, leaders, leader_from, leader_to, types, start, size, values, bitmaps, p, q, source
):
    """Give the rows of the window at `row` that have no source yet one in the leaders that match the window and stay."""
    for i in range(leader_from, leader_to):
        leader = leaders[i]
        if not _may_give(leader, row, first, end, lag):
            continue
        wanted = False
        for k in range(length):
            wanted |= source[leader + k] < 0 and source[row + k] < 0
        if wanted and _match(leader, row, length, types, start, size, values, bitmaps, p, q):
            for k in range(length):
                if source[leader + k] < 0 and source[row + k] < 0:
                    source[row + k] = leader + k


@inner_kernel
def _is_new_leader(row, length, leaders, leader_from, leader_to, types, start, size, values, bitmaps, p, q, source):
    """Whether the window at `row` holds a row that stays, and no leader matches it that stays wherever it does."""
    stays = False
    for k in range(length):
        stays |= source[row + k] < 0
    if not stays:
        return False
    for i in range(leader_from, leader_to):
        leader = leaders[i]
        covers = True
        for k in range(length):
            covers &= source[leader + k] < 0 or source[row + k] >= 0
        if covers and _match(leader, row, length, types, start, size, values, bitmaps, p, q):
            return False
    return True


@inner_kernel
def _all_held(slot, row, length, first, end, lag, held):
    """Whether every row of the window at `row` will find a source in the window's own slots."""
    n_held = 0
    while n_held < length and held[slot + n_held] >= 0 and _may_give(held[slot + n_held], row + n_held, first, end, lag):
        n_held += 1
    return n_held == length


@outer_kernel
def cut_rows(
    order, n_reference, has_reference, position, document, document_first, length, lag,
    group_of_row, base, held, shifts, lasts,
    near, class_group_of_row, leader_first, n_leaders, leaders, types, start, size, values, bitmaps, p, q,
    source,
):  # fmt: skip
    """Write the source of every row that goes. Documents come in `order`, those of the reference first.

    `held` and `source` are -1 and `n_leaders` 0 throughout at first; `shifts` and `lasts` are room for 2 * `length` numbers.
    Without `near`, the arrays of that line are not looked at.
    """
    for i in range(len(order)):
        first = document_first[order[i]]
        end = document_first[order[i] + 1]
        may_go = not has_reference or i >= n_reference
        may_give = not has_reference or i < n_reference
        # The windows that hold the current row, as a queue of runs that share their slots: the row's slot is shift + row.
        head = 0
        tail = 0
        for row in range(first, end):
            while head < tail and lasts[head] <= row - length:
                head += 1
            group = group_of_row[row]
            if group >= 0:
                shift = base[group] - row
                if head == tail or shifts[tail - 1] != shift:
                    if tail == len(shifts):
                        for k in range(head, tail):
                            shifts[k - head] = shifts[k]
                            lasts[k - head] = lasts[k]
                        tail -= head
                        head = 0
                    shifts[tail] = shift
                    tail += 1
                lasts[tail - 1] = row
            if may_go and near:
                kind = class_group_of_row[row]
                if kind >= 0 and n_leaders[kind] > 0:
                    # What stands elsewhere word for word needs no comparing.
                    if group < 0 or not _all_held(base[group], row, length, first, end, lag, held):
                        _cut_by_leaders(
                            row, first, end, lag, length, leaders, leader_first[kind], leader_first[kind] + n_leaders[kind],
                            types, start, size, values, bitmaps, p, q, source,
                        )  # fmt: skip
            if may_go:
                best = np.int64(-1)
                for k in range(head, tail):
                    other = np.int64(held[shifts[k] + row])
                    if other < 0 or other == best or not _may_give(other, row, first, end, lag):
                        continue
                    if best >= 0:
                        there = position[document[other]]
                        here = position[document[best]]
                        if there > here or (there == here and other > best):
                            continue
                    best = other
                if best >= 0:
                    source[row] = best
            if not may_give:
                continue
            if source[row] < 0:
                for k in range(head, tail):
                    if held[shifts[k] + row] < 0:
                        held[shifts[k] + row] = row
            if near and row - length + 1 >= first:
                begin = row - length + 1
                kind = class_group_of_row[begin]
                if kind >= 0:
                    at = leader_first[kind] + n_leaders[kind]
                    if at < leader_first[kind + 1] and _is_new_leader(
                        begin, length, leaders, leader_first[kind], at, types, start, size, values, bitmaps, p, q, source
                    ):
                        leaders[at] = begin
                        n_leaders[kind] += 1
