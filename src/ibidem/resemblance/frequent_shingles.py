"""Common shingles: those in too many documents to pair all of them.

Whether a shingle is common depends only on the number of documents that have it, in memory and in partitions alike. Counting
all shingles exactly would cost more than the join, so they are first counted roughly, by the first bits of their hash, and only
those that may be common are counted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import counts as kernels

MOST_MET = 8  # common shingles of a document at which it meets others

_N_TASKS = 64
_N_TABLES = 2
_MIN_TABLE_BITS, _MAX_TABLE_BITS = 10, 30


@dataclass(frozen=True)
class CommonShingles:
    """Common shingles in increasing order; `marks` rules out most others by the top `table_bits` of their hash."""

    hashes: NDArray[np.uint64]
    table_bits: int
    marks: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.hashes)

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> CommonShingles:
        """Make it from hashes in increasing order."""
        table_bits = max(_MIN_TABLE_BITS, (16 * len(hashes)).bit_length())
        marks = np.zeros(1 << table_bits, np.bool_)
        marks[hashes >> np.uint64(64 - table_bits)] = True
        return cls(hashes, table_bits, marks)


@dataclass(frozen=True)
class Meetings:
    """Documents, in order, and the common shingles (by index) at which they meet others."""

    document: NDArray[np.int64]
    shingle: NDArray[np.int64]


def rough_table_bits(n_hashes: int, max_documents: int) -> int:
    """Return how many bits of a hash separate most other shingles from common ones.

    Counters then have an eighth of `max_documents` on average, apart from common shingles.
    """
    return int(np.clip((8 * n_hashes // max_documents).bit_length(), _MIN_TABLE_BITS, _MAX_TABLE_BITS))


def find_common(sets: HashSets, wanted: NDArray[np.bool_], max_documents: int, run_tasks: RunTasks = in_turn) -> CommonShingles:
    """Return the shingles that more than `max_documents` of the wanted documents have."""
    none = np.empty(0, np.uint64)
    if np.count_nonzero(wanted) <= max_documents:
        return CommonShingles.of(none)
    table_bits = rough_table_bits(len(sets.hashes), max_documents)
    sizes = np.diff(sets.first)

    def count(task: tuple[int, int]) -> NDArray[np.uint32]:
        counters = np.zeros(1 << table_bits, np.uint32)
        kernels.count_roughly(sets.hashes, sets.first, wanted, *task, table_bits, counters)
        return counters

    def select(task: tuple[int, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        n_room = int(sets.first[task[1]] - sets.first[task[0]]) + 1
        if not hasattr(mine, "room") or len(mine.room) < n_room:
            mine.room = np.empty(n_room, np.uint64)
        n = kernels.select_marked(sets.hashes, sets.first, wanted, *task, table_bits, marks, mine.room)
        return np.unique(mine.room[:n], return_counts=True)

    counters, *others = run_tasks(count, split_by_cost(sizes + 1, _N_TABLES))
    for other in others:
        counters += other
    marks = counters > max_documents
    if not marks.any():
        return CommonShingles.of(none)
    mine = local()
    hashes, counts = zip(*run_tasks(select, split_by_cost(sizes + 1, _N_TASKS)), strict=True)
    return CommonShingles.of(common_of(np.concatenate(hashes), np.concatenate(counts), max_documents))


def common_of(hashes: NDArray[np.uint64], counts: NDArray[np.int64], max_documents: int) -> NDArray[np.uint64]:
    """Return the hashes, in increasing order, whose counts (several may belong to one hash) add up to more than
    `max_documents`.
    """
    different, of_row = np.unique(hashes, return_inverse=True)
    return different[np.bincount(of_row, counts, minlength=len(different)) > max_documents]


def find_meetings(
    common: CommonShingles,
    sets: HashSets,
    wanted: NDArray[np.bool_],
    probe_prefix: NDArray[np.int64],
    run_tasks: RunTasks = in_turn,
) -> Meetings:
    """Return at which common shingles the wanted documents meet others.

    If the common shingles come after all others, in increasing order, these are the first few among the first `probe_prefix`
    shingles of a document: two documents that reach the limits and share only common shingles share one of them.
    """
    sizes = np.diff(sets.first)
    if len(common) == 0:
        return Meetings(np.empty(0, np.int64), np.empty(0, np.int64))
    counts = np.empty(len(sizes), np.int64)
    # With fewer common ones, the others fill the prefix.
    least = np.where(wanted, sizes - probe_prefix + 1, sizes + 1)
    shingles = common.hashes, common.table_bits, common.marks

    def count(task: tuple[int, int]) -> None:
        kernels.count_members(sets.hashes, sets.first, least, *task, *shingles, counts)

    def fill(task: tuple[int, int]) -> None:
        kernels.list_first_members(sets.hashes, sets.first, *task, *shingles, first, listed)

    list(run_tasks(count, split_by_cost(sizes + 1, _N_TASKS)))
    n_met = np.clip(np.minimum(probe_prefix - (sizes - counts), counts), 0, MOST_MET)
    first = starts_of(n_met)
    listed = np.empty(int(first[-1]), np.int64)
    list(run_tasks(fill, split_by_cost(np.where(n_met > 0, sizes, 1), _N_TASKS)))
    return Meetings(np.repeat(np.arange(len(sizes)), n_met), listed)
