"""Ids are the user's own and must be unique: one id in two places is an error that names both."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.errors import RepeatedIdError
from ibidem.formats.registry import has_lines


def find_repeated_id(batches: Sequence[pa.RecordBatch]) -> None:
    """Raise RepeatedIdError if two documents of these batches carry the same id, naming the first that repeats."""
    doc_ids = pa.chunked_array([batch.column("id") for batch in batches], pa.large_string())
    if pc.count_distinct(doc_ids).as_py() == len(doc_ids):
        return
    table = pa.Table.from_batches([batch.select(["id", "source", "position"]) for batch in batches])
    counts = pc.value_counts(doc_ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    raise repeated_id_error(table.filter(pc.is_in(doc_ids, repeated)))


def repeated_id_error(documents: pa.Table) -> RepeatedIdError:
    """Return the error for documents (id, source, position; in reading order) whose ids all stand twice or more."""
    doc_ids = documents["id"].unique()  # in the order in which they are first seen
    first, second = documents.filter(pc.equal(documents["id"], doc_ids[0])).slice(0, 2).to_pylist()
    n_more = len(doc_ids) - 1
    sources = first["source"], second["source"]
    if sources[0] != sources[1] and os.path.exists(sources[0]) and os.path.exists(sources[1]) and os.path.samefile(*sources):
        next_step = f"{sources[1]} is the same file as {sources[0]} under another name: give it once."
    else:
        next_step = "Give another --id-field, or rename one of the two."
    places = " and ".join(_place(row["source"], row["position"]) for row in (first, second))
    return RepeatedIdError(
        f"the id '{first['id']}' stands twice: {places}" + (f" ({n_more} more ids are repeated)" if n_more else ""),
        next_step,
    )


def _place(source: str, position: int) -> str:
    if not position:
        return source
    return f"{source}, {'line' if has_lines(source) else 'record'} {position}"
