"""Records that come as Arrow data already: Parquet files and Python objects."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ibidem.documents.records import Job, Records, Wanted, check, missing_column
from ibidem.errors import InputError

MAX_JOB_BYTES = 8 << 20


def arrow_jobs(batch: Any, first_position: int, source: str, wanted: Wanted, n_bytes: int = 0) -> Iterator[Job]:
    """Yield jobs for the rows of a record batch or table, a few megabytes each."""
    if wanted.config.text_field not in batch.schema.names:
        raise missing_column(source, batch.schema.names, wanted)
    _check_text_type(batch.schema.field(wanted.config.text_field).type, source, wanted)
    n_rows = max(1, MAX_JOB_BYTES * batch.num_rows // max(1, batch.nbytes))
    for start in range(0, batch.num_rows, n_rows):
        part = batch.slice(start, n_rows)
        yield functools.partial(_check_part, part, first_position + start, source, wanted, n_bytes if not start else 0)


def _check_part(part: Any, first_position: int, source: str, wanted: Wanted, n_bytes: int) -> Any:
    columns = [part.column(name) if name in part.schema.names else None for name in wanted.names]
    text, doc_id, time, group = (
        column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in columns
    )
    others = None
    if wanted.other_fields:
        rest = [name for name in part.schema.names if name not in wanted.names]
        others = part.select(rest).to_pylist() if rest else [{} for _ in range(part.num_rows)]
    positions = list(range(first_position, first_position + part.num_rows))
    return check(
        Records(text, positions, source, doc_id, time, group, wanted.config.html, others=others), wanted, n_bytes
    )


def _check_text_type(kind: Any, source: str, wanted: Wanted) -> None:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")
    if str(value) not in kinds:
        raise InputError(
            f"{source}: column '{wanted.config.text_field}' holds {kind}, not text",
            "Name the column with the text by --text-field.",
        )
