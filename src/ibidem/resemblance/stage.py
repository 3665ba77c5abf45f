"""From documents to shingles, and to pairs of similar documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import METHODS_IN_PARTS, Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.surface import given
from ibidem.errors import SettingsError
from ibidem.execution.flow import AnyFlow, InMemory, Parts, Source
from ibidem.execution.progress import Progress
from ibidem.resemblance import Comparer, Found, corpus_of, representatives, with_identical
from ibidem.resemblance import core as resemblance_core
from ibidem.resemblance.exchange.duplicates import find_apart
from ibidem.resemblance.exchange.shingles import shingle_documents
from ibidem.resemblance.shingled_texts import gather_shingles


@dataclass(frozen=True)
class FoundDuplicates:
    """Pairs among the representatives of identical documents, and how further pairs are compared."""

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
    """Read all documents and keep their shingles; if `removing`, also checks of their texts."""
    if isinstance(flow, InMemory):
        disk = flow.disk()
        on_batch = progress.add_documents
        found = gather_shingles(documents.batches, documents.reference, config, flow.run_tasks, on_batch, disk, removing)
        if disk is not None:
            progress.use(**disk.used())
        return Parts(found)
    if config.resemblance.method not in METHODS_IN_PARTS:
        known = ", ".join(METHODS_IN_PARTS)
        raise SettingsError(
            [f"{given('method', config.resemblance.method)} is not available on this engine; these are: {known}"]
        )
    return Parts(tables={**shingle_documents(flow, documents, flow.layout, config, plan, unique_ids)})


def find_duplicates(
    flow: AnyFlow,
    shingled: Parts[ShingledDocuments],
    ranks: Parts[NDArray[np.int64]],
    config: Config,
    progress: Progress,
    plan: SamplingPlan | None = None,
) -> Parts[FoundDuplicates]:
    """Find every pair of documents that are similar, or of which one contains the other, as the settings say."""
    if not isinstance(flow, InMemory):
        return Parts(tables=find_apart(flow, shingled, ranks, config, plan))
    documents = shingled.look()
    representative = representatives(documents.digests, documents.side, ranks.look())
    corpus, comparer = corpus_of(documents, representative, config, plan, flow.run_tasks)
    progress.count(shingles=len(corpus.sets.hashes))
    found = resemblance_core.find_duplicates(corpus, comparer, config, flow.run_tasks)
    if documents.has_reference:
        found = with_identical(found, documents.digests, corpus)
    return Parts(FoundDuplicates(found, representative, corpus.sizes, comparer))
