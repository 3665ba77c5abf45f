"""Similar types: those of a segment that match the sentences of new documents by the index's own signature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.distinct import distinct
from ibidem.columns.ragged import ranges, starts_of
from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.arrivals import QueryTypes
from ibidem.index.comparison import Matches, TooManyMatchesError
from ibidem.index.kernels.search import BYTE_BITS, set_bits
from ibidem.index.places import Numbers, take_places
from ibidem.index.search import search_similar, search_similar_among
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.matches import join_types, sort_sets

MOST_SIMILAR = 1 << 20  # listed matches of sentences in too many places; beyond that, classes are enough


@dataclass(frozen=True)
class Similar:
    """A segment, its kept documents, and the types similar to the queries.

    `local` are the queries' elements as in `SegmentMatches`, `n_places` the places of the queries. For a query in more than
    `max_places`, places and matches may be incomplete, but are more than that. Once the relevant documents are known
    (`matches_among`), its matches are those in them, or enough pairs of a query and a type to give the same classes.
    """

    segment: Segment
    kept: NDArray[np.bool_]
    matches: Matches
    local: Numbers
    n_places: Numbers


def find_similar(
    segment: Segment,
    kept: NDArray[np.bool_],
    queries: QueryTypes,
    settings: SegmentSettings,
    max_places: int,
    run_tasks: RunTasks = in_turn,
) -> Similar:
    """Return the types of a segment that are similar to the queries, a bounded number for each query."""
    found = search_similar(segment, queries, settings, run_tasks, kept, max_places)
    n_places = _count_places(segment, kept, found.similar, len(queries), max_places)
    return Similar(segment, kept, found.similar, found.local, n_places)


def _count_places(segment: Segment, kept: NDArray[np.bool_], matches: Matches, n_queries: int, max_places: int) -> Numbers:
    """Return how many places each query has; if more than `max_places`, the number may be too low, but exceeds it."""
    counts = segment.place_counts(matches.type)
    if not kept.all():
        types, which = np.unique(matches.type, return_inverse=True)
        match, _, _ = take_places(segment, kept, types, max_places + 1)
        counts = np.bincount(match, minlength=len(types))[which]
    return np.bincount(matches.query, counts, n_queries).astype(np.int64)


def matches_among(
    part: Similar,
    documents: Numbers,
    queries: QueryTypes,
    settings: SegmentSettings,
    max_places: int,
    run_tasks: RunTasks,
) -> Similar:
    """Return the types with all matches in these documents of the queries that are in more than `max_places` places.

    No passage is found through such a query, but it may be in one. Types of one template all match one another: if there are
    too many matches to list, pairs that give the same classes replace them.
    """
    is_hot = part.n_places > max_places
    if settings.exact or not is_hot.any():
        return part
    segment, hot = part.segment, np.flatnonzero(is_hot)
    types = segment.types[ranges(segment.document_first[documents], segment.sentence_counts(documents))]
    some = queries.chosen(hot)
    if not len(types):
        found = Matches.joined([])
    else:
        asked = np.zeros(-(-segment.n_types // BYTE_BITS), np.uint8)
        set_bits(types, asked)
        try:
            found = search_similar_among(segment, some, settings, run_tasks, asked, MOST_SIMILAR)
        except TooManyMatchesError:
            found = _connecting(segment, distinct(types).astype(np.int64), some, settings.min_similarity, run_tasks)
    others = part.matches.chosen(~is_hot[part.matches.query], 0)
    return replace(part, matches=Matches.joined([others, replace(found, query=hot[found.query])]))


def _connecting(segment: Segment, types: Numbers, queries: QueryTypes, limit: Fraction, run_tasks: RunTasks) -> Matches:
    """Return pairs of queries and types that connect those of one class, a chain of similar sentences; one or two of each."""
    elements, sizes = segment.elements.read(types)
    first = starts_of(np.concatenate([queries.sizes, sizes]))
    hashes = np.concatenate([queries.word_hashes[queries.words], segment.elements.hashes[elements]])
    classes = join_types(sort_sets(HashSets(hashes, first), run_tasks), limit, run_tasks).of_type
    of_query, of_type = classes[: len(queries)], classes[len(queries) :]
    a_query, a_type = np.full((2, len(classes) + 1), -1)  # per class; the last is for sentences without words
    a_query[of_query[::-1]] = np.arange(len(of_query))[::-1]
    a_type[of_type[::-1]] = np.arange(len(of_type))[::-1]
    a_query[-1] = a_type[-1] = -1
    query = np.concatenate([np.arange(len(of_query)), a_query[of_type]])
    number = np.concatenate([a_type[of_query], np.arange(len(of_type))])
    both = (query >= 0) & (number >= 0)
    nothing = np.zeros(int(both.sum()), np.int64)
    return Matches(query[both], types[number[both]], nothing, nothing, nothing)
