"""`find` over all machines, on one screen: the stages of the local pipeline, and what is sent between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ibidem.blocks import Blocks, Flow
from ibidem.config import Config
from ibidem.distributed.checking import check_counts, check_ids
from ibidem.distributed.classes import classify_documents
from ibidem.distributed.grams import meet
from ibidem.distributed.layout import Layout
from ibidem.distributed.pairing import find_pairs
from ibidem.distributed.placing import place_documents
from ibidem.distributed.repeats import find_repeats
from ibidem.distributed.splitting import split_documents
from ibidem.distributed.summing import number_components, sum_up
from ibidem.progress import Progress


@dataclass(frozen=True)
class FoundBlocks:
    """The tables of `find`, in order over their partitions but for repeats; texts for those who want to read them."""

    passages: Blocks
    documents: Blocks
    repeats: Blocks
    texts: Blocks


def find_flow(flow: Flow, source: Any, config: Config, layout: Layout, progress: Progress) -> FoundBlocks:
    """Find every passage that stands in two documents of the source, as `pipeline.find_passages` does."""
    with progress.stage("sentences"):
        split = split_documents(flow, source, config, layout)
        check_counts(flow.collect(split["counts"]), layout, progress, config.documents)
        check_ids(flow, split["ids"])
    with progress.stage("matches"):
        documents, grams = split["documents"], split
        if config.signatures.signature != "exact":
            documents, grams = classify_documents(flow, split, config, layout, progress)
        met = meet(flow, grams["grams"], config, layout)
    with progress.stage("passages"):
        placed = place_documents(flow, documents, [grams["flags"], met["flags"]], met["members"], config, layout)
        pairs = find_pairs(flow, placed["placed"], config, layout)
        repeats = find_repeats(flow, documents, placed["hot"], split["texts"], config, layout)
    with progress.stage("tables"):
        edges = [part["edges"] for part in (grams, met, pairs, repeats)]
        clustered = number_components(flow, "copies", edges, layout)
        table = sum_up(flow, split["documents"], [pairs["marks"], repeats["marks"]], clustered, layout)
    return FoundBlocks(pairs["passages"], table, repeats["repeats"], split["texts"])
