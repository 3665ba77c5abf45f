"""Places: where the types found by a search occur, best and oldest first, and no more of them than needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.index.arrivals import QueryTypes
from ibidem.index.comparison import Matches
from ibidem.index.kernels import places as kernels
from ibidem.index.segment import Segment, frozen

Numbers = NDArray[np.int64]
SERIAL_BITS = 36
_MUCH_ROOM = 1 << 16


def take_places(
    segment: Segment, kept: NDArray[np.bool_], types: Numbers, most_documents: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the places of types in kept documents: which of the types, document, sentence; those of the oldest documents."""
    source = (frozen(types), segment.places(kept), most_documents)
    n = int(segment.place_counts(types).sum())
    if n > _MUCH_ROOM:  # then it pays off to count first
        n = kernels.take_places(*source, False, *(np.empty(0, np.int64) for _ in range(3)))
    rows = [np.empty(n, np.int64) for _ in range(3)]
    n = kernels.take_places(*source, True, *rows)
    match, document, sentence = (column[:n] for column in rows)
    return match, document, sentence


@dataclass(frozen=True)
class SegmentHits:
    """A segment, its kept documents, the hits and their scores. `is_own`: it contains the arrivals themselves.

    Places count up to the sentence `until` of their query; of the type `equal` to it, all count.
    """

    segment: Segment
    kept: NDArray[np.bool_]
    matches: Matches
    scores: NDArray[np.float64]
    is_own: bool
    equal: Numbers
    until: Numbers

    @classmethod
    def oldest(
        cls, segment: Segment, kept: NDArray[np.bool_], matches: Matches, queries: QueryTypes, score: str, wanted: Numbers,
        is_own: bool,
    ) -> SegmentHits:  # fmt: skip
        """Drop matches without any of the oldest `wanted` places of their query, and subtract found places from `wanted`."""
        equal, until = segment.types_of(queries.digests), np.empty(len(queries), np.int64)
        first = np.searchsorted(matches.query, np.arange(len(queries) + 1))
        heap = np.empty(min(int(wanted.max(initial=0)), segment.n_sentences), np.int64)
        kernels.find_oldest(first, matches.type, equal, wanted, segment.places(kept), heap, until)
        begins = segment.occurrences[segment.occurrence_first[matches.type]]
        is_wanted = (begins < until[matches.query]) | (matches.type == equal[matches.query])
        if not is_wanted.all():
            matches = matches.chosen(is_wanted, 0)
        return cls(segment, kept, matches, matches.scores(queries, score), is_own, equal, until)


@dataclass(frozen=True)
class PlaceRows:
    """Places of types, one row each: by type, then by decreasing score, then from the oldest document on."""

    query: Numbers
    score: NDArray[np.float64]
    part: Numbers
    document: Numbers
    sentence: Numbers
    serial: Numbers

    def chosen(self, rows: NDArray[np.bool_] | Numbers, first_query: int = 0) -> PlaceRows:
        """Return some of the places, with queries counted from `first_query`."""
        return PlaceRows(
            self.query[rows] + first_query, self.score[rows], self.part[rows], self.document[rows], self.sentence[rows],
            self.serial[rows],
        )  # fmt: skip


