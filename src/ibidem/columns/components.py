"""Connected components: documents connected by pairs, and the numbers of clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import flatten, unite_pairs


def connected(a: NDArray[np.int32], b: NDArray[np.int32], n_documents: int) -> NDArray[np.int32]:
    """Return for every document the smallest document of its connected component."""
    parent = np.arange(n_documents, dtype=np.int32)
    unite_pairs(a, b, parent)
    flatten(parent)
    return parent


def number_clusters(canonical: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of every document's cluster, in reading order of first members; -1 for a single document."""
    members, first = clustered(canonical)
    number = np.full(len(canonical), -1, np.int64)
    number[members] = numbers_by_first(first)
    return number


def clustered(canonical: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the documents in clusters of two or more, and the first document of each one's cluster."""
    n = len(canonical)
    members = np.flatnonzero(np.bincount(canonical, minlength=n)[canonical] > 1)
    first = np.empty(n, np.int64)
    first[canonical[::-1]] = np.arange(n)[::-1]  # the last value written is the first in order
    return members, first[canonical[members]]


def numbers_by_first(first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of clusters in the order of their first members, given the first one per member."""
    return np.unique(first, return_inverse=True)[1]
