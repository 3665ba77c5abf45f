"""Connected components: documents that hang together through pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.clusters.kernels import unite_edges
from ibidem.matches.kernels import flatten


def connected(a: NDArray[np.int32], b: NDArray[np.int32], n_documents: int) -> NDArray[np.int32]:
    """Return for every document the smallest one of its connected component."""
    parent = np.arange(n_documents, dtype=np.int32)
    unite_edges(parent, a, b)
    flatten(parent)
    return parent
