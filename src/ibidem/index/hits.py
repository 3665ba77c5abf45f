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

from ibidem.columns.ragged import ranges
from ibidem.index.arrivals import Arrivals
from ibidem.index.kernels.places import count_other_documents
from ibidem.index.places import (
    SERIAL_BITS,
    BestPlaces,
    Numbers,
    PlaceRows,
    SegmentHits,
    changes,
    distinct_pairs,
    joined_places,
    rank_documents,
)
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
        askers = _Askers(arrivals, selves)
        self._n_dropped = np.zeros(len(arrivals.types), np.int64)  # per type: places that exist but are not examined
        pieces, documents = [], []
        for portion in portions:
            places = BestPlaces(portion.found, portion.end - portion.begin, documents_needed(max_places)).places()
            if not portion.whole:
                places = self._cut_down(places, portion, askers)
            pieces.append(places.chosen(np.ones(len(places.query), np.bool_), portion.begin) if portion.begin else places)
            documents.append(distinct_pairs(pieces[-1]))
        self._places = pieces[0] if len(pieces) == 1 else joined_places(pieces)
        of_pair = np.concatenate(documents)
        serials = of_pair & ((1 << SERIAL_BITS) - 1)
        first = np.searchsorted(of_pair >> SERIAL_BITS, np.arange(len(arrivals.types) + 1))
        document = self._collection.document
        self.n_documents = np.empty(len(document), np.int64)
        count_other_documents(
            self._of_sentence, selves.same_id[document], selves.not_before[document], first, serials, self.n_documents
        )
        numbers = np.arange(len(arrivals.types) + 1)
        self._type_first = np.searchsorted(self._places.query, numbers)
        # Places are looked up by type and serial where their number matters.
        pairs = self._places.query << SERIAL_BITS | self._places.serial
        order = np.argsort(pairs, kind="stable")
        self._serials = pairs[order]
        self._leading = np.sort(order[changes(self._serials)])
        self._leading_first = np.searchsorted(self._places.query[self._leading], numbers)

    @property
    def n_asking(self) -> int:
        """Number of new documents."""
        return self._collection.n_documents

    def of_sentences(self, sentences: Numbers) -> tuple[Numbers, Numbers]:
        """Return (place, sentence) for all hits of these sentences, which are in order."""
        of_type, document = self._of_sentence[sentences], self._collection.document[sentences]
        is_much = self._is_much(of_type, document)
        first = np.where(is_much, self._leading_first[of_type], self._type_first[of_type])
        size = np.where(is_much, self._leading_first[of_type + 1], self._type_first[of_type + 1]) - first
        row, mine, is_much = ranges(first, size), np.repeat(sentences, size), np.repeat(is_much, size)
        if is_much.any():
            row[is_much] = self._leading[row[is_much]]
        document, serial = self._collection.document[mine], self._places.serial[row]
        keep = (serial != self._selves.same_id[document]) & (serial < self._selves.not_before[document])
        row, mine = row[keep], mine[keep]
        rank, first = rank_documents(mine, self._places.serial[row])
        # Of a sentence in too many documents, not every place was examined: only the best ones of a document are listed, which
        # does not depend on where they were found.
        score, is_few = self._places.score[row], self.n_documents[mine] <= self._max_places
        keep = (rank < self._max_places) & (is_few | (score == score[first]))
        return row[keep], mine[keep]

    def _is_much(self, of_type: NDArray[np.int32], document: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for which sentences, given by type and document, only the first best place in a document is listed."""
        pairs, which, n_sentences = np.unique(
            of_type.astype(np.int64) << SERIAL_BITS | document, return_inverse=True, return_counts=True
        )
        types, document = pairs >> SERIAL_BITS, (pairs & ((1 << SERIAL_BITS) - 1)).astype(np.int32)
        from_type = types << SERIAL_BITS
        not_before = np.minimum(self._selves.not_before[document], (1 << SERIAL_BITS) - 1)
        same_id = self._selves.same_id[document]
        n_places = np.searchsorted(self._serials, from_type | not_before) - np.searchsorted(self._serials, from_type)
        own = np.flatnonzero((same_id >= 0) & (same_id < not_before))
        of_own = from_type[own] | same_id[own]
        n_places[own] -= np.searchsorted(self._serials, of_own, "right") - np.searchsorted(self._serials, of_own)
        n_places += self._n_dropped[types]
        most_hits = max(MANY_HITS, self._max_places**2)
        is_much = (n_places > self._most_places) | (n_places * n_sentences > most_hits)
        return np.asarray(is_much[which])

    def _cut_down(self, places: PlaceRows, portion: Portion, askers: _Askers) -> PlaceRows:
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
        self._n_dropped[portion.begin : portion.end] = n_places - n_listed
        return places

    def table(self) -> tuple[pa.Table, SourceTexts]:
        """Return all hits in the schema HITS, and the texts of the documents in which they are."""
        collection, places = self._collection, self._places
        row, mine = self.of_sentences(np.flatnonzero(self.n_documents))
        document = collection.document[mine].astype(np.int64)
        start, end, inside, name = (np.empty(len(row), np.int64) for _ in range(4))
        names: list[pa.LargeStringArray] = []
        known: list[tuple[Segment, Numbers]] = []
        n_names = 0
        for number, segment in enumerate(self._segments):
            at = np.flatnonzero(places.part[row] == number)
            other, sentence = places.document[row[at]], places.sentence[row[at]]
            start[at] = segment.start_char[sentence]
            end[at] = segment.end_chars(sentence, other)
            inside[at] = sentence - segment.document_first[other]
            distinct, which = np.unique(other, return_inverse=True)
            names.append(segment.ids(distinct))
            known.append((segment, distinct))
            name[at] = which + n_names
            n_names += len(distinct)
        all_names = pa.chunked_array(names, pa.large_string()).combine_chunks()
        columns = [
            pa.DictionaryArray.from_arrays(pa.array(document.astype(np.int32)), collection.ids),
            pa.array((mine - collection.document_first[document]).astype(np.int32)),
            pa.array(collection.start_char[mine].astype(np.int64)),
            pa.array(collection.end_char[mine].astype(np.int64)),
            pa.DictionaryArray.from_arrays(pa.array(name.astype(np.int32)), all_names),
            pa.array(inside.astype(np.int32)),
            pa.array(start),
            pa.array(end),
            pa.array(places.score[row]),
        ]
        return pa.Table.from_arrays(columns, schema=HITS), SourceTexts(collection, np.empty(0, np.int64), known)

    def sources(self, counts: NDArray[np.bool_], most: int) -> list[tuple[int, str, int]]:
        """Return for every document the documents with most of its counted sentences: (document, id, sentences), best first."""
        known = np.flatnonzero((self.n_documents > 0) & counts)
        row, mine = self.of_sentences(known)
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
