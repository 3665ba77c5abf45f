"""Signatures as sorted sets of small numbers, rarest element first: the form in which the join compares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches.kernels import join as kernels
from ibidem.signatures.sentence_types import number_hashes

_N_TASKS = 16


@dataclass(frozen=True)
class SortedSets:
    """Set t is `values[start[t] : start[t] + size[t]]`, in increasing order: all that is needed to compare two sets."""

    start: NDArray[np.int64]
    size: NDArray[np.int32]
    values: NDArray[Any]


@dataclass(frozen=True)
class TypeSets(SortedSets):
    """The sets of all types; `bitmaps` are their 64-bit parity sketches.

    Values are ranks below `n_values`, rarest first; those below `n_single` occur once in all sets together.
    """

    bitmaps: NDArray[np.uint64]
    n_values: int
    n_single: int


class CellColumns(NamedTuple):
    """What kernels compare cells by: rows with different types match if their sets have a similarity of at least p/q."""

    types: NDArray[Any]
    set_of_row: NDArray[np.int32]
    start: NDArray[np.int64]
    size: NDArray[np.int32]
    values: NDArray[Any]
    p: int
    q: int


@dataclass(frozen=True)
class Cells:
    """How cells are scored: the type of each row, the sets of the types, and the limit below which a cell is cut.

    With `set_of_row`, types are only names: rows with one name are equal sentences, and each row says where its set is.
    """

    types: NDArray[Any]
    sets: SortedSets
    limit: tuple[int, int]
    set_of_row: NDArray[np.int32] | None = None

    @property
    def columns(self) -> CellColumns:
        """The columns as one argument of a kernel."""
        set_of_row = self.types if self.set_of_row is None else self.set_of_row
        return CellColumns(self.types, set_of_row, self.sets.start, self.sets.size, self.sets.values, *self.limit)


def sort_sets(sets: HashSets, run_tasks: RunTasks = in_turn) -> TypeSets:
    """Number the hashes by increasing frequency and sort every set; the outcome does not depend on how the work is shared."""
    numbered = number_hashes(sets.hashes, run_tasks)
    hashes, counts = numbered.hashes, numbered.counts
    # Rare first; among equally rare ones the hash decides, which is as good as any fixed order.
    order = np.argsort(np.minimum(counts, 1 << 24).astype(np.uint64) << np.uint64(39) | hashes >> np.uint64(25), kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    n_types = len(sets.first) - 1
    size = np.empty(n_types, np.int32)
    bitmaps = np.empty(n_types, np.uint64)

    def sort(task: tuple[int, int]) -> None:
        kernels.sort_sets(numbered.ids, sets.first, *task, rank, size, bitmaps)

    list(run_tasks(sort, split_by_cost(np.diff(sets.first) + 1, _N_TASKS)))
    return TypeSets(sets.first, size, numbered.ids, bitmaps, len(rank), int(np.count_nonzero(counts == 1)))