class BestPlaces:
    """The matches of all segments by query and decreasing score; only as many are examined as needed."""

    def __init__(self, found: Sequence[SegmentHits], n_queries: int, most_documents: int) -> None:
        self._found, self._n_queries, self._most = found, n_queries, most_documents
        query = np.concatenate([np.empty(0, np.int64), *(part.matches.query for part in found)])
        score = np.concatenate([np.empty(0), *(part.scores for part in found)])
        order = np.lexsort((-score, query))
        self._query = query[order]
        self._part = np.repeat(np.arange(len(found)), [len(part.matches) for part in found])[order]
        self._number = np.concatenate([np.empty(0, np.int64), *(np.arange(len(part.matches)) for part in found)])[order]
        # The order among the arrivals is not known here: they are examined separately.
        sizes = [
            np.minimum(part.segment.place_counts(part.matches.type), 0 if part.is_own else most_documents) for part in found
        ]
        n_places = np.concatenate([np.empty(0, np.int64), *sizes])[order]
        # Places of all better matches of the query; equally good ones are treated together.
        before = np.cumsum(n_places) - n_places
        is_first = changes(self._query)
        before -= np.maximum.accumulate(np.where(is_first, before, 0))
        is_first |= changes(score[order])
        self._before = before[np.maximum.accumulate(np.where(is_first, np.arange(len(query)), 0))]
        self._tie = np.cumsum(is_first)
        self._wanted = np.full(n_queries, most_documents)

    def places(self) -> PlaceRows:
        """Return the places by query."""
        own_serials = [part.segment.serials[0] for part in self._found if part.is_own]
        while True:
            taken = self._before < self._wanted[self._query]
            places = self._places(taken)
            pairs = distinct_pairs(places)
            query, serial = pairs >> SERIAL_BITS, pairs & ((1 << SERIAL_BITS) - 1)
            # Matches may share documents: then there are fewer than expected, and more matches must be examined.
            left = np.zeros(self._n_queries, np.bool_)
            left[self._query[~taken]] = True
            older = query[serial < own_serials[0]] if own_serials else query
            left &= np.bincount(older, minlength=self._n_queries) < self._most
            if not left.any():
                return places
            self._wanted[left] *= 8

    def _places(self, taken: NDArray[np.bool_]) -> PlaceRows:
        columns: list[list[NDArray[np.generic]]] = [[] for _ in range(7)]
        for number, part in enumerate(self._found):
            chosen = np.flatnonzero(taken & (self._part == number))
            types = part.matches.type[self._number[chosen]]
            of_type, document, sentence = take_places(part.segment, part.kept, types, self._most)
            at = chosen[of_type]
            query = self._query[at]
            counts = (sentence < part.until[query]) | (types[of_type] == part.equal[query])
            at, document, sentence = at[counts], document[counts], sentence[counts]
            match = self._number[at]
            values = (self._tie[at], self._query[at], part.scores[match], np.full(len(at), number), document, sentence)
            for column, value in zip(columns, (*values, part.segment.serials[document]), strict=True):
                column.append(value)
        tie, *rows = (np.concatenate(column) if column else np.empty(0, np.int64) for column in columns)
        order = np.lexsort((rows[4], tie << SERIAL_BITS | rows[5]))  # by query and score, then serial, then sentence
        return PlaceRows(*(column[order] for column in rows))  # type: ignore[arg-type]


def distinct_pairs(places: PlaceRows) -> Numbers:
    """Return query and serial of all places, each pair once, in increasing order.

    Both are packed into one number: sorting numbers is far faster than sorting rows by two columns.
    """
    pairs = np.sort(places.query << SERIAL_BITS | places.serial)
    return pairs[changes(pairs)]


def joined_places(pieces: Sequence[PlaceRows]) -> PlaceRows:
    """Return the places of all portions in order."""
    names = ("query", "score", "part", "document", "sentence", "serial")
    return PlaceRows(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in names))


def rank_documents(mine: Numbers, serial: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each place how many other documents of its sentence come before its own, and the first place of its own.

    Rows are grouped by sentence. A document may occur again later, with a lower score.
    """
    order = np.lexsort((np.arange(len(mine)), serial, mine))
    is_first = changes(mine[order]) | changes(serial[order])
    first = np.empty(len(mine), np.int64)
    first[order] = order[np.maximum.accumulate(np.where(is_first, np.arange(len(mine)), 0))]
    is_new = np.zeros(len(mine), np.bool_)
    is_new[order[is_first]] = True
    seen = np.cumsum(is_new)
    begin = np.searchsorted(mine, mine, side="left")
    before = np.where(begin > 0, seen[begin - 1], 0)
    return seen[first] - 1 - before, first


def changes(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return where a value differs from the previous one."""
    is_change = np.ones(len(values), np.bool_)
    is_change[1:] = values[1:] != values[:-1]
    return is_change
