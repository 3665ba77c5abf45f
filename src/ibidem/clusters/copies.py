"""Clusters of documents that are copies of one another as a whole.

Two documents are joined only if the passages of that very pair cover most of both: partial reuse never joins documents,
or everything would hang together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels import unite_edges
from ibidem.matches.kernels import flatten

MIN_COVERAGE = 0.8


def cluster_copies(a: NDArray[np.int32], b: NDArray[np.int32], n_documents: int) -> NDArray[np.int64]:
    """Return the cluster of every document, numbered in reading order; -1 for a document that is no copy."""
    parent = np.arange(n_documents, dtype=np.int32)
    unite_edges(parent, a, b)
    flatten(parent)
    sizes = np.bincount(parent, minlength=n_documents)
    roots = np.flatnonzero(sizes > 1)
    number = np.full(n_documents, -1, np.int64)
    number[roots] = np.arange(len(roots))
    return number[parent]
