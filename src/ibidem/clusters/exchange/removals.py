"""Removals over many partitions: the names of the documents that match are looked up at their homes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.clusters.removals import GONE, READING_ORDER, SCORED_SPANS, Removals
from ibidem.columns.parted_tables import NAMED, in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout

_ASKED = pa.schema([("matched", pa.int64()), ASKER])
_KEPT = "kept_"  # prefix of the columns about the kept document


def removed_documents(flow: Flow, decisions: PartedTable, layout: Layout, n_copies: int) -> dict[str, PartedTable]:
    """Return whole documents that are `removed`, `GONE`, given what was decided about every member of a cluster; the same as
    `spans`, `SCORED_SPANS`; and the `members`, of which the first `n_copies` are kept.
    """

    def list_gone(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["decisions"])
        is_gone = pa.array((table["copy"].to_numpy() >= n_copies) & (table["document"].to_numpy() < layout.n_input))
        for name in ("document", "id"):
            kept = pc.if_else(is_gone, table[_KEPT + name], table[name])
            table = table.set_column(table.column_names.index(_KEPT + name), _KEPT + name, kept)
        yield Sent("members", table, partition)
        table = table.filter(is_gone)
        names = ("document", "n_chars", "kept_document", "kept_n_chars", "similarity")
        removals = Removals.of_documents(*(table[name].to_numpy() for name in names))
        of_kept = table.select([_KEPT + name for name in NAMED.names]).rename_columns(NAMED.names)
        yield Sent("removed", removals.gone(table, of_kept), partition)
        yield Sent("spans", removals.spans(SCORED_SPANS), partition)

    outputs = {"removed": GONE, "spans": SCORED_SPANS, "members": decisions.schema}
    return flow.reduce("removed", {"decisions": decisions}, list_gone, outputs)


def removed_passages(flow: Flow, spans: PartedTable, named: PartedTable, layout: Layout) -> PartedTable:
    """Return passages that are removed, `GONE`, in reading order, with the names of both documents."""

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        matched = np.unique(tables["spans"]["matched"].to_numpy())
        table = table_of([matched, np.full(len(matched), partition)], _ASKED)
        yield Sent("asked", table, layout.home(matched))

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        return _named(known["named"], asked["matched"].to_numpy())

    def name(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        removals = Removals.of_spans(tables["spans"].sort_by(READING_ORDER))
        own, matched = _named(tables["named"], removals.document), _named(tables["answers"], removals.matched)
        yield Sent("gone", removals.gone(own, matched), partition)

    asked = flow.reduce("removed-asked", {"spans": spans}, ask, {"asked": _ASKED})["asked"]
    answers = lookup(flow, "removed-told", asked, {"named": named}, answer, NAMED)
    return flow.reduce("removed", {"spans": spans, "named": named, "answers": answers}, name, {"gone": GONE})["gone"]


def _named(named: pa.Table, documents: NDArray[np.int64]) -> pa.Table:
    """Return the names of documents, one row each."""
    known = named["document"].to_numpy()
    order = np.argsort(known)
    return named.take(pa.array(order[np.searchsorted(known[order], documents)]))
