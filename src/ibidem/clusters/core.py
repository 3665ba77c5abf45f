"""Clusters of duplicates, each around the one document that is kept: the canonical one.

Resemblance is not transitive: a chain of templates, each a little different from the one before, would become one cluster whose
ends have nothing in common. So every member of a cluster must itself be a duplicate of the canonical document. What is left of
a connected component after one canonical document has taken its duplicates forms further clusters. No two canonical documents
are duplicates of each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels.leaders import choose_leaders
from ibidem.columns.components import connected
from ibidem.config import Config
from ibidem.resemblance import Comparer, Duplicates, Found
from ibidem.resemblance.comparison import joined

# Rounds for a component in which not all pairs are known; each finds the duplicates of one canonical document.
_MOST_ROUNDS = 64


def cluster_found(
    found: Found, comparer: Comparer, rank: NDArray[np.int64], config: Config, has_reference: bool
) -> tuple[Duplicates, NDArray[np.int32]]:
    """Return all known duplicates, and the canonical document of every document; see `choose_canonical`."""
    duplicates = found.duplicates
    # With a reference, one pair is enough: whatever is in the reference belongs to it.
    if found.by_common.any() and config.resemblance.verify and not config.clusters.chains and not has_reference:
        duplicates = _with_missing_pairs(found, comparer, rank)
    goes = _goes_with(duplicates, config) if has_reference else np.ones(len(duplicates), np.bool_)
    return duplicates, choose_canonical(duplicates.a[goes], duplicates.b[goes], rank, config.clusters.chains)


def _goes_with(duplicates: Duplicates, config: Config) -> NDArray[np.bool_]:
    """Return in which pairs the input document, a, resembles the reference document, or is contained in it, or contains it."""
    if config.resemblance.min_shared_shingles:
        return np.ones(len(duplicates), np.bool_)  # what is shared is the same on both sides
    contained = float(config.resemblance.min_containment) or np.inf
    similar = duplicates.similarity >= float(config.matches.min_similarity) - 1e-12
    side = config.reference.contained
    goes: NDArray[np.bool_] = similar
    if side != "reference":
        goes = goes | (duplicates.containment_a >= contained - 1e-12)
    if side != "input":
        goes = goes | (duplicates.containment_b >= contained - 1e-12)
    return goes


def choose_canonical(a: NDArray[np.int32], b: NDArray[np.int32], rank: NDArray[np.int64], chains: bool) -> NDArray[np.int32]:
    """Return the canonical document of each document's cluster: itself if it is alone or is kept.

    Documents are taken in the order of their `rank`. One that is in no cluster becomes canonical, and takes all its duplicates
    that are in no cluster. With `chains`, a cluster is a whole connected component.
    """
    n = len(rank)
    order = np.argsort(rank, kind="stable")
    if chains:
        root = connected(a, b, n)
        best = np.full(n, -1, np.int32)
        best[root[order[::-1]]] = order[::-1]  # the last value written is the first in order
        return best[root]
    # The pairs of every document, as neighbours in one long column.
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    by_end = np.argsort(ends, kind="stable")
    first = np.searchsorted(ends[by_end], np.arange(n + 1))
    canonical = np.full(n, -1, np.int32)
    choose_leaders(order, first, others[by_end], canonical)
    return canonical


def _with_missing_pairs(found: Found, comparer: Comparer, rank: NDArray[np.int64]) -> Duplicates:
    """Return the duplicates, and the further ones that clusters need where common shingles led to only a few pairs.

    In such components, documents are compared directly with the canonical ones.
    """
    known = found.duplicates
    root = connected(known.a, known.b, len(rank))
    members = np.flatnonzero(np.isin(root, np.unique(root[found.by_common]))).astype(np.int32)
    members = members[np.lexsort((rank[members], root[members]))]
    parts = [known]
    for _ in range(_MOST_ROUNDS):
        if len(members) == 0:
            break
        # The first remaining member of each component is canonical; the others are compared with it.
        is_first = np.concatenate([[True], root[members][1:] != root[members][:-1]])
        canonical = members[np.flatnonzero(is_first)][np.cumsum(is_first) - 1]
        parts.append(comparer.compare(canonical[~is_first], members[~is_first]))
        members = members[~(is_first | np.isin(members, parts[-1].b))]
    return joined(parts)


def expand(
    canonical: NDArray[np.int32], representative: NDArray[np.int32], has_reference: bool, chains: bool
) -> NDArray[np.int32]:
    """Return the canonical document of each document, given those of the representatives of identical documents.

    With a reference, identical documents on one side are not a pair: only the other side connects them, and those of the
    reference only in a chain.
    """
    of_all = canonical[representative]
    if not has_reference:
        return of_all
    is_alone = np.bincount(canonical, minlength=len(canonical))[representative] == 1
    by_itself = (of_all == representative) & (is_alone | (not chains))
    return np.where(by_itself, np.arange(len(of_all), dtype=np.int32), of_all)
