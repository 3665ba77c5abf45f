"""What the tasks of a stage write into a folder that all workers reach, and how later tasks read their partitions of it.

A *piece* is what one task wrote of one table: chunks, each for one partition, as on disk (`execution/disk/stage_writer.py`),
and behind them an index, in which a reader finds the chunks of its partitions with one seek. So a task reads what was sent to
it, however many tasks and partitions there are, and the driver only knows the names of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.config.surface import named
from ibidem.errors import ResourceError
from ibidem.execution.disk.stage_store import FinishedStage, StageStore
from ibidem.execution.disk.stage_writer import StageWriter
from ibidem.execution.disk_limit import no_room
from ibidem.execution.flow import PartedTable, Sent
from ibidem.execution.operating_system import read_at

_BUFFER_BYTES = 64 << 20  # of a task's output wait in memory, so that few chunks go to each partition
_ENTRY = ("offset", "n_bytes")  # in the index, for each chunk


@dataclass(frozen=True)
class Piece:
    """What one task wrote of one table: its file, the bytes of its chunks, which the index follows, and their rows."""

    path: str
    n_bytes: int
    n_rows: int


def write_pieces(
    folder: str, task: str, sent: Iterable[Sent], outputs: Mapping[str, pa.Schema], n_partitions: int
) -> dict[str, Piece]:
    """Write what a task sends, and return the piece of each table that has rows. `task` is unique in the folder."""
    store = _Pieces(Path(folder), n_partitions)
    writer = StageWriter(store, task, outputs)
    try:
        for one in sent:
            writer.add(one)
            del one
        finished = writer.finish()
    finally:
        writer.close()
    return {tag: table.handle for tag, table in finished.tables.items() if table.handle is not None}


def read_partitions(
    tables: Mapping[str, Sequence[Piece]], n_partitions: int, begin: int, end: int
) -> Iterator[tuple[int, Iterator[tuple[str, pa.Table]]]]:
    """Yield each partition from `begin` to `end` that has rows, with its chunks and the names of their tables.

    The chunks of a table come in the order of its pieces, and in the order in which they were sent.
    """
    found: dict[int, list[tuple[str, str, int, int]]] = {}
    for name, pieces in tables.items():
        for piece in pieces:
            firsts, entries = _index(piece, n_partitions, begin, end)
            for number in np.flatnonzero(np.diff(firsts)).tolist():
                for offset, n_bytes in entries[firsts[number] : firsts[number + 1]].tolist():
                    found.setdefault(begin + number, []).append((name, piece.path, offset, n_bytes))
    for partition in sorted(found):
        yield partition, _chunks(found.pop(partition))


class _Pieces(StageStore):
    """A store for the output of one task."""

    def __init__(self, folder: Path, n_partitions: int) -> None:
        # Not the folders above it: they are gone if the run has ended, and not there if the workers do not share them.
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except FileNotFoundError as error:
            raise ResourceError(
                f"there is no folder {folder.parent}", f"All workers must reach the folder of {named('tmp_dir')}."
            ) from error
        super().__init__(folder, _BUFFER_BYTES)
        self._n_partitions = n_partitions

    def end_stage(
        self, name: str, chunks: pa.Table, metadata: Mapping[str, Any], outputs: Mapping[str, pa.Schema]
    ) -> FinishedStage:
        """Write the indexes behind the chunks."""
        tables = {}
        for tag, schema in outputs.items():
            of_table = chunks.filter(pc.equal(chunks["tag"], tag))
            piece = self._indexed(self.path_of(name, tag), of_table) if of_table.num_rows else None
            tables[tag] = PartedTable(tag, schema, piece)
        return FinishedStage(tables, metadata)

    def _indexed(self, path: Path, chunks: pa.Table) -> Piece:
        partitions = chunks["partition"].to_numpy()
        order = np.argsort(partitions, kind="stable")
        firsts = np.searchsorted(partitions[order], np.arange(self._n_partitions + 1))
        entries = np.stack([chunks[name].to_numpy()[order] for name in _ENTRY], axis=1)
        n_bytes = int(entries[:, 1].sum())
        try:
            with open(path, "ab") as file:
                file.write(firsts.astype(np.int64).tobytes())
                file.write(entries.tobytes())
        except OSError as error:
            raise no_room(self.folder, error) from error
        return Piece(str(path), n_bytes, int(pc.sum(chunks["n_rows"]).as_py()))


def _index(piece: Piece, n_partitions: int, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the chunks of each partition begin among those of the partitions asked for, and these chunks."""
    with open(piece.path, "rb", buffering=0) as file:
        firsts = _numbers(file.fileno(), end + 1 - begin, piece.n_bytes + 8 * begin)
        behind = piece.n_bytes + 8 * (n_partitions + 1)
        n_chunks = int(firsts[-1] - firsts[0])
        entries = _numbers(file.fileno(), len(_ENTRY) * n_chunks, behind + 8 * len(_ENTRY) * int(firsts[0]))
    return firsts - firsts[0], entries.reshape(-1, len(_ENTRY))


def _chunks(places: Sequence[tuple[str, str, int, int]]) -> Iterator[tuple[str, pa.Table]]:
    last, file = "", None
    try:
        for name, path, offset, n_bytes in places:
            if file is None or path != last:
                if file is not None:
                    file.close()
                last, file = path, open(path, "rb", buffering=0)  # noqa: SIM115  (several chunks in a row are of one file)
            yield name, pa.ipc.open_stream(pa.py_buffer(_bytes(file.fileno(), n_bytes, offset))).read_all()
    finally:
        if file is not None:
            file.close()


def _numbers(descriptor: int, count: int, offset: int) -> NDArray[np.int64]:
    return np.frombuffer(_bytes(descriptor, 8 * count, offset), np.int64)


def _bytes(descriptor: int, n_bytes: int, offset: int) -> bytes | bytearray:
    """Return bytes of a file; the system returns at most two gigabytes at a time."""
    data = read_at(descriptor, n_bytes, offset)
    if len(data) == n_bytes:
        return data
    whole = bytearray(data)
    while len(whole) < n_bytes and (more := read_at(descriptor, n_bytes - len(whole), offset + len(whole))):
        whole += more
    if len(whole) < n_bytes:
        raise OSError("a file in the folder for stages is shorter than it was when it was written")
    return whole
