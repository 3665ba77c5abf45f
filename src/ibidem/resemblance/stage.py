"""Documents into shingles, and the pairs of documents that resemble each other as wholes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import EXACT_METHODS, METHODS_IN_PARTS, Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.errors import SettingsError
from ibidem.execution.flow import AnyFlow, Flow, InMemory, PartedTable, Parts, Source
from ibidem.execution.progress import Progress
from ibidem.resemblance import Comparer, Found, corpus_of, representatives, with_identical
from ibidem.resemblance import core as resemblance_core
from ibidem.resemblance.exchange.bands import pair_by_bands
from ibidem.resemblance.exchange.document_comparison import compare_documents, send_documents
from ibidem.resemblance.exchange.identical import find_identical
from ibidem.resemblance.exchange.shingle_counts import SampleRatios, count_shingles, find_common
from ibidem.resemblance.exchange.shingle_entries import list_entries
from ibidem.resemblance.exchange.shingle_pairs import pair_documents, pair_with_leaders
from ibidem.resemblance.exchange.shingles import shingle_documents
from ibidem.resemblance.shingled_texts import gather_shingles


@dataclass(frozen=True)
class FoundDuplicates:
    """Pairs of a whole collection among documents that stand for identical ones, and how further pairs are compared."""

    found: Found
    representative: NDArray[np.int32]
    sizes: NDArray[np.int64]
    comparer: Comparer


def shingle(
    flow: AnyFlow,
    documents: Source,
    config: Config,
    progress: Progress,
    plan: SamplingPlan | None = None,
    unique_ids: bool = True,
    removing: bool = False,
) -> Parts[ShingledDocuments]:
    """Read all documents, and keep the shingles that they are known by. `removing`: checks of their texts, too."""
    if isinstance(flow, InMemory):
        disk = flow.disk()
        on_batch = progress.add_documents
        found = gather_shingles(documents.batches, documents.reference, config, flow.run_tasks, on_batch, disk, removing)
        if disk is not None:
            progress.use(**disk.used())
        return Parts(found)
    if config.resemblance.method not in METHODS_IN_PARTS:
        known = ", ".join(METHODS_IN_PARTS)
        raise SettingsError([f"method = {config.resemblance.method!r} is not available on this engine; these are: {known}"])
    return Parts(tables={**shingle_documents(flow, documents, flow.layout, config, plan, unique_ids)})


def find_duplicates(
    flow: AnyFlow,
    shingled: Parts[ShingledDocuments],
    ranks: Parts[NDArray[np.int64]],
    config: Config,
    progress: Progress,
    plan: SamplingPlan | None = None,
) -> Parts[FoundDuplicates]:
    """Find every pair of documents that resemble each other, or of which one contains the other, as the settings ask."""
    if not isinstance(flow, InMemory):
        return Parts(tables=_find_apart(flow, shingled, ranks, config, plan))
    documents = shingled.look()
    representative = representatives(documents.digests, documents.side, ranks.look())
    corpus, comparer = corpus_of(documents, representative, config, plan, flow.run_tasks)
    progress.count(shingles=len(corpus.sets.hashes))
    found = resemblance_core.find_duplicates(corpus, comparer, config, flow.run_tasks)
    if documents.has_reference:
        found = with_identical(found, documents.digests, corpus)
    return Parts(FoundDuplicates(found, representative, corpus.sizes, comparer))


def _find_apart(
    flow: Flow,
    shingled: Parts[ShingledDocuments],
    ranks: Parts[NDArray[np.int64]],
    config: Config,
    plan: SamplingPlan | None,
) -> dict[str, Any]:
    """Return `found`, `edges`, `nodes`, `members` and `by_common`, each of them several tables, and what was `sent`.

    The shingles are used up.
    """
    layout = flow.layout
    identical = find_identical(flow, ranks.take_table("keyed"), layout)
    ratios = SampleRatios(np.unique(flow.collect(shingled.take_table("every"))["every"].to_numpy()), config, plan)
    sets = shingled.take_table("sets")
    at_home = {"sets": sets, "copies": identical["copies"]}
    paired = _pair(flow, shingled.take_table("keys"), at_home, ratios)
    sent = send_documents(flow, sets, [pairs["sending"] for pairs in paired])
    compared = compare_documents(flow, [pairs["candidates"] for pairs in paired], sent, ratios, layout)
    # A sketch does not find all pairs, common shingles do not lead to all of them.
    in_part = [compared] if config.resemblance.method not in EXACT_METHODS else paired[1:]
    return {
        "found": [identical["found"], compared["found"]],
        "edges": [identical["edges"], compared["edges"]],
        "nodes": [identical["nodes"]],
        "members": [identical["members"]],
        "by_common": [pairs["by_common"] for pairs in in_part],
        "sent": sent,
    }


def _pair(flow: Flow, keys: PartedTable, at_home: dict[str, PartedTable], ratios: SampleRatios) -> list[dict[str, PartedTable]]:
    """Return pairs to be compared, as the method finds them."""
    layout = flow.layout
    if ratios.config.resemblance.method == "minhash":
        return [pair_by_bands(flow, at_home, ratios, layout)]
    counted, any_hot = count_shingles(flow, keys, layout, ratios.config)
    if any_hot:
        at_home["common"] = find_common(flow, {**at_home, "hot": counted["hot"]}, ratios, layout)
    entered, any_meet = list_entries(flow, {**at_home, "ranks": counted["ranks"]}, ratios, layout)
    pairs = [pair_documents(flow, entered, ratios, layout)]
    return [*pairs, pair_with_leaders(flow, entered, ratios, layout)] if any_meet else pairs
