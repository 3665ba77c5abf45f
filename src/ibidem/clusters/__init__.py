"""Clusters: documents that belong together as wholes."""

from __future__ import annotations

from ibidem.clusters.copies import MIN_COVERAGE, cluster_copies, identical_documents

__all__ = ["MIN_COVERAGE", "cluster_copies", "identical_documents"]
