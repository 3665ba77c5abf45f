"""How data flows from stage to stage: as one part in memory, or in many partitions on disk or on Spark.

Stages pass `Parts` to one another. In memory, a part is the object itself, and a stage calls its core. In partitions, a part is
tables, and a stage calls its exchange: *mappers*, which see batches in any grouping, and *reducers*, which see everything that
was sent to one partition, in any order of rows. Both must give the same rows however often they run: a lost task runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.execution.disk_limit import DiskBudget
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import RunTasks, at_once

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
MOST_BLOCK_BYTES = 4 << 20  # engines have many blocks in memory at a time, some of them twice
_MOST_ORDERED_BYTES = 32 << 20  # sorting takes twice the memory


@dataclass(frozen=True)
class Sent:
    """Rows of a table, and the partition that each row (or all of them) is sent to."""

    table: str
    rows: pa.Table
    to: NDArray[np.int64] | int


@dataclass(frozen=True)
class PartedTable:
    """A table made by a stage, wherever its rows are. `handle` belongs to the engine; None: no rows."""

    name: str
    schema: pa.Schema
    handle: Any = None


def several(given: PartedTable | Sequence[PartedTable]) -> Sequence[PartedTable]:
    """Return one or several tables of a name as several."""
    return [given] if isinstance(given, PartedTable) else given


Mapper = Callable[[Iterator[Any]], Iterable[Sent]]
Reducer = Callable[[int, Mapping[str, pa.Table]], Iterable[Sent]]
Inputs = Mapping[str, PartedTable | Sequence[PartedTable]]
Answer = Callable[[pa.Table, Mapping[str, pa.Table]], pa.Table | tuple[pa.Table, NDArray[np.int64]]]

# Where documents are read from: a `Stream` in memory, stored rows on disk, scans on Spark.
Source: TypeAlias = Any
Job: TypeAlias = Callable[[], Any]
ASKER = pa.field("asker", pa.int32())  # in a question: the partition that wants the answer


@dataclass(frozen=True)
class Stream:
    """Documents as they are read, in batches: first the inputs, then the reference; and the size of the files."""

    batches: Iterator[pa.RecordBatch]
    reference: Iterator[pa.RecordBatch]
    n_bytes: int | None = None

    def first(self, n_documents: int) -> Stream:
        """Return the first documents of the inputs."""
        return Stream(_first_rows(self.batches, n_documents), self.reference, self.n_bytes)


@dataclass(frozen=True)
class InMemory:
    """The whole collection is one part in memory: no exchange is needed, and cores share their work among threads.

    `disk` is the budget in case columns outgrow memory after all. `run_aside` begins a job that only one core can work on, and
    returns how to get its outcome: it must not run tasks itself.
    """

    run_tasks: RunTasks
    has_reference: bool = False
    disk: Callable[[], DiskBudget | None] = lambda: None
    run_aside: Callable[[Job], Job] = at_once


class Flow(Protocol):
    """Runs mappers and reducers over the partitions of a layout. Stage names are unique in a run.

    `n_task_bytes` is the memory that a task running alone may use: some stages choose between one task and many rounds.
    """

    layout: Layout
    n_task_bytes: int

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        ...

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a mapper over the batches of the engine's own source, or over the rows of a `PartedTable`, or of several."""
        ...

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        """Run a reducer over every partition that rows were sent to; a name without rows there is an empty table."""
        ...

    def count(self, table: PartedTable) -> int:
        """Return the number of rows."""
        ...

    def collect(self, table: PartedTable) -> pa.Table:
        """Return all rows, for counts and other small things, in any order."""
        ...


AnyFlow: TypeAlias = InMemory | Flow


@dataclass
class Parts(Generic[T]):
    """What one stage passes to the next: in memory, the value itself; in partitions, the tables it is stored in.

    `look` and `table` read it. `take` and `take_table` are its last use: its memory or files are released as soon as the stage
    is done with it.
    """

    value: T | None = None
    tables: dict[str, PartedTable | Sequence[PartedTable]] = field(default_factory=dict)
    wait: Callable[[], T] | None = None  # for a value that is still being made

    def settle(self) -> None:
        """Wait for the value, if it is still being made."""
        if self.wait is not None:
            self.value, self.wait = self.wait(), None

    def look(self) -> T:
        """Return the value."""
        self.settle()
        assert self.value is not None, "this part is in partitions, or was taken"
        return self.value

    def take(self) -> T:
        """Return the value, and forget it."""
        value, self.value = self.look(), None
        return value

    def table(self, name: str) -> PartedTable:
        """Return a table."""
        table = self.tables[name]
        assert isinstance(table, PartedTable), f"{name} are several tables"
        return table

    def take_table(self, name: str) -> PartedTable:
        """Return a table, and forget it."""
        table = self.table(name)
        del self.tables[name]
        return table

    def take_several(self, name: str) -> list[PartedTable]:
        """Return tables of one name, and forget them."""
        return list(several(self.tables.pop(name)))


