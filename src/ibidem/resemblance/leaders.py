"""Pairs through common shingles: documents that meet there are compared with a few leaders each, not with one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.resemblance.kernels import join as kernels
from ibidem.resemblance.limits import OverlapLimits

N_LEADERS = 16
_N_TASKS = 32

Columns = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True)
class SizedDocuments:
    """Documents in order of size, then of number: document i has the sorted keys [`start`[i], `start`[i] + `n_keys`[i]).

    `size` counts all its shingles, `keys` are at least those that it shares with others. `side` is empty for none.
    """

    keys: NDArray[np.uint64]
    start: NDArray[np.int64]
    n_keys: NDArray[np.int64]
    size: NDArray[np.int64]
    smallest_partner: NDArray[np.int64]
    side: NDArray[np.int8]


def pairs_with_leaders(
    documents: SizedDocuments,
    shingle: NDArray[np.int64],
    member: NDArray[np.int64],
    limits: OverlapLimits,
    run_tasks: RunTasks = in_turn,
) -> Columns:
    """Return pairs of documents that meet at common shingles, with their overlap; a pair may come more than once.

    `member`[i], a document by its place, is one of those that meet at `shingle`[i], any number that tells shingles apart.
    Of those that meet at one, each is compared in order of size with up to 16 before it that lead: those that reached the
    limits with none that lead. It is paired with the first with which it does. A reference leads all others, larger and
    smaller ones: with one, the order is walked both ways, and only the reference leads.
    """
    order = np.lexsort((member, shingle))
    members, shingle = member[order].astype(np.int32), shingle[order]
    first = np.flatnonzero(np.diff(shingle, prepend=-1, append=-1)) if len(shingle) else np.zeros(1, np.int64)

    def pair(task: tuple[int, int]) -> list[Columns]:
        found: list[Columns] = []
        for falling in (False, True) if len(documents.side) else (False,):
            room = [np.empty(int(first[task[1]] - first[task[0]]), np.int32) for _ in range(3)]
            n = kernels.pair_with_leaders(
                members, first, *task, documents.keys, documents.start, documents.n_keys, documents.size,
                documents.smallest_partner, limits.needed_by_sum, limits.needed_by_small, documents.side, falling,
                np.empty(N_LEADERS, np.int64), *room,
            )  # fmt: skip
            found.append((room[0][:n].copy(), room[1][:n].copy(), room[2][:n].copy()))
        return found

    none = np.empty(0, np.int32)
    pairs = [
        (none, none, none),
        *(columns for found in run_tasks(pair, split_by_cost(np.diff(first), _N_TASKS)) for columns in found),
    ]
    a, b, overlap = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    return a, b, overlap
