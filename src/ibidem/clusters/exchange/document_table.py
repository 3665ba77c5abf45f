"""The table of documents: coverage added up at home, and clusters of documents that are copies of one another as wholes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ibidem.columns.components_exchange import ROOTS, connect
from ibidem.columns.parted_tables import collection_of, in_order, table_of
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.model import DOCUMENTS
from ibidem.passages.coverage import Coverage

CLUSTERED = pa.schema([("document", pa.int64()), ("root", pa.int64()), ("cluster", pa.int64())])
_COUNTED = pa.schema([("partition", pa.int64()), ("n_clusters", pa.int64())])
_DOCUMENTS = pa.schema([("document", pa.int64()), *DOCUMENTS])


def number_components(flow: Flow, name: str, edges: Sequence[PartedTable], layout: Layout) -> PartedTable:
    """Return the number of every connected document's component, in reading order of their first members; at home."""
    roots = connect(flow, f"{name}-components", edges)

    def go_home(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            yield Sent("roots", table, layout.home(table["root"].to_numpy().astype(np.int64)))

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        n_clusters = len(np.unique(tables["roots"]["root"].to_numpy()))
        yield Sent("counted", table_of([[partition], [n_clusters]], _COUNTED), 0)

    members = flow.map(f"{name}-members", roots, go_home, {"roots": ROOTS})["roots"]
    counted = flow.collect(flow.reduce(f"{name}-counted", {"roots": members}, count, {"counted": _COUNTED})["counted"])
    n_clusters = np.zeros(layout.n_partitions + 1, np.int64)
    n_clusters[counted["partition"].to_numpy() + 1] = counted["n_clusters"].to_numpy()
    n_before = np.cumsum(n_clusters)

    def number(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        document, root = (tables["roots"][name].to_numpy().astype(np.int64) for name in ROOTS.names)
        _, cluster = np.unique(root, return_inverse=True)
        table = table_of([document, root, n_before[partition] + cluster], CLUSTERED)
        yield Sent("clustered", table, layout.home(document))

    return flow.reduce(f"{name}-numbers", {"roots": members}, number, {"clustered": CLUSTERED})["clustered"]


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
