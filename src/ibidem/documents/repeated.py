"""Ids are the user's own and must be unique: one id in two places is an error that names both."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.documents.inputs import CSV, JSONL, TSV, format_of
from ibidem.errors import RepeatedIdError


def find_repeated_id(batches: Sequence[pa.RecordBatch]) -> None:
    """Raise RepeatedIdError if two documents of these batches carry the same id, naming the first that repeats."""
    doc_ids = pa.chunked_array([batch.column("id") for batch in batches], pa.large_string())
    if pc.count_distinct(doc_ids).as_py() == len(doc_ids):
        return
    counts = pc.value_counts(doc_ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    # Values are counted in the order they are first seen.
    doc_id = repeated[0].as_py()
    first, second = _places(batches, repeated[0])[:2]
    n_more = len(repeated) - 1
    raise RepeatedIdError(
        f"the id '{doc_id}' stands twice: {first} and {second}"
        + (f" ({n_more} more ids are repeated)" if n_more else ""),
        "Give another --id-field, or rename one of the two.",
    )


def _places(batches: Sequence[pa.RecordBatch], doc_id: pa.Scalar) -> list[str]:
    places: list[str] = []
    for batch in batches:
        for row in pc.indices_nonzero(pc.equal(batch.column("id"), doc_id)).to_pylist():
            places.append(_place(batch.column("source")[row].as_py(), batch.column("position")[row].as_py()))
            if len(places) == 2:
                return places
    return places


def _place(source: str, position: int) -> str:
    if not position:
        return source
    return f"{source}, {'line' if format_of(source) in (JSONL, CSV, TSV) else 'record'} {position}"
