"""Mappers and reducers on this machine, over stages on disk: only a few partitions are in memory at a time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from ibidem.execution.disk.stage_store import ChunkFile, FinishedStage, StageStore
from ibidem.execution.disk.stage_writer import StageWriter
from ibidem.execution.flow import Inputs, Mapper, PartedTable, Reducer, Sent, several
from ibidem.execution.layout import Layout
from ibidem.execution.memory import give_back_memory, used_memory
from ibidem.execution.progress import Progress, Step

_TASK_BYTES = 24 << 20  # of a mapper: enough to combine many equal rows, and small compared with a partition
# The memory of a task, as a multiple of its input, which it sorts, splits and joins again.
_TIMES_ITS_INPUT = 6
_LOOK_SECONDS = 0.2


class DiskFlow:
    """A flow over the stages of a store. `n_task_bytes` is the memory that tasks may use together; one that needs more runs
    alone.

    Above `n_wanted_bytes`, freed memory is returned to the system from time to time, as tasks emit tables. If another task
    could push the process above `n_most_bytes`, it waits until there is room or until no other task runs.
    """

    def __init__(
        self,
        store: StageStore,
        layout: Layout,
        workers: int,
        n_task_bytes: int,
        progress: Progress,
        n_wanted_bytes: int = sys.maxsize,
        n_most_bytes: int = sys.maxsize,
    ) -> None:
        self.layout = layout
        self.n_partitions = layout.n_partitions
        self.store = store
        self._workers = workers
        self.n_task_bytes = n_task_bytes
        self._n_wanted_bytes = n_wanted_bytes
        self._n_most_bytes = n_most_bytes
        self._progress = progress

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a mapper over the chunks of a table, or of several."""
        files = [table.handle for table in several(source) if table.handle is not None]

        def tasks() -> Iterator[_Task]:
            for file, chunks in _grouped(files):
                yield _Task(file.memory_of(chunks), partial(_map, mapper, file, chunks))

        return self._run(stage, tasks(), outputs)

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a reducer over every partition that rows were sent to."""
        named = [(name, table) for name, given in inputs.items() for table in several(given)]
        schemas = {name: table.schema for name, table in named}
        files = [(name, table.handle) for name, table in named if table.handle is not None]
        partitions = sorted({partition for _, file in files for partition in file.by_partition})

        def read(partition: int) -> dict[str, pa.Table]:
            found: dict[str, list[pa.Table]] = {name: [schema.empty_table()] for name, schema in schemas.items()}
            for name, file in files:
                found[name].extend(file.read(file.by_partition.get(partition, ())))
            return {name: pa.concat_tables(tables) for name, tables in found.items()}

        def reduce(partition: int) -> Iterable[Sent]:
            return reducer(partition, read(partition))

        def tasks() -> Iterator[_Task]:
            for partition in partitions:
                size = sum(file.memory_of(file.by_partition.get(partition, ())) for _, file in files)
                yield _Task(size, partial(reduce, partition))

        return self._run(stage, tasks(), outputs)

    def count(self, table: PartedTable) -> int:
        """Return the number of rows, without reading them."""
        return 0 if table.handle is None else table.handle.n_rows

    def collect(self, table: PartedTable) -> pa.Table:
        """Return all rows of small tables, partition after partition."""
        if table.handle is None:
            return table.schema.empty_table()
        self.store.keep(table.handle)
        return table.handle.read_table(table.handle.in_order())

    def _run(self, stage: str, tasks: Iterator[_Task], outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        begun = self.store.begin(stage, outputs)
        if isinstance(begun, FinishedStage):
            return begun.tables
        begin = time.perf_counter()
        runner = _Runner(begun, self._workers, self.n_task_bytes, self._n_wanted_bytes, self._n_most_bytes)
        try:
            n_read = runner.run(tasks)
            finished = begun.finish()
        finally:
            begun.close()
        if used_memory() > self._n_wanted_bytes:
            give_back_memory()
        self._progress.add_step(Step(stage, time.perf_counter() - begin, n_read, begun.n_bytes, self.store.disk.n_bytes_now))
        self._progress.use(**self.store.disk.used())
        return finished.tables


@dataclass(frozen=True)
class _Task:
    n_bytes: int
    run: Callable[[], Iterable[Sent]]


class _Runner:
    """Runs tasks in parallel as far as their memory allows. The first error ends them all."""

    def __init__(self, writer: StageWriter, workers: int, n_task_bytes: int, n_wanted_bytes: int, n_most_bytes: int) -> None:
        self._writer = writer
        self._workers = workers
        self._n_task_bytes = n_task_bytes
        self._n_wanted_bytes = n_wanted_bytes
        self._n_most_bytes = n_most_bytes
        self._changed = threading.Condition()
        self._n_running = self._n_held = 0
        self._next_look_seconds = 0.0
        self._error: BaseException | None = None

    def run(self, tasks: Iterator[_Task]) -> int:
        """Run all tasks; return the size of their inputs in bytes."""
        n_read = 0
        if self._workers == 1:
            for task in tasks:
                n_read += task.n_bytes
                for emitted in task.run():
                    self._take(emitted)
                    del emitted
            return n_read
        with ThreadPoolExecutor(self._workers, thread_name_prefix="ibidem") as pool:
            try:
                for task in tasks:
                    cost = _TIMES_ITS_INPUT * task.n_bytes
                    with self._changed:
                        while not self._fits(cost):
                            self._changed.wait(_LOOK_SECONDS)  # memory is freed without notification
                        if self._error is not None:
                            break
                        self._n_running += 1
                        self._n_held += cost
                    n_read += task.n_bytes
                    pool.submit(self._do, task, cost)
                with self._changed:  # not left to the pool: tasks would not notice an interruption
                    while self._n_running:
                        self._changed.wait()
            except BaseException as error:
                self._error = error  # tasks check it and stop
                raise
        if self._error is not None:
            raise self._error
        return n_read

    def _fits(self, cost: int) -> bool:
        if self._error is not None or self._n_running == 0:
            return True
        if self._n_running >= self._workers or self._n_held + cost > self._n_task_bytes:
            return False
        # Running tasks may have taken more than expected.
        if used_memory() + cost > self._n_most_bytes:
            give_back_memory()
        return used_memory() + cost <= self._n_most_bytes

    def _take(self, emitted: Sent) -> None:
        self._writer.add(emitted)
        # Memory that tasks free is fragmented and not returned automatically. Returning it takes a while.
        if time.monotonic() >= self._next_look_seconds and used_memory() > self._n_wanted_bytes:
            give_back_memory()
            pause = 1.0 if used_memory() > self._n_wanted_bytes else 0.1
            self._next_look_seconds = time.monotonic() + pause

    def _do(self, task: _Task, cost: int) -> None:
        try:
            for emitted in task.run():
                if self._error is not None:
                    break
                self._take(emitted)
                del emitted
        except BaseException as error:
            self._error = self._error or error
        finally:
            with self._changed:
                self._n_running -= 1
                self._n_held -= cost
                self._changed.notify()


def _map(mapper: Mapper, file: ChunkFile, chunks: Sequence[int]) -> Iterable[Sent]:
    return mapper(file.read(chunks))


def _grouped(files: Sequence[ChunkFile]) -> Iterator[tuple[ChunkFile, list[int]]]:
    """Yield groups of adjacent chunks, up to the size of a task."""
    for file in files:
        chunks: list[int] = []
        n_bytes = 0
        for chunk in file.in_order():
            size = file.memory_of([chunk])
            if chunks and n_bytes + size > _TASK_BYTES:
                yield file, chunks
                chunks, n_bytes = [], 0
            chunks.append(chunk)
            n_bytes += size
        if chunks:
            yield file, chunks
