"""Where the rows of a result are: in memory, on disk or on Spark. Results only talk to their backing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import pyarrow as pa

from ibidem.columns.collection import Documents
from ibidem.errors import UsageError
from ibidem.model import (
    CLUSTERS,
    DIFFERENCES,
    DOCUMENTS,
    DUPLICATES,
    FAMILIES,
    FAMILY,
    ITEM_PLACES,
    ITEMS,
    MIRRORS,
    PASSAGES,
    POSTINGS,
    RECEIPT,
    REMOVED,
    REPEATS,
    RUNS,
    SENTENCE_PAIRS,
    Passage,
    Skipped,
    Span,
)

TableT_co = TypeVar("TableT_co", covariant=True)
# The tables that users see.
SCHEMAS = {
    "passages": PASSAGES,
    "documents": DOCUMENTS,
    "repeats": REPEATS,
    "families": FAMILIES,
    "sentence_pairs": SENTENCE_PAIRS,
    "postings": POSTINGS,
    "runs": RUNS,
    "duplicates": DUPLICATES,
    "clusters": CLUSTERS,
    "mirrors": MIRRORS,
    "removed": REMOVED,
    "item_places": ITEM_PLACES,
}
# Columns that a table may have besides.
_FURTHER = {"passages": (FAMILY, DIFFERENCES), "removed": (RECEIPT, ITEMS)}


def schema_of(name: str, stored: pa.Schema) -> pa.Schema:
    """Return the columns of a table that users see, given those that are stored."""
    schema = SCHEMAS.get(name, stored)
    further = [field for field in _FURTHER.get(name, ()) if field.name in stored.names]
    return pa.schema([*schema, *further]) if further else schema


class Sizes(NamedTuple):
    """How large the inputs are. None: it is not known; `n_all_documents` counts those of the reference, too."""

    n_documents: int
    n_all_documents: int
    n_chars: int | None = None
    most_words: int | None = None  # of a sentence
    most_sentences: int | None = None  # of a document


class Table(Protocol):
    """Rows in reading order, read only on request."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that users see."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows, known without reading them."""
        ...

    def stored_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows with every column that is stored: numbers of documents and checks of texts, too."""
        ...

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some of their columns."""
        ...

    def read(self) -> pa.Table:
        """Return all rows, in memory."""
        ...


class DecidedTable(Table, Protocol):
    """A table whose batches can be read one by one, as decisions about the records of one file need it."""

    @property
    def n_batches(self) -> int:
        """Number of batches."""
        ...

    def stored_batch(self, number: int) -> pa.RecordBatch:
        """Return one batch, with every column that is stored."""
        ...


class Backing(Protocol[TableT_co]):
    """What a result is made of. `native` tables are what users get: Arrow tables, or data frames on Spark."""

    @property
    def storage(self) -> Literal["memory", "disk", "spark"]:
        """Where the rows are."""
        ...

    @property
    def documents(self) -> Documents | None:
        """The documents, where they are in memory."""
        ...

    def has(self, name: str) -> bool:
        """Return whether there is a table of this name."""
        ...

    def table(self, name: str) -> Table:
        """Return a table; UsageError once the result is closed."""
        ...

    def native(self, name: str) -> TableT_co:
        """Return a table as users get it."""
        ...

    def count_true(self, name: str, column: str) -> int:
        """Return in how many rows a column is true."""
        ...

    def removal_counts(self) -> tuple[int, int, int, int, int]:
        """Return the last five numbers of a CleaningOverview."""
        ...

    def longest(self, count: int) -> list[pa.RecordBatch]:
        """Return the rows of the longest passages, as they are stored, each as a batch; equal ones in reading order."""
        ...

    def add_texts(self, passages: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield stored batches of passages with `a_text` and `b_text`; for few rows, unless they are in memory."""
        ...

    def passages_with_texts(self) -> Table:
        """Return all passages with `a_text` and `b_text`."""
        ...

    def cleaned_texts(self) -> Table | None:
        """Return the texts that were extracted from HTML, if any: the offsets of passages count in them."""
        ...

    def sizes(self) -> Sizes:
        """Return how large the inputs are."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what `run.json` records about where the run was done."""
        ...

    def check_output(self, folder: str | os.PathLike[str], overwrite: bool) -> None:
        """Raise unless results can be written into the folder."""
        ...

    def write(
        self, folder: str | os.PathLike[str], tables: Mapping[str, Table], skipped: Sequence[Skipped],
        run: Mapping[str, Any], table_format: str,
    ) -> list[Path]:  # fmt: skip
        """Write tables, the skipped records and, last of all, `run.json`; return the paths."""
        ...

    def close(self, failed: bool = False) -> None:
        """Remove temporary files; after that no table can be read."""
        ...


def as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a stored column in the type that users see."""
    return column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column.cast(kind)


def in_schema(batches: Iterable[pa.RecordBatch], schema: pa.Schema, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield stored batches with the columns of a schema, or some of these, in the types that users see."""
    chosen = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    for batch in batches:
        arrays = [as_type(batch.column(field.name), field.type) for field in chosen]
        yield pa.RecordBatch.from_arrays(arrays, schema=chosen)


def as_stream(table: Table) -> pa.RecordBatchReader:
    """Return the rows of a table for one reading."""
    return pa.RecordBatchReader.from_batches(table.schema, table.batches())


def n_true(table: Table, column: str) -> int:
    """Return in how many rows a column is true."""
    return sum(batch.column(column).true_count for batch in table.batches([column]))


def passages_of(batch: pa.RecordBatch) -> Iterator[Passage]:
    """Yield the passages of a batch that has their texts."""
    sides = [
        [Span(*columns) for columns in zip(*(batch[f"{side}_{name}"].to_pylist() for name in Span._fields), strict=True)]
        for side in "ab"
    ]
    names = ["n_sentences", "similarity", "kind", "direction", "a_sentence", "b_sentence"]
    names += [name for name in ("a_page", "b_page") if name in batch.schema.names]
    for a, b, *rest in zip(*sides, *(batch[name].to_pylist() for name in names), strict=True):
        yield Passage(a, b, *rest)


def closed_error() -> UsageError:
    """Return what is raised when a closed result is read."""
    return UsageError("the result was closed; its tables can no longer be read", "Read what you need before that.")
