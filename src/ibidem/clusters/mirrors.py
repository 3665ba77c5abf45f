"""Which groups of documents are copies of one another: sites, outlets or authors that have documents in the same clusters.

A document of one group is shared with another group if a document of that one is in its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components import clustered
from ibidem.columns.parted_tables import table_of
from ibidem.model import MIRRORS

Numbers = NDArray[np.int64]

_PAIRS_AT_A_TIME = 1 << 22


@dataclass(frozen=True)
class SharedDocuments:
    """Pairs of groups x < y, in order: how many documents of each are shared with the other, and one document of each.

    The latter two are in one cluster: the first document of x that is shared with y, and the first of y in its cluster.
    """

    x: Numbers
    y: Numbers
    shared_x: Numbers
    shared_y: Numbers
    example_x: Numbers
    example_y: Numbers

    @property
    def columns(self) -> list[Numbers]:
        """All columns."""
        return [self.x, self.y, self.shared_x, self.shared_y, self.example_x, self.example_y]


def shared_documents(
    cluster: Numbers, group: Numbers, document: Numbers, is_canonical: NDArray[np.bool_], most_groups: int
) -> SharedDocuments:
    """Return what groups share, given the members of clusters, each with its cluster, group and number.

    A cluster with documents of more than `most_groups` groups gives only the pairs with the group of its canonical document,
    or of its first member with a group if the canonical document is not among the members.
    """
    order = np.lexsort((document, group, cluster))
    cluster, group, document, is_canonical = cluster[order], group[order], document[order], is_canonical[order]
    # One entry for each group of a cluster: how many documents, and the first one.
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (cluster[1:] != cluster[:-1]) | (group[1:] != group[:-1])
    begins = np.flatnonzero(is_new)
    counts = np.diff(begins, append=len(order))
    leads = np.zeros(len(begins), np.bool_)
    leads[np.cumsum(is_new)[is_canonical] - 1] = True
    cluster, group, first = cluster[begins], group[begins], document[begins]
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    sizes = np.diff(starts, append=len(cluster))
    found = SharedDocuments(*[group[:0]] * 6)
    n_pairs = np.where(sizes > most_groups, sizes - 1, sizes * (sizes - 1) // 2)
    # Some at a time: many pages of many sites have far more pairs than the sites have.
    for some in np.split(np.arange(len(starts)), np.flatnonzero(np.diff(np.cumsum(n_pairs) // _PAIRS_AT_A_TIME)) + 1):
        i, j = _pairs_of_entries(starts[some], sizes[some], leads, first, most_groups)
        new = (group[i], group[j], counts[i], counts[j], first[i], first[j])
        found = summed(SharedDocuments(*map(np.concatenate, zip(found.columns, new, strict=True))))
    return found


def summed(pairs: SharedDocuments) -> SharedDocuments:
    """Return each pair of groups once: what is shared is added up, and the first example stays."""
    order = np.lexsort((pairs.example_x, pairs.y, pairs.x))
    x, y, shared_x, shared_y, example_x, example_y = (column[order] for column in pairs.columns)
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    if len(begins) == 0:
        return SharedDocuments(x, y, shared_x, shared_y, example_x, example_y)
    shared_x, shared_y = (np.add.reduceat(column, begins) for column in (shared_x, shared_y))
    return SharedDocuments(x[begins], y[begins], shared_x, shared_y, example_x[begins], example_y[begins])


def mirrors_table(
    canonical: NDArray[np.int32], groups: pa.LargeStringArray, ids: pa.LargeStringArray, most_groups: int
) -> pa.Table:
    """Return the groups that share documents, in the order in which they first appear, given every document's canonical one."""
    encoded = groups.dictionary_encode()  # numbered as they first appear
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    members, cluster = clustered(canonical)
    known = codes[members] >= 0
    members, cluster = members[known].astype(np.int64), cluster[known].astype(np.int64)
    shared = shared_documents(cluster, codes[members], members, canonical[members] == members, most_groups)
    n_documents = np.bincount(codes[codes >= 0], minlength=len(encoded.dictionary))
    names = [encoded.dictionary.take(pa.array(side)) for side in (shared.x, shared.y)]
    examples = [ids.take(pa.array(side)) for side in (shared.example_x, shared.example_y)]
    return table_of_mirrors(names, n_documents[shared.x], n_documents[shared.y], shared, examples)


def table_of_mirrors(
    names: list[pa.Array], documents_x: Numbers, documents_y: Numbers, shared: SharedDocuments, examples: list[pa.Array]
) -> pa.Table:
    """Return the table, given the names of the groups, how many documents they have, and the ids of the examples."""
    columns = [
        *names, documents_x, documents_y, shared.shared_x, shared.shared_y,
        shared.shared_x / documents_x, shared.shared_y / documents_y, *examples,
    ]  # fmt: skip
    return table_of(columns, MIRRORS)


def _pairs_of_entries(
    starts: Numbers, sizes: Numbers, leads: NDArray[np.bool_], first: Numbers, most_groups: int
) -> tuple[Numbers, Numbers]:
    """Return all pairs i < j of entries of one cluster; of one with too many entries, those with the entry that leads."""
    found = [(starts[:0], starts[:0])]
    for size in np.unique(sizes[(sizes > 1) & (sizes <= most_groups)]).tolist():
        begins = starts[sizes == size][:, None]
        low, high = np.triu_indices(size, 1)
        found.append(((begins + low).ravel(), (begins + high).ravel()))
    for large in np.flatnonzero(sizes > most_groups).tolist():
        entries = np.arange(starts[large], starts[large] + sizes[large])
        leading = entries[leads[entries]] if leads[entries].any() else entries[[np.argmin(first[entries])]]
        others = entries[entries != leading[0]]
        found.append((np.minimum(others, leading[0]), np.maximum(others, leading[0])))
    i, j = (np.concatenate(side) for side in zip(*found, strict=True))
    return i, j
