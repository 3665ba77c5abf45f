"""Output of stages on its way to disk: it waits in memory until there is enough of it, and is written by partition.

The more partitions there are, the more and smaller pieces a table is split into: their number grows with the square of a
collection. So a table waits in one piece, sorted, and is cut as it is written.
"""

from __future__ import annotations

import os
import threading
import zlib
from array import array
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.execution.disk_limit import no_room
from ibidem.execution.flow import Routed, Sent, routed, small
from ibidem.execution.operating_system import PLAIN_FILE

if TYPE_CHECKING:
    from ibidem.execution.disk.stage_store import FinishedStage, StageStore

CHUNKS = pa.schema(
    [("tag", pa.string())]
    + [(name, pa.int64()) for name in ("partition", "offset", "n_bytes", "n_rows", "n_memory_bytes", "checksum")]
)
_CHUNK_BYTES = 8 << 20
# What is recorded for each waiting table, and for each partition that has waiting rows.
_BYTES_A_TABLE, _BYTES_A_ROUTE = 2 << 10, 100
_ROUTES_AT_A_TIME = 1 << 14
_MOST_LEFT = 0.6  # of the first chunk of a table that is not small, if the others are compressed, too
_LEAST_TRIED_BYTES = 64 << 10
_BYTES_BESIDE = 1 << 16  # names and bounds of the columns of a chunk


