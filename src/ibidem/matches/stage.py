"""From sentences to classes: sentences of different classes cannot match. And, if asked for, the pairs that do match."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import PlacedDocuments
from ibidem.config import Config
from ibidem.execution.flow import AnyFlow, InMemory, Parts, Sender
from ibidem.execution.progress import Progress
from ibidem.matches.core import Classed, classify_collection
from ibidem.matches.exchange import sentence_pairs as pairs_exchange
from ibidem.matches.exchange.classes import classify_documents, postings_of_digests
from ibidem.matches.inverted_index import posting_table
from ibidem.matches.sentence_pairs import pair_table


def classify(
    flow: AnyFlow,
    sentences: Parts[Collection],
    config: Config,
    progress: Progress,
    then: Sequence[Sender[PlacedDocuments]] = (),
) -> Parts[Classed]:
    """Give every sentence its class. In partitions the documents get them, and the senders see the documents."""
    if isinstance(flow, InMemory):
        return Parts(classify_collection(sentences.look(), config, flow.run_tasks, progress))
    if config.signatures.signature != "exact":
        return Parts(tables={**classify_documents(flow, sentences, config, progress, then)})
    # Digests are the classes: the documents are unchanged since splitting, when the senders saw them.
    given = {name: sentences.take_table(name) for sender in then for name in sender.gives}
    if config.matches.postings:
        given["postings"] = postings_of_digests(flow, sentences.table("texts"), config)
    return Parts(tables={"documents": sentences.table("documents"), **given})


def pair_sentences(
    flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed], config: Config, progress: Progress
) -> Parts[pa.Table]:
    """Return the table of all pairs of sentences that match, except sentences in more than `max_places` places."""
    if isinstance(flow, InMemory):
        table, n_hot = pair_table(sentences.look(), classed.look(), config, flow.run_tasks)
        progress.count(sentences_left_out=n_hot)
        return Parts(table)
    parted, n_hot = pairs_exchange.pair_sentences(flow, classed.table("documents"), config)
    progress.count(sentences_left_out=n_hot)
    return Parts(tables={"sentence_pairs": parted})


def list_postings(flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed]) -> Parts[pa.Table]:
    """Return the table of postings; in partitions it was made with the classes."""
    if not isinstance(flow, InMemory):
        return Parts(tables={"postings": classed.take_table("postings")})
    known_by = classed.look().known_by
    assert known_by is not None, "`postings` is not set"
    classed.value = classed.look()._replace(known_by=None)  # no later stage uses it
    return Parts(posting_table(sentences.look(), known_by))
