"""Search: which types of a segment match the queries. One function an engine, all of them exact for what they promise.

- `overlap`: postings of a query's rarest words, bit signatures, full comparison. The fastest; finds everything.
- `bits` (qSign): types whose bit signature lies within a radius, then full comparison. Misses what lies outside.
- `fingerprint`: types with the same words, common ones aside, in any order.
- `inverted` (All-Pairs): scores added up over all postings. Finds everything.
- `scan`: every type is compared. Finds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import ranges, starts_of
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost
from ibidem.index import bits
from ibidem.index.arrivals import QueryTypes
from ibidem.index.columns import frozen
from ibidem.index.kernels import search as kernels
from ibidem.index.segment import Segment, SegmentSettings

_N_TASKS = 8
_ROOM = 1 << 14
_BLOCK = 64
_MOST_CANDIDATES = 1 << 22  # that are listed at once, where fewer queries can be asked about
_EVERYTHING = np.iinfo(np.int64).max
_NO_NUMBERS = frozen(np.empty(0, np.int64))
_NO_TYPES = frozen(np.empty(0, np.uint32))
_NO_FLAGS = frozen(np.empty(0, np.bool_))


@dataclass(frozen=True)
class Request:
    """What is asked for, besides the similar types that every search finds."""

    engine: str
    score: str
    min_score: Fraction
    radius: int
    max_false_positive: float
    words_flexible: int
    min_contained_words: int


_NO_REQUEST = Request("overlap", "idf", Fraction(1), 0, 0.0, 0, 1)


@dataclass(frozen=True)
class Oldest:
    """How much is wanted: the types of the oldest places in documents that are `kept`, so many of them by query.

    Places of the very sentence that is asked for are always wanted and do not count.
    """

    kept: NDArray[np.bool_]
    n_places: NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """Query and type of every match, query after query; words in common, their weight, and distinct words of the type."""

    query: NDArray[np.int64]
    type: NDArray[np.int64]
    common: NDArray[np.int64]
    weight: NDArray[np.int64]
    size: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.query)

    def chosen(self, rows: NDArray[np.bool_], first_query: int) -> Matches:
        """Return some of the matches; queries are counted from another one on."""
        return Matches(self.query[rows] + first_query, self.type[rows], self.common[rows], self.weight[rows], self.size[rows])

    @classmethod
    def joined(cls, pieces: Sequence[Matches]) -> Matches:
        """Return the matches of one piece after the other."""
        names = ("query", "type", "common", "weight", "size")
        return cls(*(np.concatenate([_NO_NUMBERS, *(getattr(piece, name) for piece in pieces)]) for name in names))

    def scores(self, queries: QueryTypes, score: str) -> NDArray[np.float64]:
        """Return the score of every match: share of the query's weight, of its words, or the product of both."""
        by_weight = self.weight / np.maximum(queries.totals[self.query], 1)
        by_words = self.common / np.maximum(queries.sizes[self.query], 1)
        result: NDArray[np.float64] = {"idf": by_weight, "fraction": by_words, "product": by_weight * by_words}[score]
        return result


class TooManyMatchesError(Exception):
    """More matches than are wanted at once. Ask again with fewer queries."""


class Found:
    """What a search found in one segment: `hits` of the engine, and `similar`, the types that make passages.

    `local` are the numbers of the queries' words in the segment, -1 for those that it has not.
    """

    def __init__(self, hits: Matches, local: NDArray[np.int64], find_similar: Callable[[], Matches]) -> None:
        self.hits = hits
        self.local = local
        self._find_similar = find_similar

    @cached_property
    def similar(self) -> Matches:
        """The types that match by the index's own signature; they are looked up when they are asked for."""
        return self._find_similar()


