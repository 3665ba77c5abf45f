"""From documents to sentences: in memory as columns, in partitions as documents at home with lists of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ibidem.columns.collection import Collection
from ibidem.columns.hashes import is_secret
from ibidem.config import Config
from ibidem.execution.flow import AnyFlow, InMemory, PartedTable, Parts, Sender, Source
from ibidem.execution.progress import Progress
from ibidem.sentences.core import gather
from ibidem.sentences.equal_digests import settle_sentences
from ibidem.sentences.exchange import SplitBatch, split_documents
from ibidem.sentences.ignored_text import load_ignored


def split(
    flow: AnyFlow,
    documents: Source,
    config: Config,
    progress: Progress,
    then: Sequence[Sender[SplitBatch]] = (),
    to_cut: bool = False,
) -> Parts[Collection]:
    """Read all documents and split them into sentences. `to_cut`: equal sentences may be removed."""
    if not isinstance(flow, InMemory):
        return Parts(tables={**split_documents(flow, documents, config, then, to_cut)})
    ignored, sentences = load_ignored(config.sentences.ignore), config.sentences
    on_batch = progress.add_documents
    collection = gather(documents.batches, documents.reference, sentences, flow.run_tasks, on_batch, ignored=ignored)
    if ignored is not None:
        progress.count(ignored_sentences=int(np.count_nonzero(collection.is_ignored)))
    # If equal digests decide and the seed may be known, they must mean equal sentences. Exact sentences to cut are compared
    # later, when it is known which are removed: fewer than all of one digest.
    if not is_secret(config.sentences.hash_seed) or (to_cut and config.signatures.signature != "exact"):
        collection = settle_sentences(collection, flow.run_tasks)
    return Parts(collection)


def read_texts(flow: AnyFlow, again: Source, known: Parts[Any], config: Config) -> Parts[Collection]:
    """Return the documents of a run that has read them, with their texts, and in memory with their sentences."""
    if isinstance(flow, InMemory):
        return split(flow, again, config, Progress(), to_cut=True)
    return Parts(tables={"texts": again if isinstance(again, PartedTable) else known.take_table("texts")})
