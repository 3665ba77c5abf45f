"""Kernels that list the hits of sentences, given the places of their types.

Type t of the queries has the places `[first[t], first[t + 1])`, best score first, then oldest. A place *leads* if it is the
first one of its type in its document.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.hashes import FACTOR
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.index.kernels.segment import sentence_end

_SPREAD, _HALF = np.uint64(FACTOR), np.uint64(32)


class Sentences(NamedTuple):
    """The sentences of documents that ask, and their types; per document the serial of the same id in the index (-1: none),
    and the first serial that is not before it.
    """

    document_first: NDArray[np.int64]
    types: NDArray[np.int32]
    same_id: NDArray[np.int64]
    not_before: NDArray[np.int64]


class TypePlaces(NamedTuple):
    """The places of types: serials of documents, scores, which place of the type leads in the same document, and by type the
    leading ones, and how many places were left out.
    """

    first: NDArray[np.int64]
    serials: NDArray[np.int64]
    scores: NDArray[np.float64]
    leads: NDArray[np.int64]
    leading_first: NDArray[np.int64]
    leading: NDArray[np.int64]
    n_dropped: NDArray[np.int64]


class HitLimits(NamedTuple):
    """The documents that may be listed for a sentence; the places of a sentence, and the hits of all of its kind in one
    document, beyond which only leading places are.
    """

    max_places: int
    most_places: int
    most_hits: int


class PlaceColumns(NamedTuple):
    """Places by the number of their segment, document and sentence."""

    part: NDArray[np.int64]
    document: NDArray[np.int64]
    sentence: NDArray[np.int64]


class SegmentSentences(NamedTuple):
    """Where sentences of a segment begin, and how long its documents are."""

    document_first: NDArray[np.int64]
    n_chars: NDArray[np.int64]
    start_char: NDArray[np.uint32]


class Located(NamedTuple):
    """Where hits are: start, end, number of the sentence in its document, number of the document."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    inside: NDArray[np.int32]
    name: NDArray[np.int32]


class Scratch(NamedTuple):
    """By type: sentences of the document, the last document that was looked at, and what was found for it. By place: a rank."""

    n_sentences: NDArray[Any]
    seen_in: NDArray[Any]
    found: NDArray[Any]
    rank: NDArray[Any]


@outer_kernel
def find_leading(first, serials, slots, leads, leading_first, leading):
    """Find the leading place of every place, and list the leading ones of each type; `leading_first[0]` is set.

    `slots` has room for twice as many numbers as the most places of a type, rounded up to a power of two.
    """
    n = leading_first[0]
    for t in range(len(first) - 1):
        begin, end = first[t], first[t + 1]
        n_slots = np.int64(2)
        while n_slots < 2 * (end - begin):
            n_slots *= 2
        for slot in range(n_slots):
            slots[slot] = -1
        for row in range(begin, end):
            slot = np.int64(np.uint64(serials[row]) * _SPREAD >> _HALF) & (n_slots - 1)
            while slots[slot] >= 0 and serials[slots[slot]] != serials[row]:
                slot = (slot + 1) & (n_slots - 1)
            if slots[slot] < 0:
                slots[slot] = row
                leading[n] = row
                n += 1
            leads[row] = slots[slot]
        leading_first[t + 1] = n


@outer_kernel
def locate(rows, number, places, segment, gaps, slots, located, documents):
    """Locate the hits `rows` that are in the segment of this number: start, end, number in the document, and the number of the
    document among the distinct ones, which are listed from `documents[0]` on. Return how many these are.

    `slots` has room for twice as many numbers as there are rows, a power of two, and all are -1.
    """
    n = np.int64(0)
    for k in range(len(rows)):
        row = rows[k]
        if places.part[row] != number:
            continue
        s, d = places.sentence[row], places.document[row]
        begin = segment.document_first[d]
        located.start[k], located.inside[k] = segment.start_char[s], s - begin
        located.end[k] = sentence_end(s, d, segment.document_first, segment.n_chars, segment.start_char, gaps)
        slot = np.int64(np.uint64(d) * _SPREAD >> _HALF) & (len(slots) - 1)
        while slots[slot] >= 0 and documents[slots[slot]] != d:
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = n
            documents[n] = d
            n += 1
        located.name[k] = slots[slot]
    return n


@outer_kernel
def count_documents(sentences, places, scratch, counts):
    """Count per sentence the documents with its type that come before its own and have another id."""
    for d in range(len(sentences.document_first) - 1):
        same_id, not_before = sentences.same_id[d], sentences.not_before[d]
        for s in range(sentences.document_first[d], sentences.document_first[d + 1]):
            t = sentences.types[s]
            if scratch.seen_in[t] != d:
                scratch.seen_in[t] = d
                n = np.int64(0)
                for k in range(places.leading_first[t], places.leading_first[t + 1]):
                    serial = places.serials[places.leading[k]]
                    n += serial < not_before and serial != same_id
                scratch.found[t] = n
            counts[s] = scratch.found[t]


@inner_kernel
def _is_much(t, same_id, not_before, places, limits, n_sentences):
    """Return whether only leading places of a type are listed: it has too many, or too many hits in the document that asks."""
    n = places.n_dropped[t]
    for row in range(places.first[t], places.first[t + 1]):
        serial = places.serials[row]
        n += serial < not_before and serial != same_id
        if n > limits.most_places or n * n_sentences > limits.most_hits:
            return True
    return n > limits.most_places or n * n_sentences > limits.most_hits


@outer_kernel
def list_hits(is_chosen, n_documents, sentences, places, limits, scratch, fill, rows, mine):
    """List the hits of the chosen sentences: place and sentence. Return how many there are; they are written only with `fill`.

    `n_documents` are those of each sentence. Of one in too many, only the best places in each document are listed.
    """
    n = np.int64(0)
    for d in range(len(sentences.document_first) - 1):
        begin, end = sentences.document_first[d], sentences.document_first[d + 1]
        same_id, not_before = sentences.same_id[d], sentences.not_before[d]
        for s in range(begin, end):
            scratch.n_sentences[sentences.types[s]] += is_chosen[s]
        for s in range(begin, end):
            if not is_chosen[s]:
                continue
            t = sentences.types[s]
            if scratch.seen_in[t] != d:
                scratch.seen_in[t] = d
                scratch.found[t] = _is_much(t, same_id, not_before, places, limits, scratch.n_sentences[t])
            is_much, is_few = scratch.found[t] != 0, n_documents[s] <= limits.max_places
            first = places.leading_first[t] if is_much else places.first[t]
            last = places.leading_first[t + 1] if is_much else places.first[t + 1]
            n_ranked = np.int64(0)
            for k in range(first, last):
                row = places.leading[k] if is_much else np.int64(k)
                serial = places.serials[row]
                if serial == same_id or serial >= not_before:
                    continue
                lead = places.leads[row]
                if lead == row:
                    scratch.rank[row] = n_ranked
                    n_ranked += 1
                    if is_much and n_ranked > limits.max_places:
                        break
                if scratch.rank[lead] < limits.max_places and (is_few or places.scores[row] == places.scores[lead]):
                    if fill:
                        rows[n], mine[n] = row, s
                    n += 1
        for s in range(begin, end):
            scratch.n_sentences[sentences.types[s]] = 0
    return n
