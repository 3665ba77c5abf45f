"""Ids come from the user and must be unique: one id in two places is an error that names both."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.config.surface import named
from ibidem.errors import RepeatedIdError
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.formats.registry import has_lines

_ID_CHARS_SHOWN = 100
_MOST_NAMED = 1000  # documents of repeated ids that a partition reports


def check_unique_ids(batches: Sequence[pa.RecordBatch]) -> None:
    """Raise RepeatedIdError if two documents of these batches have the same id, naming the first that repeats."""
    if sum(batch.num_rows for batch in batches) < 2:
        return
    doc_ids = pa.chunked_array([batch.column("id") for batch in batches], pa.large_string())
    if pc.count_distinct(doc_ids).as_py() == len(doc_ids):
        return
    table = pa.Table.from_batches([batch.select(["id", "source", "position"]) for batch in batches])
    codes = doc_ids.combine_chunks().dictionary_encode().indices.to_numpy()
    raise _repeated_id_error(table.take(pa.array(_repeated(codes))))


def check_ids(flow: Flow, ids: PartedTable) -> None:
    """Raise the same for documents in partitions; equal `ids` of one side have one `key` and are in one partition."""

    def find_repeated(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        order = np.argsort(tables["ids"]["document"].to_numpy(), kind="stable")
        repeated = order[_repeated(tables["ids"]["key"].to_numpy()[order])]
        yield Sent("repeated", tables["ids"].take(pa.array(repeated[:_MOST_NAMED])), 0)

    found = flow.collect(flow.reduce("ids", {"ids": ids}, find_repeated, {"repeated": ids.schema})["repeated"])
    if found.num_rows:
        raise _repeated_id_error(found.sort_by("document"))


def _repeated(keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the places of keys that occur twice or more: the key seen first comes first, with all its places."""
    _, first, which, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts[which] > 1)
    return repeated[np.argsort(first[which[repeated]], kind="stable")]


def _repeated_id_error(documents: pa.Table) -> RepeatedIdError:
    """Return the error for documents (id, source, position; in reading order) whose ids all occur twice or more."""
    doc_ids = documents["id"].unique()  # in the order first seen
    first, second = documents.filter(pc.equal(documents["id"], doc_ids[0])).slice(0, 2).to_pylist()
    n_more = len(doc_ids) - 1
    sources = first["source"], second["source"]
    if sources[0] != sources[1] and os.path.exists(sources[0]) and os.path.exists(sources[1]) and os.path.samefile(*sources):
        next_step = f"{sources[1]} is the same file as {sources[0]} under another name; give it once."
    else:
        next_step = f"Give another {named('id_field')}, or rename one of the two."
    places = " and ".join(_place(row["source"], row["position"]) for row in (first, second))
    shown = first["id"] if len(first["id"]) <= _ID_CHARS_SHOWN else first["id"][:_ID_CHARS_SHOWN] + "…"
    return RepeatedIdError(
        f"the id '{shown}' occurs twice: {places}" + (f" ({n_more} more ids are repeated)" if n_more else ""),
        next_step,
    )


def _place(source: str, position: int) -> str:
    if not position:
        return source
    return f"{source}, {'line' if has_lines(source) else 'record'} {position}"