class StageWriter:
    """Takes the output of a stage from several threads and writes it, for each partition in order of arrival."""

    def __init__(self, store: StageStore, name: str, outputs: Mapping[str, pa.Schema]) -> None:
        self._store = store
        self._name = name
        self._outputs = outputs
        self._waiting: dict[str, list[Routed]] = {}
        self._n_waiting_bytes = 0
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._ends = dict.fromkeys(outputs, 0)
        self._tags = list(outputs)
        self._chunks = array("q")  # there may be millions: the number of the tag, and the columns of CHUNKS
        self._is_closed = False
        self._files: dict[str, int] = {}
        self._is_packed = {tag: any(map(_is_text, schema.types)) for tag, schema in outputs.items()}
        self._untried = {tag for tag, is_packed in self._is_packed.items() if is_packed}
        self._room = pa.allocate_buffer(0)  # chunks are assembled here, one by one
        for tag in outputs:  # left by a run that was killed in this stage
            store.path_of(name, tag).unlink(missing_ok=True)

    @property
    def n_bytes(self) -> int:
        """The bytes written."""
        return sum(self._ends.values())

    def add(self, sent: Sent) -> None:
        """Take rows."""
        if not sent.rows.schema.equals(self._outputs[sent.table]):
            raise TypeError(f"{self._name}/{sent.table}: {sent.rows.schema} is not {self._outputs[sent.table]}")
        parts = list(routed(sent))
        if not parts:
            return
        n_bytes = sum(part.table.nbytes + _BYTES_A_TABLE + _BYTES_A_ROUTE * len(part.partitions) for part in parts)
        with self._adding:
            self._waiting.setdefault(sent.table, []).extend(parts)
            self._n_waiting_bytes += n_bytes
            is_full = self._n_waiting_bytes > self._store.n_buffer_bytes
        if is_full:
            self._flush(self._store.n_buffer_bytes)

    def finish(self, metadata: Mapping[str, Any] | None = None) -> FinishedStage:
        """Write what is left, and record the stage as finished."""
        self._flush(-1)
        self.close()
        tags, *columns = np.array(self._chunks, np.int64).reshape(-1, len(CHUNKS)).T
        arrays = [pa.array(self._tags, pa.string()).take(pa.array(tags)), *(pa.array(column) for column in columns)]
        return self._store.end_stage(self._name, pa.Table.from_arrays(arrays, schema=CHUNKS), metadata or {}, self._outputs)

    def close(self) -> None:
        """Close the files."""
        with self._writing:
            self._is_closed = True
            self._room = pa.allocate_buffer(0)
            for descriptor in self._files.values():
                os.close(descriptor)
            self._files.clear()

    def _flush(self, most_bytes: int) -> None:
        with self._writing:
            with self._adding:
                if self._n_waiting_bytes <= most_bytes:  # another thread wrote it
                    return
                waiting, self._waiting, self._n_waiting_bytes = self._waiting, {}, 0
            for tag in list(waiting) if not self._is_closed else ():
                for partition, table in _chunks_of(waiting.pop(tag), self._outputs[tag]):
                    self._write(tag, partition, table)

    def _write(self, tag: str, partition: int, table: pa.Table) -> None:
        n_memory_bytes = table.nbytes
        data = self._packed(table) if self._is_packed[tag] else self._as_it_is(table, n_memory_bytes)
        if tag in self._untried and n_memory_bytes >= _LEAST_TRIED_BYTES:
            self._untried.discard(tag)
            # Compressing may take longer than writing and reading what it saves.
            self._is_packed[tag] = len(data) <= _MOST_LEFT * n_memory_bytes
        self._store.disk.take(self._name, len(data))
        try:
            if tag not in self._files:
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | PLAIN_FILE
                self._files[tag] = os.open(self._store.path_of(self._name, tag), flags, 0o600)
            left = data
            while len(left):
                left = left[os.write(self._files[tag], left) :]
        except OSError as error:
            raise no_room(self._store.folder, error) from error
        number, end, n_bytes = self._tags.index(tag), self._ends[tag], len(data)
        self._chunks.extend((number, partition, end, n_bytes, table.num_rows, n_memory_bytes, zlib.crc32(data)))
        self._ends[tag] += n_bytes

    def _packed(self, table: pa.Table) -> memoryview:
        """Return a chunk as it is written, compressed."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_table(table)
        return memoryview(sink.getvalue())

    def _as_it_is(self, table: pa.Table, n_memory_bytes: int) -> memoryview:
        """Return a chunk as it is written, not compressed, in reused memory: new memory costs more than filling it."""
        room = self._room
        if room.size < n_memory_bytes + _BYTES_BESIDE:
            room = pa.allocate_buffer(max(n_memory_bytes, 2 * _CHUNK_BYTES) + _BYTES_BESIDE)
            if n_memory_bytes <= 2 * _CHUNK_BYTES:  # one row may have any size
                self._room = room
        sink = pa.FixedSizeBufferWriter(room)
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return memoryview(room)[: sink.tell()]


def _chunks_of(parts: list[Routed], schema: pa.Schema) -> Iterator[tuple[int, pa.Table]]:
    """Yield what is waiting for each partition, assembled into chunks. Tables are released once their last rows are taken.

    The size of a slice follows from its number of rows, unless rows may have any length.
    """
    is_even = all(pa.types.is_primitive(kind) for kind in schema.types)
    bytes_a_row = sum(kind.bit_width for kind in schema.types) / 8 if is_even else 0.0
    n_left = [len(part.partitions) for part in parts]
    columns = [
        np.concatenate([part.partitions for part in parts]),
        np.repeat(np.arange(len(parts)), n_left),
        np.concatenate([part.bounds[:-1] for part in parts]),
        np.concatenate([np.diff(part.bounds) for part in parts]),
    ]
    routes = np.stack(columns, axis=1)[np.argsort(columns[0], kind="stable")]
    tables = {number: part.table for number, part in enumerate(parts)}
    del columns, parts
    together: list[pa.Table] = []
    n_bytes, last = 0.0, -1
    for partition, number, begin, count in (route for some in _portions(routes) for route in some):
        rows = tables[number].slice(begin, count)
        n_left[number] -= 1
        if n_left[number] == 0:
            del tables[number]
        more_bytes = count * bytes_a_row if is_even else rows.nbytes
        for piece in small(rows, _CHUNK_BYTES) if more_bytes > _CHUNK_BYTES else (rows,):
            if together and (partition != last or n_bytes + more_bytes > _CHUNK_BYTES):
                yield last, pa.concat_tables(together).combine_chunks()
                together, n_bytes = [], 0.0
            together.append(piece)
            n_bytes += more_bytes
            last = partition
    yield last, pa.concat_tables(together).combine_chunks()


def _portions(routes: NDArray[np.int64]) -> Iterator[list[list[int]]]:
    """Yield rows as lists, some at a time, as lists take ten times as much memory."""
    yield from (routes[begin : begin + _ROUTES_AT_A_TIME].tolist() for begin in range(0, len(routes), _ROUTES_AT_A_TIME))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(kind) or pa.types.is_string(kind) or pa.types.is_large_binary(kind))
