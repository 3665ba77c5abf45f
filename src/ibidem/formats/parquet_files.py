"""Parquet files.

Read: only the columns that are wanted, a few megabytes at a time. Rewritten: with the row groups, types, metadata and codecs
of the input; values are decoded and encoded again on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ibidem.errors import InputError
from ibidem.formats.arrow_records import MAX_JOB_BYTES, arrow_jobs, check_text_type, n_bytes_up_to
from ibidem.formats.byte_streams import MOST_TIMES, READ_ERRORS, ByteStream, UnfoldedError, most_unfolded
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.field_paths import is_path, root_of, with_path_columns
from ibidem.formats.jobs import Job
from ibidem.formats.records import Wanted, missing_column
from ibidem.formats.sources import FileSource

# Rows decoded at once for reading. Few, as their sizes are not known before: one text may be in many rows and stored once, and
# the longest ones may be adjacent.
MAX_ROWS = 64
MAX_COPIED_ROWS = 1 << 16
# A larger row group is copied in parts of about this size, so that memory does not grow with it.
MAX_GROUP_BYTES = 128 << 20
_DICTIONARY_BYTES = 1 << 20  # Arrow's default: a column with more different values than fit is written out
_MOST_REPEATED_BYTES = 64 << 20
# The first two fields of a page's header, numbers of 32 bits in Thrift's compact protocol: kind, and size when unpacked.
_NUMBER_FOLLOWS, _DICTIONARY_PAGE, _HEAD_BYTES = 0x15, 2, 16


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each stretch of rows; their position is their number in the file."""
    with stream.open_at_any_place() as stored, pq.ParquetFile(stored) as file:
        names, text_field = file.schema_arrow.names, wanted.config.text_field
        if text_field in names:
            check_text_type(file.schema_arrow.field(text_field).type, source.name, wanted)
        elif not is_path(text_field) or root_of(text_field) not in names:
            raise missing_column(source.name, names, wanted)
        needed = {name if name in names else root_of(name) for name in wanted.names}
        columns = names if wanted.other_fields else [name for name in names if name in needed]
        position, texts = 1, _Unfolded(stream)
        for rows in _rows(file, stored, columns):
            rows = with_path_columns(rows, wanted.names) if wanted.has_paths else rows
            check_text_type(rows.schema.field(text_field).type, source.name, wanted)
            n_rows = texts.take(rows, text_field)
            yield from arrow_jobs(rows.slice(0, n_rows), position, source.name, wanted)
            position += rows.num_rows
            texts.check()
        # Arrow stops silently where a damaged column has fewer rows than the others.
        if position - 1 != file.metadata.num_rows:
            raise OSError(f"it has {position - 1:,} rows, but its metadata says {file.metadata.num_rows:,}")
    stream.take_all()


class _Unfolded:
    """Counts what rows expand to: a file stores a text once even if it is in many rows."""

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


def _rows(file: Any, stored: Any, columns: list[str]) -> Iterator[Any]:
    """Yield tables of neighbouring rows of about the size of a job, or of one batch; what was read before damage comes too."""
    batches: list[Any] = []
    n_bytes = 0
    for number in range(file.num_row_groups):
        try:
            n_rows = _rows_at_once(file, number, stored, MAX_ROWS, MAX_JOB_BYTES, columns)
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


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all rows except removed ones."""
    try:
        stored = file.open_at_any_place()
        table = pq.ParquetFile(stored)
    except READ_ERRORS as error:
        raise edits.changed() from error
    with stored, table:
        schema = table.schema_arrow
        if edits.text_field not in schema.names:
            raise edits.changed()
        if edits.marks is not None:
            for field in edits.marks.fields:
                schema = schema.append(field)
        position = 1
        sink, most_bytes = _Sink(output), most_unfolded(file.n_stored_bytes)
        with pq.ParquetWriter(sink, schema, **_settings(table, stored)) as writer:
            for batches in _groups(table, stored, file):
                changed = []
                for batch in batches:
                    changed.append(change_rows(batch, position, edits))
                    position += batch.num_rows
                group = pa.Table.from_batches([part for parts in changed for part in parts], schema)
                if group.num_rows:
                    writer.write_table(group, row_group_size=group.num_rows)
                if sink.n_bytes > most_bytes:
                    message = f"the copy of {file.name} would be more than {MOST_TIMES:,} times as large as the file"
                    raise InputError(message, "Leave the file out, or convert it to JSON lines.")
    file.take_all()
    file.report()


def field_names(file: InputFile, of_all: bool = False) -> list[str]:
    """Return the names of the columns."""
    with file.open_at_any_place() as stored, pq.ParquetFile(stored) as table:
        names: list[str] = table.schema_arrow.names
        return names


class _Sink:
    """An output in the form that Arrow's writers need; its owner closes it."""

    closed = False

    def __init__(self, output: OutputFile) -> None:
        self.n_bytes = 0
        self._write = output.write_raw

    def write(self, data: Any) -> None:
        """Write bytes, and count them."""
        self.n_bytes += len(data)
        self._write(data)

    def flush(self) -> None:
        """Leave it to the owner."""

    def close(self) -> None:
        """Leave it to the owner."""


