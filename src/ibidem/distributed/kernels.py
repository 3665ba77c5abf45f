"""Kernels of what goes where."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from ibidem.compiling import outer_kernel


@outer_kernel
def list_meetings(first, may_meet, documents, homes, same_document, n_input, n_partitions, room):
    """Write document * `n_partitions` + bucket for every document and the homes of those up to it in its groups.

    Documents rise inside a group, so homes do too. With a reference (`n_input` not below 0) groups of one side are passed over.
    Writes only as far as there is room; returns how many there are.
    """
    n = 0
    for group in range(len(first) - 1):
        begin = first[group]
        end = first[group + 1]
        if not may_meet[begin]:
            continue
        if documents[begin] == documents[end - 1] and not same_document:
            continue
        one_side = n_input >= 0 and (documents[begin] >= n_input or documents[end - 1] < n_input)
        if one_side and not same_document:
            continue
        for j in range(begin, end):
            if j > begin and documents[j] == documents[j - 1]:
                continue
            last = -1
            for i in range(begin, j + 1):
                if homes[i] != last:
                    last = homes[i]
                    if n < len(room):
                        room[n] = documents[j] * n_partitions + last
                    n += 1
    return n


@outer_kernel
def copy_stretches(values, begins, counts, out):
    """Write `counts[i]` values from `begins[i]` on, for each i, one after the other."""
    n = 0
    for i in range(len(begins)):
        begin = begins[i]
        for k in range(counts[i]):
            out[n] = values[begin + k]
            n += 1
