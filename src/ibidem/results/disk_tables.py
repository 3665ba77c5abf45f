"""Tables of a stored run, read from disk on request: batch by batch, or whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.page_columns import PageMarks
from ibidem.execution.disk.stage_store import FinishedStage, StageStore
from ibidem.execution.flow import PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.passages.exchange.repeat_groups import PLACED_REPEATS
from ibidem.results.storage import in_schema

_MOST_BYTES = 32 << 20
_CLEANED_TEXTS = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
_RANKED = pa.schema([("rank", pa.int64()), *PLACED_REPEATS])
_REPEATS_ORDER = [
    ("n_documents", "descending"), ("n_chars", "descending"), ("text", "ascending"), ("document", "ascending"),
    ("start", "ascending"), ("n_places", "ascending"),
]  # fmt: skip


class DiskTable:
    """Rows, partition after partition, as a table of the given schema. `sort_by`: the order in a partition."""

    def __init__(self, parted: PartedTable, schema: pa.Schema, sort_by: str | None = None) -> None:
        self.schema = schema
        self.parted = parted
        self._sort_by = sort_by

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return 0 if self.parted.handle is None else int(self.parted.handle.n_rows)

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        return len(self._chunks)

    def stored_batch(self, number: int) -> pa.RecordBatch:
        """Return one batch, with every column that is stored."""
        table = self.parted.handle.read_table(self._chunks[number])
        table = (table if self._sort_by is None else table.sort_by(self._sort_by)).combine_chunks()
        return table.to_batches()[0] if table.num_rows else pa.RecordBatch.from_pylist([], schema=table.schema)

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, with every column that is stored."""
        return map(self.stored_batch, range(self.n_batches))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        return in_schema(self.stored_batches(), self.schema, columns)

    def read(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self.batches(), schema=self.schema)

    @cached_property
    def _chunks(self) -> list[list[int]]:
        """The chunks of each batch: one, or all of a partition that is to be sorted."""
        file = self.parted.handle
        if file is None:
            return []
        if self._sort_by is None:
            return [[chunk] for chunk in file.in_order()]
        return [chunks.tolist() for _, chunks in sorted(file.by_partition.items())]


class CleanedTexts(DiskTable):
    """The texts that were extracted from HTML."""

    def __init__(self, documents: PartedTable) -> None:
        super().__init__(documents, _CLEANED_TEXTS)

    @property
    def n_rows(self) -> int:
        """Number of texts; all are read for it."""
        return sum(batch.num_rows for batch in self.batches(["id"]))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        return in_schema((batch.filter(batch["cleaned"]) for batch in self.stored_batches()), self.schema, columns)


class DocumentTexts:
    """Texts of documents by their numbers, read from disk one after the other."""

    def __init__(self, documents: PartedTable, layout: Layout) -> None:
        self._file = documents.handle
        self._layout = layout
        self._chunk = lru_cache(maxsize=4)(lambda chunk: self._file.read_table([chunk])["text"])

    def cut(self, passages: pa.RecordBatch, side: str) -> Iterator[str]:
        """Yield the texts of one side of passages."""
        columns = (passages[f"{side}_{name}"].to_pylist() for name in ("document", "start", "end"))
        return (self.text(number)[start:end] for number, start, end in zip(*columns, strict=True))

    def text(self, number: int) -> str:
        """Return the text of a document."""
        assert self._layout.first_of_home is not None
        home = int(self._layout.home(np.array([number]))[0])
        chunks = self._file.by_partition[home]
        ends = np.cumsum(self._file.rows_of(chunks))
        row = number - int(self._layout.first_of_home[home])
        place = int(np.searchsorted(ends, row, side="right"))
        text: str = self._chunk(int(chunks[place]))[row - (int(ends[place - 1]) if place else 0)].as_py()
        return text


class PagedPassages(DiskTable):
    """Passages, whose pages are looked up in the texts when they are asked for."""

    def __init__(self, parted: PartedTable, schema: pa.Schema, marks: PageMarks, texts: DocumentTexts) -> None:
        super().__init__(parted, schema)
        self._marks, self._texts = marks, texts

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        names = [field.name for field in self._marks.fields]
        if columns is not None and not set(names) & set(columns):
            return super().batches(columns)
        return in_schema(map(self._with_pages, self.stored_batches()), self.schema, columns)

    def _with_pages(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        sides = [zip(batch[f"{side}_document"].to_pylist(), batch[f"{side}_start"].to_pylist(), strict=True) for side in "ab"]
        pages = self._marks.columns(sides, self._texts.text)
        schema = pa.schema([*batch.schema, *self._marks.fields])
        return pa.RecordBatch.from_arrays([*batch.columns, *pages], schema=schema)


def order_repeats(store: StageStore, repeats: PartedTable) -> PartedTable:
    """Return the groups of repeats in the order of their table, over all partitions.

    What decides is read first, without the places of the groups; then every group goes to the partition of its rank.
    """
    begun = store.begin("repeats-ordered", {"repeats": _RANKED})
    if isinstance(begun, FinishedStage):
        return begun.tables["repeats"]
    unordered = DiskTable(repeats, PLACED_REPEATS)
    try:
        keys = pa.concat_tables([_keys(PLACED_REPEATS.empty_table()), *map(_keys, unordered.stored_batches())])
        order = pc.sort_indices(keys, sort_keys=_REPEATS_ORDER).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        route = (np.cumsum(keys["n_bytes"].to_numpy()[order]) // _MOST_BYTES)[rank]
        del keys
        n_before = 0
        for batch in unordered.stored_batches():
            part = slice(n_before, n_before + batch.num_rows)
            table = pa.Table.from_arrays([pa.array(rank[part]), *batch.columns], schema=_RANKED)
            begun.add(Sent("repeats", table, route[part]))
            n_before += batch.num_rows
        return begun.finish().tables["repeats"]
    finally:
        begun.close()


def _keys(groups: pa.RecordBatch | pa.Table) -> pa.Table:
    n_places = pc.list_value_length(groups["places"]).cast(pa.int64())
    n_bytes = pc.add(pc.multiply(n_places, 48), 64)
    columns = {name: groups[name] for name in ("n_documents", "text", "document", "start")}
    return pa.table(columns | {"n_chars": pc.utf8_length(groups["text"]), "n_places": n_places, "n_bytes": n_bytes})
