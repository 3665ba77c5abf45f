"""Hits: where sentences of new documents also occur in the index, located to the character.

Places are found for each type of the new documents. They are listed per sentence only on request: a heading of every document
would be listed as often as it is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import distinct
from ibidem.columns.ragged import ranges
from ibidem.columns.texts import read_only
from ibidem.index.arrivals import Arrivals
from ibidem.index.kernels import hits as kernels
from ibidem.index.kernels.segment import Gaps
from ibidem.index.places import Numbers, PlaceRows, SegmentHits, best_places, changes, joined_places, rank_documents
from ibidem.index.segment import Segment
from ibidem.index.source_texts import SourceTexts
from ibidem.model import HITS

MANY_PLACES, MANY_HITS = 1000, 10_000


def places_needed(max_places: int) -> int:
    """Return how many similar places of a sentence are examined: one more than may be listed."""
    return max(MANY_PLACES, 10 * max_places) + 1


def documents_needed(max_places: int) -> int:
    """Return how many documents must be examined: one too many, and one that may be the document itself."""
    return max_places + 2


@dataclass(frozen=True)
class Selves:
    """What keeps documents from matching themselves, per document: the serial of the same id in the index (-1: none), and the
    first serial that is not before it.
    """

    same_id: Numbers
    not_before: Numbers


@dataclass(frozen=True)
class Portion:
    """The queries [begin, end) and their hits, by segment. Unless it is the `whole`, it is reduced at once."""

    begin: int
    end: int
    found: Sequence[SegmentHits]
    whole: bool


class Hits:
    """The places of every sentence of new documents, best score first, then oldest: those of at most `max_places` documents.

    Of a sentence in more documents than that, only the best places of each are listed. Of one in ten times as many places (and
    1,000), or so often on both sides that one document would get more than `max_places` squared (and 10,000) hits for it, only
    the first best place in each document is listed: an endlessly repeated line must not give quadratically many hits.

    Work is bounded: the identical sentence is looked up everywhere, and of merely similar sentences the oldest `places_needed`
    are examined, including those of a document with the same id. With fewer, nothing is left out. The result does not depend on
    segments, commits or batches.

    `n_documents` counts, per sentence, the documents with such places, exactly up to one more than `max_places`.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        portions: Iterable[Portion],
        segments: Sequence[Segment],
        selves: Selves,
        max_places: int,
    ) -> None:
        self._collection, self._of_sentence = arrivals.collection, arrivals.types.of_sentence
        self._segments, self._selves, self._max_places = segments, selves, max_places
        self._most_places = places_needed(max_places) - 1
        n_dropped = np.zeros(len(arrivals.types), np.int64)  # per type: places that exist but are not examined
        pieces = []
        for portion in portions:
            places = best_places(portion.found, portion.end - portion.begin, documents_needed(max_places))
            if not portion.whole:
                places = self._cut_down(places, portion, _Askers(arrivals, selves), n_dropped)
            pieces.append(places.chosen(np.ones(len(places.query), np.bool_), portion.begin) if portion.begin else places)
        self._places = pieces[0] if len(pieces) == 1 else joined_places(pieces)
        self._by_type = _by_type(self._places, len(arrivals.types), n_dropped)
        self._sentences = kernels.Sentences(
            self._collection.document_first, self._of_sentence, selves.same_id, selves.not_before
        )
        self.n_documents = np.empty(len(self._of_sentence), np.int64)
        kernels.count_documents(self._sentences, self._by_type, self._scratch(), self.n_documents)

    @property
    def n_asking(self) -> int:
        """Number of new documents."""
        return self._collection.n_documents

    def _scratch(self) -> kernels.Scratch:
        n_types, n_places = len(self._by_type.n_dropped), len(self._by_type.serials)
        of_types = np.zeros(n_types, np.int64), np.full(n_types, -1), np.empty(n_types, np.int64)
        return kernels.Scratch(*of_types, np.empty(n_places, np.int64))

    def of_sentences(self, is_chosen: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """Return (place, sentence) for all hits of the chosen sentences, in order."""
        limits = kernels.HitLimits(self._max_places, self._most_places, max(MANY_HITS, self._max_places**2))
        given = is_chosen, self.n_documents, self._sentences, self._by_type, limits
        nothing = np.empty(0, np.int64)
        n = kernels.list_hits(*given, self._scratch(), False, nothing, nothing)
        rows, mine = np.empty(n, np.int64), np.empty(n, np.int64)
        kernels.list_hits(*given, self._scratch(), True, rows, mine)
        return rows, mine

    def _cut_down(self, places: PlaceRows, portion: Portion, askers: _Askers, n_dropped: Numbers) -> PlaceRows:
        """Drop the places that are not listed, and remember their number: it may be quadratic.

        Places in the best documents are listed; of a sentence in very many places, only the first best place in each.
        """
        types = places.query + portion.begin
        is_seen = (places.serial < askers.not_before[types]) & (places.serial != askers.same_id[types])
        places = places.chosen(is_seen | ~askers.is_one[types])
        n_places = np.bincount(places.query, minlength=portion.end - portion.begin)
        rank, first = rank_documents(places.query, places.serial)
        is_much = n_places[places.query] > self._most_places
        is_listed = (rank < documents_needed(self._max_places)) & (~is_much | (first == np.arange(len(first))))
        places = places.chosen(is_listed | ~askers.is_one[places.query + portion.begin])
        n_listed = np.bincount(places.query, minlength=portion.end - portion.begin)
        n_dropped[portion.begin : portion.end] = n_places - n_listed
        return places

    def table(self) -> tuple[pa.Table, SourceTexts]:
        """Return all hits in the schema HITS, and the texts of the documents in which they are."""
        collection, places = self._collection, self._places
        row, mine = self.of_sentences(self.n_documents > 0)
        document = collection.document[mine]
        n = len(row)
        located = kernels.Located(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32))
        by_place = kernels.PlaceColumns(places.part, places.document, places.sentence)
        names: list[pa.LargeStringArray] = []
        known: list[tuple[Segment, Numbers]] = []
        n_names, documents = 0, np.empty(n, np.int64)
        for number in distinct(places.part).tolist():
            segment = self._segments[number]
            sentences = kernels.SegmentSentences(*map(read_only, (segment.document_first, segment.n_chars, segment.start_char)))
            gaps = Gaps(*map(read_only, segment.gaps))
            slots = np.full(1 << (2 * n).bit_length(), -1)
            given = by_place, sentences, gaps, slots, located, documents
            found = documents[: kernels.locate(row, number, *given)].copy()
            names.append(segment.ids(found))
            known.append((segment, found))
            if n_names:
                located.name[places.part[row] == number] += n_names
            n_names += len(found)
        all_names = pa.concat_arrays([collection.ids[:0], *names])
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(document), collection.ids),
            pa.array((mine - collection.document_first[document]).astype(np.int32)),
            pa.array(collection.start_char[mine].astype(np.int64)),
            pa.array(collection.end_char[mine].astype(np.int64)),
            pa.DictionaryArray.from_arrays(pa.array(located.name), all_names),
            pa.array(located.inside),
            pa.array(located.start),
            pa.array(located.end),
            pa.array(places.score[row]),
        ]
        return pa.Table.from_arrays(columns, schema=HITS), SourceTexts(collection, np.empty(0, np.int64), known)

    def sources(self, counts: NDArray[np.bool_], most: int) -> list[tuple[int, str, int]]:
        """Return for every document the documents with most of its counted sentences: (document, id, sentences), best first."""
        row, mine = self.of_sentences((self.n_documents > 0) & counts)
        document, serial = self._collection.document[mine].astype(np.int64), self._places.serial[row]
        order = np.lexsort((mine, serial, document))
        row, mine, document, serial = row[order], mine[order], document[order], serial[order]
        is_pair = changes(document) | changes(serial)
        first = np.flatnonzero(is_pair)
        n_sentences = np.add.reduceat((is_pair | changes(mine)).astype(np.int64), first) if len(first) else first
        order = np.lexsort((serial[first], -n_sentences, document[first]))
        first, n_sentences = first[order], n_sentences[order]
        begin = np.flatnonzero(changes(document[first]))
        rank = ranges(0, np.diff(np.append(begin, len(first))))
        first, n_sentences = first[rank < most], n_sentences[rank < most]
        part, other = self._places.part[row[first]], self._places.document[row[first]]
        names = np.empty(len(first), object)
        for number in np.unique(part):
            at = np.flatnonzero(part == number)
            names[at] = self._segments[number].ids(other[at]).to_pylist()
        return list(zip(document[first].tolist(), names.tolist(), n_sentences.tolist(), strict=True))


