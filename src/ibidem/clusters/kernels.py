"""Union–find over edges."""

from __future__ import annotations

from ibidem.compiling import outer_kernel
from ibidem.matches.kernels import unite


@outer_kernel
def unite_edges(parent, a, b):
    """Join the components of every edge's two ends."""
    for i in range(len(a)):
        unite(parent, a[i], b[i])
