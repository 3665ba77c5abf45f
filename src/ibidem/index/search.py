"""Search: which types of a segment match the queries. There are several methods, each exact for what it promises.

- `overlap`: postings of a query's rarest words, bit signatures, full comparison. The fastest; finds everything.
- `bits` (qSign): types whose bit signature is within a radius, then full comparison. Misses what is outside it.
- `fingerprint`: types with the same words, common ones aside, in any order.
- `exact` (Wang et al.): types that are the very sentence, word for word.
- `signature`: types that match by the index's own signature, as for passages.
- `inverted` (All-Pairs): scores added up over all postings. Finds everything.
- `scan`: every type is compared. Finds everything.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import ranges, starts_of
from ibidem.config.surface import named
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index import bits
from ibidem.index.arrivals import QueryTypes
from ibidem.index.comparison import Comparison, Kernel, Matches, Request, TooManyMatchesError
from ibidem.index.kernels import search as kernels
from ibidem.index.kernels.comparison import MatchRoom, match_fingerprints
from ibidem.index.places import Oldest
from ibidem.index.segment import Segment, SegmentSettings, frozen

_ROOM = 1 << 14
_MOST_CANDIDATES = 1 << 22  # listed at once, if fewer queries can be searched at a time
_EVERYTHING = np.iinfo(np.int64).max
_NO_NUMBERS = frozen(np.empty(0, np.int64))
_NO_TYPES = frozen(np.empty(0, np.uint32))
_NO_FLAGS, _NO_BITS = frozen(np.empty(0, np.bool_)), frozen(np.empty(0, np.uint8))
_NO_REQUEST = Request("overlap", "idf", Fraction(1), 0, 0.0, 0, 1)


class SegmentMatches:
    """What a search found in one segment: `hits` of the method, and `similar`, the types that make passages.

    `local` are the numbers of the queries' words, or of what they are known by, in the segment: -1 if it does not have them.
    """

    def __init__(self, hits: Matches, local: NDArray[np.int64], find_similar: Callable[[], Matches]) -> None:
        self.hits = hits
        self.local = local
        self._find_similar = find_similar

    @cached_property
    def similar(self) -> Matches:
        """The types that match by the index's own signature; looked up on first use."""
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
    known_by: QueryTypes | None = None,
) -> SegmentMatches:
    """Return the hits of the queries in a segment, and the types that match them by the index's own signature.

    `known_by` are the queries by their elements, where the signature makes these of words. With `oldest`, `overlap` may leave
    out hits that have none of these places. With `most_matches`, `TooManyMatchesError` is raised as soon as several queries
    have about that many.
    """
    comparison = Comparison(segment, queries, request, most_matches)
    signed = comparison if known_by is None else Comparison(segment, known_by, _NO_REQUEST, most_matches, segment.elements)
    if request.method == "overlap":
        hits = comparison.run(_search_overlap(comparison, oldest), run_tasks)
    elif request.method == "fingerprint":
        hits = _by_fingerprint(segment, queries, comparison, common_hashes)
    elif request.method == "bits":
        hits = comparison.run(comparison.compare(*_within_radius(comparison, settings)), run_tasks)
    elif request.method == "inverted":
        hits = comparison.run(comparison.compare(*_accumulated(comparison)), run_tasks)
    elif request.method == "exact":
        hits = _scored(comparison, _equal_types(segment, queries), run_tasks)
    elif request.method == "signature":
        hits = _scored(comparison, _similar_types(signed, settings, run_tasks), run_tasks)
    else:
        hits = comparison.run(comparison.compare(_NO_NUMBERS, _NO_TYPES), run_tasks)
    return SegmentMatches(hits, signed.local, partial(_similar_types, signed, settings, run_tasks))


def search_similar(
    segment: Segment,
    queries: QueryTypes,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    kept: NDArray[np.bool_],
    most_places: int,
) -> SegmentMatches:
    """Return the types of a segment that match the queries by the index's own signature, and no hits.

    Queries are those by elements, if there are any. A query with more than `most_places` types in `kept`
    may get only some of them, but more than that number.
    """
    comparison = Comparison(segment, queries, _NO_REQUEST, None, segment.elements)
    find = partial(_similar_types, comparison, settings, run_tasks, kept, most_places + 1)
    return SegmentMatches(Matches.joined([]), comparison.local, find)


