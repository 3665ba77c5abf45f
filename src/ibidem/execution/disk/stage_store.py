"""Stages on disk: the output of each in Arrow files of the work folder, chunk by chunk, and where each chunk is.

A stage is *finished* when its manifest exists, which is written last under a temporary name and renamed. The finished stages of
a killed run are reused by the same calls in the same order. Data that no later stage can ask for is removed when the next stage
is finished, so the folder always contains what is needed to continue.

Nothing here is synced: after a power cut a run may have to start over, which is cheaper than waiting for the disk in every run.
Checksums of manifests and chunks show whether the files of an earlier run are intact.
"""

from __future__ import annotations

import json
import os
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.config.surface import given
from ibidem.errors import ResourceError
from ibidem.execution.disk.stage_writer import CHUNKS, StageWriter
from ibidem.execution.disk_limit import DiskBudget, no_room
from ibidem.execution.flow import PartedTable
from ibidem.execution.operating_system import PLAIN_FILE

_MANIFEST, _DATA = ".stage", ".arrows"
_CHECKSUM = struct.Struct("<QI")  # a manifest begins with the length and CRC-32 of what follows


class ChunkFile:
    """The rows of one tag of a stage: a file of chunks, each a stream of Arrow data for one partition."""

    def __init__(self, path: Path, schema: pa.Schema, chunks: pa.Table, is_from_before: bool) -> None:
        self.path = path
        self.schema = schema
        self._is_from_before = is_from_before
        self._partition, self._offset, self._n_bytes, self._n_rows, self._n_memory_bytes, self._checksum = (
            chunks[name].to_numpy() for name in CHUNKS.names[1:]
        )

    def __len__(self) -> int:
        return len(self._partition)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._n_rows.sum())

    @property
    def n_bytes(self) -> int:
        """Size on disk."""
        return int(self._n_bytes.sum())

    @cached_property
    def by_partition(self) -> dict[int, NDArray[np.int64]]:
        """The chunks of each partition that has any, in the order written."""
        order = np.argsort(self._partition, kind="stable")
        partitions, first = np.unique(self._partition[order], return_index=True)
        return dict(zip(partitions.tolist(), np.split(order, first[1:]), strict=True)) if len(order) else {}

    def in_order(self) -> list[int]:
        """Return all chunks, partition after partition."""
        order: list[int] = np.argsort(self._partition, kind="stable").tolist()
        return order

    def memory_of(self, chunks: Sequence[int] | NDArray[np.int64]) -> int:
        """Return the memory that chunks take when read."""
        return int(self._n_memory_bytes[np.asarray(chunks, np.int64)].sum())

    def rows_of(self, chunks: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of rows of each chunk."""
        counts: NDArray[np.int64] = self._n_rows[np.asarray(chunks, np.int64)]
        return counts

    def read(self, chunks: Sequence[int] | NDArray[np.int64]) -> Iterator[pa.Table]:
        """Yield chunks as tables. They are read, not mapped: mapped memory counts as memory of this process."""
        if len(chunks) == 0:
            return
        try:
            descriptor = os.open(self.path, os.O_RDONLY | PLAIN_FILE)
        except FileNotFoundError:
            raise _damaged(self.path) from None
        try:
            for chunk in chunks:
                data = _read_at(descriptor, int(self._n_bytes[chunk]), int(self._offset[chunk]))
                if self._is_from_before and zlib.crc32(data) != self._checksum[chunk]:
                    raise _damaged(self.path)
                yield pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        finally:
            os.close(descriptor)

    def read_table(self, chunks: Sequence[int] | NDArray[np.int64]) -> pa.Table:
        """Return chunks as one table."""
        return pa.concat_tables([self.schema.empty_table(), *self.read(chunks)])


class StageStore:
    """The stages of one run in a folder. `n_buffer_bytes` may wait in memory before being written.

    `disk` counts what is written; a stage that needs more than it allows raises ResourceError and stays unfinished.

    Calls must come in the same order in every run with the same inputs and settings; finished stages of an earlier run are then
    reused.
    """

    def __init__(self, folder: Path, n_buffer_bytes: int, disk: DiskBudget | None = None) -> None:
        self.folder = folder
        self.n_buffer_bytes = n_buffer_bytes
        self.disk = disk or DiskBudget()
        self._number = 0
        self._released: list[Path] = []
        self._kept: set[Path] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, stage: str, outputs: Mapping[str, pa.Schema]) -> FinishedStage | StageWriter:
        """Return the output of a stage if it was finished before, otherwise a writer for it."""
        self._number += 1
        name = f"{self._number:03d}-{stage}"
        manifest = self.folder / f"{name}{_MANIFEST}"
        if manifest.exists():
            table, metadata = _read_manifest(manifest)
            self.disk.take(name, manifest.stat().st_size)
            return self._finished(name, table, metadata, outputs, is_from_before=True)
        return StageWriter(self, name, outputs)

    def _finished(
        self, name: str, chunks: pa.Table, metadata: Mapping[str, Any], outputs: Mapping[str, pa.Schema], is_from_before: bool
    ) -> FinishedStage:
        tables = {}
        for tag, schema in outputs.items():
            file = ChunkFile(self.path_of(name, tag), schema, chunks.filter(pc.equal(chunks["tag"], tag)), is_from_before)
            weakref.finalize(file, self._released.append, file.path)
            if is_from_before:
                self.disk.take(name, file.n_bytes if file.path.exists() else 0)
            tables[tag] = PartedTable(tag, schema, file)
        return FinishedStage(tables, metadata)

    def keep(self, file: ChunkFile) -> None:
        """Keep the data of a table until the run ends: a resumed run may ask for it again."""
        self._kept.add(file.path)

    def end_stage(
        self, name: str, chunks: pa.Table, metadata: Mapping[str, Any], outputs: Mapping[str, pa.Schema]
    ) -> FinishedStage:
        """Record a stage as finished, and remove what no later call can ask for."""
        manifest = self.folder / f"{name}{_MANIFEST}"
        aside = manifest.with_name(manifest.name + ".part")
        table = chunks.replace_schema_metadata({"metadata": json.dumps(metadata)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        content = memoryview(sink.getvalue())
        try:
            with open(aside, "wb") as file:
                file.write(_CHECKSUM.pack(len(content), zlib.crc32(content)))
                file.write(content)
            self.disk.take(name, aside.stat().st_size)
            os.replace(aside, manifest)
        except OSError as error:
            raise no_room(self.folder, error) from error
        self.remove_released()
        return self._finished(name, chunks, metadata, outputs, is_from_before=False)

    def remove_released(self) -> None:
        """Remove the data of tables that are no longer in use. Called only when a stage is finished; see above."""
        while self._released:
            path = self._released.pop()
            if path not in self._kept and path.exists():
                self.disk.give_back(path.name.partition(".")[0], path.stat().st_size)
                path.unlink()

    def path_of(self, name: str, tag: str) -> Path:
        """Return the file of one tag of a stage."""
        return self.folder / f"{name}.{tag}{_DATA}"


class FinishedStage:
    """The output of a stage: tables by tag, and metadata."""

    def __init__(self, tables: dict[str, PartedTable], metadata: Mapping[str, Any]) -> None:
        self.tables = tables
        self.metadata = metadata


def _read_at(descriptor: int, n_bytes: int, offset: int) -> bytes | bytearray:
    """Return bytes of a file; the system returns at most two gigabytes at a time."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    data = os.read(descriptor, n_bytes)
    if len(data) == n_bytes:
        return data
    whole = bytearray(data)
    while len(whole) < n_bytes and (more := os.read(descriptor, n_bytes - len(whole))):
        whole += more
    return whole


def _read_manifest(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    try:
        whole = path.read_bytes()
        content = memoryview(whole)[_CHECKSUM.size :]
        if whole[: _CHECKSUM.size] != _CHECKSUM.pack(len(content), zlib.crc32(content)):
            raise ValueError("the checksum differs")
        with pa.ipc.open_file(pa.py_buffer(content)) as reader:
            table = reader.read_all()
        metadata: dict[str, Any] = json.loads(table.schema.metadata[b"metadata"])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(path) from error
    return table, metadata


def _damaged(path: Path) -> ResourceError:
    return ResourceError(
        f"{path} is damaged: it is not what the earlier run wrote", f"Run again with {given('overwrite', True)} instead."
    )
