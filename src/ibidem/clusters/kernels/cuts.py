"""Kernels of the cuts: rows are decided one by one; a row is cut if the same text is kept in an earlier place.

A *window* starts at a row and spans `size` rows of one document; equal windows form a *group*. A *slot* is a place in the text
of a group, and contains the first kept row there. Groups that always follow one another are one text and share their slots: the
slot of a row is its window's `base` plus the row's place in the window, for any of its windows.

`source` has for each row the row that it is cut for, or -1 if it is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import inlined_kernel, inner_kernel, outer_kernel
from ibidem.matches.kernels.bounds import needed_overlap
from ibidem.matches.kernels.join import overlap_of, popcount

_UNSEEN, _NONE = -2, -1  # no window of the group seen yet; its windows have different neighbours


class Order(NamedTuple):
    """The order in which documents are decided: the first `n_reference` of `documents` are the reference, if there is one.

    `position` is the place of each document in this order, and is empty if it is the order of rows; `document` is per row.
    """

    documents: NDArray[np.int64]
    position: NDArray[np.int64]
    document: NDArray[np.int32]
    document_first: NDArray[np.int64]
    has_reference: bool
    n_reference: int


class Windows(NamedTuple):
    """The group of the window at each row (-1: none), and the first slot of each group. `held` is per slot, initially -1.

    `kind_of_row` is the group of windows of equal classes. In the same document, rows at least `lag` rows earlier may be
    sources.
    """

    size: int
    lag: int
    group_of_row: NDArray[np.int32]
    base: NDArray[np.int64]
    held: NDArray[np.int32]
    kind_of_row: NDArray[np.int32]


class Leaders(NamedTuple):
    """Windows that others of their kind are compared with: those of kind k are the first `n_rows[k]` of `rows[first[k]:]`,
    initially 0.
    """

    first: NDArray[np.int64]
    n_rows: NDArray[np.uint8]
    rows: NDArray[np.int32]


class ComparedCells(NamedTuple):
    """What rows are compared by: types and their sets; they match from a similarity of p/q."""

    types: NDArray[Any]
    start: NDArray[np.int64]
    size: NDArray[np.int32]
    values: NDArray[Any]
    bitmaps: NDArray[np.uint64]
    p: int
    q: int


@outer_kernel
def drop_short_windows(keys, n_words, size, min_words):
    """Remove the key of every window of fewer than `min_words` words. All rows of a window with a key exist."""
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
    """Write the group of the window that starts at each row; other rows are left unchanged."""
    for group in range(len(window_first) - 1):
        for i in range(window_first[group], window_first[group + 1]):
            group_of_row[window_rows[i]] = group


@outer_kernel
def place_slots(following, preceding, size, base):
    """Write the first slot of each group; return the number of slots.

    Groups linked in both directions are one slot apart. There are no cycles: nothing follows the last window of a text.
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


@inlined_kernel
def _may_give(source_row, row, first, end, lag):
    """Return whether a kept row may be the source of another: always in another document, in the same one from `lag` rows
    before.

    The rows of the document are [first, end).
    """
    return source_row < first or source_row >= end or source_row <= row - lag


@inlined_kernel
def first_source(row, first, end, lag, slots, begin, stop, shift, position, document, held):
    """Return the first kept row, in the order of decision, in one of a row's slots that may be its source; or -1.

    The slots are `slots[begin:stop]`, each plus `shift`. Rows are ordered by the `position` of their document; if that is
    empty, by their number.
    """
    best = np.int64(-1)
    for k in range(begin, stop):
        other = np.int64(held[slots[k] + shift])
        if other < 0 or other == best or not _may_give(other, row, first, end, lag):
            continue
        if best >= 0:
            there = position[document[other]] if len(position) > 0 else 0
            here = position[document[best]] if len(position) > 0 else 0
            if there > here or (there == here and other > best):
                continue
        best = other
    return best


@inlined_kernel
def hold_slots(row, slots, begin, stop, shift, held):
    """Make a kept row the source in those of its slots that have none."""
    for k in range(begin, stop):
        if held[slots[k] + shift] < 0:
            held[slots[k] + shift] = row


@inner_kernel
def _match(x, y, length, cells):
    """Return whether `length` consecutive cells reach the similarity."""
    types, start, size, bitmaps = cells.types, cells.start, cells.size, cells.bitmaps
    for k in range(length):
        t = types[x + k]
        u = types[y + k]
        if t == u:
            continue
        needed = needed_overlap(size[t], size[u], cells.p, cells.q)
        # The bitmaps differ in at most as many bits as the sets differ in elements.
        if np.int64(popcount(bitmaps[t] ^ bitmaps[u])) > size[t] + size[u] - 2 * needed:
            return False
        if overlap_of(cells.values, start[t], size[t], start[u], size[u], needed) < 0:
            return False
    return True


