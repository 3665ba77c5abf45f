"""Comparison of queries with the types of a segment: the request, the matches, and how kernels run over all queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.tasks import RunTasks, split_by_cost
from ibidem.index.arrivals import QueryTypes
from ibidem.index.kernels.comparison import Limit, MatchRoom, Queries, Scratch, compare_candidates
from ibidem.index.kernels.search import Types
from ibidem.index.segment import Segment, TypeElements, frozen

_N_TASKS = 8
_ROOM = 1 << 14
_BLOCK = 64

Kernel = Callable[[int, int, MatchRoom], tuple[int, int]]  # (query_from, query_to, room) -> (query to continue with, matches)


@dataclass(frozen=True)
class Request:
    """A search request, besides the similar types that every search finds. `method` is one of those in `search`."""

    method: str
    score: str
    min_score: Fraction
    radius: int
    max_false_positive: float
    words_flexible: int
    min_contained_words: int


@dataclass(frozen=True)
class Matches:
    """Query and type of every match, by query; words in common, their weight, and the distinct words of the type."""

    query: NDArray[np.int64]
    type: NDArray[np.int64]
    common: NDArray[np.int64]
    weight: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.query)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.int64], first_query: int) -> Matches:
        """Return some of the matches, with queries counted from `first_query`."""
        return Matches(self.query[rows] + first_query, self.type[rows], self.common[rows], self.weight[rows], self.size[rows])

    @classmethod
    def joined(cls, pieces: Sequence[Matches]) -> Matches:
        """Return the matches of all pieces in order."""
        if len(pieces) == 1:
            return pieces[0]
        names = ("query", "type", "common", "weight", "size")
        return cls(*(np.concatenate([np.empty(0, np.int64), *(getattr(piece, name) for piece in pieces)]) for name in names))

    def scores(self, queries: QueryTypes, score: str) -> NDArray[np.float64]:
        """Return the score of every match: share of the query's weight, of its words, or the product of both."""
        if score == "fraction":
            return self.weight / np.maximum(queries.n_counted[self.query], 1)
        by_weight: NDArray[np.float64] = self.weight / np.maximum(queries.totals, 1)[self.query]
        return by_weight if score == "idf" else by_weight * (self.common / np.maximum(queries.sizes, 1)[self.query])


class TooManyMatchesError(Exception):
    """More matches than are wanted at once. Try again with fewer queries."""


class Comparison:
    """The queries as one segment sees them, and the limits, in the form that kernels need.

    With `most_matches`, `TooManyMatchesError` is raised as soon as several queries have about that many. Words are compared, or
    the `elements` that both sides are known by.
    """

    def __init__(
        self,
        segment: Segment,
        queries: QueryTypes,
        request: Request,
        most_matches: int | None = None,
        elements: TypeElements | None = None,
    ) -> None:
        self.segment, self.queries, self.request = segment, queries, request
        self.most_matches = most_matches if len(queries) > 1 else None
        by_words = request.score == "fraction"
        weights = frozen((queries.weights > 0).astype(np.int64)) if by_words else queries.weights
        totals = frozen(queries.n_counted) if by_words else queries.totals
        self.elements = segment.words if elements is None else elements
        self.local = queries.numbers_in(self.elements)
        self.columns = Queries(queries.words, queries.first, totals, weights, queries.masks, self.local)
        self.limit = Limit(*request.min_score.as_integer_ratio(), request.score == "product", request.min_contained_words)

    @cached_property
    def types(self) -> Types:
        """The types of the segment."""
        e = self.elements
        return Types(e.lists, e.postings, e.prefixes, e.signatures, e.sizes)

    def scratch(self) -> Scratch:
        """Return arrays for one thread, large enough for the longest query."""
        n = int(self.queries.sizes.max(initial=0)) + 1
        words = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint64)
        block = np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.int64)
        return Scratch(*words, *block, np.empty(4, np.int64))

    def compare(self, candidate_first: NDArray[np.int64], candidates: NDArray[np.uint32]) -> Kernel:
        """Return the full comparison with these candidates, or with every type if none are given."""

        def run(query_from: int, query_to: int, room: MatchRoom) -> tuple[int, int]:
            return compare_candidates(  # type: ignore[no-any-return]
                self.columns, self.elements.lists, self.limit, candidate_first, candidates, query_from, query_to,
                self.scratch(), room,
            )  # fmt: skip

        return run

    def run(self, kernel: Kernel, run_tasks: RunTasks) -> Matches:
        """Run a kernel over all queries, in several tasks, each with as much room as it needs."""
        tasks = split_by_cost(np.ones(len(self.queries), np.int64), _N_TASKS)
        most = None if self.most_matches is None else self.most_matches // len(tasks)
        outcomes = list(run_tasks(lambda task: _run_task(kernel, *task, most), tasks))
        return Matches.joined([piece for outcome in outcomes for piece in outcome])


def _run_task(kernel: Kernel, at: int, end: int, most: int | None) -> list[Matches]:
    """Return the matches of the queries [at, end), piece by piece."""
    pieces: list[Matches] = []
    room = _room(_ROOM)
    n_matches = 0
    while at < end:
        reached, n = kernel(at, end, room)
        n_matches += n
        if most is not None and n_matches > most:
            raise TooManyMatchesError
        if n:
            pieces.append(Matches(*(column[:n].copy() for column in room)))
        elif reached == at:
            room = _room(4 * len(room.query))
        at = reached
    return pieces


def _room(n: int) -> MatchRoom:
    return MatchRoom(*(np.empty(n, np.int64) for _ in range(5)))
