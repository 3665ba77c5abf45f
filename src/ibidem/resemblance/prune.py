"""Which documents can resemble another at all: those that share enough shingles with all others together.

Most shingles of most collections occur in only one document. A document with more of them than the limit allows is in no pair
and needs no comparison; removing it makes further shingles unique.

Shingles are counted part by part, by the first bits of their hashes. A part fits into the processor's cache, which makes the
counting several times as fast, and after a few parts most documents have too many shingles of their own and are left out.
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

_N_TASKS = 256
_MIN_TABLE_BITS, _MAX_TABLE_BITS = 10, 33
_PART_TABLE_BITS = 26  # a table of 16 MB
_LEAST_PART_BITS, _MOST_PART_BITS = 2, 4
_N_TOGETHER = 2  # parts that are counted before documents are left out
_N_STORED_PART_BITS = 1  # all hashes are read twice for each part
_BLOCK_HASHES = 1024


@dataclass(frozen=True)
class SharedShingles:
    """Documents that may be in pairs, by number, and those of their shingles that may also be in others."""

    documents: NDArray[np.int64]
    shingles: HashSets


def prune(
    sets: HashSets, wanted: NDArray[np.bool_], least_shared: NDArray[np.int64], run_tasks: RunTasks = in_turn
) -> SharedShingles:
    """Return the wanted documents with at least `least_shared` shingles that occur in other wanted documents.

    No such document is lost; some others may be kept. The hashes may be on disk: they are read in order, a few times.
    """
    hashes, first = sets.hashes, sets.first
    table_bits = int(np.clip(len(hashes).bit_length() + 2, _MIN_TABLE_BITS, _MAX_TABLE_BITS))
    part_bits = int(np.clip(table_bits - _PART_TABLE_BITS, _LEAST_PART_BITS, _MOST_PART_BITS))
    part_bits = _N_STORED_PART_BITS if isinstance(hashes, np.memmap) else part_bits
    table_bits -= part_bits
    most_single = np.diff(first) - np.maximum(least_shared, 1)
    wanted = wanted & (most_single >= 0)
    is_shared, n_single = np.empty(len(hashes), np.bool_), np.zeros(len(wanted), np.int64)

    def count(part: int) -> NDArray[np.int32]:
        marks, counts = np.zeros(1 << (table_bits - 2), np.uint8), np.empty(len(wanted), np.int32)
        chosen = np.empty(_BLOCK_HASHES, np.int64)
        of_part = np.uint64(part), part_bits, table_bits, chosen, marks
        kernels.mark_twice(hashes, first, wanted, *of_part)
        kernels.count_single(hashes, first, wanted, *of_part, is_shared, counts)
        return counts

    parts = range(1 << part_bits)
    for begin in parts[::_N_TOGETHER]:
        for counts in run_tasks(count, parts[begin : begin + _N_TOGETHER]):
            n_single += counts
        wanted = wanted & (n_single <= most_single)  # the same for any number of workers

    def choose(begin: int, end: int, kept: NDArray[np.uint64], n_kept: NDArray[np.int64]) -> int:
        n: int = kernels.keep_shared(hashes, first, wanted, is_shared, begin, end, kept, n_kept)
        return n

    return SharedShingles(np.flatnonzero(wanted), without_empty(select_hashes(sets, choose, run_tasks)[1], wanted))


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

    return select_hashes(sets, choose, run_tasks)[1]


def without_empty(sets: HashSets, chosen: NDArray[np.bool_]) -> HashSets:
    """Return the sets of the chosen documents, given that the others have none."""
    return HashSets(sets.hashes, np.append(sets.first[:-1][chosen], sets.first[-1]))


def select_hashes(
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
