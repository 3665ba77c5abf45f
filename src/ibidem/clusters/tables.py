"""The tables of `cluster`: pairs of duplicates, and the clusters they form."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components import number_clusters
from ibidem.columns.ragged import ranges
from ibidem.model import CLUSTERS, DUPLICATES
from ibidem.resemblance import Duplicates

Numbers = NDArray[np.int64]


def duplicates_table(
    found: Duplicates, representative: NDArray[np.int32], ids: pa.LargeStringArray, max_copies: int, has_reference: bool
) -> pa.Table:
    """Return every pair of duplicates in reading order, given the pairs of representatives of identical documents."""
    pairs = listed_pairs(found, representative, max_copies, has_reference)
    names = [pa.DictionaryArray.from_arrays(pa.array(side), ids) for side in (pairs.a, pairs.b)]
    columns = [pa.array(column) for column in (pairs.similarity, pairs.containment_a, pairs.containment_b)]
    return pa.Table.from_arrays([*names, *columns], schema=DUPLICATES)


def listed_pairs(found: Duplicates, representative: NDArray[np.int32], max_copies: int, has_reference: bool) -> Duplicates:
    """Return all pairs to list, in order, given the pairs of representatives of identical documents.

    If more than `max_copies` documents are identical, or more pairs follow from one, only pairs with the representative are
    listed.
    """
    members = np.argsort(representative, kind="stable")
    first = np.searchsorted(representative[members], np.arange(len(representative) + 1))
    x, y, pair = _pairs_of_copies(found, members, first, max_copies)
    i, j = _identical_pairs(members, first, max_copies) if not has_reference else (members[:0], members[:0])
    scores = (found.similarity, found.containment_a, found.containment_b)
    similarity, of_x, of_y = (np.concatenate([column[pair], np.ones(len(i))]) for column in scores)
    x, y = np.concatenate([x, i]), np.concatenate([y, j])
    is_turned = x > y
    x, y = np.minimum(x, y), np.maximum(x, y)
    of_x, of_y = np.where(is_turned, of_y, of_x), np.where(is_turned, of_x, of_y)
    order = np.lexsort((y, x))
    return Duplicates(x[order].astype(np.int32), y[order].astype(np.int32), similarity[order], of_x[order], of_y[order])


def clusters_table(canonical: NDArray[np.int32], ids: pa.LargeStringArray) -> pa.Table:
    """Return the members of all clusters of two or more, given the canonical document of each document."""
    cluster = number_clusters(canonical)
    members = np.flatnonzero(cluster >= 0)
    members = members[np.argsort(cluster[members], kind="stable")]
    columns = [pa.array(cluster[members]), ids.take(pa.array(members)), pa.array(canonical[members] == members)]
    return pa.Table.from_arrays(columns, schema=CLUSTERS)


def _pairs_of_copies(found: Duplicates, members: Numbers, first: Numbers, max_copies: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the pairs of all documents that `found` represents, and which pair of `found` each comes from."""
    a, b = found.a.astype(np.int64), found.b.astype(np.int64)
    n_a, n_b = first[a + 1] - first[a], first[b + 1] - first[b]
    all_of_them = n_a * n_b <= max_copies
    pairs = np.flatnonzero(all_of_them)
    pair, place = _places(pairs, (n_a * n_b)[pairs])
    x, y = members[first[a[pair]] + place // n_b[pair]], members[first[b[pair]] + place % n_b[pair]]
    # Too many: the representatives, each with all documents of the other side.
    pairs = np.flatnonzero(~all_of_them)
    pair_b, place_b = _places(pairs, n_b[pairs])
    pair_a, place_a = _places(pairs, n_a[pairs])
    others = members[first[a[pair_a]] + place_a]
    new = others != a[pair_a]
    x = np.concatenate([x, a[pair_b], others[new]])
    y = np.concatenate([y, members[first[b[pair_b]] + place_b], b[pair_a][new]])
    return x, y, np.concatenate([pair, pair_b, pair_a[new]])


def _identical_pairs(members: Numbers, first: Numbers, max_copies: int) -> tuple[Numbers, Numbers]:
    sizes = np.diff(first)
    i: list[Numbers] = [np.empty(0, np.int64)]
    j: list[Numbers] = [np.empty(0, np.int64)]
    for size in np.unique(sizes[(sizes > 1) & (sizes <= max_copies)]):
        starts = first[:-1][sizes == size][:, None]
        low, high = np.triu_indices(size, 1)
        i.append(members[starts + low].ravel())
        j.append(members[starts + high].ravel())
    for group in np.flatnonzero(sizes > max_copies):
        rest = members[first[group] : first[group + 1]]
        rest = rest[rest != group]
        i.append(np.full(len(rest), group))
        j.append(rest)
    return np.concatenate(i), np.concatenate(j)


def _places(items: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Return each item `count` times, with the numbers 0, 1, …."""
    return np.repeat(items, counts), ranges(0, counts)
