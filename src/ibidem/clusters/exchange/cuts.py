"""Cuts over many partitions: which passages or sentences are removed because they are kept in an earlier place.

The outcome is that of `clusters.cuts`, which decides documents one by one. Where equal rows match, rows are decided in parallel
instead:

Rows are ordered by the rank of their document, then its number, then the row. A *slot* is a place in a window, named by the
window's key and the distance from its first row; the rows of a slot are those at that place in any window with that key. A row
s *may give* to a row r if the two share a slot and s is in an earlier document or, with `same_document`, in the same one at
least `min_sentences` rows earlier. Then r is cut exactly if a row that may give to it is kept, and its source is the first such
row: this is the definition of `clusters.cuts`, whose windows match if their keys are equal. Every row that may give to r comes
before r, so the definition determines all rows, in order, uniquely. They can be decided in any other order, as long as a row is
decided only by what is certain:

- r is kept once all rows that may give to it are known to be cut, and cut once one of them is known to be kept. Both are
  what the definition says about r, whatever is still undecided. The first undecided row has only decided rows before it, so
  each round decides at least one row, and the rounds end.
- The rows of a slot that may give to r are the beginning of the slot, up to some row: those of documents before r's, and
  those of its own that are far enough before. So of all rows known to be kept, or not known to be cut, the first one of the
  slot is enough: if it does not give to r, none does. These two are all that a slot has to know.
- The source of r is the first kept row in any of r's slots. It is known once it is the first not known to be cut in all
  of r's slots together: everything before it is cut.
- Windows of too few words have no key, as in `clusters.cuts`. Neither has a window with a row that interrupts: such a row has
  its own class and occurs nowhere else. Windows that occur in one document only give to no row and have no slots, unless
  `same_document` is set. Sentences are windows of one row.
- With a reference, all its rows are kept and no others give, so its first row in each slot decides at once.

Most rows are decided in the first two rounds: the first occurrence of a text is kept, and its copies are cut. A chain of
documents, each waiting for the one before, takes one round per document. So when few rows are left, one task decides them all;
what is left after `MOST_ROUNDS` rounds is decided by components (`cut_rounds`).

Bounds: in any round, no partition receives from another more than two rows per slot or window, or more than one per place of a
source, however many places a text has. After the first round, only waiting rows are read and sent. What is left after the
rounds is sent unchanged, each row once per slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.cut_rule import Rule
from ibidem.clusters.exchange.cut_components import similar_spans
from ibidem.clusters.exchange.cut_rounds import decide_left, first_round, more_rounds
from ibidem.clusters.exchange.cut_windows import Names, Numbers, Truths, repeated_rows, repeated_windows
from ibidem.clusters.removals import READING_ORDER, SPANS, is_all_cut, passages_of_rows
from ibidem.columns.distinct import find, numbered
from ibidem.columns.hashes import GOLDEN, mix
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import ranges
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout

MOST_ROUNDS = 30
MOST_AT_ONCE = 1 << 20  # rows, counted once per slot, that one task decides: one second, about 100 MB

_OPEN = pa.schema(
    [field for field in SPANS if not field.name.startswith("matched_")]
    + [("first_row", pa.int64()), ("last_row", pa.int64()), ("check", pa.uint64())]  # rows of the matched document
)
_RANGE: list[tuple[str, pa.DataType]] = [("matched", pa.int64()), ("first_row", pa.int64()), ("last_row", pa.int64())]
_ASKED = pa.schema([*_RANGE, ASKER])
_LOCATED = pa.schema([*_RANGE, ("matched_start", pa.int64()), ("matched_end", pa.int64()), ("check", pa.uint64())])


def cuts_flow(flow: Flow, documents: PartedTable, ranks: PartedTable, layout: Layout, config: Config) -> PartedTable:
    """Return what is removed from documents (`parted_tables.CLASSED` or `EQUAL`): `SPANS`, at home and in reading order.

    `ranks` has (document, rank_key) at home: of two documents, the one with the lower key is kept, or the first of equal ones.
    """
    rule = Rule.of(config)
    repeated = repeated_windows(flow, documents, layout, rule)
    if rule.similar:
        return similar_spans(flow, documents, ranks, repeated, layout, rule)
    rows, windows = repeated_rows(flow, documents, ranks, repeated, layout, rule)
    cuts, left = more_rounds(flow, first_round(flow, rows, windows, layout, rule), MOST_ROUNDS, MOST_AT_ONCE, rule)
    if left.n_pairs:
        cuts.append(decide_left(flow, left, left.n_pairs <= MOST_AT_ONCE, layout, rule))
    return _spans_of(flow, rows, cuts, layout)


def _spans_of(flow: Flow, rows: PartedTable, cuts: list[PartedTable], layout: Layout) -> PartedTable:
    """Return the spans of the cut rows, `SPANS`. Each partition asks once where a source is.

    Windows meet by the hash of their classes, and rows by slots, but nothing is removed because of a hash alone. The checks of
    the rows on both sides are compared, and where they differ, the text is kept.
    """

    def make(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans = _open_spans(tables["rows"], tables["cuts"])
        yield Sent("spans", spans, partition)
        _, example = numbered(*(spans[name].to_numpy() for name, _ in _RANGE))
        asked = [spans[name].to_numpy()[example] for name, _ in _RANGE]
        table = table_of([*asked, np.full(len(example), partition)], _ASKED)
        yield Sent("asked", table, layout.home(asked[0]))

    def locate(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        rows = known["rows"]
        matched, first_row, last_row = (asked[name].to_numpy() for name, _ in _RANGE)
        counts = last_row - first_row + 1
        at = _row_index(rows, np.repeat(matched, counts), ranges(first_row, counts))
        heads = np.cumsum(counts) - counts
        start, end = rows["start"].to_numpy()[at[heads]], rows["end"].to_numpy()[at[heads + counts - 1]]
        check = _checks_of(rows["check"].to_numpy()[at], heads)
        return table_of([matched, first_row, last_row, start, end, check], _LOCATED)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans, located = tables["spans"], tables["located"]
        asked = [np.concatenate([spans[name].to_numpy(), located[name].to_numpy()]) for name, _ in _RANGE]
        number, _ = numbered(*asked)
        answer = np.empty(located.num_rows, np.int64)
        answer[number[spans.num_rows :]] = np.arange(located.num_rows)
        chosen = located.take(pa.array(answer[number[: spans.num_rows]]))
        is_equal = spans["check"].to_numpy() == chosen["check"].to_numpy()
        for name in ("matched_start", "matched_end"):
            spans = spans.append_column(name, chosen[name])
        yield Sent("spans", _equal(spans.select(SPANS.names), is_equal).sort_by(READING_ORDER), partition)

    made = flow.reduce("cuts-spans", {"rows": rows, "cuts": cuts}, make, {"spans": _OPEN, "asked": _ASKED})
    located = lookup(flow, "cuts-sources", made.pop("asked"), {"rows": rows}, locate, _LOCATED)
    return flow.reduce("cuts", {"spans": made["spans"], "located": located}, finish, {"spans": SPANS})["spans"]


def _equal(spans: pa.Table, is_equal: Truths) -> pa.Table:
    """Return the spans that equal their sources. A document that keeps any other span is not dropped."""
    if is_equal.all():
        return spans
    document, is_dropped = spans["document"].to_numpy(), spans["is_dropped"].to_numpy()
    is_dropped = is_dropped & ~np.isin(document, document[~is_equal])
    return spans.set_column(SPANS.names.index("is_dropped"), "is_dropped", pa.array(is_dropped)).filter(pa.array(is_equal))


def _open_spans(rows: pa.Table, cuts: pa.Table) -> pa.Table:
    """Return the spans of cut rows, as `removals.cut_spans` makes them, with the rows of their sources."""
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
    """Return one number for the checks of each span, in order; spans begin at the heads."""
    if len(heads) == 0:
        return np.empty(0, np.uint64)
    place = ranges(0, np.diff(np.append(heads, len(checks))))
    fold: Any = mix.py_func  # over a whole array at once
    return np.add.reduceat(fold(checks, place.astype(np.uint64) * GOLDEN), heads)


def _row_index(rows: pa.Table, document: Numbers, row: Numbers) -> Numbers:
    """Return the positions of given rows in the table of rows; all of them exist."""
    documents = np.unique(rows["document"].to_numpy())
    known = find(rows["document"].to_numpy(), documents)[0] << 32 | rows["row"].to_numpy()
    order = np.argsort(known)
    return order[find(find(document, documents)[0] << 32 | row, known[order])[0]]