def search_similar_among(
    segment: Segment,
    queries: QueryTypes,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    asked: NDArray[np.uint8],
    most_matches: int,
) -> Matches:
    """Return which of some types of a segment match the queries; `asked` has a bit per type.

    `TooManyMatchesError` is raised as soon as several queries have about `most_matches`.
    """
    comparison = Comparison(segment, queries, _NO_REQUEST, most_matches, segment.elements)
    return comparison.run(_search_similar(comparison, settings.min_similarity, asked=asked), run_tasks)


def _similar_types(
    comparison: Comparison,
    settings: SegmentSettings,
    run_tasks: RunTasks,
    kept: NDArray[np.bool_] = _NO_FLAGS,
    most: int = _EVERYTHING,
) -> Matches:
    if settings.exact:
        return _equal_types(comparison.segment, comparison.queries)
    return comparison.run(_search_similar(comparison, settings.min_similarity, kept, most), run_tasks)


def _search_overlap(comparison: Comparison, oldest: Oldest | None) -> Kernel:
    segment, queries = comparison.segment, comparison.queries
    places = segment.places(_NO_FLAGS if oldest is None else oldest.kept)
    most = frozen(np.full(len(queries), _EVERYTHING) if oldest is None else oldest.n_places)
    equal = frozen(segment.types_of(queries.digests) if oldest is None else oldest.equal)

    def run(query_from: int, query_to: int, room: MatchRoom) -> tuple[int, int]:
        return kernels.search_overlap(  # type: ignore[no-any-return]
            comparison.columns, comparison.types, comparison.limit, equal, most, places, query_from, query_to,
            comparison.scratch(), room,
        )  # fmt: skip

    return run


def _search_similar(
    comparison: Comparison,
    limit: Fraction,
    kept: NDArray[np.bool_] = _NO_FLAGS,
    most: int = _EVERYTHING,
    asked: NDArray[np.uint8] = _NO_BITS,
) -> Kernel:
    places, asked = comparison.segment.places(kept), frozen(asked)

    def run(query_from: int, query_to: int, room: MatchRoom) -> tuple[int, int]:
        return kernels.search_similar(  # type: ignore[no-any-return]
            comparison.columns, comparison.types, limit.numerator, limit.denominator, most, places, asked, query_from,
            query_to, comparison.scratch(), room,
        )  # fmt: skip

    return run


def _equal_types(segment: Segment, queries: QueryTypes) -> Matches:
    """Return the types identical to the queries, word for word."""
    types = segment.types_of(queries.digests)
    query = np.flatnonzero(types >= 0)
    sizes, totals = queries.sizes[query], queries.totals[query]
    return Matches(query, types[query], sizes, totals, sizes)


def _by_fingerprint(
    segment: Segment, queries: QueryTypes, comparison: Comparison, common_hashes: NDArray[np.uint64]
) -> Matches:
    common = segment.words.numbers_of(common_hashes)
    is_common = np.zeros(int(common.max(initial=-1)) + 1, np.bool_)
    is_common[common[common >= 0]] = True

    def run(query_from: int, query_to: int, room: MatchRoom) -> tuple[int, int]:
        return match_fingerprints(  # type: ignore[no-any-return]
            queries.fingerprints, segment.fingerprint_heads, segment.fingerprint_types, segment.words.lists,
            segment.word_hashes, frozen(is_common), query_from, query_to, room,
        )  # fmt: skip

    return _scored(comparison, comparison.run(run, in_turn), in_turn)


def _scored(comparison: Comparison, found: Matches, run_tasks: RunTasks) -> Matches:
    """Return matches with the words that they have in common: the score of a hit, however it was found."""
    first = np.searchsorted(found.query, np.arange(len(comparison.queries) + 1))
    everything = Request(comparison.request.method, comparison.request.score, Fraction(0), 0, 0.0, 0, 0)
    full = Comparison(comparison.segment, comparison.queries, everything)
    return full.run(full.compare(frozen(first), frozen(found.type.astype(np.uint32))), run_tasks)