def search(
    segment: Segment,
    queries: QueryTypes,
    request: Request,
    settings: SegmentSettings,
    common_hashes: NDArray[np.uint64],
    run_tasks: RunTasks = in_turn,
    oldest: Oldest | None = None,
    most_matches: int | None = None,
) -> Found:
    """Return the hits of the queries in a segment, and the types that match them by the index's own signature.

    With `oldest`, `overlap` may leave out hits that have none of these places. With `most_matches`, `TooManyMatchesError` is
    raised as soon as several queries have about as many.
    """
    comparison = _Comparison(segment, queries, request, most_matches)
    if request.engine == "overlap":
        hits = comparison.run(_search_overlap(comparison, oldest), run_tasks)
    elif request.engine == "fingerprint":
        hits = _by_fingerprint(segment, queries, comparison, common_hashes)
    elif request.engine == "bits":
        hits = comparison.run(comparison.compare(*_within_radius(comparison, settings)), run_tasks)
    elif request.engine == "inverted":
        hits = comparison.run(comparison.compare(*_accumulated(comparison)), run_tasks)
    else:
        hits = comparison.run(comparison.compare(_NO_NUMBERS, _NO_TYPES), run_tasks)
    return Found(hits, comparison.local, partial(_similar_types, comparison, settings, run_tasks))


def search_similar(
    segment: Segment,
    queries: QueryTypes,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    kept: NDArray[np.bool_],
    most_places: int,
) -> Found:
    """Return the types of a segment that match the queries by the index's own signature, and no hits.

    A query with more than `most_places` types in documents that are `kept` may get only some of them, but more than that.
    """
    comparison = _Comparison(segment, queries, _NO_REQUEST)
    find = partial(_similar_types, comparison, settings, run_tasks, kept, most_places + 1)
    return Found(Matches.joined([]), comparison.local, find)


def search_similar_among(
    segment: Segment,
    queries: QueryTypes,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    is_asked: NDArray[np.bool_],
    most_matches: int,
) -> Matches:
    """Return those of some types of a segment that match the queries; `is_asked` goes by type.

    `TooManyMatchesError` is raised as soon as several queries have about `most_matches`.
    """
    comparison = _Comparison(segment, queries, _NO_REQUEST, most_matches)
    return comparison.run(_search_similar(comparison, settings.min_similarity, is_asked=is_asked), run_tasks)


def _similar_types(
    comparison: _Comparison,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    kept: NDArray[np.bool_] = _NO_FLAGS,
    most: int = _EVERYTHING,
) -> Matches:
    if settings.exact:
        return _equal_types(comparison.segment, comparison.queries)
    return comparison.run(_search_similar(comparison, settings.min_similarity, kept, most), run_tasks)


class _Comparison:
    """The queries as one segment sees them, and the limits, in the form that kernels take."""

    def __init__(self, segment: Segment, queries: QueryTypes, request: Request, most_matches: int | None = None) -> None:
        self.segment, self.queries, self.request, self._most_matches = segment, queries, request, most_matches
        by_words = request.score == "fraction"
        self.weights = frozen(np.ones(len(queries.weights), np.int64)) if by_words else queries.weights
        self.totals = frozen(queries.sizes) if by_words else queries.totals
        self.local = frozen(segment.words_of(queries.word_hashes))

    @property
    def query_columns(self) -> tuple[Any, ...]:
        q = self.queries
        return q.words, q.first, self.weights, q.masks, self.totals, self.local

    @property
    def limits(self) -> tuple[Any, ...]:
        request = self.request
        limit = request.min_score
        return limit.numerator, limit.denominator, request.score == "product", request.min_contained_words

    def scratch(self) -> list[NDArray[Any]]:
        n = int(self.queries.sizes.max(initial=0)) + 1
        return [np.empty(n, kind) for kind in (np.int64, np.int64, np.uint64)]

    def check_candidates(self, n_candidates: int) -> None:
        """Raise if so many candidates are better listed for fewer queries."""
        if self._most_matches is not None and len(self.queries) > 1 and n_candidates > _MOST_CANDIDATES:
            raise TooManyMatchesError

    def compare(self, candidate_first: NDArray[np.int64], candidates: NDArray[np.uint32]) -> Callable[..., tuple[int, int]]:
        """Return the full comparison with these candidates, or with every type if there are none given."""
        s = self.segment

        def run(query_from: int, query_to: int, room: list[NDArray[Any]]) -> tuple[int, int]:
            return kernels.compare_candidates(  # type: ignore[no-any-return]
                *self.query_columns, s.list_first, s.lists, *self.limits, candidate_first, candidates, query_from, query_to,
                *self.scratch(), np.empty(3, np.int64), *room,
            )  # fmt: skip

        return run

    def run(self, kernel: Callable[..., tuple[int, int]], run_tasks: RunTasks) -> Matches:
        """Run a kernel over all queries, in parts, each with as much room as it turns out to need."""
        costs = np.ones(len(self.queries), np.int64)
        parts = split_by_cost(costs, _N_TASKS)
        most = None if self._most_matches is None or len(self.queries) < 2 else self._most_matches // len(parts)
        outcomes = list(run_tasks(lambda part: self._run_part(kernel, *part, most), parts))
        pieces = [piece for outcome in outcomes for piece in outcome]
        if not pieces:
            return Matches.joined([])
        query, of_type, common, weight, size = (
            np.concatenate(columns).astype(np.int64) for columns in zip(*pieces, strict=True)
        )
        if self.request.score == "fraction":  # the kernel added up words; weights are wanted by no one then
            weight = common
        return Matches(query, of_type, common, weight, size)

    def _run_part(
        self, kernel: Callable[..., tuple[int, int]], at: int, end: int, most: int | None
    ) -> list[tuple[NDArray[Any], ...]]:
        pieces: list[tuple[NDArray[Any], ...]] = []
        room = _room(_ROOM)
        n_matches = 0
        while at < end:
            reached, n = kernel(at, end, room)
            n_matches += n
            if most is not None and n_matches > most:
                raise TooManyMatchesError
            if n:
                pieces.append(tuple(column[:n].copy() for column in room))
            elif reached == at:
                room = _room(4 * len(room[0]))
            at = reached
        return pieces


