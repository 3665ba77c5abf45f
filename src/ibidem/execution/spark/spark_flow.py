"""Mappers and reducers on Spark: blocks are rows of bytes, which Spark moves and stores without looking into them.

A row that Spark takes apart costs about a microsecond each way; a block of a thousand rows costs the same. So Arrow cuts and
joins tables in the Python workers, and Spark only brings each block to its partition. The output of a stage is written to the
work folder: no later stage computes it again, and a lost worker costs only its tasks.

Many stages of a run have next to nothing to do, and what Spark takes to start a task is then all that they cost. So a stage
without rows is not run, and a small one runs in as few tasks as its bytes need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce as fold
from typing import Any

import pyarrow as pa

from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.flow import Inputs, Mapper, PartedTable, Reducer, Sent, pieces, several
from ibidem.execution.layout import Layout
from ibidem.execution.spark.session import SessionSettings, escaped, folder_sizes, job_name
from ibidem.execution.spark.worker_memory import keep_modules

_STORED_SCHEMA = "route int, partition int, n_rows long, n_before long, payload binary"
_BLOCK_SCHEMA = f"tag string, {_STORED_SCHEMA}"
_NUMBERS = [("route", pa.int32()), ("partition", pa.int32()), ("n_rows", pa.int64()), ("n_before", pa.int64())]
_BLOCK = pa.schema([("tag", pa.string()), *_NUMBERS, ("payload", pa.binary())])
_MOST_BATCH_BYTES = 16 << 20
TASK_BYTES = 128 << 20  # little compared with the memory of any worker
_SMALL_TASK_BYTES = 2 << 20  # a task with less takes as long to start as to run


@dataclass(frozen=True)
class _Stored:
    """Where a table is stored, and the bytes of its files."""

    path: str
    n_bytes: int


class SparkFlow:
    """A flow on a Spark session. Stages are kept in `folder` during the run; all workers must reach it.

    `disk`, if given, counts what each stage has written there.
    """

    def __init__(self, spark: Any, folder: str, layout: Layout, disk: DiskBudget | None = None) -> None:
        self.layout = layout
        self.n_partitions = layout.n_partitions
        self.n_task_bytes = TASK_BYTES
        self._spark = spark
        self._folder = folder
        self._disk = disk
        self._routes = _routes(layout.n_partitions)

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a mapper over tables, or over the rows of data frames: `source.mapped` says how they are read."""
        routes = self._routes
        if isinstance(source, (PartedTable, list, tuple)):
            tables = _with_rows(several(source))
            if not tables:
                return _nothing(outputs)
            stored = _union([self._frame(table) for table in tables])
            if _n_tasks(tables) == 1:
                stored = stored.coalesce(1)

            def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                return _encoded(mapper(_decode(block) for batch in batches for block in batch.column("payload")), routes)

            return self._store(stage, stored.mapInArrow(run, _BLOCK_SCHEMA), outputs)

        def on_rows(read: Mapper) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
            return lambda batches: _encoded(read(batches), routes)

        frames = [frame.mapInArrow(on_rows(read), _BLOCK_SCHEMA) for frame, read in source.mapped(mapper)]
        with SessionSettings(self._spark, for_rows=True):
            stored = self._store(stage, _union(frames), {**outputs, **source.outputs})
        source.after_reading(self, stored)
        return stored

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a reducer over every partition that rows were sent to."""
        from pyspark.sql import functions

        routes = self._routes
        named = {name: several(given) for name, given in inputs.items()}
        schemas = {name: table.schema for name, tables in named.items() for table in tables}
        stored = [(name, table) for name, tables in named.items() for table in _with_rows(tables)]
        if not stored:
            return _nothing(outputs)
        n_tasks = min(self.n_partitions, _n_tasks([table for _, table in stored]))
        together = _union([self._frame(table).withColumn("tag", functions.lit(name)) for name, table in stored])
        together = together.coalesce(1) if n_tasks == 1 else together.repartition(n_tasks, "route")

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return _encoded(_reduced(batches, reducer, schemas), routes)

        return self._store(stage, together.mapInArrow(run, _BLOCK_SCHEMA), outputs)

    def collect(self, table: PartedTable) -> pa.Table:
        """Return all rows of small tables."""
        if table.handle is None:
            return table.schema.empty_table()
        rows = self._frame(table).select("payload").collect()
        return pa.concat_tables([table.schema.empty_table(), *(_decode_bytes(row.payload) for row in rows)])

    def count(self, table: PartedTable) -> int:
        """Return the number of rows, without reading them."""
        return 0 if table.handle is None else int(self._frame(table).groupBy().sum("n_rows").first()[0] or 0)

    def frame(self, table: PartedTable, columns: Sequence[str]) -> Any:
        """Return columns of a table as a data frame, in the order of their partitions."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = spark_schema(table.schema, columns)

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for table in (_decode(block) for batch in batches for block in batch.column("payload")):
                yield from table.select(columns).cast(schema).combine_chunks().to_batches()

        return self._in_order(table).mapInArrow(run, from_arrow_schema(schema))

    def batches(self, table: PartedTable) -> Iterator[pa.RecordBatch]:
        """Yield all rows in the order of their partitions; this process gets one partition at a time."""
        with SessionSettings(self._spark):  # Spark plans its reads here; the user's settings are restored between batches
            rows = self._in_order(table).select("payload").toLocalIterator()
        for row in rows:
            yield from _decode_bytes(row.payload).combine_chunks().to_batches()

    def _in_order(self, table: PartedTable) -> Any:
        frame = self._frame(table)
        if table.handle is None or _n_tasks([table]) == 1:
            return frame.coalesce(1).sortWithinPartitions("partition", "n_before")
        return frame.repartition(self.n_partitions, "route").sortWithinPartitions("n_before")

    def _frame(self, table: PartedTable) -> Any:
        if table.handle is None:
            return self._spark.createDataFrame([], _STORED_SCHEMA)
        return self._spark.read.schema(_STORED_SCHEMA).parquet(escaped(table.handle.path))

    def _store(self, stage: str, frame: Any, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        path = f"{self._folder}/{stage}"
        writer = frame.write.partitionBy("tag").option("compression", "lz4_raw").option("parquet.enable.dictionary", "false")
        with job_name(self._spark.sparkContext, stage):
            writer.parquet(path)
        stored = folder_sizes(self._spark, path)
        if self._disk is not None:
            self._disk.take(stage, sum(stored.values()))
        handles = {name: _Stored(f"{path}/{name}", n_bytes) for name, n_bytes in stored.items()}
        return {tag: PartedTable(tag, schema, handles.get(f"tag={tag}")) for tag, schema in outputs.items()}


class _BlockWriter:
    """Collects blocks for one batch of rows; their bytes are in one buffer."""

    def __init__(self) -> None:
        self._tags: list[str] = []
        self._routes: list[int] = []
        self._partitions: list[int] = []
        self._n_rows: list[int] = []
        self._n_before: list[int] = []
        self._ends = [0]
        self._sink = pa.BufferOutputStream()

    @property
    def n_bytes(self) -> int:
        return self._ends[-1]

    def add(self, tag: str, route: int, partition: int, n_before: int, table: pa.Table) -> None:
        with pa.ipc.new_stream(self._sink, table.schema) as writer:
            writer.write_table(table)
        self._tags.append(tag)
        self._routes.append(route)
        self._partitions.append(partition)
        self._n_rows.append(table.num_rows)
        self._n_before.append(n_before)
        self._ends.append(self._sink.tell())

    def batch(self) -> pa.RecordBatch:
        ends = pa.array(self._ends, pa.int32()).buffers()[1]
        payloads = pa.BinaryArray.from_buffers(pa.binary(), len(self._tags), [None, ends, self._sink.getvalue()])
        columns = [self._tags, self._routes, self._partitions, self._n_rows, self._n_before]
        columns = [pa.array(column, kind) for column, kind in zip(columns, _BLOCK.types, strict=False)]
        return pa.RecordBatch.from_arrays([*columns, payloads], schema=_BLOCK)


def _with_rows(tables: Sequence[PartedTable]) -> list[PartedTable]:
    return [table for table in tables if table.handle is not None]


def _nothing(outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
    """Return what a stage gives that has no rows to work on."""
    return {tag: PartedTable(tag, schema) for tag, schema in outputs.items()}


def _n_tasks(tables: Sequence[PartedTable]) -> int:
    """Return how many tasks are worth starting for these tables."""
    n_bytes = sum(int(table.handle.n_bytes) for table in tables)
    return max(1, n_bytes // _SMALL_TASK_BYTES)


def _union(frames: list[Any]) -> Any:
    return fold(lambda one, other: one.unionByName(other), frames)


def _encoded(emitted: Iterable[Sent], routes: list[int]) -> Iterator[pa.RecordBatch]:
    keep_modules()
    blocks = _BlockWriter()
    n_before: dict[str, int] = {}  # earlier output of a task under a tag: reducers that yield rows in order keep the order
    for one in emitted:
        for partition, table in pieces(one):
            blocks.add(one.table, routes[partition], partition, n_before.get(one.table, 0), table)
            n_before[one.table] = n_before.get(one.table, 0) + table.num_rows
            if blocks.n_bytes > _MOST_BATCH_BYTES:
                yield blocks.batch()
                blocks = _BlockWriter()
    if blocks.n_bytes:
        yield blocks.batch()


def _reduced(
    batches: Iterator[pa.RecordBatch], reducer: Reducer, schemas: Mapping[str, pa.Schema]
) -> Iterator[Sent]:
    found: dict[int, dict[str, list[pa.Table]]] = {}
    for batch in batches:
        tags, numbers, blocks = batch.column("tag"), batch.column("partition"), batch.column("payload")
        for tag, number, block in zip(tags.to_pylist(), numbers.to_pylist(), blocks, strict=True):
            found.setdefault(number, {}).setdefault(tag, []).append(_decode(block))
    for number in sorted(found):
        tables = found.pop(number)
        whole = {name: pa.concat_tables([schema.empty_table(), *tables.pop(name, ())]) for name, schema in schemas.items()}
        yield from reducer(number, whole)


def spark_schema(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    """Return some columns of a schema in types that Spark has."""
    return pa.schema([(name, _spark_type(schema.field(name).type)) for name in columns])


def _spark_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type that Spark has for one of our types."""
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(_spark_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _spark_type(field.type)) for field in kind])
    return kind


def _decode(block: pa.Scalar) -> pa.Table:
    return pa.ipc.open_stream(block.as_buffer()).read_all()


def _decode_bytes(payload: bytes) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(bytes(payload))).read_all()


def _routes(n_partitions: int) -> list[int]:
    """Return for each partition a number that Spark's `repartition` sends there: one task per partition, none empty."""
    routes = [-1] * n_partitions
    left, number = n_partitions, 0
    while left:
        place = _spark_hash(number) % n_partitions
        if routes[place] < 0:
            routes[place] = number
            left -= 1
        number += 1
    return routes


def _spark_hash(value: int) -> int:
    """Return Spark's hash of an int: Murmur3 with seed 42, as a signed number."""
    mask = 0xFFFFFFFF
    word = value * 0xCC9E2D51 & mask
    word = (word << 15 | word >> 17) & mask
    h = 42 ^ word * 0x1B873593 & mask
    h = (h << 13 | h >> 19) & mask
    h = (h * 5 + 0xE6546B64) & mask
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h
