"""Which passages are reported, over many partitions: all those of two documents are in one place, the lengths elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.distinct import distinct, numbered
from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.passages.reported import Limits, Spans, are_reported

_ASKED = pa.schema([("document", pa.int64()), ASKER])
_LENGTHS = pa.schema([("document", pa.int64()), ("n_chars", pa.int64())])


def report_in_partitions(flow: Flow, passages: PartedTable, texts: PartedTable, limits: Limits) -> PartedTable:
    """Return the reported passages."""
    layout = flow.layout

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents = distinct(np.stack([tables["passages"][f"{side}_document"].to_numpy() for side in "ab"]))
        yield Sent("asked", table_of([documents, np.full(len(documents), partition)], _ASKED), layout.home(documents))

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        documents = known["texts"]["document"].to_numpy()
        order = np.argsort(documents)
        at = order[np.searchsorted(documents[order], asked["document"].to_numpy())]
        lengths = pc.utf8_length(known["texts"]["text"])
        return table_of([asked["document"], lengths.take(pa.array(at))], _LENGTHS)

    def choose(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table, lengths = tables["passages"], tables["lengths"].sort_by("document")
        table = table.sort_by("number")
        sides = [table[f"{side}_document"].to_numpy() for side in "ab"]
        pair, example = numbered(*sides)
        known, n_chars = (lengths[name].to_numpy() for name in _LENGTHS.names)
        of_pairs = np.stack([n_chars[np.searchsorted(known, side[example])] for side in sides], axis=1)
        chosen = are_reported(Spans.of(table, pair), of_pairs, limits)
        yield Sent("passages", table.filter(pa.array(chosen)), partition)

    asked = flow.reduce("reported-asked", {"passages": passages}, ask, {"asked": _ASKED})["asked"]
    lengths = lookup(flow, "reported-lengths", asked, {"texts": texts}, answer, _LENGTHS)
    given = {"passages": passages, "lengths": lengths}
    return flow.reduce("reported", given, choose, {"passages": passages.schema})["passages"]
