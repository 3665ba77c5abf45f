"""What is wrong with a collection as a whole, found out where it lies and said before the work goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.config import DocumentsConfig
from ibidem.errors import NoDocumentsError
from ibidem.execution.checks import check_known_fields
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from ibidem.execution.unique_ids import repeated_id_error
from ibidem.sentences.exchange import IDS

_MOST_TOLD = 1000  # documents of repeated ids, by partition


def check_sides(n_documents: int, n_reference: int, layout: Layout) -> None:
    """Raise where a side has no documents, given the number of all documents and of those of the reference."""
    if n_documents == n_reference:
        raise NoDocumentsError("the inputs hold no documents")
    if layout.has_reference and n_reference == 0:
        raise NoDocumentsError("the reference holds no documents")


def check_counts(counts: pa.Table, layout: Layout, progress: Progress, fields: DocumentsConfig | None = None) -> None:
    """Raise where a side has no documents, or no record has one of the fields that the user named; keep the numbers."""
    n_documents, n_reference, n_sentences, n_times, n_groups = (int(column.to_numpy().sum()) for column in counts.columns)
    check_sides(n_documents, n_reference, layout)
    progress.add_documents(n_documents, n_sentences)
    if fields is not None:
        check_known_fields(n_times > 0, n_groups > 0, fields)


def check_ids(flow: Flow, ids: PartedTable) -> None:
    """Raise where two documents of one side carry the same id."""

    def find_repeated(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["ids"]
        keys = table["key"].to_numpy()
        documents = table["document"].to_numpy()
        order = np.lexsort((documents, keys))
        _, first, which, counts = np.unique(keys[order], return_index=True, return_inverse=True, return_counts=True)
        repeated = np.flatnonzero(counts[which] > 1)
        # Ids in the order in which they are first seen, so that the same are told whatever the partitions.
        repeated = repeated[np.lexsort((documents[order][repeated], documents[order][first[which[repeated]]]))]
        yield Sent("repeated", table.take(pa.array(order[repeated[:_MOST_TOLD]])), 0)

    found = flow.collect(flow.reduce("ids", {"ids": ids}, find_repeated, {"repeated": IDS})["repeated"])
    if found.num_rows:
        raise repeated_id_error(found.sort_by("document"))
