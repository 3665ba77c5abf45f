"""`find` over all machines, on one screen: the stages of the local pipeline, and what is sent between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ibidem.clusters.exchange.document_table import sum_up
from ibidem.columns.components_exchange import number_components
from ibidem.config import Config
from ibidem.execution.checks import check_counts
from ibidem.execution.flow import Flow, PartedTable
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.unique_ids import check_ids
from ibidem.matches.exchange.classes import classify_documents
from ibidem.passages.exchange.grams import meet
from ibidem.passages.exchange.pairs import find_pairs
from ibidem.passages.exchange.places import place_documents
from ibidem.passages.exchange.repeats import find_repeats
from ibidem.sentences.exchange import split_documents


@dataclass(frozen=True)
class FoundBlocks:
    """The tables of `find`, in order over their partitions but for repeats; texts for those who want to read them."""

    passages: PartedTable
    documents: PartedTable
    repeats: PartedTable
    texts: PartedTable


def find_flow(flow: Flow, source: Any, config: Config, layout: Layout, progress: Progress) -> FoundBlocks:
    """Find every passage that stands in two documents of the source, as `pipeline.find_passages` does.

    Tables are released as soon as no later stage needs them: an engine may remove them then.
    """
    with progress.stage("sentences"):
        split = split_documents(flow, source, config, layout)
        check_counts(flow.collect(split.pop("counts")), layout, progress, config.documents)
        check_ids(flow, split.pop("ids"))
        at_home, texts = split["documents"], split.pop("texts")
    with progress.stage("matches"):
        documents, grams = at_home, split
        if config.signatures.signature != "exact":
            documents, grams = classify_documents(flow, split, config, layout, progress)
        met = meet(flow, grams.pop("grams"), config, layout)
    with progress.stage("passages"):
        flags = [grams.pop("flags"), met.pop("flags")]
        placed = place_documents(flow, documents, flags, met.pop("members"), config, layout)
        pairs = find_pairs(flow, placed.pop("placed"), config, layout)
        repeats = find_repeats(flow, documents, placed.pop("hot"), texts, config, layout)
        del documents
    with progress.stage("tables"):
        edges = [part["edges"] for part in (grams, met, pairs, repeats)]
        clustered = number_components(flow, "copies", edges, layout)
        table = sum_up(flow, at_home, [pairs["coverage"], repeats["coverage"]], clustered, layout)
    return FoundBlocks(pairs["passages"], table, repeats["repeats"], texts)
