"""The exact set-similarity join of types: which types are connected by pairs of Jaccard similarity at least p/q.

Prefix, length and position bounds leave few candidates; a parity bitmap beside each posting rejects nearly all of the rest
without touching the sets; the remaining ones are merged. No bound loses a pair. Pairs are not stored: the passages stage needs
classes (connected components) to seed on and verifies each cell again. Elements of very many sets are handled by `long_lists`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import flatten, unite_all
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches.kernels import join as kernels
from ibidem.matches.long_lists import MOST_POSTINGS, join_long_lists
from ibidem.matches.sets import TypeSets

_N_TASKS = 64


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
    first = np.zeros(sets.n_values + 1, np.int64)
    kernels.count_postings(ordered, p, q, first)
    n = int(first[-1])
    postings = kernels.Postings(first, np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint64))
    kernels.fill_postings(ordered, p, q, first[:-1].copy(), postings)

    # Each thread has its own forest (they are united at the end) and cursors: its tasks come in increasing order.
    mine = local()
    forests: list[NDArray[np.int32]] = []

    def join(task: tuple[int, int]) -> None:
        if not hasattr(mine, "parent"):
            mine.parent = np.arange(n_types, dtype=np.int32)
            mine.cursor = first[:-1].copy()
            forests.append(mine.parent)
        kernels.join_sets(ordered, postings, MOST_POSTINGS, p, q, *task, mine.parent, mine.cursor)

    # Later probes are larger and meet more postings; many small tasks balance the threads.
    list(run_tasks(join, split_by_cost(sets.size[order].astype(np.int64), _N_TASKS)))
    parent = np.arange(n_types, dtype=np.int32)
    for forest in forests:
        unite_all(parent, forest)
    join_long_lists(ordered, sets.n_values, first, MOST_POSTINGS, p, q, parent)
    flatten(parent)
    parent[sets.size == 0] = -1
    return TypeClasses(parent)
