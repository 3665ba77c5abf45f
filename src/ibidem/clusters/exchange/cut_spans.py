"""From rows that go to spans of text: what to take out of a document, and where the same stands and stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.exchange.cut_order import Names, Numbers, Truths
from ibidem.clusters.removals import SPANS, is_all_cut, passages_of_rows
from ibidem.columns.distinct import find, numbered
from ibidem.columns.hashes import GOLDEN, mix
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import ranges
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout

_OPEN = pa.schema(
    [field for field in SPANS if not field.name.startswith("matched_")]
    + [("first_row", pa.int64()), ("last_row", pa.int64()), ("check", pa.uint64())]  # rows of the matched document
)
_RANGE: list[tuple[str, pa.DataType]] = [("matched", pa.int64()), ("first_row", pa.int64()), ("last_row", pa.int64())]
_ASKED = pa.schema([*_RANGE, ASKER])
_TOLD = pa.schema([*_RANGE, ("matched_start", pa.int64()), ("matched_end", pa.int64()), ("check", pa.uint64())])


def spans_of(flow: Flow, rows: PartedTable, cuts: list[PartedTable], layout: Layout) -> PartedTable:
    """Return the spans that the cut rows make, `SPANS`. Where a source stands is asked once a partition.

    Windows meet by the hash of their classes, and rows by slots: nothing goes because of a hash alone. The checks of the rows
    on both sides are compared, and where they differ the text stays.
    """

    def make(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans = _open_spans(tables["rows"], tables["cuts"])
        yield Sent("spans", spans, partition)
        _, example = numbered(*(spans[name].to_numpy() for name, _ in _RANGE))
        asked = [spans[name].to_numpy()[example] for name, _ in _RANGE]
        table = table_of([*asked, np.full(len(example), partition)], _ASKED)
        yield Sent("asked", table, layout.home(asked[0]))

    def tell(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        rows = known["rows"]
        matched, first_row, last_row = (asked[name].to_numpy() for name, _ in _RANGE)
        counts = last_row - first_row + 1
        at = _row_index(rows, np.repeat(matched, counts), ranges(first_row, counts))
        heads = np.cumsum(counts) - counts
        start, end = rows["start"].to_numpy()[at[heads]], rows["end"].to_numpy()[at[heads + counts - 1]]
        check = _checks_of(rows["check"].to_numpy()[at], heads)
        return table_of([matched, first_row, last_row, start, end, check], _TOLD)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans, told = tables["spans"], tables["told"]
        asked = [np.concatenate([spans[name].to_numpy(), told[name].to_numpy()]) for name, _ in _RANGE]
        number, _ = numbered(*asked)
        answer = np.empty(told.num_rows, np.int64)
        answer[number[spans.num_rows :]] = np.arange(told.num_rows)
        chosen = told.take(pa.array(answer[number[: spans.num_rows]]))
        is_equal = spans["check"].to_numpy() == chosen["check"].to_numpy()
        for name in ("matched_start", "matched_end"):
            spans = spans.append_column(name, chosen[name])
        yield Sent("spans", in_reading_order(_equal(spans.select(SPANS.names), is_equal)), partition)

    made = flow.reduce("cuts-spans", {"rows": rows, "cuts": cuts}, make, {"spans": _OPEN, "asked": _ASKED})
    told = lookup(flow, "cuts-sources", made.pop("asked"), {"rows": rows}, tell, _TOLD)
    return flow.reduce("cuts", {"spans": made["spans"], "told": told}, finish, {"spans": SPANS})["spans"]


def _equal(spans: pa.Table, is_equal: Truths) -> pa.Table:
    """Return the spans that equal their sources. A document that keeps one of the others is not dropped."""
    if is_equal.all():
        return spans
    document, is_dropped = spans["document"].to_numpy(), spans["is_dropped"].to_numpy()
    is_dropped = is_dropped & ~np.isin(document, document[~is_equal])
    return spans.set_column(SPANS.names.index("is_dropped"), "is_dropped", pa.array(is_dropped)).filter(pa.array(is_equal))


def in_reading_order(spans: pa.Table) -> pa.Table:
    """Return spans as they stand in the documents."""
    return spans.take(pa.array(np.lexsort((spans["start"].to_numpy(), spans["document"].to_numpy()))))


def _open_spans(rows: pa.Table, cuts: pa.Table) -> pa.Table:
    """Return the spans of cut rows, as `removals.cut_spans` makes them, with the rows that their sources are."""
    document, row = cuts["document"].to_numpy(), cuts["row"].to_numpy()
    order = np.lexsort((row, document))
    document, row = document[order], row[order]
    matched, matched_row = cuts["matched"].to_numpy()[order], cuts["matched_row"].to_numpy()[order]
    at = _row_index(rows, document, row)
    heads, lasts = passages_of_rows(document, rows["sentence"].to_numpy()[at], matched, matched_row)
    start, end = rows["start"].to_numpy()[at[heads]], rows["after"].to_numpy()[at[lasts]]
    is_dropped = is_all_cut(document[heads], start, end, rows["text_chars"].to_numpy()[at[heads]])
    columns = [document[heads], start, end, matched[heads], lasts - heads + 1, is_dropped, matched_row[heads]]
    return table_of([*columns, matched_row[lasts], _checks_of(rows["check"].to_numpy()[at], heads)], _OPEN)


def _checks_of(checks: Names, heads: Numbers) -> Names:
    """Return one number for the checks of each span, in their order; spans begin at the heads."""
    if len(heads) == 0:
        return np.empty(0, np.uint64)
    place = ranges(0, np.diff(np.append(heads, len(checks))))
    fold: Any = mix.py_func  # over a whole array at once
    return np.add.reduceat(fold(checks, place.astype(np.uint64) * GOLDEN), heads)


def _row_index(rows: pa.Table, document: Numbers, row: Numbers) -> Numbers:
    """Return where in the table of rows certain ones stand; all of them do."""
    documents = np.unique(rows["document"].to_numpy())
    known = find(rows["document"].to_numpy(), documents)[0] << 32 | rows["row"].to_numpy()
    order = np.argsort(known)
    return order[find(find(document, documents)[0] << 32 | row, known[order])[0]]
