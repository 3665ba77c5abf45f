"""From sentences to classes: sentences of different classes cannot match."""

from __future__ import annotations

from collections.abc import Sequence

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import PlacedDocuments
from ibidem.config import Config
from ibidem.execution.flow import AnyFlow, InMemory, Parts, Sender
from ibidem.execution.progress import Progress
from ibidem.matches.core import Classed, classify_collection
from ibidem.matches.exchange.classes import classify_documents


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
    return Parts(tables={"documents": sentences.table("documents"), **given})
