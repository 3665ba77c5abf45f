"""The table of documents over many partitions: coverage is added up at home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ibidem.clusters.document_table import document_rows
from ibidem.columns.distinct import places_of
from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.model import DOCUMENTS
from ibidem.passages.coverage import Coverage

_DOCUMENTS = pa.schema([("document", pa.int64()), *DOCUMENTS])


def sum_up(
    flow: Flow, documents: PartedTable, coverage: Sequence[PartedTable], clustered: PartedTable, layout: Layout
) -> PartedTable:
    """Return the table of input documents, in reading order."""

    def total(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        numbers = table["document"].to_numpy()
        collection = collection_of(table, layout)
        whole = Coverage(collection)
        added = tables["coverage"]
        at = whole.first[places_of(added["document"].to_numpy(), numbers)] + added["slot"].to_numpy()
        np.add.at(whole.elsewhere, at, added["elsewhere"].to_numpy())
        np.add.at(whole.before, at, added["before"].to_numpy())
        cluster = np.full(len(numbers), -1, np.int64)
        clustered_at = places_of(tables["clustered"]["document"].to_numpy(), numbers)
        cluster[clustered_at] = tables["clustered"]["cluster"].to_numpy()
        rows = document_rows(collection, whole, cluster)
        yield Sent("documents", table_of([numbers[: rows.num_rows], *rows.columns], _DOCUMENTS), partition)

    inputs: Inputs = {"documents": documents, "coverage": coverage, "clustered": clustered}
    return flow.reduce("documents", inputs, total, {"documents": _DOCUMENTS})["documents"]
