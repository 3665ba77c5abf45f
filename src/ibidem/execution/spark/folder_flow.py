"""Mappers and reducers on Spark, where the folder for stages has a path: a disk of this machine, or one that all share.

Workers write what they send into files of that folder, and read from it what was sent to them, as the engine on disk does.
Spark starts the tasks and repeats lost ones, but no row passes through Java, and what lies in its partition is not moved again.
The driver knows how much each task has written. So a stage without rows is not run, and one with few rows is run in the driver:
what Spark takes to start a task would be all that it costs. Where the folder is on HDFS or in an object store, `SparkFlow` does
the same through Spark's own shuffle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ibidem.config.surface import as_spoken_here
from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.flow import Inputs, Mapper, PartedTable, Reducer, Sent, several
from ibidem.execution.layout import Layout
from ibidem.execution.spark.pieces import Piece, read_partitions, write_pieces
from ibidem.execution.spark.readers import without_scheme
from ibidem.execution.spark.session import SessionSettings, job_name
from ibidem.execution.spark.spark_flow import TASK_BYTES, spark_schema
from ibidem.execution.spark.worker_memory import keep_modules

_Pieces = Mapping[str, Sequence[Piece]]


@dataclass(frozen=True)
class _Stored:
    """A table: what each task of its stage has written of it."""

    pieces: tuple[Piece, ...]

    @property
    def n_bytes(self) -> int:
        return sum(piece.n_bytes for piece in self.pieces)

    @property
    def n_rows(self) -> int:
        return sum(piece.n_rows for piece in self.pieces)


class FolderFlow:
    """A flow on a Spark session. Stages are kept in `folder` during the run; all workers and the driver must reach it.

    `disk` counts what each stage has written there. A task gets at least `n_small_bytes` of work; a stage with less runs in
    this process.
    """

    n_small_bytes = 2 << 20

    def __init__(self, spark: Any, folder: str, layout: Layout, disk: DiskBudget | None = None) -> None:
        self.layout = layout
        self.n_partitions = layout.n_partitions
        self.n_task_bytes = TASK_BYTES
        self._spark = spark
        self._folder = without_scheme(folder)
        self.disk = disk or DiskBudget()
        self._stages: set[str] = set()

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a mapper over tables, or over the rows of data frames: `source.mapped` says how they are read."""
        if not isinstance(source, (PartedTable, list, tuple)):
            return self._map_frames(stage, source, mapper, outputs)

        def work(read: _Read) -> Iterable[Sent]:
            return mapper(table for _, rows in read for _, table in rows)

        return self._run(stage, {"": several(source)}, work, outputs)

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a reducer over every partition that rows were sent to."""
        named = {name: several(given) for name, given in inputs.items()}
        schemas = {name: table.schema for name, tables in named.items() for table in tables}

        def reduce(read: _Read) -> Iterator[Sent]:
            for partition, rows in read:
                found: dict[str, list[pa.Table]] = {name: [schema.empty_table()] for name, schema in schemas.items()}
                for name, table in rows:
                    found[name].append(table)
                yield from reducer(partition, {name: pa.concat_tables(found.pop(name)) for name in schemas})

        return self._run(stage, named, reduce, outputs)

    def collect(self, table: PartedTable) -> pa.Table:
        """Return all rows of small tables."""
        return pa.concat_tables([table.schema.empty_table(), *self._tables(table)])

    def count(self, table: PartedTable) -> int:
        """Return the number of rows, without reading them."""
        return 0 if table.handle is None else int(table.handle.n_rows)

    def frame(self, table: PartedTable, columns: Sequence[str]) -> Any:
        """Return columns of a table as a data frame, in the order of their partitions."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = spark_schema(table.schema, columns)
        pieces = _pieces_of({"": [table]})
        n_tasks, n_partitions = self._n_tasks(pieces), self.n_partitions

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number in (number for batch in batches for number in batch.column(0).to_pylist()):
                for _, rows in read_partitions(pieces, n_partitions, *_share(number, n_tasks, n_partitions)):
                    for _, part in rows:
                        yield from part.select(columns).cast(schema).combine_chunks().to_batches()

        return self._spark.range(0, n_tasks, 1, n_tasks).mapInArrow(run, from_arrow_schema(schema))

    def batches(self, table: PartedTable) -> Iterator[pa.RecordBatch]:
        """Yield all rows in the order of their partitions; this process gets one chunk at a time."""
        for part in self._tables(table):
            yield from part.combine_chunks().to_batches()

    def _tables(self, table: PartedTable) -> Iterator[pa.Table]:
        for _, rows in read_partitions(_pieces_of({"": [table]}), self.n_partitions, 0, self.n_partitions):
            yield from (part for _, part in rows)

    def _folder_of(self, stage: str) -> str:
        """Return the folder of a stage. Its name must be new: its files would replace those of another one."""
        if stage in self._stages:
            raise ValueError(f"there is a stage `{stage}` already")
        self._stages.add(stage)
        return f"{self._folder}/{stage}"

    def _n_tasks(self, pieces: _Pieces) -> int:
        """Return how many tasks are worth starting."""
        n_bytes = sum(piece.n_bytes for given in pieces.values() for piece in given)
        return max(1, min(self.n_partitions, n_bytes // self.n_small_bytes))

    def _run(
        self,
        stage: str,
        named: Mapping[str, Sequence[PartedTable]],
        work: Callable[[_Read], Iterable[Sent]],
        outputs: Mapping[str, pa.Schema],
    ) -> dict[str, PartedTable]:
        """Run a stage over stored tables: each task reads some of the partitions."""
        pieces = _pieces_of(named)
        if not any(pieces.values()):
            return self._stored(stage, [], outputs)
        n_tasks, n_partitions = self._n_tasks(pieces), self.n_partitions
        n_bytes = sum(piece.n_bytes for given in pieces.values() for piece in given)
        folder = self._folder_of(stage)

        def run(number: int, task: str) -> dict[str, Piece]:
            read = read_partitions(pieces, n_partitions, *_share(number, n_tasks, n_partitions))
            return write_pieces(folder, task, work(read), outputs, n_partitions)

        if n_bytes < self.n_small_bytes:
            return self._stored(stage, [run(0, "here")], outputs)

        @as_spoken_here
        def run_some(numbers: Iterator[int]) -> Iterator[dict[str, Piece]]:
            keep_modules()
            for number in numbers:
                yield run(number, _attempt())

        context = self._spark.sparkContext
        with job_name(context, stage):
            return self._stored(stage, context.parallelize(range(n_tasks), n_tasks).mapPartitions(run_some).collect(), outputs)

    def _map_frames(
        self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]
    ) -> dict[str, PartedTable]:
        """Run a mapper over the rows that Spark, or a reader in the workers, reads."""
        folder, n_partitions, written = self._folder_of(stage), self.n_partitions, {**outputs, **source.outputs}

        def on_rows(read: Mapper) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
            def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                keep_modules()
                found = write_pieces(folder, _attempt(), read(batches), written, n_partitions)
                yield _as_rows(found)

            return run

        found: list[dict[str, Piece]] = []
        with SessionSettings(self._spark, for_rows=True), job_name(self._spark.sparkContext, stage):
            for frame, read in source.mapped(mapper):
                rows = frame.mapInArrow(on_rows(read), _PIECE).collect()
                found += [{row.tag: Piece(row.path, row.n_bytes, row.n_rows)} for row in rows]
        stored = self._stored(stage, found, written)
        source.after_reading(self, stored)
        return stored

    def _stored(
        self, stage: str, written: Sequence[Mapping[str, Piece]], outputs: Mapping[str, pa.Schema]
    ) -> dict[str, PartedTable]:
        tables = {}
        for tag, schema in outputs.items():
            pieces = tuple(of_task[tag] for of_task in written if tag in of_task)
            tables[tag] = PartedTable(tag, schema, _Stored(pieces) if pieces else None)
        self.disk.take(stage, sum(table.handle.n_bytes for table in tables.values() if table.handle is not None))
        return tables


_Read = Iterator[tuple[int, Iterator[tuple[str, pa.Table]]]]
_PIECE = "tag string, path string, n_bytes long, n_rows long"
_PIECE_TYPES = pa.schema([("tag", pa.string()), ("path", pa.string()), ("n_bytes", pa.int64()), ("n_rows", pa.int64())])


def _as_rows(pieces: Mapping[str, Piece]) -> pa.RecordBatch:
    rows = [{"tag": tag, **vars(piece)} for tag, piece in pieces.items()]
    return pa.RecordBatch.from_pylist(rows, schema=_PIECE_TYPES)


def _pieces_of(named: Mapping[str, Sequence[PartedTable]]) -> dict[str, list[Piece]]:
    return {
        name: [piece for table in tables if table.handle is not None for piece in table.handle.pieces]
        for name, tables in named.items()
    }


def _share(number: int, n_tasks: int, n_partitions: int) -> tuple[int, int]:
    """Return the partitions of a task, from the first to behind the last."""
    return number * n_partitions // n_tasks, (number + 1) * n_partitions // n_tasks


def _attempt() -> str:
    """Return a name that no other attempt at a task has."""
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return f"{context.partitionId():06d}-{context.taskAttemptId()}"
