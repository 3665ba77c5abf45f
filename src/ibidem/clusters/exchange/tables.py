"""The tables of `cluster` and the decisions of `dedup`, in reading order over all partitions: adds numbers and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.exchange.clusters import LISTED
from ibidem.clusters.removals import copy_numbers
from ibidem.columns.components import numbers_by_first
from ibidem.columns.components_exchange import numbers_before
from ibidem.columns.parted_tables import NAMED, in_order, table_of
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout

DUPLICATES = pa.schema(
    [
        ("a_document", pa.int64()),
        ("b_document", pa.int64()),
        ("a_id", pa.large_string()),
        ("b_id", pa.large_string()),
        ("similarity", pa.float64()),
        ("containment_a", pa.float64()),
        ("containment_b", pa.float64()),
    ]
)
CLUSTERS = pa.schema([("cluster", pa.int64()), ("document", pa.int64()), ("id", pa.large_string()), ("canonical", pa.bool_())])
# One row per member of a cluster. `kept_…` is the canonical document, also for the canonical document itself; `similarity` is
# NaN if the two were not compared. `copy` says which copy of the canonical document it is, 0 for that itself, and `copies` how
# many members there are.
DECISIONS = pa.schema(
    [
        *NAMED,
        ("cluster", pa.int64()),
        *((f"kept_{field.name}", field.type) for field in NAMED),
        ("similarity", pa.float64()),
        ("copy", pa.int64()),
        ("copies", pa.int64()),
    ]
)

# Members with the number and the first member of their cluster; at home.
_NUMBERED = pa.schema(
    [(name, pa.int64()) for name in ("document", "cluster", "first", "canonical")] + [("similarity", pa.float64())]
)
_KEEPING = pa.schema([("canonical", pa.int64()), ("document", pa.int64())])
_KEPT = pa.schema([("member", pa.int64()), *NAMED, ("copy", pa.int64()), ("copies", pa.int64())])
_HALF_NAMED = pa.schema([*LISTED, ("b_id", pa.large_string())])

Numbers = NDArray[np.int64]


def name_tables(flow: Flow, clustered: Mapping[str, PartedTable], named: PartedTable, layout: Layout) -> dict[str, PartedTable]:
    """Return `duplicates`, `clusters` and `decisions`, given what `cluster_documents` returns and documents as NAMED; and the
    members of clusters at home, `numbered`.

    Rows are in order over the partitions: pairs by their first document, clusters by their first member, decisions by
    document.
    """
    before = numbers_before(flow.collect(clustered["counted"]), layout)

    def number(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        first, document, canonical, similarity = (
            tables["clustered"][name].to_numpy() for name in tables["clustered"].column_names
        )
        cluster = before[partition] + numbers_by_first(first)
        rows = table_of([document, cluster, first, canonical, similarity], _NUMBERED)
        yield Sent("numbered", rows, layout.home(document))
        yield Sent("keeping", table_of([canonical, document], _KEEPING), layout.home(canonical))

    numbered = flow.reduce(
        "cluster-numbers", {"clustered": clustered["clustered"]}, number, {"numbered": _NUMBERED, "keeping": _KEEPING}
    )

    def name(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents = in_order(tables["named"])
        listed, members, keeping = (tables[tag] for tag in ("listed", "numbered", "keeping"))
        ids = _rows(documents, listed["b"])["id"]
        half = table_of([*listed.columns, ids], _HALF_NAMED)
        yield Sent("listed", half, layout.home(listed["a"].to_numpy()))
        canonical = members["canonical"].to_numpy() == members["document"].to_numpy()
        ids = _rows(documents, members["document"])["id"]
        clusters = table_of([members["cluster"], members["document"], ids, canonical], CLUSTERS)
        yield Sent("clusters", clusters, layout.home(members["first"].to_numpy()))
        of, member = (keeping[name].to_numpy() for name in _KEEPING.names)
        copy = np.zeros(len(of), np.int64)
        copy[of != member] = copy_numbers(of[of != member], member[of != member])
        _, which = np.unique(of, return_inverse=True)
        copies = np.bincount(which)[which] if len(of) else copy
        kept = table_of([member, *_rows(documents, keeping["canonical"]).columns, copy, copies], _KEPT)
        yield Sent("kept", kept, layout.home(keeping["document"].to_numpy()))

    inputs = {"named": named, "listed": clustered["listed"], **numbered}
    outputs = {"listed": _HALF_NAMED, "clusters": CLUSTERS, "kept": _KEPT}
    half = flow.reduce("cluster-names", inputs, name, outputs)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents = in_order(tables["named"])
        listed, clusters = tables["listed"], tables["clusters"]
        listed = listed.take(pa.array(np.lexsort((listed["b"].to_numpy(), listed["a"].to_numpy()))))
        names = [_rows(documents, listed["a"])["id"], listed["b_id"]]
        scores = [listed[name] for name in ("similarity", "containment_a", "containment_b")]
        yield Sent("duplicates", table_of([listed["a"], listed["b"], *names, *scores], DUPLICATES), partition)
        order = np.lexsort((clusters["document"].to_numpy(), clusters["cluster"].to_numpy()))
        yield Sent("clusters", clusters.take(pa.array(order)), partition)
        members = in_order(tables["numbered"])
        kept = tables["kept"].take(pa.array(np.argsort(tables["kept"]["member"].to_numpy())))
        own = _rows(documents, members["document"])
        columns = [*own.columns, members["cluster"], *kept.columns[1:-2], members["similarity"], *kept.columns[-2:]]
        yield Sent("decisions", table_of(columns, DECISIONS), partition)

    inputs = {"named": named, "numbered": numbered["numbered"], **half}
    outputs = {"duplicates": DUPLICATES, "clusters": CLUSTERS, "decisions": DECISIONS}
    return {**flow.reduce("cluster-tables", inputs, finish, outputs), "numbered": numbered["numbered"]}


def _rows(documents: pa.Table, numbers: pa.ChunkedArray) -> pa.Table:
    """Return the rows of some documents, given all of a partition in order."""
    return documents.take(pa.array(np.searchsorted(documents["document"].to_numpy(), numbers.to_numpy())))
