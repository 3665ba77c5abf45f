"""`cluster`, and `dedup` of whole documents, over all machines, on one screen: the stages of the local pipeline, and what is
sent between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.exchange.clusters import cluster_documents
from ibidem.clusters.exchange.keep_rules import rank_keys
from ibidem.clusters.exchange.tables import name_tables
from ibidem.clusters.keep_rules import check_known, is_direct
from ibidem.columns.parted_tables import table_of
from ibidem.config import EXACT_METHODS, METHODS_IN_PARTS, Config
from ibidem.errors import SettingsError
from ibidem.execution.checks import check_sides
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.execution.unique_ids import check_ids
from ibidem.resemblance import SamplingPlan
from ibidem.resemblance.exchange.bands import pair_by_bands
from ibidem.resemblance.exchange.comparison import compare_documents, send_documents
from ibidem.resemblance.exchange.identical import find_identical
from ibidem.resemblance.exchange.shingle_counts import SampleRatios, count_shingles, find_common
from ibidem.resemblance.exchange.shingle_entries import list_entries
from ibidem.resemblance.exchange.shingle_pairs import pair_documents, pair_with_leaders
from ibidem.resemblance.exchange.shingles import KEYED, shingle_documents


@dataclass(frozen=True)
class ClusterBlocks:
    """The tables of `cluster` and the decisions of `dedup`, in reading order over their partitions; and what was counted."""

    duplicates: PartedTable
    clusters: PartedTable
    decisions: PartedTable
    counts: Mapping[str, int]


def cluster_flow(
    flow: Flow, source: Any, layout: Layout, config: Config, plan: SamplingPlan | None, unique_ids: bool = True
) -> ClusterBlocks:
    """Find every pair of documents of the source that are duplicates, and their clusters, as `pipeline.clusters_of` does."""
    if config.resemblance.method not in METHODS_IN_PARTS:
        known = ", ".join(METHODS_IN_PARTS)
        raise SettingsError([f"method = {config.resemblance.method!r} is not available on this engine; these are: {known}"])
    shingled = shingle_documents(flow, source, layout, config, plan, unique_ids)
    counts = _checked_counts(flow, shingled, layout, config)
    if unique_ids:
        check_ids(flow, shingled["ids"])
    shingled["keyed"] = _ranked(flow, shingled, layout, config)
    identical = find_identical(flow, shingled["keyed"], layout)
    ratios = SampleRatios(np.unique(flow.collect(shingled["every"])["every"].to_numpy()), config, plan)

    at_home = {"sets": shingled["sets"], "copies": identical["copies"]}
    paired = _pair(flow, shingled["keys"], at_home, ratios, layout)
    sent = send_documents(flow, shingled["sets"], [part["sending"] for part in paired])
    compared = compare_documents(flow, [part["candidates"] for part in paired], sent, ratios, layout)
    # A sketch does not find all pairs, common shingles do not lead to all of them.
    in_part = [compared] if config.resemblance.method not in EXACT_METHODS else paired[1:]
    found = {
        "found": [identical["found"], compared["found"]],
        "edges": [identical["edges"], compared["edges"]],
        "nodes": [identical["nodes"]],
        "members": [identical["members"]],
        "by_common": [part["by_common"] for part in in_part],
    }
    clustered = cluster_documents(flow, found, sent, ratios, layout)
    tables = name_tables(flow, clustered, shingled["named"], layout)
    return ClusterBlocks(tables["duplicates"], tables["clusters"], tables["decisions"], counts)


def _pair(
    flow: Flow, keys: PartedTable, at_home: dict[str, PartedTable], ratios: SampleRatios, layout: Layout
) -> list[dict[str, PartedTable]]:
    """Return pairs to be compared, in parts, as the method finds them."""
    if ratios.config.resemblance.method == "minhash":
        return [pair_by_bands(flow, at_home, ratios, layout)]
    counted, any_hot = count_shingles(flow, keys, layout, ratios.config)
    if any_hot:
        at_home["common"] = find_common(flow, {**at_home, "hot": counted["hot"]}, ratios, layout)
    entered, any_meet = list_entries(flow, {**at_home, "levels": counted["levels"]}, ratios, layout)
    parts = [pair_documents(flow, entered, ratios, layout)]
    return [*parts, pair_with_leaders(flow, entered, ratios, layout)] if any_meet else parts


def _checked_counts(flow: Flow, shingled: Mapping[str, PartedTable], layout: Layout, config: Config) -> dict[str, int]:
    """Return the numbers of documents and shingles; raise where a side has no documents, or none has what decides."""
    table = flow.collect(shingled["counts"])
    counts = {name: int(table[name].to_numpy().sum()) for name in table.column_names}
    check_sides(counts["n_documents"] - counts["n_reference"], counts["n_reference"], layout.has_reference)
    if is_direct(config.clusters.keep):
        check_known(config.clusters.keep, counts["n_known"])
    return {"documents": counts["n_documents"], "shingles": counts["n_shingles"]}


def _ranked(flow: Flow, shingled: Mapping[str, PartedTable], layout: Layout, config: Config) -> PartedTable:
    """Return the documents where identical ones meet, with the keys by which they stay."""
    if is_direct(config.clusters.keep):
        return shingled["keyed"]
    ranks = rank_keys(flow, "keep", shingled["valued"], layout, config.clusters.keep)

    def put_in(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents, keys = (tables["ranks"][name].to_numpy() for name in ("document", "rank_key"))
        order = np.argsort(documents)
        document, digest, *checks, _, size = (tables["keyed"][name].to_numpy() for name in KEYED.names)
        keys = keys[order][np.searchsorted(documents[order], document)]
        keyed = table_of([document, digest, *checks, keys, size], KEYED)
        yield Sent("keyed", keyed, route_by_hash(digest, layout.n_partitions))

    return flow.reduce("keep-keys", {"keyed": shingled["keyed"], "ranks": ranks}, put_in, {"keyed": KEYED})["keyed"]