def _search_overlap(comparison: _Comparison, oldest: Oldest | None) -> Callable[..., tuple[int, int]]:
    s, queries = comparison.segment, comparison.queries
    kept = _NO_FLAGS if oldest is None else _flags(oldest.kept)
    most = frozen(np.full(len(queries), _EVERYTHING) if oldest is None else oldest.n_places)
    equal = frozen(s.types_of(queries.digests))

    def run(query_from: int, query_to: int, room: list[NDArray[Any]]) -> tuple[int, int]:
        return kernels.search_overlap(  # type: ignore[no-any-return]
            *comparison.query_columns, s.posting_first, s.postings, s.prefix_first, s.prefix_postings,
            s.signatures, s.sizes, s.list_first, s.lists, *comparison.limits,
            equal, most, s.occurrence_first, s.occurrences, s.document_first, kept, query_from, query_to,
            *comparison.scratch(), np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.uint64), np.empty(4, np.int64), *room,
        )  # fmt: skip

    return run


def _search_similar(
    comparison: _Comparison,
    limit: Fraction,
    kept: NDArray[np.bool_] = _NO_FLAGS,
    most: int = _EVERYTHING,
    is_asked: NDArray[np.bool_] = _NO_FLAGS,
) -> Callable[..., tuple[int, int]]:
    s, q, kept = comparison.segment, comparison.queries, _flags(kept)

    def run(query_from: int, query_to: int, room: list[NDArray[Any]]) -> tuple[int, int]:
        return kernels.search_similar(  # type: ignore[no-any-return]
            q.words, q.first, comparison.weights, q.masks, comparison.local, s.prefix_first, s.prefix_postings,
            s.signatures, s.sizes, s.list_first, s.lists, limit.numerator, limit.denominator,
            most, s.occurrence_first, s.occurrences, s.document_first, kept, frozen(is_asked), query_from, query_to,
            *comparison.scratch(), np.empty(_BLOCK, np.int64), np.empty(_BLOCK, np.int64), np.empty(4, np.int64), *room,
        )  # fmt: skip

    return run


