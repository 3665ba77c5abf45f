"""Connected components: documents that hang together through pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import flatten, unite_pairs


def connected(a: NDArray[np.int32], b: NDArray[np.int32], n_documents: int) -> NDArray[np.int32]:
    """Return for every document the smallest one of its connected component."""
    parent = np.arange(n_documents, dtype=np.int32)
    unite_pairs(a, b, parent)
    flatten(parent)
    return parent


def number_clusters(canonical: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of every document's cluster, in reading order of their first members; -1 for a document alone."""
    values, first_member, of_document, sizes = np.unique(canonical, return_index=True, return_inverse=True, return_counts=True)
    number = np.full(len(values), -1, np.int64)
    several = np.flatnonzero(sizes > 1)
    number[several[np.argsort(first_member[several], kind="stable")]] = np.arange(len(several))
    return number[of_document]
