"""Kernels of the join over partitions: pairs of documents that meet at a shingle."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import outer_kernel
from ibidem.resemblance.kernels.document_join import needed_of


class MetEntries(NamedTuple):
    """Documents that meet at shingles. The entries of group g, all of one shingle, are [`first`[g], `first`[g + 1]), in order
    of size.

    `position` is the index of the shingle in its document: if it is the first one that two share, they share at most what
    follows. `n_index` is how many of a document's first shingles larger documents can meet it at. `side` is empty for none.
    """

    first: NDArray[np.int64]
    document: NDArray[np.int32]
    size: NDArray[np.int64]
    position: NDArray[np.int32]
    n_index: NDArray[np.int64]
    smallest_partner: NDArray[np.int64]
    side: NDArray[np.int8]
    own_ratio: NDArray[np.int8]


@outer_kernel
def pair_entries(entries, group_from, ratio, limits, smaller, larger):
    """Write the documents of entries of one group that may reach the limits, the smaller one and the larger one.

    With sides, only documents on different sides are paired. A pair uses the later ratio of its two documents. Returns (the
    next group, the number of pairs); the former is not the last if the room was too small.
    """
    first, size, position, side = entries.first, entries.size, entries.position, entries.side
    n = 0
    for group in range(group_from, len(first) - 1):
        n_before = n
        for x in range(first[group] + 1, first[group + 1]):
            for y in range(first[group], x):
                if position[y] >= entries.n_index[y] or size[y] < entries.smallest_partner[x]:
                    continue
                if max(entries.own_ratio[x], entries.own_ratio[y]) != ratio or (len(side) > 0 and side[x] == side[y]):
                    continue
                needed = needed_of(size[x], size[y], limits)
                if size[x] - position[x] < needed or size[y] - position[y] < needed:
                    continue
                if n == len(smaller):
                    return group, n_before
                smaller[n] = entries.document[y]
                larger[n] = entries.document[x]
                n += 1
    return len(first) - 1, n


@outer_kernel
def look_up_ranks(hashes, n_partitions, shared, ranks, table_bits, table_first, out):
    """Write the frequency rank of each hash, 0 if it is not shared.

    `shared` are sorted: the key of a hash, then the partition that it is sent to; `table_first` says by their top `table_bits`
    where they begin.
    """
    shift = np.uint64(64 - table_bits)
    for i in range(len(hashes)):
        key = (hashes[i] >> np.uint64(16)) << np.uint64(32) | (hashes[i] >> np.uint64(11)) % np.uint64(n_partitions)
        at = table_first[key >> shift]
        end = table_first[(key >> shift) + np.uint64(1)]
        while at < end and shared[at] < key:
            at += 1
        out[i] = ranks[at] if at < end and shared[at] == key else 0


@outer_kernel
def take_sets(hashes, first, chosen, taken_first, out):
    """Copy the hashes of given rows, row by row."""
    for i in range(len(chosen)):
        begin = first[chosen[i]]
        at = taken_first[i]
        for k in range(taken_first[i + 1] - at):
            out[at + k] = hashes[begin + k]


@outer_kernel
def sort_keys(hashes, n_partitions, ends, keys):
    """Write the keys of hashes in the order of their target partitions, and the cumulative number of keys per partition.

    The partition is that of `blocks.route_by_hash`, the key that of `shingling.KEYS`.
    """
    for i in range(len(hashes)):
        ends[(hashes[i] >> np.uint64(11)) % np.uint64(n_partitions)] += 1
    n = 0
    for p in range(n_partitions):
        n += ends[p]
        ends[p] = n - ends[p]
    for i in range(len(hashes)):
        p = (hashes[i] >> np.uint64(11)) % np.uint64(n_partitions)
        keys[ends[p]] = np.uint32(hashes[i] >> np.uint64(16) & np.uint64(0xFFFFFFFF))
        ends[p] += 1
