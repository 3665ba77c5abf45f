"""The exact set-similarity join of types: which types are connected by pairs of Jaccard similarity at least p/q.

Prefix, length and position bounds leave few candidates; a parity bitmap beside each posting rejects nearly all of the rest
without touching the sets; the remaining ones are merged. No bound loses a pair. Pairs are not stored: the passages stage needs
classes (connected components) to seed on and verifies each cell again. Elements of very many sets are handled by `long_lists`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import flatten, unite_all
from ibidem.columns.ragged import starts_of
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches.kernels import join as kernels
from ibidem.matches.long_lists import MOST_POSTINGS, join_long_lists
from ibidem.matches.sets import TypeSets

_N_TASKS = 64
_N_POSTING_TASKS = 4  # each takes as much memory as there are values


@dataclass(frozen=True)
class TypeClasses:
    """`of_type`: the class of each type, named by its first member, or -1 for an empty set."""

    of_type: NDArray[np.int32]


def join_types(sets: TypeSets, min_similarity: Fraction, run_tasks: RunTasks = in_turn) -> TypeClasses:
    """Return the classes of the types; equal to comparing all pairs, for any number of workers."""
    p, q = min_similarity.numerator, min_similarity.denominator
    n_types = len(sets.size)
    known = np.flatnonzero(sets.size > 0)
    order = np.empty(len(known), np.int64)
    largest_size = int(sets.size.max(initial=0))
    kernels.order_by_count(sets.size, np.zeros(largest_size + 2, np.int64), known, order)

    ordered = kernels.OrderedSets(order, sets.size, sets.start, sets.values, sets.bitmaps, sets.n_single)
    postings = _postings_of(ordered, sets.n_values, p, q, run_tasks)
    first = postings.first
    is_long = np.diff(first) > MOST_POSTINGS  # what meets there is joined by `long_lists`

    # Each thread has its own forest (they are united at the end) and bounds: its tasks come in increasing order.
    mine = local()
    forests: list[NDArray[np.int32]] = []

    def join(task: tuple[int, int]) -> None:
        if not hasattr(mine, "parent"):
            mine.parent = np.arange(n_types, dtype=np.int32)
            bounds = np.stack([np.where(is_long, first[1:], first[:-1]), first[1:]], axis=1).reshape(-1)
            mine.probes = kernels.Probes(bounds, *(np.empty(largest_size + 1, np.int64) for _ in range(2)))
            forests.append(mine.parent)
        kernels.join_sets(ordered, postings, p, q, *task, mine.parent, mine.probes)

    # Later probes are larger and meet more postings; many small tasks balance the threads.
    list(run_tasks(join, split_by_cost(sets.size[order].astype(np.int64), _N_TASKS)))
    parent = np.arange(n_types, dtype=np.int32)
    for forest in forests:
        unite_all(parent, forest)
    join_long_lists(ordered, sets.n_values, first, MOST_POSTINGS, p, q, parent, run_tasks)
    flatten(parent)
    parent[sets.size == 0] = -1
    return TypeClasses(parent)


def _postings_of(sets: kernels.OrderedSets, n_values: int, p: int, q: int, run_tasks: RunTasks) -> kernels.Postings:
    """Return the postings of all sets. Each task writes those of some sets, between those of the sets before and after them."""

    def count(task: tuple[int, int]) -> NDArray[np.int32]:
        counts = np.zeros(n_values, np.int32)
        kernels.count_postings(sets, p, q, *task, counts)
        return counts

    def fill(task: tuple[tuple[int, int], NDArray[np.int64]]) -> None:
        kernels.fill_postings(sets, p, q, *task[0], task[1], postings)

    tasks = split_by_cost(sets.size[sets.order].astype(np.int64), _N_POSTING_TASKS)
    counts = list(run_tasks(count, tasks))
    first = starts_of(sum(counts, np.zeros(n_values, np.int64)))
    n = int(first[-1])
    postings = kernels.Postings(first, np.empty(2 * n, np.uint64))
    begins = accumulate(counts[:-1], np.add, initial=first[:-1].copy())
    list(run_tasks(fill, [(task, begin) for task, begin in zip(tasks, begins, strict=False)]))
    return postings