def radius_by_query(queries: QueryTypes, request: Request, settings: SegmentSettings) -> NDArray[np.int64]:
    """Return the radius of every query: as given, or the largest that keeps the bound on false positives, or 0 if none does.

    `longest_promised` tells for which queries none does.
    """
    if request.radius >= 0:
        return np.full(len(queries), request.radius)
    sizes, which = np.unique(queries.n_counted, return_inverse=True)
    radii = [
        bits.radius_for(
            settings.signature_bits, settings.bits_per_word, int(n), request.words_flexible, request.max_false_positive
        )
        for n in sizes
    ]
    return np.array([radius or 0 for radius in radii], np.int64)[which]


def longest_promised(request: Request, settings: SegmentSettings) -> int | None:
    """Return the most words of a sentence for which a radius keeps the bound on false positives; None if none is promised."""
    if request.method != "bits" or request.radius >= 0:
        return None
    promised = (request.words_flexible, request.max_false_positive)
    return bits.longest_with_radius(settings.signature_bits, settings.bits_per_word, *promised)


def radius_note(longest: int, max_false_positive: float) -> str:
    """Say what is done where no radius keeps the bound."""
    return (
        f"bits search: for sentences of more than {longest:,} words no radius keeps false positives at {max_false_positive:g}; "
        f"they are searched with radius 0 (raise {named('signature_bits')} or {named('max_false_positive')}, or set "
        f"{named('radius')})"
    )


def _within_radius(comparison: Comparison, settings: SegmentSettings) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    segment, queries = comparison.segment, comparison.queries
    tables = bits.BitTables(segment.bit_rows, segment.bit_starts, settings.signature_bits)
    signatures = segment.bit_signatures(bits.planes_of(settings.signature_bits))
    radius = radius_by_query(queries, comparison.request, settings)
    counts = np.zeros(len(queries), np.int64)
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]] = []
    at_once = max(1, _MOST_CANDIDATES // max(1, segment.n_types))
    n_found = 0
    for one in np.unique(radius):
        of_radius = np.flatnonzero(radius == one)
        for begin in range(0, len(of_radius), at_once):
            rows = of_radius[begin : begin + at_once]
            asked = queries.bit_signatures[..., rows]
            first, types = bits.search(tables, signatures, asked, int(one))
            counts[rows] = np.diff(first)
            parts.append((rows, first, types))
            n_found += len(types)
            _check_candidates(comparison, n_found)
    starts = starts_of(counts)
    candidates = np.empty(int(starts[-1]), np.uint32)
    for rows, first, types in parts:
        candidates[ranges(starts[rows], np.diff(first))] = types
    return frozen(starts), frozen(candidates)


def _accumulated(comparison: Comparison) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    segment, queries = comparison.segment, comparison.queries
    limit = comparison.request.min_score
    score, touched = np.zeros(segment.n_types, np.int64), np.empty(segment.n_types, np.uint32)
    first = np.zeros(len(queries) + 1, np.int64)
    pieces: list[NDArray[np.uint32]] = []
    room = np.empty(_ROOM, np.uint32)
    at = done = 0
    while at < len(queries):
        reached, n = kernels.accumulate(
            comparison.columns, comparison.types.postings, limit.numerator, limit.denominator, at, len(queries),
            comparison.scratch(), score, touched, first, room,
        )  # fmt: skip
        first[at + 1 : reached + 1] += done
        pieces.append(room[:n].copy())
        done += n
        _check_candidates(comparison, done)
        if reached == at:
            room = np.empty(4 * len(room), np.uint32)
        at = reached
    return frozen(first), frozen(np.concatenate([np.empty(0, np.uint32), *pieces]))


def _check_candidates(comparison: Comparison, n_candidates: int) -> None:
    """Raise if there are so many candidates that fewer queries should be searched at a time."""
    if comparison.most_matches is not None and n_candidates > _MOST_CANDIDATES:
        raise TooManyMatchesError
