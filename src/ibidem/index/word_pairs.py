"""Places where documents share pairs of words: edited copies are found by them, also beside sentences that are unchanged.

A pair is two words of one sentence, in any order, that few documents contain. Edited sentences keep some of their pairs; by
chance, two texts have hardly any in common, and not close together. Of all pairs, one in eight is stored, chosen by hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.distinct import distinct, find
from ibidem.columns.ragged import ranges
from ibidem.index.arrivals import Arrivals, QueryTypes
from ibidem.index.kernels.places import mark_types_in
from ibidem.index.kernels.word_pairs import mark_near
from ibidem.index.places import changes
from ibidem.index.segment import Segment
from ibidem.index.segment_build import common_in_pairs, pairs_of_words
from ibidem.index.vocabulary import WordCounts

Numbers = NDArray[np.int64]
MAX_GAP_SENTENCES = 4  # between two pairs of words that lead to a document
MOST_MEETINGS = 1 << 20  # of pairs of words at once, and those of one document
MOST_IN_DOCUMENT = 4  # sentences of a document that are looked at for one pair of words
_DOCUMENT_BITS = _SENTENCE_BITS = 32
_NO_FLAGS = np.empty(0, np.bool_)
_FAR_TOO_MANY = 10  # times the places that a pair may have: then it does not matter which of them are removed


@dataclass(frozen=True)
class _Places:
    """Where pairs of words are, by key, then in reading order: number of the key, document, sentence."""

    key: Numbers
    document: Numbers
    sentence: Numbers

    def chosen(self, rows: NDArray[np.bool_]) -> _Places:
        """Return some of the places."""
        return self if rows.all() else _Places(self.key[rows], self.document[rows], self.sentence[rows])

    def first_in_document(self) -> Numbers:
        """Return for every place the first one of its key and document."""
        first = np.flatnonzero(changes(self.key) | changes(self.document))
        return np.repeat(first, np.diff(np.append(first, len(self.key))))

    def is_looked_at(self) -> NDArray[np.bool_]:
        """Return which places are among the first of their document."""
        return np.asarray(np.arange(len(self.key)) - self.first_in_document() < MOST_IN_DOCUMENT)


def sentences_by_pairs(
    arrivals: Arrivals,
    queries: QueryTypes,
    parts: Sequence[tuple[Segment, NDArray[np.bool_]]],
    counts: WordCounts,
    max_places: int,
    among_themselves: bool,
) -> tuple[list[Numbers], Numbers]:
    """Return where documents share two pairs of words close together with arrivals: rows of two sentences that have one of
    them, of an arrival and of the segment, for each segment.

    With `among_themselves`, also rows of sentences of an arrival and of an earlier one. A pair of words that is in more than
    `max_places` sentences of the index, and of earlier arrivals, leads to nothing. Neither do two sentences that both are,
    unchanged, in the other document: what is copied with them is found by sentences.
    """
    is_common = common_in_pairs(queries.word_hashes, counts)
    listed, types = pairs_of_words(queries.words, queries.first, np.arange(len(queries)), queries.word_hashes, is_common)
    keys, of_key = np.unique(listed, return_inverse=True)
    mine = _of_arrivals(arrivals, of_key.astype(np.int64), types)
    theirs, n_places = [], np.zeros(len(keys), np.int64)
    for segment, kept in parts:
        places, counted = _of_segment(segment, kept, keys, max_places)
        theirs.append(places.chosen(places.is_looked_at()))
        n_places += counted
    n_before = mine.first_in_document() - np.searchsorted(mine.key, mine.key) if among_themselves else 0 * mine.key
    is_rare = n_places[mine.key] + n_before <= max_places
    is_looked_at = mine.is_looked_at()
    mine, is_rare = mine.chosen(is_looked_at), is_rare[is_looked_at]
    found = []
    for others in theirs:
        first = np.searchsorted(others.key, mine.key)
        size = np.where(is_rare, np.searchsorted(others.key, mine.key, side="right") - first, 0)
        found.append(_near(mine, others, first, size))
    found = [_open(rows, arrivals, queries, segment) for rows, (segment, _) in zip(found, parts, strict=True)]
    if not among_themselves:
        return found, np.empty((0, 2), np.int64)
    first = np.searchsorted(mine.key, mine.key)
    size = np.where(is_rare, mine.first_in_document() - first, 0)
    return found, _open_among(_near(mine, mine, first, size), arrivals)


def _open(rows: Numbers, arrivals: Arrivals, queries: QueryTypes, segment: Segment) -> Numbers:
    """Return those pairs of sentences of which at least one is not in the other's document."""
    if not len(rows):
        return rows
    equal = segment.types_of(queries.digests)[arrivals.types.of_sentence]
    document, (a, b) = arrivals.collection.document.astype(np.int64), rows.T
    known = np.unique(document << _DOCUMENT_BITS | equal)
    is_open = ~find(document[a] << _DOCUMENT_BITS | segment.types[b], known)[1]
    is_there = np.empty(len(rows), np.bool_)
    mark_types_in(equal[a], segment.documents_of(b), segment.places(_NO_FLAGS), is_there)
    return rows[is_open | ~is_there]