def _flags(kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the flags as kernels take them: none where all are set, which spares them the look."""
    return _NO_FLAGS if kept.all() else frozen(kept)


def _equal_types(segment: Segment, queries: QueryTypes) -> Matches:
    """Return the types that are the queries themselves, word for word."""
    types = segment.types_of(queries.digests)
    query = np.flatnonzero(types >= 0)
    sizes, totals = queries.sizes[query], queries.totals[query]
    return Matches(query, types[query], sizes, totals, sizes)


def _by_fingerprint(
    segment: Segment, queries: QueryTypes, comparison: _Comparison, common_hashes: NDArray[np.uint64]
) -> Matches:
    common = segment.words_of(common_hashes)
    is_common = np.zeros(int(common.max(initial=-1)) + 1, np.bool_)
    is_common[common[common >= 0]] = True

    def run(query_from: int, query_to: int, room: list[NDArray[Any]]) -> tuple[int, int]:
        return kernels.match_fingerprints(  # type: ignore[no-any-return]
            queries.fingerprints, segment.fingerprint_heads, segment.fingerprint_types, segment.list_first, segment.lists,
            segment.word_hashes, frozen(is_common), query_from, query_to, room[0], room[1],
        )  # fmt: skip

    found = comparison.run(run, in_turn)
    # A second look tells how many words are in common: the score of a hit, whatever found it.
    first = np.searchsorted(found.query, np.arange(len(queries) + 1))
    everything = Request("fingerprint", comparison.request.score, Fraction(0), 0, 0.0, 0, 0)
    full = _Comparison(segment, queries, everything)
    return full.run(full.compare(frozen(first), frozen(found.type.astype(np.uint32))), in_turn)


def radius_by_query(queries: QueryTypes, request: Request, settings: SegmentSettings) -> NDArray[np.int64]:
    """Return the radius of every query: as given, or the largest that keeps the false positives below the bound, at least 0."""
    if request.radius >= 0:
        return np.full(len(queries), request.radius)
    sizes, which = np.unique(queries.sizes, return_inverse=True)
    radii = [
        bits.radius_for(
            settings.signature_bits, settings.bits_per_word, int(n), request.words_flexible, request.max_false_positive
        )
        for n in sizes
    ]
    return np.array([radius or 0 for radius in radii], np.int64)[which]


def _within_radius(comparison: _Comparison, settings: SegmentSettings) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    segment, queries = comparison.segment, comparison.queries
    tables = bits.BitTables(segment.bit_rows, segment.bit_starts, settings.signature_bits)
    radius = radius_by_query(queries, comparison.request, settings)
    counts = np.zeros(len(queries), np.int64)
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]] = []
    at_once = max(1, _MOST_CANDIDATES // max(1, segment.n_types))
    n_found = 0
    for one in np.unique(radius):
        of_radius = np.flatnonzero(radius == one)
        for begin in range(0, len(of_radius), at_once):
            rows = of_radius[begin : begin + at_once]
            first, types = bits.search(tables, segment.signatures, frozen(queries.signatures[rows]), int(one))
            counts[rows] = np.diff(first)
            parts.append((rows, first, types))
            n_found += len(types)
            comparison.check_candidates(n_found)
    starts = starts_of(counts)
    candidates = np.empty(int(starts[-1]), np.uint32)
    for rows, first, types in parts:
        candidates[ranges(starts[rows], np.diff(first))] = types
    return frozen(starts), frozen(candidates)


def _accumulated(comparison: _Comparison) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    segment, queries = comparison.segment, comparison.queries
    limit = comparison.request.min_score
    score, touched = np.zeros(segment.n_types, np.int64), np.empty(segment.n_types, np.uint32)
    first = np.zeros(len(queries) + 1, np.int64)
    pieces: list[NDArray[np.uint32]] = []
    room = np.empty(_ROOM, np.uint32)
    at = done = 0
    while at < len(queries):
        reached, n = kernels.accumulate(
            *comparison.query_columns, segment.posting_first, segment.postings, limit.numerator, limit.denominator,
            at, len(queries), *comparison.scratch(), score, touched, first, room,
        )  # fmt: skip
        first[at + 1 : reached + 1] += done
        pieces.append(room[:n].copy())
        done += n
        comparison.check_candidates(done)
        if reached == at:
            room = np.empty(4 * len(room), np.uint32)
        at = reached
    return frozen(first), frozen(np.concatenate([np.empty(0, np.uint32), *pieces]))


def _room(n: int) -> list[NDArray[Any]]:
    return [np.empty(n, kind) for kind in (np.int32, np.uint32, np.int32, np.int64, np.int32)]
