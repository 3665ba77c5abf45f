"""Removals over many partitions: the names of the documents that match are looked up at their homes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.removals import GONE, READING_ORDER, Removals
from ibidem.columns.parted_tables import NAMED, in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout

_ASKED = pa.schema([("matched", pa.int64()), ASKER])
_KEPT = "kept_"  # prefix of the columns about the kept document


def removed_documents(flow: Flow, decisions: PartedTable, layout: Layout) -> PartedTable:
    """Return whole documents that are removed, `GONE`, given what was decided about every member of a cluster."""

    def list_gone(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["decisions"])
        document, kept = table["document"].to_numpy(), table["kept_document"].to_numpy()
        table = table.filter(pa.array((document != kept) & (document < layout.n_input)))
        names = ("document", "n_chars", "kept_document", "kept_n_chars", "similarity")
        removals = Removals.of_documents(*(table[name].to_numpy() for name in names))
        of_kept = table.select([_KEPT + name for name in NAMED.names]).rename_columns(NAMED.names)
        yield Sent("gone", removals.gone(table, of_kept), partition)

    return flow.reduce("removed", {"decisions": decisions}, list_gone, {"gone": GONE})["gone"]


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
