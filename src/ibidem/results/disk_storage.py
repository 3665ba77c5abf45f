"""Results on disk: tables in the work folder of a run that was larger than memory, read on request.

A result keeps its work folder until it is closed, or forgotten; use it in a with block. `write` streams its tables.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

import pyarrow as pa

from ibidem.execution.disk.run import DiskRun
from ibidem.execution.flow import PartedTable
from ibidem.model import TEXT_FIELDS
from ibidem.passages.exchange.texts import with_texts as with_texts_flow
from ibidem.results.disk_tables import CleanedTexts, DiskTable, DocumentTexts, PagedPassages, order_repeats
from ibidem.results.local_storage import LocalBacking, with_texts
from ibidem.results.overview import removed_of
from ibidem.results.storage import SCHEMAS, DecidedTable, Sizes, Table, as_stream, closed_error, schema_of


class DiskBacking(LocalBacking):
    """Tables by name, the run that they belong to, and its work folder, which is removed with this."""

    storage: Literal["disk"] = "disk"
    _tables: Mapping[str, DiskTable]
    documents = None

    def __init__(self, run: DiskRun, tables: Mapping[str, PartedTable]) -> None:
        self._run = run
        self._tables = {name: self._ordered(name, table) for name, table in tables.items()}
        self._is_closed = False
        self._closing = weakref.finalize(self, run.take_over().close)

    def _ordered(self, name: str, table: PartedTable) -> DiskTable:
        """Return a table in the order of its rows; those of repeats have none yet."""
        if name == "passages":
            return self._passages(table)
        if name != "repeats":
            return DiskTable(table, schema_of(name, table.schema))
        with self._run.progress.stage("tables"):
            return DiskTable(order_repeats(self._run.flow.store, table), SCHEMAS[name], sort_by="rank")

    def table(self, name: str) -> DiskTable:
        """Return a table; UsageError once the result is closed."""
        if self._is_closed:
            raise closed_error()
        return self._tables[name]

    def decided(self, name: str) -> DecidedTable:
        """Return what `dedup` decided: what is removed, or the members of clusters."""
        return self.table(name)

    def removal_counts(self) -> tuple[int, int, int, int, int]:
        """Return the last five numbers of a CleaningOverview."""
        return removed_of(self.table("removed").stored_batches())

    def add_texts(self, passages: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield stored batches of passages with `a_text` and `b_text`; texts are read one by one."""
        texts = DocumentTexts(self._run.documents, self._run.layout)
        return (with_texts(batch, texts.cut) for batch in passages)

    def passages_with_texts(self) -> DiskTable:
        """Return all passages with `a_text` and `b_text`."""
        self.table("passages")
        return self._with_texts

    @cached_property
    def _with_texts(self) -> DiskTable:
        run = self._run
        parted = with_texts_flow(run.flow, self.table("passages").parted, run.documents, run.layout)
        return self._passages(parted, TEXT_FIELDS)

    def _passages(self, table: PartedTable, further: Sequence[pa.Field] = ()) -> DiskTable:
        """Return passages, with their pages if any text has pages."""
        marks, schema = self._run.page_marks, schema_of("passages", table.schema)
        if not marks.has_pages:
            return DiskTable(table, pa.schema([*schema, *further]))
        texts = DocumentTexts(self._run.documents, self._run.layout)
        return PagedPassages(table, pa.schema([*schema, *marks.fields, *further]), marks, texts)

    def cleaned_texts(self) -> Table | None:
        """Return the texts that were extracted from HTML, if any."""
        return CleanedTexts(self._run.documents) if self._run.has_cleaned_texts else None

    def sizes(self) -> Sizes:
        """Return how large the inputs are."""
        return Sizes(self._run.layout.n_input, self._run.layout.n_records, self._run.n_input_chars)

    def _to_write(self, table: Table) -> pa.RecordBatchReader:
        return as_stream(table)

    def close(self, failed: bool = False) -> None:
        """Remove the work folder, unless the run is to be resumed."""
        self._is_closed = True
        if failed:
            self._closing.detach()
            self._run.work.close(failed=True)
        else:
            self._closing()
