"""Results in memory: Arrow tables, the documents with their texts, and what `dedup` decided as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Literal

import numpy as np
import pyarrow as pa

from ibidem.clusters.removals import Removals
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.page_columns import PageMarks
from ibidem.model import RECEIPT, REMOVED, TEXT_FIELDS
from ibidem.results.local_storage import LocalBacking, with_texts
from ibidem.results.overview import removed_of
from ibidem.results.storage import DecidedTable, Sizes, Table, schema_of

_TEXT_BATCH_ROWS = 10_000
_DECIDED_BATCH_ROWS = 1 << 16


class MemoryTable:
    """An Arrow table."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.schema: pa.Schema = table.schema
        self.n_rows: int = table.num_rows

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows; nothing more is stored."""
        return iter(self._table.to_batches())

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        return iter((self._table if columns is None else self._table.select(list(columns))).to_batches())

    def read(self) -> pa.Table:
        """Return the table."""
        return self._table


class TextTable(MemoryTable):
    """Passages with their texts, which are cut when they are asked for."""

    def __init__(self, passages: pa.Table, texts: Callable[[pa.Table | pa.RecordBatch, str], Iterator[str]]) -> None:
        super().__init__(passages)
        self.schema = pa.schema([*passages.schema, *TEXT_FIELDS])
        self._texts = texts

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows."""
        return self.batches()

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        for batch in self._table.to_batches(max_chunksize=_TEXT_BATCH_ROWS):
            whole = with_texts(batch, self._texts)
            yield whole if columns is None else whole.select(list(columns))

    def read(self) -> pa.Table:
        """Return all rows."""
        table = self._table
        for field, side in zip(TEXT_FIELDS, "ab", strict=True):
            table = table.append_column(field, pa.array(list(self._texts(table, side)), field.type))
        return table


class DecidedRows:
    """Rows that are made of columns when they are asked for, some at a time: `make` returns those from `first` on."""

    def __init__(self, schema: pa.Schema, n_rows: int, make: Callable[[int, int], pa.Table]) -> None:
        self.schema = schema
        self.n_rows = n_rows
        self._batch_rows = _DECIDED_BATCH_ROWS
        self.n_batches = -(-n_rows // self._batch_rows)
        self._make = make

    def stored_batch(self, number: int) -> pa.RecordBatch:
        """Return one batch, with every column."""
        return self._make(number * self._batch_rows, self._batch_rows).combine_chunks().to_batches()[0]

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, with every column."""
        return map(self.stored_batch, range(self.n_batches))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        names = self.schema.names if columns is None else list(columns)
        return (batch.select(names) for batch in self.stored_batches())

    def read(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self.batches(), schema=self.schema)


class MemoryBacking(LocalBacking):
    """Tables by name, and the documents they are about."""

    storage: Literal["memory"] = "memory"

    def __init__(
        self, tables: Mapping[str, pa.Table], documents: Documents, removals: Removals | pa.Table | None = None
    ) -> None:
        self.documents = documents
        self.removals = removals
        self._decided = {} if removals is None else _decided_tables(removals, documents)
        whole = {name: self._with_pages(table) if name == "passages" else table for name, table in tables.items()}
        self._tables = {**{name: MemoryTable(table) for name, table in whole.items()}, **self._decided}

    def _with_pages(self, passages: pa.Table) -> pa.Table:
        """Return passages with their pages, if any text has pages."""
        marks = reduce(or_, (PageMarks.of(batch["text"]) for batch in self._collection.batches), PageMarks())
        if not marks.has_pages:
            return passages
        sides = [zip(_codes(passages, side), passages[f"{side}_start"].to_pylist(), strict=True) for side in "ab"]
        for field, column in zip(marks.fields, marks.columns(sides, self._collection.text), strict=True):
            passages = passages.append_column(field, column)
        return passages

    def table(self, name: str) -> Table:
        """Return a table."""
        return self._tables[name]

    def decided(self, name: str) -> DecidedTable:
        """Return what `dedup` decided: what is removed, or the members of clusters."""
        return self._decided[name]

    def removal_counts(self) -> tuple[int, int, int, int, int]:
        """Return the last five numbers of a CleaningOverview."""
        assert self.removals is not None
        if isinstance(self.removals, pa.Table):
            return removed_of(self.removals.to_batches())
        n_dropped = len(self.removals.dropped)
        n_changed = len(np.unique(self.removals.document))
        n_cuts = int(np.count_nonzero(~self.removals.is_dropped))
        return n_dropped, n_changed - n_dropped, n_cuts, len(self.removals), self.removals.n_chars

    def add_texts(self, passages: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of passages with `a_text` and `b_text`."""
        return (with_texts(batch, self._texts) for batch in passages)

    def passages_with_texts(self) -> Table:
        """Return all passages with `a_text` and `b_text`."""
        return TextTable(self.native("passages"), self._texts)

    def _texts(self, passages: pa.Table | pa.RecordBatch, side: str) -> Iterator[str]:
        text_of = lru_cache(maxsize=64)(self._collection.text)
        for document, start, end in zip(
            _codes(passages, side), passages[f"{side}_start"].to_pylist(), passages[f"{side}_end"].to_pylist(), strict=True
        ):
            yield text_of(document)[start:end]

    def cleaned_texts(self) -> Table | None:
        """Return the texts that were extracted from HTML, if any."""
        batches = [b.filter(b.column("cleaned")).select(["id", "text"]) for b in self._collection.batches]
        table = pa.Table.from_batches(batches, schema=self._collection.batches[0].select(["id", "text"]).schema)
        return MemoryTable(table) if table.num_rows else None

    def sizes(self) -> Sizes:
        """Return how large the inputs are."""
        n_input, n_all = self.documents.n_input, self.documents.n_documents
        n_chars = int(self.documents.n_chars[:n_input].sum())
        if not isinstance(self.documents, Collection):
            return Sizes(n_input, n_all, n_chars)
        most_words = int(self.documents.n_words.max(initial=0))
        return Sizes(n_input, n_all, n_chars, most_words, int(np.diff(self.documents.document_first).max(initial=0)))

    def _to_write(self, table: Table) -> pa.Table:
        return table.read()

    def close(self, failed: bool = False) -> None:
        """Do nothing: there are no temporary files."""

    @property
    def _collection(self) -> Collection:
        assert isinstance(self.documents, Collection), "only passages have texts"
        return self.documents


def _codes(passages: pa.Table | pa.RecordBatch, side: str) -> list[int]:
    """Return the numbers of documents: the codes of the id column. Two of one id (with `against`) stay apart."""
    codes = passages[f"{side}_id"]
    codes = codes.combine_chunks().indices if isinstance(codes, pa.ChunkedArray) else codes.indices
    return codes.to_pylist()  # type: ignore[no-any-return]


def _decided_tables(removals: Removals | pa.Table, documents: Documents) -> dict[str, DecidedRows]:
    """Return what is removed and, where whole documents are, the members of all clusters."""
    if isinstance(removals, pa.Table):
        return {"removed": DecidedRows(schema_of("removed", removals.schema), removals.num_rows, removals.slice)}
    schema = REMOVED if removals.receipts is None else pa.schema([*REMOVED, RECEIPT])
    tables = {"removed": DecidedRows(schema, len(removals), lambda first, count: removals.rows(documents, first, count))}
    members = removals.members(documents)
    if members is not None:
        tables["members"] = DecidedRows(
            pa.schema([]), len(members), lambda first, count: removals.member_rows(documents, members[first : first + count])
        )
    return tables
