"""How stages are handed to an engine of many machines: as functions from tables to tables, and tables in blocks between them.

A *block* is a piece of a table on its way to a *partition*. A stage is a *mapper*, which sees batches in any grouping, or a
*reducer*, which sees everything that was sent to one partition, in any order of rows. Both must give the same rows however
often they are run: a task that is lost is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MOST_BLOCK_BYTES = 4 << 20  # engines hold many blocks at a time, and some of them twice


@dataclass(frozen=True)
class Emitted:
    """Rows under a tag, and the partition that each row (or all of them) is sent to."""

    tag: str
    table: pa.Table
    routes: NDArray[np.int64] | int


@dataclass(frozen=True)
class Blocks:
    """The rows that a stage gave under one tag, wherever they lie. `handle` is the engine's own; None: there are none."""

    tag: str
    schema: pa.Schema
    handle: Any = None


Mapper = Callable[[Iterator[Any]], Iterable[Emitted]]
Reducer = Callable[[int, Mapping[str, pa.Table]], Iterable[Emitted]]
Inputs = Mapping[str, Blocks | Sequence[Blocks]]


class Flow(Protocol):
    """Runs mappers and reducers over `n_partitions` partitions. Stage names are unique in a run."""

    n_partitions: int

    def map(self, stage: str, source: Any, mapper: Mapper, outputs: Mapping[str, pa.Schema]) -> dict[str, Blocks]:
        """Run a mapper over the batches of the engine's own source, or over the tables of `Blocks`, or of several."""
        ...

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, Blocks]:
        """Run a reducer over every partition that rows were sent to; a name without rows there is an empty table."""
        ...

    def count(self, blocks: Blocks) -> int:
        """Return the number of rows."""
        ...

    def collect(self, blocks: Blocks) -> pa.Table:
        """Return all rows, for counts and other small things, in any order."""
        ...


def record_batches(source: Any, given: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    """Return what a mapper is given as record batches: stored documents come as tables, those of an engine as batches."""
    if not isinstance(source, Blocks):
        return given
    return (batch for table in given for batch in table.combine_chunks().to_batches())


def pieces(emitted: Emitted) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of each partition, in pieces that are small enough to be sent."""
    table = emitted.table
    if table.num_rows == 0:
        return
    if isinstance(emitted.routes, (int, np.integer)):
        yield from ((int(emitted.routes), piece) for piece in _small(table))
        return
    routes = np.asarray(emitted.routes)
    order = np.argsort(routes, kind="stable")
    ordered = routes[order]
    if (order[1:] < order[:-1]).any():
        table = table.take(pa.array(order))
    bounds = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1, append=ordered[-1] + 1))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield from ((int(ordered[begin]), piece) for piece in _small(table.slice(begin, end - begin)))


def _small(table: pa.Table) -> Iterator[pa.Table]:
    """Halve a table until its pieces are small: rows may be of very different sizes."""
    if table.num_rows == 1 or table.nbytes <= MOST_BLOCK_BYTES:
        yield table
    else:
        half = table.num_rows // 2
        yield from _small(table.slice(0, half))
        yield from _small(table.slice(half))


def route_by_hash(keys: NDArray[np.uint64], n_partitions: int) -> NDArray[np.int64]:
    """Return the partition of each key; keys are hashes already."""
    return ((keys >> np.uint64(11)) % np.uint64(n_partitions)).astype(np.int64)
