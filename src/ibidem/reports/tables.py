"""The tables of a run, built from rows and sentence numbers: passages, repeats, documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters import MIN_COVERAGE, cluster_copies, copied_pairs
from ibidem.collection import Collection
from ibidem.model import DIRECTIONS, DOCUMENTS, KINDS, PASSAGES, REPEATS
from ibidem.passages import PassageRows, PlaceGroup, Rows

_EXACT, _NEAR, _QUOTE = range(3)
_UNKNOWN, _A_TO_B, _B_TO_A = range(3)


@dataclass(frozen=True)
class Places:
    """Stretches of whole sentences [first, last) in documents."""

    document: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def starts(self, collection: Collection) -> NDArray[np.int64]:
        """Return the first characters."""
        return collection.start_char[self.first].astype(np.int64)

    def ends(self, collection: Collection) -> NDArray[np.int64]:
        """Return the characters after the last ones."""
        return collection.end_char[self.last - 1].astype(np.int64)


def places_of(rows: Rows, first_rows: NDArray[np.int64], last_rows: NDArray[np.int64]) -> Places:
    """Return the places of rows [first, last) in the full numbering of sentences."""
    return Places(rows.document[first_rows].astype(np.int64), rows.sentence[first_rows], rows.sentence[last_rows - 1] + 1)


def passages_table(passages: PassageRows, rows: Rows, collection: Collection, min_sentences: int) -> pa.Table:
    """Return the passages in the schema PASSAGES."""
    a = places_of(rows, passages.spans[:, 0], passages.spans[:, 1])
    b = places_of(rows, passages.spans[:, 2], passages.spans[:, 3])
    kind = np.where(passages.n_sentences < min_sentences, _QUOTE, np.where(passages.equal, _EXACT, _NEAR))
    time_a, time_b = collection.times[a.document], collection.times[b.document]
    known = np.minimum(time_a, time_b) > np.iinfo(np.int64).min
    direction = np.where(known & (time_a < time_b), _A_TO_B, np.where(known & (time_b < time_a), _B_TO_A, _UNKNOWN))
    columns = [
        _names(collection, a.document),
        a.starts(collection),
        a.ends(collection),
        _names(collection, b.document),
        b.starts(collection),
        b.ends(collection),
        passages.n_sentences,
        passages.similarity,
        pa.DictionaryArray.from_arrays(pa.array(kind, pa.int8()), pa.array(KINDS)),
        pa.DictionaryArray.from_arrays(pa.array(direction, pa.int8()), pa.array(DIRECTIONS)),
    ]
    return pa.Table.from_arrays([pa.array(c) if isinstance(c, np.ndarray) else c for c in columns], schema=PASSAGES)


def repeats_table(groups: Sequence[PlaceGroup], rows: Rows, collection: Collection) -> pa.Table:
    """Return the repeat groups in the schema REPEATS, those in most documents first."""
    texts, counts, sizes, places = [], [], [], []
    for group in groups:
        starts = group.starts.astype(np.int64)
        place = places_of(rows, starts, starts + group.length)
        start, end = place.starts(collection), place.ends(collection)
        texts.append(collection.text(int(place.document[0]))[start[0] : end[0]])
        counts.append(len(np.unique(place.document)))
        sizes.append(len(starts))
        places.append((place.document, start, end))
    order = sorted(range(len(groups)), key=lambda g: (-counts[g], -len(texts[g]), texts[g]))
    document, start, end = (
        np.concatenate([places[g][part] for g in order] or [np.empty(0, np.int64)]) for part in range(3)
    )
    structs = pa.StructArray.from_arrays(
        [collection.ids.take(pa.array(document)), pa.array(start), pa.array(end)], names=["id", "start", "end"]
    )
    offsets = np.concatenate([[0], np.cumsum([sizes[g] for g in order])]).astype(np.int64)
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), structs)
    columns = [pa.array([texts[g] for g in order], pa.large_string()), pa.array([counts[g] for g in order], pa.int64()), lists]
    return pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, REPEATS, strict=True)], schema=REPEATS)


def documents_table(
    passages: PassageRows, groups: Sequence[PlaceGroup], rows: Rows, collection: Collection
) -> pa.Table:
    """Return one row a document of the input in the schema DOCUMENTS.

    Shares are of the characters of all sentences: reused is what stands in another document too, first is the part of
    that which stands in none before this one (by time where both have one, otherwise in reading order; the reference
    side always comes before the input).
    """
    n_sentences = len(collection.document)
    chars = (collection.end_char.astype(np.int64) - collection.start_char).astype(np.int64)
    chars_before = np.concatenate([[0], np.cumsum(chars)])
    document_chars = np.diff(chars_before[collection.document_first])
    a = places_of(rows, passages.spans[:, 0], passages.spans[:, 1])
    b = places_of(rows, passages.spans[:, 2], passages.spans[:, 3])
    elsewhere, before = np.zeros(n_sentences + 1, np.int64), np.zeros(n_sentences + 1, np.int64)
    a_first = _comes_first(a.document, b.document, collection)
    for side, is_later in ((a, ~a_first), (b, a_first)):
        _cover(elsewhere, side.first, side.last)
        _cover(before, side.first[is_later], side.last[is_later])
    edges = [copied_pairs(a.document, b.document, _chars(a, chars_before), _chars(b, chars_before), document_chars)]
    for group in groups:
        starts = group.starts.astype(np.int64)
        place = places_of(rows, starts, starts + group.length)
        _cover(elsewhere, place.first, place.last)
        later = np.ones(len(starts), np.bool_)
        later[np.lexsort((place.document, _time_rank(place.document, collection)))[0]] = False
        _cover(before, place.first[later], place.last[later])
        whole = place.document[_chars(place, chars_before) >= MIN_COVERAGE * document_chars[place.document]]
        edges.append((np.full(max(0, len(whole) - 1), whole[0] if len(whole) else 0), whole[1:]))
    cluster = cluster_copies(*(np.concatenate(ends) for ends in zip(*edges, strict=True)), collection.n_documents)
    reused = np.cumsum(elsewhere[:-1]) > 0
    first = reused & (np.cumsum(before[:-1]) == 0)
    n_input = collection.n_input
    total = np.maximum(document_chars, 1)[:n_input]
    columns = [
        collection.ids.slice(0, n_input),
        pa.array(collection.n_chars[:n_input]),
        pa.array(np.diff(collection.document_first)[:n_input]),
        pa.array(_sum_by_document(chars * reused, collection)[:n_input] / total),
        pa.array(_sum_by_document(chars * first, collection)[:n_input] / total),
        pa.array(cluster[:n_input], mask=cluster[:n_input] < 0),
    ]
    return pa.Table.from_arrays(columns, schema=DOCUMENTS)


def _names(collection: Collection, documents: NDArray[np.int64]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(documents.astype(np.int32)), collection.ids)


def _chars(places: Places, chars_before: NDArray[np.int64]) -> NDArray[np.int64]:
    difference: NDArray[np.int64] = chars_before[places.last] - chars_before[places.first]
    return difference


def _cover(marks: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> None:
    """Mark sentences [first, last): the running sum of the marks is how often each one is covered."""
    np.add.at(marks, first, 1)
    np.add.at(marks, last, -1)


def _time_rank(documents: NDArray[np.int64], collection: Collection) -> NDArray[np.int64]:
    times = collection.times[documents]
    return np.where(times == np.iinfo(np.int64).min, np.iinfo(np.int64).max, times)


def _comes_first(a: NDArray[np.int64], b: NDArray[np.int64], collection: Collection) -> NDArray[np.bool_]:
    """Tell where a counts as earlier than b."""
    none = np.iinfo(np.int64).min
    time_a, time_b = collection.times[a], collection.times[b]
    timed = (time_a != none) & (time_b != none) & (time_a != time_b)
    reading_order = np.full(len(a), collection.n_input == collection.n_documents)
    return np.where(timed, time_a < time_b, reading_order)


def _sum_by_document(values: NDArray[np.int64], collection: Collection) -> NDArray[np.int64]:
    before = np.concatenate([[0], np.cumsum(values)])
    return np.diff(before[collection.document_first])