def _open_among(rows: Numbers, arrivals: Arrivals) -> Numbers:
    """Return the same for sentences of arrivals."""
    document, types = arrivals.collection.document.astype(np.int64), arrivals.types.of_sentence
    known, (a, b) = np.unique(document << _DOCUMENT_BITS | types), rows.T
    is_in = [find(document[x] << _DOCUMENT_BITS | types[y], known)[1] for x, y in ((a, b), (b, a))]
    return rows[~(is_in[0] & is_in[1])]


def _of_arrivals(arrivals: Arrivals, of_key: Numbers, types: NDArray[np.uint32]) -> _Places:
    of_sentence = arrivals.types.of_sentence
    by_type = np.argsort(of_sentence, kind="stable")
    first = np.searchsorted(of_sentence[by_type], types)
    size = np.searchsorted(of_sentence[by_type], types, side="right") - first
    return _sorted_places(np.repeat(of_key, size), by_type[ranges(first, size)], arrivals.collection.document)


def _of_segment(
    segment: Segment, kept: NDArray[np.bool_], keys: NDArray[np.uint32], max_places: int
) -> tuple[_Places, Numbers]:
    """Return the places of pairs of words in kept documents of a segment, and how many each has; too many are not listed."""
    if not segment.has_pairs:
        nothing = np.empty(0, np.int64)
        return _Places(nothing, nothing, nothing), np.zeros(len(keys), np.int64)
    first, size = segment.find_pairs(keys)
    types, of_key = segment.pair_types[ranges(first, size)].astype(np.int64), np.repeat(np.arange(len(keys)), size)
    counts = segment.place_counts(types)
    n_places = np.bincount(of_key, counts, len(keys)).astype(np.int64)
    is_listed = n_places[of_key] <= (max_places if kept.all() else _FAR_TOO_MANY * max_places)
    types, of_key, counts = types[is_listed], of_key[is_listed], counts[is_listed]
    sentences = segment.occurrences[ranges(segment.occurrence_first[types].astype(np.int64), counts)].astype(np.int64)
    of_key = np.repeat(of_key, counts)
    if not kept.all():
        is_kept = kept[segment.documents_of(sentences)]
        sentences, of_key = sentences[is_kept], of_key[is_kept]
        is_counted = n_places <= _FAR_TOO_MANY * max_places
        n_places = np.where(is_counted, np.bincount(of_key, minlength=len(keys)), n_places)
    order = np.lexsort((sentences, of_key))
    sentences = sentences[order]
    return _Places(of_key[order], segment.documents_of(sentences), sentences), n_places


def _sorted_places(key: Numbers, sentence: Numbers, document_of: NDArray[np.int32]) -> _Places:
    order = np.lexsort((sentence, key))
    sentence = sentence[order].astype(np.int64)
    return _Places(key[order], document_of[sentence].astype(np.int64), sentence)


def _near(mine: _Places, others: _Places, first: Numbers, size: Numbers) -> Numbers:
    """Return the pairs of sentences in which two keys meet close together; place r of mine meets `size[r]` others.

    Documents of mine are looked at in portions: there may be many more meetings than places.
    """
    order = np.argsort(mine.document, kind="stable")
    documents, n_meetings = mine.document[order], np.cumsum(size[order])
    found, begin = [np.empty((0, 2), np.int64)], 0
    while begin < len(order):
        before = int(n_meetings[begin - 1]) if begin else 0
        last = max(begin, int(np.searchsorted(n_meetings, before + MOST_MEETINGS, side="right")) - 1)
        end = int(np.searchsorted(documents, documents[last], side="right"))
        found.append(_near_in(order[begin:end], mine, others, first, size))
        begin = end
    return np.concatenate(found)


def _near_in(places: Numbers, mine: _Places, others: _Places, first: Numbers, size: Numbers) -> Numbers:
    """Return the same for some places, which are all of their documents, in order of these."""
    rows, partners = np.repeat(places, size[places]), ranges(first[places], size[places])
    pairs = mine.document[rows] << _DOCUMENT_BITS | others.document[partners]
    order = np.lexsort((mine.sentence[rows], pairs))
    rows, partners, pairs = rows[order], partners[order], pairs[order]
    is_near = np.zeros(len(pairs), np.bool_)
    mark_near(pairs, mine.sentence[rows], others.sentence[partners], mine.key[rows], MAX_GAP_SENTENCES, is_near)
    found = distinct(mine.sentence[rows[is_near]] << _SENTENCE_BITS | others.sentence[partners[is_near]])
    return np.stack([found >> _SENTENCE_BITS, found & ((1 << _SENTENCE_BITS) - 1)], axis=1)
