"""Coverage: which parts of each document also appear elsewhere, and which appear earlier, by sentence.

A place adds 1 at its first sentence and -1 after its last one. Every document has one slot per sentence and one more, so that
sums never reach into the next document: they can be computed in many partitions and added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Collection
from ibidem.columns.rows import Rows
from ibidem.passages import PassageRows, Repeats
from ibidem.passages.kernels import coverage as kernels
from ibidem.passages.kernels.coverage import CoverageColumns

Numbers = NDArray[np.int64]
Number = TypeVar("Number", np.int8, np.int64)
Edges = tuple[NDArray[np.int32], NDArray[np.int32]]

MIN_COVERAGE = 0.8  # of both documents, for two to be copies of one another


@dataclass(frozen=True)
class CoveredPlaces:
    """The places of repeats, those of repeat r in [first[r], first[r + 1]): the document of each, and its slots [begin, end).

    `is_whole`: the place covers most of its document. `is_input`: it is compared with a reference.
    """

    first: Numbers
    document: Numbers
    begin: Numbers
    end: Numbers
    time: Numbers
    is_input: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]

    def added(self) -> Iterator[tuple[Numbers, NDArray[np.int32], NDArray[np.int32]]]:
        """Yield what to add to coverage where places begin, then where they end: slots, for `elsewhere`, for `before`."""
        elsewhere, before = np.ones(len(self.document), np.int32), np.ones(len(self.document), np.int32)
        before[self._earliest()] = 0
        yield self.begin, elsewhere, before
        yield self.end, -elsewhere, -before

    def _earliest(self) -> Numbers:
        """Return the first place of each repeat: by time, then reference before inputs, then reading order."""
        if len(self.first) == 1:
            return self.first[:-1]
        time = np.where(self.time == NO_TIME, np.iinfo(np.int64).max, self.time)
        rank = np.where(time == self._least(time), self.is_input.astype(np.int8), np.int8(2))
        candidates = np.flatnonzero(rank == self._least(rank))
        return candidates[np.searchsorted(candidates, self.first[:-1])]

    def _least(self, of_place: NDArray[Number]) -> NDArray[Number]:
        """Return for each place the least number of its repeat."""
        return np.repeat(np.minimum.reduceat(of_place, self.first[:-1]), np.diff(self.first))

    def copies(self) -> tuple[Numbers, Numbers]:
        """Return pairs that connect documents that consist mostly of one repeat."""
        whole = np.flatnonzero(self.is_whole)
        repeat = np.searchsorted(self.first, whole, side="right") - 1
        leads = np.ones(len(whole), np.bool_)
        leads[1:] = repeat[1:] != repeat[:-1]
        leader = whole[leads][np.cumsum(leads) - 1]
        return self.document[leader[~leads]], self.document[whole[~leads]]


class Coverage:
    """Coverage of a collection's documents in slots: one per sentence, plus one per document; `first` bounds them."""

    def __init__(self, collection: Collection) -> None:
        n_documents, n_sentences = collection.n_documents, len(collection.document)
        self.first = collection.document_first + np.arange(n_documents + 1)
        n_slots = n_sentences + n_documents
        self.chars_before = np.empty(n_slots + 1, np.int64)
        kernels.count_before(collection.document_first, collection.start_char, collection.end_char, self.chars_before)
        self.elsewhere, self.before = np.zeros(n_slots + 1, np.int32), np.zeros(n_slots + 1, np.int32)
        self._times = collection.times

    def add_passages(self, passages: Iterable[PassageRows], rows: Rows, a_is_first: bool) -> Edges:
        """Add passages; return the pairs of documents that are copies: passages cover most of both.

        `a_is_first` says which place counts as earlier if times do not decide.
        """
        counted = np.full(len(self.chars_before) - 1, -1, np.int32)
        coverage = CoverageColumns(self.first, self.chars_before, self.elsewhere, self.before, counted)
        n_passages = 0
        a, b = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for some in filter(len, passages):
            copies = np.empty((2, len(some)), np.int32)
            n_copies = kernels.add_passages(
                some.table, n_passages, rows.document, rows.sentence, self._times, a_is_first, coverage, MIN_COVERAGE, copies
            )
            n_passages += len(some)
            a.append(copies[0, :n_copies])
            b.append(copies[1, :n_copies])
        return np.concatenate(a), np.concatenate(b)

    def add_repeats(self, repeats: Repeats, rows: Rows, n_input: int) -> Edges:
        """Add the places of repeats; return pairs that connect documents that consist mostly of one repeat.

        Documents from `n_input` on are the reference, and come before the others if times do not decide.
        """
        document = rows.document[repeats.start].astype(np.int64)
        begin, end = rows.sentence[repeats.start].astype(np.int64), rows.sentence[repeats.end - 1].astype(np.int64) + 1
        is_whole = self.is_whole(document, begin, end)
        places = CoveredPlaces(
            repeats.first, document, begin + document, end + document, self._times[document], document < n_input, is_whole
        )
        for slots, elsewhere, before in places.added():
            kernels.add_up(slots, elsewhere, before, self.elsewhere, self.before)
        a, b = places.copies()
        return a.astype(np.int32), b.astype(np.int32)

    def is_whole(self, document: Numbers, first: Numbers, last: Numbers) -> NDArray[np.bool_]:
        """Return which places cover most of their document."""
        covered = self.chars_before[last + document] - self.chars_before[first + document]
        whole = self.chars_before[self.first[document + 1]] - self.chars_before[self.first[document]]
        is_whole: NDArray[np.bool_] = covered >= MIN_COVERAGE * whole
        return is_whole

    def shares(self) -> NDArray[np.float64]:
        """Return for each document the share of its characters that appears elsewhere, and the share first seen in it."""
        shares = np.empty((2, len(self.first) - 1))
        kernels.share_by_document(self.elsewhere, self.before, self.chars_before, self.first, shares)
        return shares