def _groups(table: Any, stored: Any, file: InputFile) -> Iterator[list[Any]]:
    """Yield the batches of each row group, or of each part of one; end where damage begins."""
    for number in range(table.num_row_groups):
        n_rows = 1
        with suppress(*READ_ERRORS):  # then reading the rows fails too, which is reported there
            n_rows = _rows_at_once(table, number, stored, MAX_COPIED_ROWS, MAX_GROUP_BYTES // 8)
        batches: list[Any] = []
        n_bytes = 0
        for batch in _batches(table, number, n_rows, file):
            size = n_bytes_of(batch)
            if batches and n_bytes + size > MAX_GROUP_BYTES:
                yield batches
                batches, n_bytes = [], 0
            batches.append(batch)
            n_bytes += size
        yield batches
        if file.damage is not None:
            return


def _batches(table: Any, number: int, n_rows: int, file: InputFile) -> Iterator[Any]:
    n_read = 0
    try:
        for batch in table.iter_batches(n_rows, row_groups=[number]):
            yield batch
            n_read += batch.num_rows
    except READ_ERRORS as error:
        file.damage = error
    if file.damage is not None and n_rows > 1:
        # The reader takes other batches: no row that can be read may go down with its neighbours.
        yield from islice(_batches(table, number, 1, file), n_read, None)


def _settings(table: Any, stored: Any) -> dict[str, Any]:
    """Return how to write as the input was written, as far as its metadata say."""
    metadata = table.metadata
    settings: dict[str, Any] = {"store_schema": b"ARROW:schema" in (metadata.metadata or {})}
    if metadata.format_version in ("1.0", "2.4", "2.6"):
        settings["version"] = metadata.format_version
    if not metadata.num_row_groups:
        return settings
    columns = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    codecs = {column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE") for column in columns}
    # One name instead of one for each column is good for columns that are added, too.
    settings["compression"] = codecs if len(set(codecs.values())) > 1 else codecs[columns[0].path_in_schema]
    settings["use_dictionary"] = [column.path_in_schema for column in columns if column.has_dictionary_page]
    # A value that is stored once in the input is stored once in each row group of the copy, however long it is. A dictionary
    # that only reaches the limit is given up.
    largest = 0
    with suppress(*READ_ERRORS):  # then reading the rows fails too, which is reported there
        largest = max(_dictionary_bytes(column, stored) for column in columns)
    settings["dictionary_pagesize_limit"] = max(_DICTIONARY_BYTES, largest + 1)
    settings["write_statistics"] = [column.path_in_schema for column in columns if column.is_stats_set]
    settings["use_deprecated_int96_timestamps"] = any(column.physical_type == "INT96" for column in columns)
    return settings


def change_rows(batch: Any, first_position: int, edits: Edits) -> list[Any]:
    """Return what remains of a batch, possibly in several pieces."""
    found = edits.between(first_position, first_position + batch.num_rows)
    number = batch.schema.names.index(edits.text_field)
    column = batch.column(number)
    for position, _ in found:
        edits.meet(position, _text_of(column[position - first_position], edits))
    if edits.marks is not None:
        decisions = dict(found)
        rows = range(first_position, first_position + batch.num_rows)
        columns = [*batch.columns, *edits.marks.as_arrays([decisions.get(position) for position in rows])]
        fields = [*batch.schema, *edits.marks.fields]
        batch = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, batch.schema.metadata))
    cuts = {position - first_position: decision for position, decision in found if decision.cuts and not decision.drop}
    if cuts and edits.marks is None:
        texts = {row: edits.remaining(_text_of(column[row], edits), decision) for row, decision in cuts.items()}
        columns = [*batch.columns[:number], _replace(column, texts), *batch.columns[number + 1 :]]
        batch = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
    kept = np.ones(batch.num_rows, dtype=bool)
    kept[[position - first_position for position, decision in found if decision.drop]] = False
    return _filter(batch, kept)


