"""Kernels of what goes where."""

from __future__ import annotations

from ibidem.execution.compiler import outer_kernel


@outer_kernel
def list_meetings(
    place, first, number, may_meet, documents, homes, regions, homes_per_region, n_regions,
    same_document, n_input, n_buckets, room,
):  # fmt: skip
    """Write place * `n_buckets` + bucket for the places from `place` on and the buckets where each meets others of its set.

    Documents rise in a set of places, so their homes and regions of homes do too. With a reference (`n_input` not below 0) two
    documents of one side do not meet. Ends where the room, which is enough for one set, might not do; returns the place to go
    on with, and how many were written.
    """
    n = 0
    for j in range(place, len(documents)):
        begin = first[number[j]]
        end = first[number[j] + 1]
        if not may_meet[begin]:
            continue
        if n + end - begin > len(room):
            return j, n
        last = -1
        for i in range(begin, end):
            if documents[i] == documents[j]:
                if i == j or not same_document:
                    continue
                bucket = homes[j] * n_regions + regions[j]
            elif n_input >= 0 and (documents[i] < n_input) == (documents[j] < n_input):
                continue
            else:
                a, b = min(i, j), max(i, j)
                home = homes[a] if regions[b] - regions[a] <= 1 else regions[a] * homes_per_region  # see `Layout`
                bucket = home * n_regions + regions[b]
            if bucket != last:
                last = bucket
                room[n] = j * n_buckets + bucket
                n += 1
    return len(documents), n
