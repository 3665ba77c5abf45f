"""Passages with their texts: each side is cut at the home of its document, and the cuts go back to the passage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.columns.parted_tables import cut_texts, in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.model import TEXT_FIELDS

# `place` is twice the number of the passage, and one more for side b.
_SPANS = pa.schema([*((name, pa.int64()) for name in ("place", "document", "start", "end")), ASKER])
_TEXTS = pa.schema([("place", pa.int64()), ("text", pa.large_string())])


def with_texts(flow: Flow, passages: PartedTable, texts: PartedTable, layout: Layout, step: str = "passages") -> PartedTable:
    """Return the passages, `pairs.FOUND`, with the texts of both sides, `a_text` and `b_text`, in their order."""
    schema = pa.schema([*passages.schema, *TEXT_FIELDS])

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        for number, side in enumerate("ab"):
            place, document = 2 * table["number"].to_numpy() + number, table[f"{side}_document"].to_numpy()
            columns = [place, document, table[f"{side}_start"], table[f"{side}_end"], np.full(len(place), partition)]
            yield Sent("asked", table_of(columns, _SPANS), layout.home(document))

    def cut(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        documents = in_order(known["texts"])
        at = np.searchsorted(documents["document"].to_numpy(), asked["document"].to_numpy())
        cuts = cut_texts(documents["text"], at, asked["start"].to_pylist(), asked["end"].to_pylist())
        return table_of([asked["place"], cuts], _TEXTS)

    def join(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        order, by_place = (
            np.argsort(tables[table][column].to_numpy()) for table, column in (("passages", "number"), ("cuts", "place"))
        )
        texts = [tables["cuts"]["text"].take(pa.array(by_place[side::2])) for side in (0, 1)]
        yield Sent("passages", table_of([*tables["passages"].take(pa.array(order)).columns, *texts], schema), partition)

    asked = flow.reduce(f"{step}-spans", {"passages": passages}, ask, {"asked": _SPANS})["asked"]
    cuts = lookup(flow, f"{step}-cut", asked, {"texts": texts}, cut, _TEXTS)
    return flow.reduce(f"{step}-texts", {"passages": passages, "cuts": cuts}, join, {"passages": schema})["passages"]
