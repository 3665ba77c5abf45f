"""Clusters of duplicates, each around one document that stays: the canonical one.

Resemblance is no equivalence: a chain of templates, each a little different from the one before, would end up in one cluster
whose ends have nothing in common. So every member of a cluster must itself be a duplicate of the canonical document; what is
left of a connected component after one canonical document has taken its duplicates forms clusters of its own. No two
canonical documents are duplicates of each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels.leaders import choose_leaders
from ibidem.columns.components import connected
from ibidem.config import Config
from ibidem.resemblance import Comparer, Duplicates, Found
from ibidem.resemblance.comparison import joined

# Rounds for a component in which not all pairs are known: one finds the duplicates of one canonical document.
_MOST_ROUNDS = 64


def cluster_found(
    found: Found, comparer: Comparer, rank: NDArray[np.int64], config: Config, has_reference: bool
) -> tuple[Duplicates, NDArray[np.int32]]:
    """Return all duplicates that are known then, and every document's canonical one; see `choose_canonical`."""
    duplicates = found.duplicates
    # With a reference one pair is enough: what is in it belongs to it.
    if found.by_common.any() and config.resemblance.verify and not config.clusters.chains and not has_reference:
        duplicates = _with_missing_pairs(found, comparer, rank)
    goes = _goes_with(duplicates, config) if has_reference else np.ones(len(duplicates), np.bool_)
    return duplicates, choose_canonical(duplicates.a[goes], duplicates.b[goes], rank, config.clusters.chains)


def _goes_with(duplicates: Duplicates, config: Config) -> NDArray[np.bool_]:
    """Tell in which pairs the document of the inputs, a, resembles the reference's or is contained in it."""
    contained = float(config.resemblance.min_containment) or np.inf
    similar = duplicates.similarity >= float(config.matches.min_similarity) - 1e-12
    return similar | (duplicates.containment_a >= contained - 1e-12)


def choose_canonical(a: NDArray[np.int32], b: NDArray[np.int32], rank: NDArray[np.int64], chains: bool) -> NDArray[np.int32]:
    """Return for every document the canonical one of its cluster: itself if it is alone, or is the one that stays.

    Documents are taken in the order of their `rank`; one that belongs to none yet becomes canonical, and takes all its
    duplicates that belong to none. With `chains` a cluster is a whole connected component.
    """
    n = len(rank)
    order = np.argsort(rank, kind="stable")
    if chains:
        root = connected(a, b, n)
        best = np.full(n, -1, np.int32)
        best[root[order[::-1]]] = order[::-1]  # the last one written is the first in order
        return best[root]
    # The pairs of every document, as neighbours in one long column.
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    by_end = np.argsort(ends, kind="stable")
    first = np.searchsorted(ends[by_end], np.arange(n + 1))
    canonical = np.full(n, -1, np.int32)
    choose_leaders(order, first, others[by_end], canonical)
    return canonical


def _with_missing_pairs(found: Found, comparer: Comparer, rank: NDArray[np.int64]) -> Duplicates:
    """Return the duplicates and those that clusters need besides, where common shingles led to a few pairs only.

    In such components documents are compared with the canonical ones directly.
    """
    known = found.duplicates
    root = connected(known.a, known.b, len(rank))
    members = np.flatnonzero(np.isin(root, np.unique(root[found.by_common]))).astype(np.int32)
    members = members[np.lexsort((rank[members], root[members]))]
    parts = [known]
    for _ in range(_MOST_ROUNDS):
        if len(members) == 0:
            break
        # Of each component the first member left is canonical; all others of the component are compared with it.
        is_first = np.concatenate([[True], root[members][1:] != root[members][:-1]])
        canonical = members[np.flatnonzero(is_first)][np.cumsum(is_first) - 1]
        parts.append(comparer.compare(canonical[~is_first], members[~is_first]))
        members = members[~(is_first | np.isin(members, parts[-1].b))]
    return joined(parts)


def expand(
    canonical: NDArray[np.int32], representative: NDArray[np.int32], has_reference: bool, chains: bool
) -> NDArray[np.int32]:
    """Return every document's canonical one, given those of the documents that represent identical ones.

    With a reference, identical documents of one side are no pair: they belong together through the other side only, the
    reference's own ones only in a chain.
    """
    of_all = canonical[representative]
    if not has_reference:
        return of_all
    is_alone = np.bincount(canonical, minlength=len(canonical))[representative] == 1
    by_itself = (of_all == representative) & (is_alone | (not chains))
    return np.where(by_itself, np.arange(len(of_all), dtype=np.int32), of_all)
