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
from ibidem.formats.edits import Edits
from ibidem.formats.jsonl_files import change_lines
from ibidem.formats.parquet_files import change_rows
from ibidem.model import SNIPPET
from ibidem.results.decisions import decisions_of, is_marking, marks_of, snippets_of


def send_records(layout: Layout) -> Mapper:
    """Return a mapper that sends records home unchanged."""

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[Sent]:
        for batch in batches:
            yield Sent("records", pa.Table.from_batches([batch]), layout.home(batch.column(NUMBER).to_numpy()))

    return send


def clean_records(
    flow: Flow, records: PartedTable, gone: PartedTable, decisions: PartedTable | None, config: Config, stage: str = "cleaned"
) -> dict[str, PartedTable]:
    """Return the records that remain (`cleaned`), at home and in order: lines, or rows of a table; some settings mark them. And
    what is `removed`, with snippets.
    """
    cleaning = config.cleaning
    marks = marks_of(cleaning, decisions is not None)
    is_lines = records.schema.equals(LINES)
    schema = records.schema
    if marks is not None and not is_lines:
        schema = pa.schema([*schema, *marks.fields])
    decided_rows = gone if decisions is None or not is_marking(cleaning) else decisions
    shown = pa.schema([*gone.schema, SNIPPET])
    order = [name for name in ("document", "start") if name in decided_rows.schema.names]
    key = text_key(config.sentences.hash_seed)

    def clean(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["records"], NUMBER)
        documents = table[NUMBER].to_numpy()
        if len(documents) == 0:
            return
        rows = tables["decided"].sort_by([(name, "ascending") for name in order]).to_batches()
        removed = tables["gone"].sort_by([("document", "ascending"), ("start", "ascending")]).combine_chunks()
        snippets: list[str | None] = [None] * removed.num_rows
        see = snippets_of(removed.to_batches(), "document", snippets.__setitem__)
        decided = decisions_of(rows, cleaning, key, by="document", see=see)
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
        yield Sent("removed", removed.append_column(SNIPPET, pa.array(snippets, SNIPPET.type)).cast(shown), partition)

    inputs = {"records": records, "decided": decided_rows, "gone": gone}
    return flow.reduce(stage, inputs, clean, {"cleaned": schema, "removed": shown})
