"""The tables sent between stages, and how a collection is rebuilt from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.distinct import order_by
from ibidem.columns.ragged import flat, lengths
from ibidem.columns.rows import Rows, rows_of
from ibidem.config import Config, passage_limits
from ibidem.execution.layout import Layout
from ibidem.model import DOCUMENT_BATCH

_ROWS_A_STRETCH = 16

# What mappers read: documents as the readers return them, numbered.
NUMBERED = pa.schema([pa.field("document", pa.int64(), nullable=False), *DOCUMENT_BATCH])

_OF_DOCUMENT: list[tuple[str, Any]] = [
    ("document", pa.int64()),
    ("id", pa.large_string()),
    ("time", pa.timestamp("us", tz="UTC")),
    ("group", pa.large_string()),
    ("n_chars", pa.int64()),
]
OF_SENTENCE = {
    "start_char": pa.uint32(),
    "end_char": pa.uint32(),
    "n_words": pa.int32(),
    "digest": pa.uint64(),
}

# One row per document, with its sentences as lists; at home.
SPLIT = pa.schema([*_OF_DOCUMENT, *((name, pa.list_(kind)) for name, kind in OF_SENTENCE.items())])

# The same, with a check per sentence: if digests are equal, it says whether the words are.
CHECKED = pa.schema([*SPLIT, ("check", pa.list_(pa.uint64()))])

# The same where equal sentences match: classes find candidates, and checks confirm that their words are equal.
EQUAL = pa.schema([field for field in CHECKED if field.name != "digest"] + [("classes", pa.list_(pa.uint64()))])

# Split documents with the class of each sentence (0: none), and the sets of the sentences (counted from 0) to compare.
CLASSED = pa.schema(
    [
        *SPLIT,
        ("classes", pa.list_(pa.uint64())),
        ("compared", pa.list_(pa.int32())),
        ("set_sizes", pa.list_(pa.int32())),
        ("sets", pa.list_(pa.uint64())),
    ]
)


# The final facts about a document, with the checks of its text; at home.
CHECK_NAMES = ("text_check_a", "text_check_b")
NAMED = pa.schema(
    [
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("source", pa.large_string()),
        ("position", pa.int64()),
        ("n_chars", pa.int64()),
        *((name, pa.uint64()) for name in CHECK_NAMES),
    ]
)


def in_order(table: pa.Table, by: str = "document") -> pa.Table:
    """Return the rows in the order of their documents, in one piece."""
    return ordered(table, by).combine_chunks()


def ordered(table: pa.Table, by: str = "document") -> pa.Table:
    """Return the rows in the order of their documents, in their original pieces if possible."""
    documents = table[by].to_numpy()
    if (documents[1:] >= documents[:-1]).all():
        return table
    order = np.argsort(documents, kind="stable")
    # What one task sent is already in order: joining a few stretches is far faster than taking rows one by one.
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(order) != 1) + 1, [len(order)]])
    if _ROWS_A_STRETCH * len(bounds) > len(order):
        return table.take(pa.array(order))
    return pa.concat_tables([table.slice(int(order[begin]), int(end - begin)) for begin, end in pairwise(bounds)])


def portions(n_bytes: NDArray[Any], most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows [begin, end) that may be handled together."""
    ends = np.cumsum(n_bytes)
    limits = np.arange(0, ends[-1] if len(ends) else 0, most_bytes)
    yield from pairwise([*np.unique(np.searchsorted(ends, limits)).tolist(), len(ends)])


def distinct_pairs(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """Return one index of every distinct pair (a[i], b[i]), in increasing order of the pairs."""
    order = order_by(a, b)
    a, b = a[order], b[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return order[is_new]


def cut_texts(texts: pa.ChunkedArray, rows: NDArray[np.int64], starts: Sequence[int], ends: Sequence[int]) -> list[str]:
    """Return characters [start, end) of the text in each row; each text is taken out of Arrow only once."""
    cuts = [""] * len(rows)
    order = np.argsort(rows, kind="stable")
    row, text = -1, ""
    for place in order.tolist():
        if rows[place] != row:
            row = int(rows[place])
            text = texts[row].as_py()
        cuts[place] = text[starts[place] : ends[place]]
    return cuts


def table_of(columns: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Return columns (NumPy's, Arrow's or lists) as a table."""
    arrays = [
        column.cast(kind) if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column, kind)
        for column, kind in zip(columns, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def collection_of(table: pa.Table, layout: Layout) -> Collection:
    """Return documents, in order, as a collection without their texts. Its documents count from 0."""
    counts = lengths(table, "n_words")
    n_sentences = int(counts.sum())
    n_input = int(np.searchsorted(table["document"].to_numpy(), layout.n_input))
    nothing = np.zeros(n_sentences, np.uint32)
    columns: dict[str, Any] = {name: flat(table, name) for name in OF_SENTENCE if name != "digest"}
    columns["digest"] = flat(table, "digest" if "digest" in table.column_names else "classes")
    batch = table.select(["id", "time", "group"]).combine_chunks().to_batches()
    return Collection(
        batch,
        table["n_chars"].to_numpy(),
        n_input,
        document=np.repeat(np.arange(table.num_rows, dtype=np.int32), counts),
        start_byte=nothing,
        end_byte=nothing,
        **columns,
    )


@dataclass(frozen=True)
class PlacedDocuments:
    """Documents of one partition or batch as the stages need them: numbers, sentences, rows, and which rows have a class."""

    documents: NDArray[np.int64]
    collection: Collection
    rows: Rows
    is_known: NDArray[np.bool_]

    @classmethod
    def of(
        cls, documents: NDArray[np.int64], collection: Collection, classes: NDArray[np.uint64], config: Config
    ) -> PlacedDocuments:
        """Return documents with these numbers, whose sentences have these classes (0: none)."""
        rows = rows_of(collection, classes, passage_limits(config).max_gap_sentences)
        return cls(documents, collection, rows, classes[rows.sentence] != 0)

    @cached_property
    def row_of_document(self) -> NDArray[np.int32]:
        """The number of each row in its document."""
        return (np.arange(len(self.rows.classes)) - self.rows.document_first[self.rows.document]).astype(np.int32)


def placed_documents(table: pa.Table, config: Config, layout: Layout) -> PlacedDocuments:
    """Return documents that come in order."""
    collection = collection_of(table, layout)
    classes = flat(table, "classes") if "classes" in table.column_names else collection.digest
    return PlacedDocuments.of(table["document"].to_numpy(), collection, classes, config)
