"""Records that are already Arrow data: from Parquet files, tables, streams, data frames and datasets."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.config.surface import given
from ibidem.formats.field_paths import with_path_columns
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.records import Records, UnfitTableError, Wanted, check, missing_column

MAX_JOB_BYTES = 8 << 20
MAX_JOB_ROWS = 1 << 16
N_DATASET_ROWS = 1000


def arrow_batches(item: Any) -> Any:
    """Return the batches of an object with Arrow data."""
    if isinstance(item, pa.Table):  # its batches are here; as a stream, some string views crash pyarrow before 25
        return item.to_batches()
    if hasattr(item, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(item)
    if hasattr(item, "__arrow_c_array__"):
        return [pa.record_batch(item)]
    if hasattr(item, "with_format"):
        # A dataset's table is not enough: a filtered one keeps all rows and a list of those that count.
        return item.with_format("arrow").iter(batch_size=N_DATASET_ROWS)
    return pa.Table.from_pandas(item, preserve_index=False).to_batches()


def arrow_jobs(batch: Any, first_position: int, source: str, wanted: Wanted, n_bytes: int = 0) -> Iterator[Job]:
    """Yield jobs for the rows of a record batch or table, a few megabytes each."""
    batch = with_path_columns(batch, wanted.names) if wanted.has_paths else batch
    if wanted.config.text_field not in batch.schema.names:
        raise missing_column(source, batch.schema.names, wanted)
    check_text_type(batch.schema.field(wanted.config.text_field).type, source, wanted)
    ends = n_bytes_up_to(batch.column(wanted.config.text_field))
    start = 0
    while start < batch.num_rows:
        # By the actual sizes, not their mean: a few texts may be as large as all others together.
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, min(start + MAX_JOB_ROWS, int(np.searchsorted(ends, before + MAX_JOB_BYTES, side="right"))))
        part = batch.slice(start, end - start)
        job = functools.partial(_check_part, part, first_position + start, source, wanted, n_bytes if not start else 0)
        yield weighed(job, int(ends[end - 1]) - before)
        start = end


def n_bytes_up_to(texts: Any) -> Any:
    """Return for each row the total bytes of the texts up to and including it."""
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if pa.types.is_null(column.type):
        return np.zeros(len(column), np.int64)
    if pa.types.is_dictionary(column.type):
        lengths = _lengths(column.dictionary).take(column.indices)
    else:
        lengths = _lengths(column)
    return np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)


def _lengths(column: Any) -> Any:
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    return pc.binary_length(column)


def _check_part(part: Any, first_position: int, source: str, wanted: Wanted, n_bytes: int) -> Outcome:
    columns = [part.column(name) if name in part.schema.names else None for name in wanted.names]
    text, doc_id, time, group = (
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in columns
    )
    others = None
    if wanted.other_fields:
        rest = [name for name in part.schema.names if name not in wanted.names]
        values = [_values(part.column(name)) for name in rest]
        rows = zip(*values, strict=True) if rest else ((),) * part.num_rows
        others = [dict(zip(rest, row, strict=True)) for row in rows]
    positions = list(range(first_position, first_position + part.num_rows))
    return check(Records(text, positions, source, doc_id, time, group, wanted.config.html, others=others), wanted, n_bytes)


def _values(column: Any) -> list[Any]:
    """Return a column as Python values; None for values that Python cannot represent, such as a time in the year 33658."""
    try:
        found: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        found = [_value(value) for value in column]
    return found


def _value(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return None


def check_text_type(kind: Any, source: str, wanted: Wanted) -> None:
    """Raise UnfitTableError if a column of some type contains no texts."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
    if str(value) not in kinds:
        raise UnfitTableError(
            source,
            f"{source}: column '{wanted.config.text_field}' contains {kind}, not text",
            f"Name the text column with {given('text_field', 'NAME')}.",
        )
