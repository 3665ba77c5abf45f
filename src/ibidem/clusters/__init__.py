"""Clusters: documents that belong together as wholes, and what of them stays."""

from __future__ import annotations

from ibidem.clusters.copies import MIN_COVERAGE, cluster_copies, identical_documents
from ibidem.clusters.core import choose_canonical, cluster_found, expand
from ibidem.clusters.cuts import Cuts, find_cuts
from ibidem.clusters.keep_rules import check_keeping, containers_first, fields_for_keeping, keep_order

__all__ = [
    "MIN_COVERAGE",
    "Cuts",
    "check_keeping",
    "choose_canonical",
    "cluster_copies",
    "cluster_found",
    "containers_first",
    "expand",
    "fields_for_keeping",
    "find_cuts",
    "identical_documents",
    "keep_order",
]
