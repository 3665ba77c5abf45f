"""Which documents can resemble another at all: those that share enough shingles with all others together.

Most shingles of most collections occur in only one document. A document with more of them than the limit allows is in no pair
and needs no comparison; removing it makes further shingles unique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.execution.spill import SpillingColumn
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import counts as kernels

_ROUNDS = 3
_N_TABLES = 2  # each takes at least a sixteenth of the shingles' memory
_N_TASKS = 256
_MIN_TABLE_BITS, _MAX_TABLE_BITS = 10, 33


@dataclass(frozen=True)
class SharedShingles:
    """Documents that may be in pairs, by number, and those of their shingles that may also be in others."""

    documents: NDArray[np.int64]
    shingles: HashSets


def prune(
    sets: HashSets, wanted: NDArray[np.bool_], least_shared: NDArray[np.int64], run_tasks: RunTasks = in_turn
) -> SharedShingles:
    """Return the wanted documents with at least `least_shared` shingles that occur in other wanted documents.

    No such document is lost; some others may be kept. The hashes may be on disk: they are read in order, twice.
    """
    documents = np.arange(len(wanted))
    for _ in range(_ROUNDS if len(documents) else 0):
        n_kept, sets = _keep_shared(sets, wanted, least_shared, run_tasks)
        chosen = n_kept > 0
        documents, least_shared = documents[chosen], least_shared[chosen]
        sets = without_empty(sets, chosen)
        if chosen.all() or not chosen.any():
            break
        wanted = np.ones(len(documents), np.bool_)
    return SharedShingles(documents, sets)


def sample(
    sets: HashSets, wanted: NDArray[np.bool_], every: int, remainder: int = 0, run_tasks: RunTasks = in_turn
) -> HashSets:
    """Return the shingles of the wanted documents whose hash is `remainder` modulo `every`; other documents have none.

    Samples by powers of two are nested: a smaller sample is part of a larger one.
    """
    divisor, rest = np.uint64(every), np.uint64(remainder % every)

    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: NDArray[np.int64]) -> int:
        n: int = kernels.sample_hashes(sets.hashes, sets.first, wanted, divisor, rest, begin, end, kept, n_kept)
        return n

    return _select(sets, choose, run_tasks)[1]


def without_empty(sets: HashSets, chosen: NDArray[np.bool_]) -> HashSets:
    """Return the sets of the chosen documents, given that the others have none."""
    return HashSets(sets.hashes, np.append(sets.first[:-1][chosen], sets.first[-1]))


def _keep_shared(
    sets: HashSets, wanted: NDArray[np.bool_], least_shared: NDArray[np.int64], run_tasks: RunTasks
) -> tuple[NDArray[np.int64], HashSets]:
    table_bits = int(np.clip(len(sets.hashes).bit_length() + 2, _MIN_TABLE_BITS, _MAX_TABLE_BITS))

    def mark(task: tuple[int, int]) -> NDArray[np.uint8]:
        marks = np.zeros(1 << (table_bits - 2), np.uint8)
        kernels.mark_twice(sets.hashes, sets.first, wanted, *task, table_bits, marks)
        return marks

    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: NDArray[np.int64]) -> int:
        n: int = kernels.keep_shared(sets.hashes, sets.first, wanted, least_shared, begin, end, table_bits, marks, kept, n_kept)
        return n

    marks, *others = run_tasks(mark, split_by_cost(np.diff(sets.first) + 1, _N_TABLES))
    for other in others:
        kernels.unite_marks(marks, other)
    return _select(sets, choose, run_tasks)


def _select(
    sets: HashSets, choose: Callable[[int, int, NDArray[np.uint64], NDArray[np.int64]], int], run_tasks: RunTasks
) -> tuple[NDArray[np.int64], HashSets]:
    """Return the hashes that `choose` copies, some documents at a time, and their number per document."""
    n_kept = np.zeros(len(sets.first) - 1, np.int64)
    mine = local()  # each thread reuses one buffer: new memory costs more than the work

    def select(task: tuple[int, int]) -> NDArray[np.uint64]:
        n_room = int(sets.first[task[1]] - sets.first[task[0]]) + 1
        if not hasattr(mine, "room") or len(mine.room) < n_room:
            mine.room = np.empty(n_room, np.uint64)
        kept: NDArray[np.uint64] = mine.room[: choose(*task, mine.room, n_kept)]
        return kept.copy()

    selected = SpillingColumn(np.uint64)
    for kept in run_tasks(select, split_by_cost(np.diff(sets.first) + 1, _N_TASKS)):
        selected.append(kept)
    first = starts_of(n_kept)
    return n_kept, HashSets(selected.finish(), first)
