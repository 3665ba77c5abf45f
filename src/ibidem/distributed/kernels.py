"""Kernels of what goes where."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from ibidem.compiling import outer_kernel


@outer_kernel
def list_meetings(first, may_meet, documents, homes, groups, n_groups, same_document, n_input, n_buckets, room):
    """Write place * `n_buckets` + bucket for every place and the buckets where it meets others of its set of places.

    Documents rise in a set of places, so their homes and groups of homes do too. With a reference (`n_input` not below 0) sets
    of one side are passed over. Writes only as far as there is room; returns how many there are.
    """
    n = 0
    for number in range(len(first) - 1):
        begin = first[number]
        end = first[number + 1]
        if not may_meet[begin]:
            continue
        if documents[begin] == documents[end - 1] and not same_document:
            continue
        one_side = n_input >= 0 and (documents[begin] >= n_input or documents[end - 1] < n_input)
        if one_side and not same_document:
            continue
        for j in range(begin, end):
            last = -1
            for i in range(begin, end):
                if documents[i] == documents[j]:
                    if i == j or not same_document:
                        continue
                    bucket = homes[j] * n_groups + groups[j]
                elif i < j:
                    bucket = homes[i] * n_groups + groups[j]
                else:
                    bucket = homes[j] * n_groups + groups[i]
                if bucket != last:
                    last = bucket
                    if n < len(room):
                        room[n] = j * n_buckets + bucket
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
