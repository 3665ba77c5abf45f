"""Clusters: whole documents that belong together, and which of them are kept."""

from __future__ import annotations

from ibidem.clusters.core import choose_canonical, cluster_found, expand
from ibidem.clusters.cuts import Cuts, find_cuts, sentences_to_cut

__all__ = [
    "Cuts",
    "choose_canonical",
    "cluster_found",
    "expand",
    "find_cuts",
    "sentences_to_cut",
]
