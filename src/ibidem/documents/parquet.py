"""Parquet files: only the columns that are wanted, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ibidem.documents.arrow import MAX_JOB_BYTES, arrow_jobs
from ibidem.documents.records import Job, Wanted, missing_column
from ibidem.documents.streams import ByteStream

MAX_ROWS = 1 << 16


def read_parquet(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each stretch of rows; their position is their number in the file."""
    # Parquet is read from its end: what cannot be sought in is held as a whole.
    file = pq.ParquetFile(pa.BufferReader(stream.read()) if stream.is_forward_only else source)
    with file:
        names = file.schema_arrow.names
        if wanted.config.text_field not in names:
            raise missing_column(source, names, wanted)
        columns = names if wanted.other_fields else [name for name in names if name in wanted.names]
        position = 1
        for batch in file.iter_batches(_rows_a_batch(file.metadata), columns=columns):
            yield from arrow_jobs(batch, position, source, wanted)
            position += batch.num_rows
    stream.take_all()


def _rows_a_batch(metadata: Any) -> int:
    n_bytes: int = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    n_rows: int = metadata.num_rows
    return max(1, min(MAX_ROWS, MAX_JOB_BYTES * n_rows // max(1, n_bytes)))
