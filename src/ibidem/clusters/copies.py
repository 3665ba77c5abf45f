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


def cluster_copies(a: NDArray[np.int64], b: NDArray[np.int64], n_documents: int) -> NDArray[np.int64]:
    """Return the cluster of every document, numbered in reading order; -1 for a document that is no copy."""
    parent = np.arange(n_documents, dtype=np.int32)
    unite_edges(parent, a, b)
    flatten(parent)
    sizes = np.bincount(parent, minlength=n_documents)
    roots = np.flatnonzero(sizes > 1)
    number = np.full(n_documents, -1, np.int64)
    number[roots] = np.arange(len(roots))
    return number[parent]


def copied_pairs(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    chars_a: NDArray[np.int64],
    chars_b: NDArray[np.int64],
    document_chars: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of documents whose passages, given in the order of the pairs, cover at least four fifths of both."""
    if len(a) == 0:
        return a, b
    starts = np.flatnonzero(np.concatenate([[True], (a[1:] != a[:-1]) | (b[1:] != b[:-1])]))
    pair_a, pair_b = a[starts], b[starts]
    covered_a = np.add.reduceat(chars_a, starts)
    covered_b = np.add.reduceat(chars_b, starts)
    whole = (covered_a >= MIN_COVERAGE * document_chars[pair_a]) & (covered_b >= MIN_COVERAGE * document_chars[pair_b])
    whole &= pair_a != pair_b
    return pair_a[whole], pair_b[whole]
