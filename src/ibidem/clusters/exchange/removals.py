"""`dedup` over all machines: what goes, what it matched, and the records that remain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import text_key
from ibidem.columns.parted_tables import CHECK_NAMES, NAMED, in_order, table_of
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, Mapper, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.formats.decisions import Decision, KnownTexts, Marks, SourceDecisions
from ibidem.formats.edits import Edits
from ibidem.formats.jsonl_files import change_lines
from ibidem.formats.parquet_files import change_rows
from ibidem.model import CUT_MARKS, DUPLICATE_MARKS, REMOVED
from ibidem.sentences import CheckKey

# A row of `removed.jsonl`, the number of its document and the checks of its text; at home, in order.
GONE = pa.schema([("document", pa.int64()), *REMOVED, *((name, pa.uint64()) for name in CHECK_NAMES)])
_ASKED = pa.schema([("matched", pa.int64()), ASKER])
NUMBER = "ibidem:document"  # no column of a user has this name
LINES = pa.schema([(NUMBER, pa.int64()), ("line", pa.large_binary())])


def removed_documents(flow: Flow, decisions: PartedTable, layout: Layout) -> PartedTable:
    """Return the rows for documents that go as wholes, given what was decided about every member of a cluster."""

    def list_gone(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["decisions"])
        document, kept = table["document"].to_numpy(), table["kept_document"].to_numpy()
        gone = (document != kept) & (document < layout.n_input)
        table = table.filter(pa.array(gone))
        n = table.num_rows
        nothing = np.zeros(n, np.int64)
        similarity = table["similarity"].to_numpy()
        columns = [
            table["document"], table["id"], table["source"], table["position"], ["document"] * n,
            nothing, table["n_chars"], pa.nulls(n, pa.int64()),
            table["kept_id"], table["kept_source"], table["kept_position"], nothing, table["kept_n_chars"],
            pa.array(similarity, mask=np.isnan(similarity)), *(table[name] for name in CHECK_NAMES),
        ]  # fmt: skip
        yield Sent("gone", table_of(columns, GONE), partition)

    return flow.reduce("removed", {"decisions": decisions}, list_gone, {"gone": GONE})["gone"]


def removed_passages(flow: Flow, spans: PartedTable, named: PartedTable, layout: Layout) -> PartedTable:
    """Return the rows for passages that go, with the names of both documents."""

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        matched = np.unique(tables["spans"]["matched"].to_numpy())
        table = table_of([matched, np.full(len(matched), partition)], _ASKED)
        yield Sent("asked", table, layout.home(matched))

    def tell(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        return _named(known["named"], asked["matched"].to_numpy())

    def name(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["spans"]
        keys = [table[name].to_numpy() for name in ("start", "document")]
        table = table.take(pa.array(np.lexsort(keys)))
        own, matched = (
            _named(tables[tag], table[column].to_numpy()) for tag, column in (("named", "document"), ("told", "matched"))
        )
        dropped = table["is_dropped"].to_numpy(zero_copy_only=False)
        n_sentences = table["n_sentences"].to_numpy()
        columns = [
            table["document"], own["id"], own["source"], own["position"], np.where(dropped, "document", "passage").tolist(),
            table["start"], table["end"], pa.array(n_sentences, mask=n_sentences == 0),
            matched["id"], matched["source"], matched["position"], table["matched_start"], table["matched_end"],
            pa.nulls(table.num_rows, pa.float64()), *(own[name] for name in CHECK_NAMES),
        ]  # fmt: skip
        yield Sent("gone", table_of(columns, GONE), partition)

    asked = flow.reduce("removed-asked", {"spans": spans}, ask, {"asked": _ASKED})["asked"]
    told = lookup(flow, "removed-told", asked, {"named": named}, tell, NAMED)
    return flow.reduce("removed", {"spans": spans, "named": named, "told": told}, name, {"gone": GONE})["gone"]


def _named(named: pa.Table, documents: NDArray[np.int64]) -> pa.Table:
    """Return the names of documents, one row each."""
    known = named["document"].to_numpy()
    order = np.argsort(known)
    return named.take(pa.array(order[np.searchsorted(known[order], documents)]))


def send_records(layout: Layout) -> Mapper:
    """Return a mapper that sends records home as they stand."""

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[Sent]:
        for batch in batches:
            yield Sent("records", pa.Table.from_batches([batch]), layout.home(batch.column(NUMBER).to_numpy()))

    return send


def clean_records(
    flow: Flow, records: PartedTable, gone: PartedTable, decisions: PartedTable | None, config: Config, stage: str = "cleaned"
) -> PartedTable:
    """Return the records that remain, at home and in order: lines, or rows of a table; marked ones with `mark_only`."""
    columns = (CUT_MARKS if decisions is None else DUPLICATE_MARKS) if config.cleaning.mark_only else None
    is_lines = records.schema.equals(LINES)
    schema = records.schema
    if columns is not None and not is_lines:
        schema = pa.schema([*schema, *(field.with_nullable(True) for field in columns)])

    key = text_key(config.sentences.hash_seed)

    def clean(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["records"], NUMBER)
        documents = table[NUMBER].to_numpy()
        if len(documents) == 0:
            return
        decided = _marked(tables, key) if config.cleaning.mark_only else _cut(tables["gone"], key)
        marks = None if columns is None else Marks(columns)
        edits = Edits("the input", config.documents, decided, marks, is_utf8=True)
        # All records of a partition are here, those that are no documents too: their numbers follow one another.
        first = int(documents[0])
        if is_lines:
            left = change_lines(table["line"], first, edits)
            cleaned = table_of([np.zeros(len(left), np.int64), left], LINES)
        else:
            changed, at = [], first
            for batch in table.drop_columns([NUMBER]).to_batches():
                changed.extend(change_rows(batch, at, edits))
                at += batch.num_rows
            rows = pa.Table.from_batches(changed)
            cleaned = table_of([np.zeros(rows.num_rows, np.int64), *rows.columns], schema)
        edits.check_all_met()
        yield Sent("cleaned", cleaned, partition)

    inputs = {"records": records, "gone": gone, **({} if decisions is None else {"decisions": decisions})}
    return flow.reduce(stage, inputs, clean, {"cleaned": schema})["cleaned"]


def _cut(gone: pa.Table, key: CheckKey) -> SourceDecisions:
    """Return what happens to records by number: dropped ones, and cuts in those that stay."""
    gone = in_order(gone)
    document = gone["document"].to_numpy()
    dropped = (
        gone["removed"].combine_chunks().to_numpy(zero_copy_only=False) == "document" if gone.num_rows else np.empty(0, bool)
    )
    others: dict[int, Decision] = {}
    rows = np.flatnonzero(~dropped)
    numbers, starts, ends = document[rows], gone["start"].to_numpy()[rows], gone["end"].to_numpy()[rows]
    for begin, after in pairwise(np.flatnonzero(np.diff(numbers, prepend=-1, append=-1)).tolist()):
        order = np.argsort(starts[begin:after]) + begin
        spans = tuple(zip(starts[order].tolist(), ends[order].tolist(), strict=True))
        others[int(numbers[begin])] = Decision(cuts=spans)
    return SourceDecisions(np.unique(document[dropped]), others, known_texts(key, document, gone))


def _marked(tables: Mapping[str, pa.Table], key: CheckKey) -> SourceDecisions:
    """Return the marks of records by number."""
    others: dict[int, Decision] = {}
    if "decisions" in tables:
        for row in tables["decisions"].select(["document", "cluster", "kept_document", "kept_id"]).to_pylist():
            original = row["kept_id"] if row["kept_document"] != row["document"] else None
            others[row["document"]] = Decision(marks={"ibidem_cluster": row["cluster"], "ibidem_duplicate_of": original})
        decided = tables["decisions"]
        known = known_texts(key, decided["document"].to_numpy(), decided)
        return SourceDecisions(np.empty(0, np.int64), others, known)
    cuts: dict[int, list[dict[str, Any]]] = {}
    gone = tables["gone"]
    order = np.lexsort([gone[name].to_numpy() for name in ("start", "document")])
    for row in gone.select(["document", "start", "end", "matched_id"]).take(pa.array(order)).to_pylist():
        cuts.setdefault(row["document"], []).append({"start": row["start"], "end": row["end"], "id": row["matched_id"]})
    others = {number: Decision(marks={"ibidem_cuts": found}) for number, found in cuts.items()}
    known = known_texts(key, gone["document"].to_numpy(), gone)
    return SourceDecisions(np.empty(0, np.int64), others, known)


def known_texts(key: CheckKey, positions: NDArray[np.int64], rows: pa.Table) -> KnownTexts:
    """Return what records were, given rows with the checks of their texts."""
    return KnownTexts.of(key.of_texts, positions, np.stack([rows[name].to_numpy() for name in CHECK_NAMES], axis=1))
