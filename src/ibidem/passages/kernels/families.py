"""Kernels of passage families: which spans of one text are one place, and which places one passage has travelled to,
and how many words two wordings share.
"""

from __future__ import annotations

from ibidem.execution.compiler import inner_kernel, outer_kernel

LEAST_SHARE = 0.75


@inner_kernel
def _is_same(start, end, other_start, other_end):
    """Return whether two spans share at least three quarters of the longer one."""
    overlap = min(end, other_end) - max(start, other_start)
    return 4 * overlap >= 3 * max(end - start, other_end - other_start)


@outer_kernel
def place_spans(prominent, document, start, end, leader):
    """Write the span that represents each span's place. Spans are in order of document and start; `leader` is all -1.

    The spans in `prominent` take their turns: one that belongs to no place yet leads a new one, to which all spans belong
    that are the same and free. No place grows by what joins it.
    """
    n = len(start)
    for k in range(n):
        one = prominent[k]
        if leader[one] >= 0:
            continue
        leader[one] = one
        length = end[one] - start[one]
        # The same span begins at most a third of the length earlier, and at most a quarter later.
        other = one - 1
        while other >= 0 and document[other] == document[one] and 3 * (start[one] - start[other]) <= length:
            if leader[other] < 0 and _is_same(start[one], end[one], start[other], end[other]):
                leader[other] = one
            other -= 1
        other = one + 1
        while other < n and document[other] == document[one] and 4 * (start[other] - start[one]) <= length:
            if leader[other] < 0 and _is_same(start[one], end[one], start[other], end[other]):
                leader[other] = one
            other += 1


@outer_kernel
def follow_copies(first, rows, a, b, a_start, a_end, b_start, b_end, similarity, start, end, base, copied, share, queue):
    """Write the base of the family that each place belongs to; a place without links keeps its -1.

    Places are in the order in which they may become bases. Of n links, row r is link r seen from a, row n + r is the same link
    seen from b. Those seen from place p are rows[first[p]:first[p + 1]], by neighbour. A link of a place with itself leads
    nowhere. `copied`, `share` and `queue` are room: where a base is at each place, and how much of it.
    """
    n = len(a)
    for each in range(len(start)):
        if base[each] >= 0:
            continue
        earliest = -1
        copied[each, 0], copied[each, 1], share[each] = start[each], end[each], 1.0
        queue[0] = each
        begin, stop = 0, 1
        while begin < stop:
            place = queue[begin]
            begin += 1
            for k in range(first[place], first[place + 1]):
                row = rows[k]
                if row < n:
                    other, near_start, near_end = b[row], a_start[row], a_end[row]
                    far_start, far_end = b_start[row], b_end[row]
                else:
                    row -= n
                    other, near_start, near_end = a[row], b_start[row], b_end[row]
                    far_start, far_end = a_start[row], a_end[row]
                if other == place:
                    continue
                if earliest < 0:
                    earliest = other
                    base[each] = each
                if base[other] >= 0:
                    continue
                # Of what was copied here, the part in the passage was copied on.
                part_start, part_end = max(copied[place, 0], near_start), min(copied[place, 1], near_end)
                if part_end <= part_start:
                    continue
                part = share[place] * similarity[row] * (part_end - part_start) / (copied[place, 1] - copied[place, 0])
                scale = (far_end - far_start) / (near_end - near_start)
                there_start = far_start + (part_start - near_start) * scale
                there_end = far_start + (part_end - near_start) * scale
                if place != each:
                    overlap = min(there_end, end[other]) - max(there_start, start[other])
                    longer = max(there_end - there_start, end[other] - start[other])
                    if part < LEAST_SHARE or overlap < LEAST_SHARE * longer:
                        continue
                base[other] = each
                copied[other, 0], copied[other, 1], share[other] = there_start, there_end, part
                queue[stop] = other
                stop += 1
        if stop == 1 and earliest >= 0:
            # All its copies belong to other families, and are no base: it joins the earliest of them.
            base[each] = base[earliest]


@outer_kernel
def keep_one_of_overlapping(rows, base, document, start, end, n_passages, shown):
    """Hide places, of those of one family in one document, that share half of the shorter one with a place that is shown.

    `rows` are the places by base, document and start. Of two places, the one that more passages name is shown, then the
    longer, then the first.
    """
    last = -1
    for k in range(len(rows)):
        row = rows[k]
        if base[row] < 0:
            continue
        if last >= 0 and base[last] == base[row] and document[last] == document[row]:
            length, last_length = end[row] - start[row], end[last] - start[last]
            if 2 * (min(end[row], end[last]) - start[row]) >= min(length, last_length):
                if (n_passages[row], length) <= (n_passages[last], last_length):
                    shown[row] = False
                    continue
                shown[last] = False
        last = row


@outer_kernel
def count_common(words, first, other_words, other_first, other_of, common):
    """Write how many words each text has in common with another one, each counted as often as it occurs in both.

    The sorted words of text i are words[first[i]:first[i + 1]], those of the other one other_words[other_first[o]:...].
    """
    for i in range(len(other_of)):
        at, end = first[i], first[i + 1]
        other, other_end = other_first[other_of[i]], other_first[other_of[i] + 1]
        n = 0
        while at < end and other < other_end:
            if words[at] == other_words[other]:
                n += 1
                at += 1
                other += 1
            elif words[at] < other_words[other]:
                at += 1
            else:
                other += 1
        common[i] = n
