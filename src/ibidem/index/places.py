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
_NO_BOUNDS = np.empty(0, np.int64)
_SENTENCE_BITS = 32


def take_places(
    segment: Segment, kept: NDArray[np.bool_], types: Numbers, most_documents: int, bounds: Numbers = _NO_BOUNDS
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the places of types in kept documents: which of the types, document, sentence; those of the oldest documents.

    Of each type, only sentences before its bound count.
    """
    source = (frozen(types), bounds, segment.places(kept), most_documents)
    n = int(segment.place_counts(types).sum())
    if n > _MUCH_ROOM:  # then it pays off to count first
        n = kernels.take_places(*source, False, *(np.empty(0, np.int64) for _ in range(3)))
    rows = [np.empty(n, np.int64) for _ in range(3)]
    n = kernels.take_places(*source, True, *rows)
    match, document, sentence = (column[:n] for column in rows)
    return match, document, sentence


@dataclass(frozen=True)
class Oldest:
    """How much is wanted of a segment: the types of the oldest places in `kept` documents, with their number per query.

    Places of the identical sentence are always wanted and do not count: those of the type `equal` to each query (-1: none).
    """

    kept: NDArray[np.bool_]
    n_places: Numbers
    equal: Numbers


@dataclass(frozen=True)
class SegmentHits:
    """A segment, its kept documents, the hits, their scores, and in how many places they are. `is_own`: it contains the
    arrivals themselves.

    Places count up to the sentence `until` of their query; of the type `equal` to it, all count.
    """

    segment: Segment
    kept: NDArray[np.bool_]
    matches: Matches
    scores: NDArray[np.float64]
    n_places: Numbers
    is_own: bool
    equal: Numbers
    until: Numbers

    @classmethod
    def of_oldest(
        cls, segment: Segment, oldest: Oldest, matches: Matches, queries: QueryTypes, score: str, is_own: bool
    ) -> SegmentHits:
        """Drop matches without any of the oldest wanted places of their query, and subtract found places from these."""
        kept, wanted, equal, until = oldest.kept, oldest.n_places, oldest.equal, np.empty(len(queries), np.int64)
        first = np.searchsorted(matches.query, np.arange(len(queries) + 1))
        heap = np.empty(min(int(wanted.max(initial=0)), segment.n_sentences), np.int64)
        chosen, n_places = np.empty(len(matches), np.int64), np.empty(len(matches), np.int64)
        given = first, matches.type, equal, wanted, segment.places(kept), heap
        n = kernels.find_oldest(*given, until, chosen, n_places)
        if n < len(matches):
            matches = matches.chosen(chosen[:n], 0)
        return cls(segment, kept, matches, matches.scores(queries, score), n_places[:n], is_own, equal, until)

    def places_of(self, rows: Numbers, most_documents: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return the places of some matches that count: which of the matches, document, sentence."""
        types, query = self.matches.type[rows], self.matches.query[rows]
        bounds = np.where(types == self.equal[query], self.segment.n_sentences, self.until[query])
        return take_places(self.segment, self.kept, types, most_documents, bounds)


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


def best_places(found: Sequence[SegmentHits], n_queries: int, most_documents: int) -> PlaceRows:
    """Return the places of the matches of all segments: those of the best ones of each query that are in enough documents."""
    n_places = [np.bincount(part.matches.query, np.minimum(part.n_places, most_documents), n_queries) for part in found]
    if sum(n_places, np.zeros(n_queries)).max(initial=0) > most_documents:
        return _BestMatches(found, n_queries, most_documents).places()
    every = [np.arange(len(part.matches)) for part in found]
    return _in_order(_listed(found, every, most_documents))


def _listed(found: Sequence[SegmentHits], chosen: Sequence[Numbers], most_documents: int) -> PlaceRows:
    """Return the places of chosen matches of each segment, in no order."""
    pieces = []
    for number, (part, rows) in enumerate(zip(found, chosen, strict=True)):
        if len(rows):
            match, document, sentence = part.places_of(rows, most_documents)
            match = rows[match]
            columns = part.matches.query[match], part.scores[match], np.full(len(match), number), document, sentence
            pieces.append(PlaceRows(*columns, part.segment.serials[document]))
    return joined_places(pieces)


def _in_order(places: PlaceRows) -> PlaceRows:
    """Return places by query, best score first, then from the oldest on: segments and their sentences are in that order."""
    if len(places.query) < 2:
        return places
    return places.chosen(np.lexsort((places.part << _SENTENCE_BITS | places.sentence, -places.score, places.query)))


class _BestMatches:
    """The matches of all segments; of each query, only the best ones are examined, as many as needed."""

    def __init__(self, found: Sequence[SegmentHits], n_queries: int, most_documents: int) -> None:
        self._found, self._n_queries, self._most = found, n_queries, most_documents
        query = np.concatenate([part.matches.query for part in found])
        order = np.argsort(query, kind="stable")
        self._first = np.searchsorted(query[order], np.arange(n_queries + 1))
        self._scores = np.concatenate([part.scores for part in found])[order]
        # The order among the arrivals is not known here: they are examined separately.
        sizes = [np.minimum(part.n_places, 0 if part.is_own else most_documents) for part in found]
        self._n_places = np.concatenate(sizes)[order]

    def places(self) -> PlaceRows:
        """Return the places by query."""
        own_serials = [part.segment.serials[0] for part in self._found if part.is_own]
        wanted = np.full(self._n_queries, self._most)
        least, left = np.empty(self._n_queries), np.empty(self._n_queries, np.bool_)
        scratch = np.empty(len(self._scores)), np.empty(len(self._scores), np.int64)
        while True:
            kernels.choose_scores(self._first, self._scores, self._n_places, wanted, *scratch, least, left)
            chosen = [np.flatnonzero(part.scores >= least[part.matches.query]) for part in self._found]
            places = _listed(self._found, chosen, self._most)
            if not left.any():
                return _in_order(places)
            # Matches may share documents: then there are fewer than expected, and more matches must be examined.
            pairs = distinct_pairs(places)
            query, serial = pairs >> SERIAL_BITS, pairs & ((1 << SERIAL_BITS) - 1)
            older = query[serial < own_serials[0]] if own_serials else query
            left &= np.bincount(older, minlength=self._n_queries) < self._most
            if not left.any():
                return _in_order(places)
            wanted[left] *= 8


def distinct_pairs(places: PlaceRows) -> Numbers:
    """Return query and serial of all places, each pair once, in increasing order.

    Both are packed into one number: sorting numbers is far faster than sorting rows by two columns.
    """
    pairs = np.sort(places.query << SERIAL_BITS | places.serial)
    return pairs[changes(pairs)]


def joined_places(pieces: Sequence[PlaceRows]) -> PlaceRows:
    """Return the places of all pieces in order."""
    if len(pieces) == 1:
        return pieces[0]
    names = ("query", "score", "part", "document", "sentence", "serial")
    nothing = {name: np.empty(0, np.float64 if name == "score" else np.int64) for name in names}
    return PlaceRows(*(np.concatenate([nothing[name], *(getattr(piece, name) for piece in pieces)]) for name in names))


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
