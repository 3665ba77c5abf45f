"""Remaining records over many partitions: they are sent home, where the decisions are, and changed there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.text_checks import text_key
from ibidem.config import Config
from ibidem.execution.flow import Flow, Mapper, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.spark.readers import LINES, NUMBER
from ibidem.formats.decisions import Marks
from ibidem.formats.edits import Edits
from ibidem.formats.jsonl_files import change_lines
from ibidem.formats.parquet_files import change_rows
from ibidem.model import CUT_MARKS, DUPLICATE_MARKS
from ibidem.results.decisions import decisions_of


def send_records(layout: Layout) -> Mapper:
    """Return a mapper that sends records home unchanged."""

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[Sent]:
        for batch in batches:
            yield Sent("records", pa.Table.from_batches([batch]), layout.home(batch.column(NUMBER).to_numpy()))

    return send


def clean_records(
    flow: Flow, records: PartedTable, gone: PartedTable, decisions: PartedTable | None, config: Config, stage: str = "cleaned"
) -> PartedTable:
    """Return the records that remain, at home and in order: lines, or rows of a table; marked ones with `mark_only`."""
    mark_only = config.cleaning.mark_only
    columns = (CUT_MARKS if decisions is None else DUPLICATE_MARKS) if mark_only else None
    is_lines = records.schema.equals(LINES)
    schema = records.schema
    if columns is not None and not is_lines:
        schema = pa.schema([*schema, *(field.with_nullable(True) for field in columns)])
    decided_rows = gone if decisions is None or not mark_only else decisions
    order = [name for name in ("document", "start") if name in decided_rows.schema.names]
    key = text_key(config.sentences.hash_seed)

    def clean(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["records"], NUMBER)
        documents = table[NUMBER].to_numpy()
        if len(documents) == 0:
            return
        rows = tables["decided"].sort_by([(name, "ascending") for name in order]).to_batches()
        decided = decisions_of(rows, mark_only, key, by="document")
        marks = None if columns is None else Marks(columns)
        edits = Edits("the input", config.documents, decided, marks, is_utf8=True)
        # All records of a partition are here, also those that are no documents: their numbers follow one another.
        first = int(documents[0])
        if is_lines:
            left = change_lines(table["line"], first, edits)
            cleaned = table_of([np.zeros(len(left), np.int64), left], LINES)
        else:
            changed, at = [], first
            for batch in table.drop_columns([NUMBER]).to_batches():
                changed.extend(change_rows(batch, at, edits))
                at += batch.num_rows
            remaining = pa.Table.from_batches(changed)
            cleaned = table_of([np.zeros(remaining.num_rows, np.int64), *remaining.columns], schema)
        edits.check_all_met()
        yield Sent("cleaned", cleaned, partition)

    return flow.reduce(stage, {"records": records, "decided": decided_rows}, clean, {"cleaned": schema})["cleaned"]
