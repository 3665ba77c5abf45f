"""Clusters: documents that belong together as wholes, and what of them stays."""

from __future__ import annotations

from ibidem.clusters.core import choose_canonical, cluster_found, expand
from ibidem.clusters.cuts import Cuts, find_cuts, sentences_to_cut
from ibidem.clusters.keep_rules import check_keeping, containers_first, fields_for_keeping, keep_order

__all__ = [
    "Cuts",
    "check_keeping",
    "choose_canonical",
    "cluster_found",
    "containers_first",
    "expand",
    "fields_for_keeping",
    "find_cuts",
    "keep_order",
    "sentences_to_cut",
]
