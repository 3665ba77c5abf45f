"""Passages with their texts or pages: each side is looked up at the home of its document, and the answer goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ibidem.columns.page_columns import PageMarks
from ibidem.columns.parted_tables import cut_texts, in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.model import TEXT_FIELDS

# `place` is twice the number of the passage, and one more for side b.
_SPANS = pa.schema([*((name, pa.int64()) for name in ("place", "document", "start", "end")), ASKER])

# Returns a column for each field that is asked for, given the spans of a partition and the texts of its documents.
Answer = Callable[[pa.Table, Mapping[str, pa.Table]], Sequence[pa.Array]]


def with_texts(flow: Flow, passages: PartedTable, texts: PartedTable, layout: Layout, step: str = "passages") -> PartedTable:
    """Return the passages, `pairs.FOUND`, with the texts of both sides, `a_text` and `b_text`, in their order."""

    def cut(asked: pa.Table, known: Mapping[str, pa.Table]) -> Sequence[pa.Array]:
        documents = in_order(known["texts"])
        at = np.searchsorted(documents["document"].to_numpy(), asked["document"].to_numpy())
        return [cut_texts(documents["text"], at, asked["start"].to_pylist(), asked["end"].to_pylist())]

    return _with_fields(flow, passages, texts, layout, TEXT_FIELDS, cut, step)


def with_pages(flow: Flow, passages: PartedTable, texts: PartedTable, layout: Layout, marks: PageMarks) -> PartedTable:
    """Return the passages with the pages, and regions, that both sides begin on."""

    def place(asked: pa.Table, known: Mapping[str, pa.Table]) -> Sequence[pa.Array]:
        documents = in_order(known["texts"])
        numbers = documents["document"].to_numpy()
        places = zip(asked["document"].to_pylist(), asked["start"].to_pylist(), strict=True)
        return marks.columns([places], lambda number: documents["text"][int(np.searchsorted(numbers, number))].as_py())

    return _with_fields(flow, passages, texts, layout, marks.fields, place, "pages")


def _with_fields(
    flow: Flow, passages: PartedTable, texts: PartedTable, layout: Layout, fields: Sequence[pa.Field], answer: Answer, step: str
) -> PartedTable:
    """Return the passages with further fields: for each column of the answers, that of side a and that of side b."""
    schema = pa.schema([*passages.schema, *fields])
    answers = pa.schema([("place", pa.int64()), *((field.name.removeprefix("a_"), field.type) for field in fields[::2])])

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        for number, side in enumerate("ab"):
            place, document = 2 * table["number"].to_numpy() + number, table[f"{side}_document"].to_numpy()
            columns = [place, document, table[f"{side}_start"], table[f"{side}_end"], np.full(len(place), partition)]
            yield Sent("asked", table_of(columns, _SPANS), layout.home(document))

    def find(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        return table_of([asked["place"], *answer(asked, known)], answers)

    def join(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        order, by_place = (
            np.argsort(tables[table][column].to_numpy()) for table, column in (("passages", "number"), ("found", "place"))
        )
        rows = [pa.array(by_place[side::2]) for side in (0, 1)]
        found = [tables["found"][name].take(side) for name in answers.names[1:] for side in rows]
        yield Sent("passages", table_of([*tables["passages"].take(pa.array(order)).columns, *found], schema), partition)

    asked = flow.reduce(f"{step}-spans", {"passages": passages}, ask, {"asked": _SPANS})["asked"]
    found = lookup(flow, f"{step}-cut", asked, {"texts": texts}, find, answers)
    return flow.reduce(f"{step}-texts", {"passages": passages, "found": found}, join, {"passages": schema})["passages"]
