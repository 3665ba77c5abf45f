"""`dedup` over all machines, on one screen: what goes out of a collection."""

from __future__ import annotations

from typing import Any

from ibidem.clusters.exchange.cuts import cuts_flow
from ibidem.clusters.exchange.keep_rules import rank_keys
from ibidem.clusters.exchange.removals import removed_documents, removed_passages
from ibidem.clusters.keep_rules import fields_for_keeping
from ibidem.config import Config
from ibidem.execution.checks import check_counts
from ibidem.execution.flow import Flow, PartedTable
from ibidem.execution.layout import Layout
from ibidem.execution.programs.cluster import ClusterBlocks, cluster_flow
from ibidem.execution.progress import Progress
from ibidem.matches.exchange.classes import classify_documents
from ibidem.resemblance import SamplingPlan
from ibidem.sentences.exchange import split_documents


def removals_flow(
    flow: Flow, source: Any, config: Config, layout: Layout, progress: Progress
) -> tuple[PartedTable, PartedTable | None]:
    """Return what goes, `cleaning.GONE`, and, of whole documents, what was decided about each member of a cluster."""
    if config.cleaning.level == "document":
        decisions = clusters_flow(flow, source, config, layout, None, progress, unique_ids=False).decisions
        with progress.stage("tables"):
            return removed_documents(flow, decisions, layout), decisions
    with progress.stage("sentences"):
        split = split_documents(flow, source, for_keeping(config), layout, to_cut=True)
        check_counts(flow.collect(split["counts"]), layout, progress)
    with progress.stage("matches"):
        documents = split["documents"]
        if config.signatures.signature != "exact":
            documents, _ = classify_documents(flow, split, config, layout, progress, with_grams=False)
    with progress.stage("cuts"):
        ranks = rank_keys(flow, "keep", split.pop("documents"), layout, config.clusters.keep)
        spans = cuts_flow(flow, documents, ranks, layout, config)
        return removed_passages(flow, spans, split["named"], layout), None


def clusters_flow(
    flow: Flow, source: Any, config: Config, layout: Layout, plan: SamplingPlan | None, progress: Progress, unique_ids: bool
) -> ClusterBlocks:
    """Return pairs of duplicates, clusters, and what was decided about their members; count documents and shingles."""
    with progress.stage("pairs"):
        found = cluster_flow(flow, source, layout, config, plan, unique_ids)
    progress.count(**found.counts)
    return found


def for_keeping(config: Config) -> Config:
    """Return the settings by which the field that decides which document stays is read, as the group."""
    return Config.of(config, group_field=fields_for_keeping(config).group_field)
