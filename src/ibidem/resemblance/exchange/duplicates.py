"""Duplicates over partitions: identical documents, pairs that meet as the method finds them, and their comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.execution.flow import Flow, PartedTable, Parts
from ibidem.resemblance.exchange.bands import pair_by_bands
from ibidem.resemblance.exchange.document_comparison import compare_documents, send_documents
from ibidem.resemblance.exchange.identical import find_identical
from ibidem.resemblance.exchange.shingle_counts import SampleRatios, count_shingles, find_common
from ibidem.resemblance.exchange.shingle_entries import list_entries
from ibidem.resemblance.exchange.shingle_pairs import pair_documents, pair_with_leaders
from ibidem.resemblance.exchange.spots import make_spots, spot_settings


def find_apart(
    flow: Flow,
    shingled: Parts[ShingledDocuments],
    ranks: Parts[NDArray[np.int64]],
    config: Config,
    plan: SamplingPlan | None,
) -> dict[str, Any]:
    """Return `found`, `edges`, `nodes`, `members` and `by_common`, each of them several tables, and what was `sent`.

    The shingles are consumed.
    """
    layout = flow.layout
    identical = find_identical(flow, ranks.take_table("keyed"), layout)
    ratios = SampleRatios(np.unique(flow.collect(shingled.take_table("every"))["every"].to_numpy()), config, plan)
    sets, keys = shingled.take_table("sets"), shingled.take_table("keys")
    joined, by_spots = sets, config.resemblance.method == "spotsigs"
    if by_spots:
        joined, keys = _spots(flow, shingled, config)
        ratios = SampleRatios(np.ones(1, np.int64), spot_settings(config), None)
    at_home = {"sets": joined, "copies": identical["copies"]}
    paired = _pair(flow, keys, at_home, ratios)
    del keys
    sending = [pairs["sending"] for pairs in paired]
    sent = sent_joined = send_documents(flow, joined, sending)
    full = None
    if by_spots and config.resemblance.verify:
        sent = send_documents(flow, sets, sending, "sent-shingles")
        full = sent, config
    compared = compare_documents(flow, [pairs["candidates"] for pairs in paired], sent_joined, ratios, layout, full)
    # A sketch does not find all pairs, and common shingles do not lead to all.
    in_part = [compared] if config.resemblance.method == "minhash" else paired[1:]
    return {
        "found": [identical["found"], compared["found"]],
        "edges": [identical["edges"], compared["edges"]],
        "nodes": [identical["nodes"]],
        "members": [identical["members"]],
        "by_common": [pairs["by_common"] for pairs in in_part],
        "sent": sent,
    }


def _spots(flow: Flow, shingled: Parts[ShingledDocuments], config: Config) -> tuple[PartedTable, PartedTable]:
    """Return the spots of documents, and their keys. The words of the documents are used up."""
    words = shingled.take_table("words") if "words" in shingled.tables else None
    spots = make_spots(flow, shingled.take_table("worded"), words, config, flow.layout)
    return spots["sets"], spots["keys"]


def _pair(flow: Flow, keys: PartedTable, at_home: dict[str, PartedTable], ratios: SampleRatios) -> list[dict[str, PartedTable]]:
    """Return pairs to compare, as the method finds them."""
    layout = flow.layout
    if ratios.config.resemblance.method == "minhash":
        return [pair_by_bands(flow, at_home, ratios, layout)]
    counted, any_hot = count_shingles(flow, keys, layout, ratios.config)
    if any_hot:
        at_home["common"] = find_common(flow, {**at_home, "hot": counted["hot"]}, ratios, layout)
    entered, any_meet = list_entries(flow, {**at_home, "ranks": counted["ranks"]}, ratios, layout)
    pairs = [pair_documents(flow, entered, ratios, layout)]
    return [*pairs, pair_with_leaders(flow, entered, ratios, layout)] if any_meet else pairs
