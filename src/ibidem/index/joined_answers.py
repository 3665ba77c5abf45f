"""A batch of documents in parts: these are searched at the same time, and their answers become those of the whole.

Documents that are looked up do not see one another, so the answers to parts, put together, are the answers to all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.texts import text_buffers
from ibidem.execution.tasks import RunTasks, split_by_cost
from ibidem.index.hits import Hits
from ibidem.index.source_texts import SourceTexts
from ibidem.model import HITS

_FEWEST_DOCUMENTS, _MOST_DOCUMENTS = 16, 256  # of a part
_ENOUGH_PARTS = 8
Numbers = NDArray[np.int64]
Located = tuple[pa.Table, SourceTexts]


def parts_of(batches: Sequence[pa.RecordBatch]) -> list[list[pa.RecordBatch]]:
    """Return batches of documents in parts of about equally much text, without empty ones."""
    batches = [batch for batch in batches if batch.num_rows]
    n = sum(batch.num_rows for batch in batches)
    n_parts = max(min(_ENOUGH_PARTS, n // _FEWEST_DOCUMENTS), -(-n // _MOST_DOCUMENTS))
    if n_parts <= 1:
        return [list(batches)] if batches else []
    sizes = np.concatenate([np.diff(text_buffers(batch.column("text"))[1]) for batch in batches])
    table = pa.Table.from_batches(batches)
    return [table.slice(begin, end - begin).to_batches() for begin, end in split_by_cost(sizes, n_parts)]


class JoinedHits:
    """The hits of all parts of a batch, in order."""

    def __init__(self, parts: Sequence[Hits], collection: Collection, run_tasks: RunTasks) -> None:
        self._parts, self._collection, self._run_tasks = parts, collection, run_tasks
        self.n_documents = np.concatenate([part.n_documents for part in parts])

    def table(self) -> Located:
        """Return all hits in the schema HITS, and the texts of the documents in which they are."""
        located = list(self._run_tasks(lambda part: part.table(), self._parts))
        first = starts_of([part.n_asking for part in self._parts])
        texts, numbers = _joined_texts([part for _, part in located], first, self._collection)
        mine = [np.arange(begin, end) for begin, end in pairwise(first)]
        renumbered = {"a_id": (mine, self._collection.ids), "b_id": (numbers, texts.ids())}
        return _joined_tables([table for table, _ in located], renumbered, HITS), texts

    def sources(self, counts: NDArray[np.bool_], most: int) -> Iterable[tuple[int, str, int]]:
        """Return for every document the documents with most of its counted sentences: (document, id, sentences), best first."""
        n_before = sentence = 0
        for part in self._parts:
            end = sentence + len(part.n_documents)
            for document, name, n_sentences in part.sources(counts[sentence:end], most):
                yield n_before + document, name, n_sentences
            n_before, sentence = n_before + part.n_asking, end


def join_passages(located: Sequence[Located], sizes: Sequence[int], collection: Collection) -> Located:
    """Return the passages of all parts, which have so many documents, as one table."""
    texts, numbers = _joined_texts([part for _, part in located], starts_of(sizes), collection)
    ids = texts.ids()
    tables = [table for table, _ in located]
    return _joined_tables(tables, {"a_id": (numbers, ids), "b_id": (numbers, ids)}, tables[0].schema), texts


def _joined_texts(parts: Sequence[SourceTexts], first: Numbers, collection: Collection) -> tuple[SourceTexts, list[Numbers]]:
    """Return the texts of all parts, and which numbers those of each part have among them."""
    arrivals = np.concatenate([part.arrivals + begin for part, begin in zip(parts, first[:-1], strict=True)])
    segments = {id(segment): segment for part in parts for segment, _ in part.known}
    rows_of = {
        key: np.unique(np.concatenate([rows for part in parts for segment, rows in part.known if id(segment) == key]))
        for key in segments
    }
    begins = len(arrivals) + starts_of([len(rows) for rows in rows_of.values()])
    begin_of = dict(zip(rows_of, begins.tolist(), strict=False))
    numbers, n_before = [], 0
    for part in parts:
        mine = [np.arange(n_before, n_before + len(part.arrivals))]
        mine += [begin_of[id(segment)] + np.searchsorted(rows_of[id(segment)], rows) for segment, rows in part.known]
        numbers.append(np.concatenate(mine))
        n_before += len(part.arrivals)
    return SourceTexts(collection, arrivals, [(segments[key], rows) for key, rows in rows_of.items()]), numbers


def _joined_tables(
    tables: Sequence[pa.Table], renumbered: Mapping[str, tuple[Sequence[Numbers], pa.Array]], schema: pa.Schema
) -> pa.Table:
    """Return tables as one. Columns of ids get other numbers, per table, and one dictionary."""
    columns = []
    for name in schema.names:
        chunks = [(k, chunk) for k, table in enumerate(tables) for chunk in table[name].chunks]
        if name in renumbered:
            numbers, ids = renumbered[name]
            codes = [numbers[k][chunk.indices.to_numpy()].astype(np.int32) for k, chunk in chunks]
            found = [pa.DictionaryArray.from_arrays(pa.array(some), ids) for some in codes]
        else:
            found = [chunk for _, chunk in chunks]
        columns.append(pa.chunked_array(found, schema.field(name).type))
    return pa.Table.from_arrays(columns, schema=schema)
