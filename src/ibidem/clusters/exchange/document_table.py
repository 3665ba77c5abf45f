"""The table of documents: coverage added up at home, and clusters of documents that are copies of one another as wholes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.model import DOCUMENTS
from ibidem.passages.coverage import Coverage

_DOCUMENTS = pa.schema([("document", pa.int64()), *DOCUMENTS])


def sum_up(
    flow: Flow, documents: PartedTable, coverage: Sequence[PartedTable], clustered: PartedTable, layout: Layout
) -> PartedTable:
    """Return the table of documents, those of the inputs, in reading order."""

    def total(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        numbers = table["document"].to_numpy()
        collection = collection_of(table, layout)
        whole = Coverage(collection)
        at = (
            whole.first[np.searchsorted(numbers, tables["coverage"]["document"].to_numpy())]
            + tables["coverage"]["slot"].to_numpy()
        )
        np.add.at(whole.elsewhere, at, tables["coverage"]["elsewhere"].to_numpy())
        np.add.at(whole.before, at, tables["coverage"]["before"].to_numpy())
        shares = whole.shares()
        cluster = np.full(len(numbers), -1, np.int64)
        cluster[np.searchsorted(numbers, tables["clustered"]["document"].to_numpy())] = tables["clustered"][
            "cluster"
        ].to_numpy()
        columns = [
            numbers,
            collection.ids,
            collection.n_chars,
            np.diff(collection.document_first),
            shares[0],
            shares[1],
            pa.array(cluster, mask=cluster < 0),
        ]
        yield Sent("documents", table_of(columns, _DOCUMENTS).slice(0, collection.n_input), partition)

    inputs: Inputs = {"documents": documents, "coverage": coverage, "clustered": clustered}
    return flow.reduce("documents", inputs, total, {"documents": _DOCUMENTS})["documents"]