@inner_kernel
def _cut_by_leaders(row, kind, first, end, size, lag, leaders, cells, source):
    """Give rows of the window at `row` without a source one from kept rows of leaders that match the window."""
    for i in range(leaders.first[kind], leaders.first[kind] + leaders.n_rows[kind]):
        leader = leaders.rows[i]
        if not _may_give(leader, row, first, end, lag):
            continue
        wanted = False
        for k in range(size):
            wanted |= source[leader + k] < 0 and source[row + k] < 0
        if wanted and _match(leader, row, size, cells):
            for k in range(size):
                if source[leader + k] < 0 and source[row + k] < 0:
                    source[row + k] = leader + k


@inner_kernel
def _add_leader(row, kind, size, leaders, cells, source):
    """Make the window at `row` a leader of its group, which has room, if one of its rows is kept and no matching leader is kept
    wherever it is.
    """
    end = leaders.first[kind] + leaders.n_rows[kind]
    stays = False
    for k in range(size):
        stays |= source[row + k] < 0
    if not stays:
        return
    for i in range(leaders.first[kind], end):
        leader = leaders.rows[i]
        covers = True
        for k in range(size):
            covers &= source[leader + k] < 0 or source[row + k] >= 0
        if covers and _match(leader, row, size, cells):
            return
    leaders.rows[end] = row
    leaders.n_rows[kind] += 1


@inner_kernel
def _all_held(slot, row, first, end, size, lag, held):
    """Return whether every row of the window at `row` will find a source in the window's own slots."""
    for k in range(size):
        other = held[slot + k]
        if other < 0 or not _may_give(other, row + k, first, end, lag):
            return False
    return True


@outer_kernel
def cut_rows(order, windows, near, leaders, cells, shifts, lasts, source):
    """Write the source of every row that is cut; `source` is initially all -1.

    `shifts` and `lasts` have room for twice as many numbers as a window has rows. Without `near`, leaders and cells are not
    used.
    """
    size, lag, group_of_row, base, held, kind_of_row = windows
    leader_first, n_leaders = leaders.first, leaders.n_rows
    for i in range(len(order.documents)):
        first = order.document_first[order.documents[i]]
        end = order.document_first[order.documents[i] + 1]
        may_go = not order.has_reference or i >= order.n_reference
        may_give = not order.has_reference or i < order.n_reference
        # The windows that contain the current row, as a queue of runs that share slots: the row's slot is shift + row.
        head = 0
        tail = 0
        for row in range(first, end):
            while head < tail and lasts[head] <= row - size:
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
            if may_go:
                if near:
                    kind = kind_of_row[row]
                    # What occurs elsewhere word for word needs no comparison.
                    if kind >= 0 and n_leaders[kind] > 0:
                        if group < 0 or not _all_held(base[group], row, first, end, size, lag, held):
                            _cut_by_leaders(row, kind, first, end, size, lag, leaders, cells, source)
                best = first_source(row, first, end, lag, shifts, head, tail, row, order.position, order.document, held)
                if best >= 0:
                    source[row] = best
            if not may_give:
                continue
            if source[row] < 0:
                hold_slots(row, shifts, head, tail, row, held)
            if near and row - size + 1 >= first:
                kind = kind_of_row[row - size + 1]
                # Most groups are soon full, and a call would pass every field of every array.
                if kind >= 0 and leader_first[kind] + n_leaders[kind] < leader_first[kind + 1]:
                    _add_leader(row - size + 1, kind, size, leaders, cells, source)


@outer_kernel
def decide_rows(rows, first, end, stays, lag, slot_first, slots, no_position, held, source):
    """Write the source of every row that is cut; `source` and `held` are initially all -1.

    Rows are numbered in the order of decision; those of row i's document are [first[i], end[i]). Row i has the slots
    `slots[slot_first[i]:slot_first[i + 1]]`, and is known to be kept if `stays[i]`. `no_position` is empty.
    """
    for i in range(len(rows)):
        if not stays[i]:
            source[i] = first_source(
                rows[i], first[i], end[i], lag, slots, slot_first[i], slot_first[i + 1], 0, no_position, no_position, held
            )
        if source[i] < 0:
            hold_slots(rows[i], slots, slot_first[i], slot_first[i + 1], 0, held)


@outer_kernel
def link_groups(group_of_row, document, following, preceding):
    """Write for every group the one group that follows (precedes) each of its windows, or -1 if there is none."""
    for row in range(len(document)):
        group = group_of_row[row]
        if group < 0:
            continue
        inside = row + 1 < len(document) and document[row + 1] == document[row]
        after = group_of_row[row + 1] if inside else _NONE
        if following[group] == _UNSEEN:
            following[group] = after
        elif following[group] != after:
            following[group] = _NONE
        inside = row > 0 and document[row - 1] == document[row]
        before = group_of_row[row - 1] if inside else _NONE
        if preceding[group] == _UNSEEN:
            preceding[group] = before
        elif preceding[group] != before:
            preceding[group] = _NONE