def _text_of(value: Any, edits: Edits) -> str:
    text = value.as_py()
    if text is None:
        raise edits.changed()
    return text.decode("utf-8") if isinstance(text, bytes) else str(text)


def _replace(column: Any, texts: dict[int, str]) -> Any:
    """Return a column of any type of text, with other texts in some rows."""
    values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    pieces, copied = [], 0
    for row, text in texts.items():
        pieces.append(values.slice(copied, row - copied))
        pieces.append(pa.array([text.encode("utf-8")], pa.binary()).cast(values.type))
        copied = row + 1
    # Put together of slices: unlike a cast of the whole, that asks no other row whether it is valid.
    replaced = pa.concat_arrays([*pieces, values.slice(copied)])
    return replaced.dictionary_encode().cast(column.type) if pa.types.is_dictionary(column.type) else replaced


def _filter(batch: Any, kept: Any) -> list[Any]:
    if kept.all():
        return [batch]
    try:
        return [batch.filter(pa.array(kept))]
    except pa.ArrowNotImplementedError:  # some types can be sliced only
        edges = np.flatnonzero(np.diff(np.concatenate(([False], kept, [False]))))
        return [batch.slice(start, end - start) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def n_bytes_of(rows: Any) -> int:
    """Return the bytes of rows; of string views, which pyarrow before 24 does not measure, those of their buffers."""
    try:
        return int(rows.nbytes)
    except pa.ArrowTypeError:
        return int(rows.get_total_buffer_size())


def _rows_at_once(
    file: Any, number: int, stored: Any, most_rows: int, most_bytes: int, columns: list[str] | None = None
) -> int:
    """Return how many rows of a row group may be decoded at once, were each of them its longest repeated text.

    Damage is one of READ_ERRORS.
    """
    # For a damaged column, Arrow would end the process. Reading a row first raises an error that can be caught.
    next(file.iter_batches(1, [number], columns), None)
    group, schema = file.metadata.row_group(number), file.metadata.schema
    longest = 1
    for place in range(min(group.num_columns, len(schema))):
        if columns is None or schema.column(place).path.partition(".")[0] in columns:
            longest = max(longest, _dictionary_bytes(group.column(place), stored))
    of_mean_size: int = most_bytes * group.num_rows // max(1, group.total_byte_size)
    return max(1, min(most_rows, of_mean_size, _MOST_REPEATED_BYTES // longest))


def _dictionary_bytes(chunk: Any, stored: Any) -> int:
    """Return the size of the dictionary of a column chunk, which no repeated text is longer than; 0 without one."""
    begin = chunk.data_page_offset
    if chunk.dictionary_page_offset is not None and 0 < chunk.dictionary_page_offset < begin:
        begin = chunk.dictionary_page_offset
    head = iter(stored.read_at(_HEAD_BYTES, begin))
    numbers = [_number(head) for _ in range(2)] if begin >= 0 else [None]
    if None in numbers:
        return int(chunk.total_uncompressed_size)  # unusual; an upper bound
    return int(numbers[1] or 0) if numbers[0] == _DICTIONARY_PAGE else 0


def _number(head: Iterator[int]) -> int | None:
    """Return the number in a field, None if it is something else: seven bits per byte, the sign in the last one."""
    if next(head, None) != _NUMBER_FOLLOWS:
        return None
    found, n_bits = 0, 0
    for byte in head:
        found |= (byte & 0x7F) << n_bits
        n_bits += 7
        if byte < 0x80:
            return found >> 1
    return None
