"""Union–find over edges."""

from __future__ import annotations

from numba import njit

from ibidem.matches.kernels import unite


@njit(cache=True, nogil=True)
def unite_edges(parent, a, b):
    """Join the components of every edge's two ends."""
    for i in range(len(a)):
        unite(parent, a[i], b[i])
