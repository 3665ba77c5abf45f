"""Parquet files: only the columns that are wanted, a few megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ibidem.formats.arrow_records import MAX_JOB_BYTES, arrow_jobs, check_text_type, n_bytes_up_to
from ibidem.formats.byte_streams import READ_ERRORS, ByteStream
from ibidem.formats.expansion_limit import UnfoldedError, most_unfolded
from ibidem.formats.records import Job, Wanted, missing_column

# Rows that Arrow decodes at once. Few, for their sizes are not known before: one text may stand in many rows and be stored
# once, and the longest ones may stand together.
MAX_ROWS = 64
_MOST_REPEATED_BYTES = 64 << 20
# The first two fields of a page's header, numbers of 32 bits in Thrift's compact protocol: kind, and size when unpacked.
_NUMBER_FOLLOWS, _DICTIONARY_PAGE, _HEAD_BYTES = 0x15, 2, 16


def read_parquet(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each stretch of rows; their position is their number in the file."""
    with stored_bytes(stream) as stored, pq.ParquetFile(stored) as file:
        names = file.schema_arrow.names
        if wanted.config.text_field not in names:
            raise missing_column(source, names, wanted)
        check_text_type(file.schema_arrow.field(wanted.config.text_field).type, source, wanted)
        columns = names if wanted.other_fields else [name for name in names if name in wanted.names]
        position, texts = 1, Unfolded(stream)
        for rows in _rows(file, stored, columns):
            n_rows = texts.take(rows, wanted.config.text_field)
            yield from arrow_jobs(rows.slice(0, n_rows), position, source, wanted)
            position += rows.num_rows
            texts.check()
        # Arrow stops without a word where a damaged column has fewer rows than the others.
        if position - 1 != file.metadata.num_rows:
            raise OSError(f"it gives {position - 1:,} rows and tells of {file.metadata.num_rows:,}")
    stream.take_all()


def stored_bytes(stream: ByteStream) -> Any:
    """Return a file that Arrow can seek in. Parquet is read from its end: what cannot be sought in is held as a whole."""
    return pa.BufferReader(stream.read()) if stream.is_forward_only else pa.OSFile(stream.path)


class Unfolded:
    """Counts what rows unfold to: a file stores a text once that is in many rows."""

    def __init__(self, stream: ByteStream) -> None:
        self._n_text_bytes_left = self._n_bytes_left = most_unfolded(stream.n_stored_bytes)

    def take(self, rows: Any, text_field: str) -> int:
        """Return how many of the rows that come next may be used; by their texts, whatever else they come with."""
        ends = n_bytes_up_to(rows.column(text_field))
        n_rows = int(np.searchsorted(ends, self._n_text_bytes_left, side="right"))
        self._n_text_bytes_left -= int(ends[-1]) if len(ends) else 0
        self._n_bytes_left -= n_bytes_of(rows)
        return n_rows

    def check(self) -> None:
        """Raise UnfoldedError if there are more texts than may be used, or far more of something else."""
        if min(self._n_text_bytes_left, self._n_bytes_left) < 0:
            raise UnfoldedError


def n_bytes_of(rows: Any) -> int:
    """Return the bytes of rows; of string views, which pyarrow before 24 does not measure, those of their buffers."""
    try:
        return int(rows.nbytes)
    except pa.ArrowTypeError:
        return int(rows.get_total_buffer_size())


def _rows(file: Any, stored: Any, columns: list[str]) -> Iterator[Any]:
    """Yield tables of neighbouring rows of about the size of a job, or of one batch; what was read before damage comes too."""
    batches: list[Any] = []
    n_bytes = 0
    for number in range(file.num_row_groups):
        try:
            n_rows = _rows_a_batch(file, number, stored, columns)
            for batch in file.iter_batches(n_rows, [number], columns):
                batches.append(batch)
                n_bytes += n_bytes_of(batch)
                if n_bytes >= MAX_JOB_BYTES:
                    yield pa.Table.from_batches(batches)
                    batches, n_bytes = [], 0
        except READ_ERRORS as error:
            if batches:
                yield pa.Table.from_batches(batches)
            raise OSError(f"row group {number + 1} of {file.num_row_groups} is damaged: {error}") from error
    if batches:
        yield pa.Table.from_batches(batches)


def _rows_a_batch(file: Any, number: int, stored: Any, columns: list[str]) -> int:
    group = file.metadata.row_group(number)
    n_rows: int = MAX_JOB_BYTES * group.num_rows // max(1, group.total_byte_size)
    return max(1, min(MAX_ROWS, n_rows, rows_without_excess(file, number, stored, columns)))


def rows_without_excess(file: Any, number: int, stored: Any, columns: list[str] | None = None) -> int:
    """Return how many rows of a row group may be decoded at once, were each of them its longest repeated text.

    Damage is one of READ_ERRORS.
    """
    # Asked about a damaged column, Arrow ends the process. Reading a row of it first is an error that can be caught.
    next(file.iter_batches(1, [number], columns), None)
    group, schema = file.metadata.row_group(number), file.metadata.schema
    longest = 1
    for place in range(min(group.num_columns, len(schema))):
        if columns is None or schema.column(place).path.partition(".")[0] in columns:
            longest = max(longest, dictionary_bytes(group.column(place), stored))
    return max(1, _MOST_REPEATED_BYTES // longest)


def dictionary_bytes(chunk: Any, stored: Any) -> int:
    """Return the size of the dictionary of a column chunk, which no repeated text is longer than; 0 without one."""
    begin = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None and 0 < chunk.dictionary_page_offset < begin:
        begin = chunk.dictionary_page_offset
    head = iter(stored.read_at(_HEAD_BYTES, begin))
    numbers = [_number(head) for _ in range(2)] if begin >= 0 else [None]
    if None in numbers:
        return int(chunk.total_uncompressed_size)  # unusual, and no less than it can be
    return int(numbers[1] or 0) if numbers[0] == _DICTIONARY_PAGE else 0


def _number(head: Iterator[int]) -> int | None:
    """Return the number that a field holds, None if it holds something else: seven bits a byte, the sign in the last one."""
    if next(head, None) != _NUMBER_FOLLOWS:
        return None
    found, n_bits = 0, 0
    for byte in head:
        found |= (byte & 0x7F) << n_bits
        n_bits += 7
        if byte < 0x80:
            return found >> 1
    return None