def _by_type(places: PlaceRows, n_types: int, n_dropped: Numbers) -> kernels.TypePlaces:
    """Return the places of types, which leads of those in one document, and the leading ones of each type."""
    first = np.searchsorted(places.query, np.arange(n_types + 1))
    n = len(places.query)
    slots = np.empty(1 << int(2 * np.diff(first).max(initial=1)).bit_length(), np.int64)
    leads, leading, leading_first = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n_types + 1, np.int64)
    kernels.find_leading(first, places.serial, slots, leads, leading_first, leading)
    return kernels.TypePlaces(first, places.serial, places.score, leads, leading_first, leading, n_dropped)


class _Askers:
    """The documents that ask for a type: one, or several that see the same; and what they do not see (see `Selves`)."""

    def __init__(self, arrivals: Arrivals, selves: Selves) -> None:
        of_sentence, document = arrivals.types.of_sentence, arrivals.collection.document.astype(np.int64)
        # Documents are grouped by what they see: all that see everything are alike.
        seen = np.where(selves.same_id < 0, -1, np.arange(len(selves.same_id)))
        if len(np.unique(selves.not_before)) > 1:
            seen = np.arange(len(selves.same_id))
        lowest, highest = np.full(len(arrivals.types), len(seen)), np.full(len(arrivals.types), -1)
        np.minimum.at(lowest, of_sentence, seen[document])
        np.maximum.at(highest, of_sentence, seen[document])
        one = document[arrivals.types.first_sentence]
        self.is_one = lowest == highest
        self.same_id, self.not_before = selves.same_id[one], selves.not_before[one]
