"""Parquet: row groups, types, metadata and codecs of the input; values are decoded and encoded again on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ibidem.errors import InputError
from ibidem.formats.byte_streams import READ_ERRORS
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.expansion_limit import MOST_TIMES, most_unfolded
from ibidem.formats.parquet_files import dictionary_bytes, n_bytes_of, rows_without_excess, stored_bytes

MAX_ROWS = 1 << 16
# A larger row group is read and written in parts of about this size, so that memory does not grow with it.
MAX_GROUP_BYTES = 128 << 20
_DICTIONARY_BYTES = 1 << 20  # Arrow's default: a column with more different values than fit is written out


def column_names(file: InputFile) -> list[str]:
    """Return the names of the columns."""
    with stored_bytes(file) as stored, pq.ParquetFile(stored) as table:
        names: list[str] = table.schema_arrow.names
        return names


def rewrite_parquet(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all rows but those that go."""
    try:
        stored = stored_bytes(file)
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
                    raise InputError(message, "Leave the file out, or give it as JSON lines.")
    file.take_all()
    file.report()


class _Sink:
    """An output as Arrow's writers want it; whoever opened it closes it."""

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
        group = table.metadata.row_group(number)
        n_rows = max(1, min(MAX_ROWS, MAX_GROUP_BYTES // 8 * group.num_rows // max(1, group.total_byte_size)))
        with suppress(*READ_ERRORS):  # then reading the rows fails too, where it is told of
            n_rows = min(n_rows, rows_without_excess(table, number, stored))
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
    """Return how to write as the input was written, as far as its metadata tell."""
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
    with suppress(*READ_ERRORS):  # then reading the rows fails too, where it is told of
        largest = max(dictionary_bytes(column, stored) for column in columns)
    settings["dictionary_pagesize_limit"] = max(_DICTIONARY_BYTES, largest + 1)
    settings["write_statistics"] = [column.path_in_schema for column in columns if column.is_stats_set]
    settings["use_deprecated_int96_timestamps"] = any(column.physical_type == "INT96" for column in columns)
    return settings


def change_rows(batch: Any, first_position: int, edits: Edits) -> list[Any]:
    """Return what stays of a batch, perhaps in several pieces."""
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
        return [pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, batch.schema.metadata))]
    cuts = {position - first_position: decision for position, decision in found if not decision.drop}
    if cuts:
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
    """Return a column of any type that holds text, with other texts in some rows."""
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
