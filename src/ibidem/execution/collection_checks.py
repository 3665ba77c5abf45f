"""What is wrong with a collection as a whole, said before the work goes on: in memory or in partitions."""

from __future__ import annotations

from ibidem.columns.collection import Collection
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config, DocumentsConfig
from ibidem.execution.checks import check_documents, check_fields, check_keeping, nothing_to_keep_by
from ibidem.execution.checks_exchange import check_counts, check_ids, check_sides
from ibidem.execution.flow import AnyFlow, InMemory, Parts
from ibidem.execution.progress import Progress


def check_sentences(
    flow: AnyFlow, sentences: Parts[Collection], progress: Progress, fields: DocumentsConfig | None = None
) -> None:
    """Raise where a side has no documents, two documents of a side have one id, or no record has a field that was named."""
    if isinstance(flow, InMemory):
        check_documents(sentences.look(), flow.has_reference)
        if fields is not None:
            check_fields(sentences.look(), fields)
        return
    check_counts(flow.collect(sentences.take_table("counts")), flow.layout, progress, fields)
    check_ids(flow, sentences.take_table("ids"))


def check_to_clean(flow: AnyFlow, sentences: Parts[Collection], config: Config, progress: Progress) -> None:
    """Raise where a side has no documents, or none has what decides which of them stay. Ids may repeat."""
    if isinstance(flow, InMemory):
        check_documents(sentences.look(), flow.has_reference, unique_ids=False)
        check_keeping(sentences.look(), config)
    else:
        check_counts(flow.collect(sentences.take_table("counts")), flow.layout, progress)


def check_shingled(
    flow: AnyFlow, shingled: Parts[ShingledDocuments], config: Config, progress: Progress, unique_ids: bool
) -> None:
    """Raise where a side has no documents, ids repeat that must not, or no document has what decides which one stays."""
    if isinstance(flow, InMemory):
        check_documents(shingled.look(), flow.has_reference, unique_ids)
        check_keeping(shingled.look(), config)
        return
    table = flow.collect(shingled.take_table("counts"))
    counts = {name: int(table[name].to_numpy().sum()) for name in table.column_names}
    check_sides(counts["n_documents"], counts["n_reference"], flow.layout)
    if config.clusters.keep == "earliest" and counts["n_known"] == 0:
        raise nothing_to_keep_by(config.clusters.keep)
    if unique_ids:
        check_ids(flow, shingled.take_table("ids"))
    progress.count(documents=counts["n_documents"], shingles=counts["n_shingles"])