class Sender(Protocol[T_contra]):
    """What a later stage wants sent while a part is being read, so that it need not be read again."""

    @property
    def gives(self) -> Mapping[str, pa.Schema]:
        """The tables that it sends."""
        ...

    def __call__(self, part: T_contra, layout: Layout) -> Iterable[Sent]:
        """Yield rows for later stages."""
        ...


def read_twice(source: Source) -> tuple[Source, Source]:
    """Return documents for two readings, one after the other: a stream stays in memory for the second one."""
    if not isinstance(source, Stream):
        return source, source
    sides: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])

    def remember(batches: Iterator[pa.RecordBatch], side: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            side.append(batch)
            yield batch

    def again(side: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from side

    first = Stream(remember(source.batches, sides[0]), remember(source.reference, sides[1]), source.n_bytes)
    return first, Stream(again(sides[0]), again(sides[1]))


def n_unread_bytes(source: Source) -> int | None:
    """Return how much the first stage still has to read, if known; in partitions, documents have already been read."""
    return source.n_bytes if isinstance(source, Stream) else None


def _first_rows(batches: Iterator[pa.RecordBatch], n_rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.slice(0, n_rows)
        n_rows -= batch.num_rows
        if n_rows <= 0:
            return


def lookup(
    flow: Flow, stage: str, asked: PartedTable | Sequence[PartedTable], known: Inputs, answer: Answer, schema: pa.Schema
) -> PartedTable:
    """Answer questions at the homes of their keys; each answer, a row of `schema`, goes to the partition that asked.

    `asked` was sent to the homes of the keys; its columns are up to the caller, except `ASKER`. At every home with questions,
    `answer` receives them and what is `known` there, and returns one row per question, in order; or rows together with the
    question each one answers, as some questions may have no answer. With nothing known, the questions answer one another.

    An answer says which question it belongs to, by its key or a row number: askers get their answers in any order.
    """

    def reply(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        questions = tables["asked"]
        if questions.num_rows == 0:
            return
        found = answer(questions, {name: table for name, table in tables.items() if name != "asked"})
        askers = questions["asker"].to_numpy().astype(np.int64)
        if isinstance(found, tuple):
            found, of_question = found
            askers = askers[of_question]
        yield Sent("answers", found, askers)

    return flow.reduce(stage, {"asked": asked, **known}, reply, {"answers": schema})["answers"]


def record_batches(given: Iterator[pa.Table | pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the input of a mapper as record batches: stored documents come as tables, those of an engine as batches."""
    for part in given:
        if isinstance(part, pa.RecordBatch):
            yield part
        else:
            yield from part.combine_chunks().to_batches()


@dataclass(frozen=True)
class Routed:
    """Rows by the partition that they are sent to: those from `bounds[i]` to `bounds[i + 1]` go to `partitions[i]`."""

    table: pa.Table
    partitions: NDArray[np.int64]
    bounds: NDArray[np.int64]


def routed(sent: Sent) -> Iterator[Routed]:
    """Yield rows sorted by partition, in portions small enough to be in memory twice."""
    if sent.rows.num_rows == 0:
        return
    if isinstance(sent.to, (int, np.integer)):
        yield Routed(sent.rows, np.array([sent.to]), np.array([0, sent.rows.num_rows]))
        return
    routes, n_before = np.asarray(sent.to), 0
    for part in small(sent.rows, _MOST_ORDERED_BYTES):
        of_part = routes[n_before : n_before + part.num_rows]
        n_before += part.num_rows
        if (of_part[1:] < of_part[:-1]).any():
            order = order_of(of_part)
            part, of_part = part.take(pa.array(order)), of_part[order]
        bounds = np.flatnonzero(np.diff(of_part, prepend=of_part[0] - 1, append=of_part[-1] + 1))
        yield Routed(part, of_part[bounds[:-1]], bounds)


def pieces(sent: Sent) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each partition in pieces small enough to send."""
    for part in routed(sent):
        is_small = part.table.nbytes <= MOST_BLOCK_BYTES  # then so is each of its slices, whose sizes take longer to find
        for partition, (begin, end) in zip(part.partitions.tolist(), pairwise(part.bounds.tolist()), strict=True):
            rows = part.table.slice(begin, end - begin)
            yield from ((partition, piece) for piece in ((rows,) if is_small else small(rows, MOST_BLOCK_BYTES)))


def small(table: pa.Table, most_bytes: int) -> Iterator[pa.Table]:
    """Halve a table until its pieces are small: rows may be of very different sizes."""
    if table.num_rows == 1 or table.nbytes <= most_bytes:
        yield table
    else:
        half = table.num_rows // 2
        yield from small(table.slice(0, half), most_bytes)
        yield from small(table.slice(half), most_bytes)


def order_of(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the stable order of non-negative integers. Those of two bytes are sorted by counting."""
    is_small = len(numbers) == 0 or int(numbers.max()) <= np.iinfo(np.uint16).max
    order: NDArray[np.int64] = np.argsort(numbers.astype(np.uint16) if is_small else numbers, kind="stable")
    return order


def route_by_hash(keys: NDArray[np.uint64], n_partitions: int) -> NDArray[np.int64]:
    """Return the partition of each key; keys are already hashes."""
    return ((keys >> np.uint64(11)) % np.uint64(n_partitions)).astype(np.int64)
