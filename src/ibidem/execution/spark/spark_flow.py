"""Mappers and reducers on Spark: blocks are rows of bytes, which Spark moves and stores without looking into them.

A row that Spark takes apart costs about a microsecond each way; a block of a thousand rows costs the same. So Arrow cuts and
joins tables in the Python workers, and Spark only brings each block to its partition. The output of a stage is written to the
work folder: no later stage computes it again, and a lost worker costs only its tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce as fold
from typing import Any

import pyarrow as pa

from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.flow import Inputs, Mapper, PartedTable, Reducer, Sent, pieces
from ibidem.execution.layout import Layout
from ibidem.execution.spark.session import SessionSettings, escaped, list_sizes

_BLOCK_SCHEMA = "tag string, route int, n_rows long, n_before long, payload binary"
_NUMBERS = [("route", pa.int32()), ("n_rows", pa.int64()), ("n_before", pa.int64())]
_BLOCK = pa.schema([("tag", pa.string()), *_NUMBERS, ("payload", pa.binary())])
_MOST_BATCH_BYTES = 16 << 20
_TASK_BYTES = 128 << 20  # little compared with the memory of any worker


class SparkFlow:
    """A flow on a Spark session. Stages are kept in `folder` during the run; all workers must reach it.

    `disk`, if given, counts what each stage has written there.
    """

    def __init__(self, spark: Any, folder: str, layout: Layout, disk: DiskBudget | None = None) -> None:
        self.layout = layout
        self.n_partitions = layout.n_partitions
        self.n_task_bytes = _TASK_BYTES
        self._spark = spark
        self._folder = folder
        self._disk = disk
        self._routes = _routes(layout.n_partitions)

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a mapper over tables, or over the rows of data frames: `source.mapped` says how they are read."""
        routes = self._routes
        if isinstance(source, (PartedTable, list, tuple)):
            stored = _union([self._frame(table) for table in ([source] if isinstance(source, PartedTable) else source)])

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
        schemas: dict[str, pa.Schema] = {}
        frames = []
        for name, given in inputs.items():
            for table in [given] if isinstance(given, PartedTable) else given:
                schemas[name] = table.schema
                frames.append(self._frame(table).withColumn("tag", functions.lit(name)))

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return _encoded(_reduced(batches, reducer, schemas, routes), routes)

        together = _union(frames).repartition(self.n_partitions, "route").mapInArrow(run, _BLOCK_SCHEMA)
        return self._store(stage, together, outputs)

    def collect(self, table: PartedTable) -> pa.Table:
        """Return all rows of small tables."""
        rows = self._frame(table).select("payload").collect()
        return pa.concat_tables([table.schema.empty_table(), *(_decode_bytes(row.payload) for row in rows)])

    def count(self, table: PartedTable) -> int:
        """Return the number of rows, without reading them."""
        return int(self._frame(table).groupBy().sum("n_rows").first()[0] or 0)

    def frame(self, table: PartedTable, columns: Sequence[str]) -> Any:
        """Return columns of a table as a data frame, in the order of their partitions."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = pa.schema([(name, _spark_type(table.schema.field(name).type)) for name in columns])

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
        return self._frame(table).repartition(self.n_partitions, "route").sortWithinPartitions("n_before")

    def _frame(self, table: PartedTable) -> Any:
        if table.handle is None:
            return self._spark.createDataFrame([], _BLOCK_SCHEMA)
        frame = self._spark.read.schema(_BLOCK_SCHEMA).parquet(escaped(table.handle))
        return frame.where(frame.tag == table.name)

    def _store(self, stage: str, frame: Any, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        path = f"{self._folder}/{stage}"
        context = self._spark.sparkContext
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(f"ibidem: {stage}")
        writer = frame.write.partitionBy("tag").option("compression", "lz4_raw").option("parquet.enable.dictionary", "false")
        try:
            writer.parquet(path)
        finally:
            context.setLocalProperty("spark.job.description", before)
        if self._disk is not None:
            self._disk.take(stage, sum(list_sizes(self._spark, path).values()))
        return {tag: PartedTable(tag, schema, path) for tag, schema in outputs.items()}


class _BlockWriter:
    """Collects blocks for one batch of rows; their bytes are in one buffer."""

    def __init__(self) -> None:
        self._tags: list[str] = []
        self._routes: list[int] = []
        self._n_rows: list[int] = []
        self._n_before: list[int] = []
        self._ends = [0]
        self._sink = pa.BufferOutputStream()

    @property
    def n_bytes(self) -> int:
        return self._ends[-1]

    def add(self, tag: str, route: int, n_before: int, table: pa.Table) -> None:
        with pa.ipc.new_stream(self._sink, table.schema) as writer:
            writer.write_table(table)
        self._tags.append(tag)
        self._routes.append(route)
        self._n_rows.append(table.num_rows)
        self._n_before.append(n_before)
        self._ends.append(self._sink.tell())

    def batch(self) -> pa.RecordBatch:
        ends = pa.array(self._ends, pa.int32()).buffers()[1]
        payloads = pa.BinaryArray.from_buffers(pa.binary(), len(self._tags), [None, ends, self._sink.getvalue()])
        columns = [self._tags, self._routes, self._n_rows, self._n_before]
        columns = [pa.array(column, kind) for column, kind in zip(columns, _BLOCK.types, strict=False)]
        return pa.RecordBatch.from_arrays([*columns, payloads], schema=_BLOCK)


def _union(frames: list[Any]) -> Any:
    return fold(lambda one, other: one.unionByName(other), frames)


def _encoded(emitted: Iterable[Sent], routes: list[int]) -> Iterator[pa.RecordBatch]:
    blocks = _BlockWriter()
    n_before: dict[str, int] = {}  # earlier output of a task under a tag: reducers that yield rows in order keep the order
    for one in emitted:
        for partition, table in pieces(one):
            blocks.add(one.table, routes[partition], n_before.get(one.table, 0), table)
            n_before[one.table] = n_before.get(one.table, 0) + table.num_rows
            if blocks.n_bytes > _MOST_BATCH_BYTES:
                yield blocks.batch()
                blocks = _BlockWriter()
    if blocks.n_bytes:
        yield blocks.batch()


def _reduced(
    batches: Iterator[pa.RecordBatch], reducer: Reducer, schemas: Mapping[str, pa.Schema], routes: list[int]
) -> Iterator[Sent]:
    found: dict[int, dict[str, list[pa.Table]]] = {}
    for batch in batches:
        tags, numbers, blocks = batch.column("tag"), batch.column("route"), batch.column("payload")
        for tag, number, block in zip(tags.to_pylist(), numbers.to_pylist(), blocks, strict=True):
            found.setdefault(number, {}).setdefault(tag, []).append(_decode(block))
    places = {route: number for number, route in enumerate(routes)}
    for number in sorted(found, key=places.__getitem__):
        tables = found.pop(number)
        whole = {name: pa.concat_tables([schema.empty_table(), *tables.pop(name, ())]) for name, schema in schemas.items()}
        yield from reducer(places[number], whole)


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
