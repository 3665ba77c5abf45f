"""Kernels that decide what is sent where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import outer_kernel


class MeetingPlaces(NamedTuple):
    """Places by set: those of set s are [first[s], first[s + 1]), and they meet if their first one may.

    Per place the set, the document, its home and the region of that home; documents increase within a set, and so do homes and
    regions.
    """

    first: NDArray[np.int64]
    set_number: NDArray[np.int64]
    may_meet: NDArray[np.bool_]
    documents: NDArray[np.int64]
    homes: NDArray[np.int64]
    regions: NDArray[np.int64]


class Buckets(NamedTuple):
    """How homes and regions make buckets, as `Layout` says, and how many buckets there are."""

    homes_per_region: int
    n_regions: int
    n_buckets: int


@outer_kernel
def list_meetings(place, places, buckets, same_document, n_input, room):
    """Write place * `n_buckets` + bucket for the places from `place` on and the buckets where each meets others of its set.

    With a reference (`n_input` not below 0), two documents on one side do not meet. Stops where the room, which is enough for
    one set, might not suffice; returns the place to continue with, and how many were written.
    """
    first = places.first
    documents = places.documents
    homes = places.homes
    regions = places.regions
    n = 0
    for j in range(place, len(documents)):
        begin = first[places.set_number[j]]
        end = first[places.set_number[j] + 1]
        if not places.may_meet[begin]:
            continue
        if n + end - begin > len(room):
            return j, n
        last = -1
        for i in range(begin, end):
            if documents[i] == documents[j]:
                if i == j or not same_document:
                    continue
                bucket = homes[j] * buckets.n_regions + regions[j]
            elif n_input >= 0 and (documents[i] < n_input) == (documents[j] < n_input):
                continue
            else:
                a, b = min(i, j), max(i, j)
                home = homes[a] if regions[b] - regions[a] <= 1 else regions[a] * buckets.homes_per_region  # see `Layout`
                bucket = home * buckets.n_regions + regions[b]
            if bucket != last:
                last = bucket
                room[n] = j * buckets.n_buckets + bucket
                n += 1
    return len(documents), n


class PlacedMarks(NamedTuple):
    """Marks of texts: their documents, words, whether they are open, and the groups of their documents (0: none), if these
    matter.
    """

    documents: NDArray[np.uint32] | NDArray[np.int64]
    words: NDArray[np.uint32]
    openness: NDArray[np.bool_]
    groups: NDArray[np.uint64]


@outer_kernel
def list_mark_meetings(key, first, rows, most_places, marks, n_input, a, b):
    """Write the rows of marks that meet in two documents, one of them open, from a key on; the earlier document comes first.

    The marks of key k are rows[first[k]] to rows[first[k + 1] - 1]. Those of more than `most_places` meet nothing; with a
    reference (`n_input` not below 0), nor do two documents on one side. Stops where the room might not suffice for a key;
    returns the key to continue with, and how many were written.
    """
    documents = marks.documents
    openness = marks.openness
    groups = marks.groups
    n = 0
    for k in range(key, len(first) - 1):
        begin, end = first[k], first[k + 1]
        if end - begin > most_places:
            continue
        if n + (end - begin) * (end - begin - 1) // 2 > len(a):
            return k, n
        for i in range(begin, end):
            for j in range(i + 1, end):
                x, y = rows[i], rows[j]
                if documents[x] == documents[y] or not (openness[x] or openness[y]):
                    continue
                if n_input >= 0 and (documents[x] < n_input) == (documents[y] < n_input):
                    continue
                if len(groups) > 0 and groups[x] != 0 and groups[x] == groups[y]:
                    continue
                if documents[x] > documents[y]:
                    x, y = y, x
                a[n], b[n] = x, y
                n += 1
    return len(first) - 1, n
