"""Clusters of documents that are copies of one another as a whole.

Two documents are joined only if the passages of that very pair cover most of both: partial reuse never joins documents,
or everything would hang together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.components import connected, number_clusters
from ibidem.columns.postings import postings_of
from ibidem.passages.kernels.windows import whole_text_keys

MIN_COVERAGE = 0.8


def cluster_copies(a: NDArray[np.int32], b: NDArray[np.int32], n_documents: int) -> NDArray[np.int64]:
    """Return the cluster of every document, numbered in reading order; -1 for a document that is no copy."""
    return number_clusters(connected(a, b, n_documents))


def identical_documents(
    digests: NDArray[np.uint64], document_first: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return pairs that connect all documents whose sentences are the same from end to end."""
    keys = np.empty(len(digests), np.uint64)
    whole_text_keys(digests, document_first, len(digests) + 1, keys)
    groups = postings_of(keys)
    documents = (np.searchsorted(document_first, groups.rows, side="right") - 1).astype(np.int32)
    first = np.repeat(documents[groups.first[:-1]], np.diff(groups.first))
    return first, documents
