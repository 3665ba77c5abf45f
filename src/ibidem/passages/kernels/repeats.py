"""Kernel of the repeat groups: which hot window always follows which."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel

_UNSEEN = -2
_NONE = -1


@outer_kernel
def link_groups(group_of_row, document, following, preceding):
    """Write for every group the one group that follows (precedes) each of its windows, or -1 where there is no such one."""
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
