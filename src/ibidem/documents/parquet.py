"""Parquet files: only the columns that are wanted, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ibidem.documents.arrow import MAX_JOB_BYTES, arrow_jobs
from ibidem.documents.records import Job, Wanted, missing_column
from ibidem.documents.streams import READ_ERRORS, ByteStream

# Rows that Arrow decodes at once. Few, for their sizes are not known before: one text may stand in many rows and be stored
# once, and the longest ones may stand together.
MAX_ROWS = 64


def read_parquet(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each stretch of rows; their position is their number in the file."""
    # Parquet is read from its end: what cannot be sought in is held as a whole.
    file = pq.ParquetFile(pa.BufferReader(stream.read()) if stream.is_forward_only else stream.path)
    with file:
        names = file.schema_arrow.names
        if wanted.config.text_field not in names:
            raise missing_column(source, names, wanted)
        columns = names if wanted.other_fields else [name for name in names if name in wanted.names]
        position = 1
        for rows in _rows(file, columns):
            yield from arrow_jobs(rows, position, source, wanted)
            position += rows.num_rows
        # Arrow stops without a word where a damaged column has fewer rows than the others.
        if position - 1 != file.metadata.num_rows:
            raise OSError(f"it gives {position - 1:,} rows and tells of {file.metadata.num_rows:,}")
    stream.take_all()


def _rows(file: Any, columns: list[str]) -> Iterator[Any]:
    """Yield tables of neighbouring rows of about the size of a job, or of one batch; what was read before damage comes too."""
    batches: list[Any] = []
    n_bytes = 0
    for number in range(file.num_row_groups):
        try:
            for batch in file.iter_batches(_rows_a_batch(file.metadata.row_group(number)), [number], columns):
                batches.append(batch)
                n_bytes += batch.nbytes
                if n_bytes >= MAX_JOB_BYTES:
                    yield pa.Table.from_batches(batches)
                    batches, n_bytes = [], 0
        except READ_ERRORS as error:
            if batches:
                yield pa.Table.from_batches(batches)
            raise OSError(f"row group {number + 1} of {file.num_row_groups} is damaged: {error}") from error
    if batches:
        yield pa.Table.from_batches(batches)


def _rows_a_batch(group: Any) -> int:
    n_rows: int = MAX_JOB_BYTES * group.num_rows // max(1, group.total_byte_size)
    return max(1, min(MAX_ROWS, n_rows))
