"""The join at elements of very many sets, where comparing all pairs would take quadratic time.

Sentences of one template have the same few hundred thousand partners at every element of their prefixes. So such sets are
not listed pair by pair:

1. Each is compared with the previous one and with some leaders. Sets of one template thus become one component, and
   pairs inside a component do not matter.
2. Components far from one another are ruled out as a whole: the number of elements that two sets do not share is a distance
   that obeys the triangle inequality.
3. The rest is met by one more element: sets that must share d + 1 elements share the next one within the next few. Where
   that does not separate them, pairs of different components are compared.

The outcome is that of comparing all pairs. The work grows with the entries, except where sets of many components share
most of their elements and are not similar.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.union_find import unite_all
from ibidem.columns.ragged import starts_of
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.matches.kernels import long_lists as kernels
from ibidem.matches.kernels.join import OrderedSets
from ibidem.matches.kernels.long_lists import Components

MOST_POSTINGS = 1024  # elements with more are handled here
_MOST_ENTRIES = 1 << 22  # at once
_N_TASKS = 64
_MOST_PAIRS = 512  # per entry: this many are compared at once
_CHILD_COST = 32  # comparisons that take as long as making and sorting one entry
_MOST_LEFT = 0.5  # share of the pairs that makes one more element worthwhile
_MOST_LEADERS = 64
_LEAST_MEASURED = 8  # entries of a component, to be ruled out as a whole
_MOST_COMPONENTS = 256
_MOST_DEPTH = 16


@dataclass(frozen=True)
class _Join:
    """Sets by increasing size, the limit p/q, and the forest that similar ones are united in."""

    sets: OrderedSets
    limit: tuple[int, int]
    parent: NDArray[np.int32]


@dataclass(frozen=True)
class _Groups:
    """Entries by group: `first` bounds the groups, `keys` are equal in each; `parent` is the group that each comes from."""

    first: NDArray[np.int64]
    keys: NDArray[np.uint64]
    items: NDArray[np.int32]
    positions: NDArray[np.int32]
    parent: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        keys: NDArray[np.uint64],
        items: NDArray[np.int32],
        positions: NDArray[np.int32],
        parent: NDArray[np.int64],
    ) -> _Groups:
        """Group entries by key; entries with a unique key are left out."""
        order = np.lexsort((items, keys, parent))
        keys, items, positions, parent = keys[order], items[order], positions[order], parent[order]
        changes = np.flatnonzero((keys[1:] != keys[:-1]) | (parent[1:] != parent[:-1])) + 1
        first = np.concatenate([[0], changes, [len(keys)]]).astype(np.int64)
        return cls(first, keys, items, positions, parent).chosen(np.diff(first) > 1)

    def chosen(self, is_chosen: NDArray[np.bool_]) -> _Groups:
        """Return some of the groups."""
        sizes = np.diff(self.first)
        return self._rows(np.repeat(is_chosen, sizes), sizes[is_chosen])

    def with_entries(self, is_kept: NDArray[np.bool_]) -> _Groups:
        """Return some of the entries; groups of fewer than two are left out."""
        sizes = np.add.reduceat(is_kept.astype(np.int64), self.first[:-1])
        is_kept = is_kept & np.repeat(sizes > 1, np.diff(self.first))
        return self._rows(is_kept, sizes[sizes > 1])

    def _rows(self, is_chosen: NDArray[np.bool_], sizes: NDArray[np.int64]) -> _Groups:
        first = starts_of(sizes)
        columns = (self.keys, self.items, self.positions, self.parent)
        return _Groups(first, *(column[is_chosen] for column in columns))  # type: ignore[arg-type]

    def parts(self, n_parts: int) -> list[_Groups]:
        """Cut the groups into parts of about equal size."""
        parts = []
        for begin, end in split_by_cost(np.diff(self.first), n_parts):
            rows = slice(self.first[begin], self.first[end])
            columns = (self.keys[rows], self.items[rows], self.positions[rows], self.parent[rows])
            parts.append(_Groups(self.first[begin : end + 1] - self.first[begin], *columns))
        return parts

    def __len__(self) -> int:
        return len(self.first) - 1


def join_long_lists(
    sets: OrderedSets,
    n_values: int,
    posting_first: NDArray[np.int64],
    most_postings: int,
    p: int,
    q: int,
    parent: NDArray[np.int32],
    run_tasks: RunTasks = in_turn,
) -> None:
    """Unite all similar sets that meet at an element of more than `most_postings` postings."""
    is_long = np.diff(posting_first) > most_postings
    if not is_long.any():
        return
    mine = local()  # each thread has its own forest: they are united at the end
    forests: list[NDArray[np.int32]] = []

    def join(groups: _Groups) -> None:
        if not hasattr(mine, "join"):
            mine.join = _Join(sets, (p, q), parent.copy())
            forests.append(mine.join.parent)
        _join_groups(groups, 1, mine.join)

    counts = np.zeros(n_values, np.int64)
    rank = int(np.argmax(is_long))
    kernels.count_members(sets, is_long, rank, p, q, counts)
    before = starts_of(counts)
    while rank < len(counts):
        # As many elements as there is room for, at least one.
        rank_to = max(rank + 1, int(np.searchsorted(before, before[rank] + _MOST_ENTRIES, "right")) - 1)
        n = int(before[rank_to] - before[rank])
        if n:
            keys, items, positions = np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.int32)
            kernels.list_members(sets, is_long, rank, rank_to, p, q, keys, items, positions)
            groups = _Groups.of(keys, items, positions, np.zeros(n, np.int64))
            list(run_tasks(join, groups.parts(_N_TASKS)))
        rank = rank_to
    for forest in forests:
        unite_all(parent, forest)


def _join_groups(groups: _Groups, depth: int, join: _Join) -> None:
    """Unite the similar sets of every group, which share `depth` elements."""
    groups = _possible(groups, depth, join)
    if not len(groups):
        return
    roots = np.empty(len(groups.items), np.int32)
    leaders = np.empty(_MOST_LEADERS, np.int64)
    kernels.unite_with_leaders(groups.first, groups.items, depth, join.sets, *join.limit, join.parent, leaders, roots)
    is_several = np.maximum.reduceat(roots, groups.first[:-1]) != np.minimum.reduceat(roots, groups.first[:-1])
    roots = roots[np.repeat(is_several, np.diff(groups.first))]
    groups = groups.chosen(is_several)
    if not len(groups):
        return
    components = _components_of(groups, roots, join)
    pairs = np.empty(len(groups), np.int64)  # per group: pairs that must be compared
    kernels.count_pairs(components, join.sets, *join.limit, _MOST_COMPONENTS, pairs)
    is_much = (pairs > _MOST_PAIRS * np.diff(groups.first)) & (depth < _MOST_DEPTH)
    if is_much.any():
        is_much[is_much] = _join_further(groups.chosen(is_much), pairs[is_much], depth, join)
    chosen = np.flatnonzero(~is_much & (pairs > 0))
    kernels.compare_components(components, chosen, depth, join.sets, *join.limit, join.parent)


def _possible(groups: _Groups, depth: int, join: _Join) -> _Groups:
    """Leave out the entries that can resemble no other one of their group."""
    if not len(groups):
        return groups
    is_possible = np.empty(len(groups.items), np.bool_)
    reach = np.empty(int(np.diff(groups.first).max()), np.int64)
    kernels.mark_possible(
        groups.first, groups.items, groups.positions, depth, join.sets, *join.limit, reach, is_possible
    )  # fmt: skip
    return groups.with_entries(is_possible)


def _components_of(groups: _Groups, roots: NDArray[np.int32], join: _Join) -> Components:
    """Divide groups by component."""
    number = np.repeat(np.arange(len(groups)), np.diff(groups.first))
    order = np.lexsort((groups.items, roots, number))
    items, positions, roots = groups.items[order], groups.positions[order], roots[order]
    changes = np.flatnonzero((number[1:] != number[:-1]) | (roots[1:] != roots[:-1])) + 1
    first = np.concatenate([[0], changes, [len(items)]]).astype(np.int64)
    of_group = np.searchsorted(first, groups.first).astype(np.int64)
    components = Components(of_group, first, items, positions, np.empty(len(first) - 1, np.int64))
    kernels.measure_components(components, _LEAST_MEASURED, join.sets)
    return components


def _join_further(groups: _Groups, pairs: NDArray[np.int64], depth: int, join: _Join) -> NDArray[np.bool_]:
    """Unite the similar sets of groups by one more element; return which groups, as it is not worthwhile for all."""
    counts = np.empty(len(groups.items), np.int64)
    kernels.count_children(groups.items, groups.positions, depth, join.sets, *join.limit, counts)
    n_children = np.add.reduceat(counts, groups.first[:-1])
    done = _CHILD_COST * n_children < pairs
    for begin, end in _portions(np.where(done, n_children, 0)):
        chosen = np.zeros(len(groups), np.bool_)
        chosen[begin:end] = done[begin:end]
        if not chosen.any():
            continue
        some, numbers = groups.chosen(chosen), np.flatnonzero(chosen)
        first = starts_of(counts[np.repeat(chosen, np.diff(groups.first))])
        n = int(first[-1])
        keys, of_group = np.empty(n, np.uint64), np.empty(n, np.int64)
        items, positions = np.empty(n, np.int32), np.empty(n, np.int32)
        kernels.list_children(
            some.first, some.keys, some.items, some.positions, first, join.sets, keys, items, positions, of_group
        )
        children = _Groups.of(keys, items, positions, of_group)
        # Groups that come out nearly unchanged would do so again: their pairs are compared instead.
        sizes = np.diff(children.first).astype(np.float64)
        come_from = children.parent[children.first[:-1]]
        left = np.bincount(come_from, sizes * sizes / 2, len(some))
        is_less = left < _MOST_LEFT * pairs[numbers]
        done[numbers] = is_less
        _join_groups(children.chosen(is_less[come_from]), depth + 1, join)
    return done


def _portions(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut groups into portions of about `_MOST_ENTRIES` entries."""
    before = starts_of(counts)
    portions, begin = [], 0
    while begin < len(counts):
        end = max(begin + 1, int(np.searchsorted(before, before[begin] + _MOST_ENTRIES, "right")) - 1)
        portions.append((begin, end))
        begin = end
    return portions
