"""Sentences that have a class, as columns, and which documents may be paired."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.config import Config


class RowColumns(NamedTuple):
    """The columns of rows that kernels read."""

    classes: NDArray[np.uint64]
    document: NDArray[np.int32]
    document_first: NDArray[np.int64]
    n_words: NDArray[np.int32]
    words_before: NDArray[np.int64]
    position: NDArray[np.int32]


class PairingColumns(NamedTuple):
    """The columns of a pairing that kernels read."""

    same_document: bool
    side: NDArray[np.int8]
    group_numbers: NDArray[np.int32]
    leads: NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Sentences in reading order, without those that have no signature and are skipped.

    `sentence` is the number in the full table, `words_before` the number of words in all earlier sentences. `position` says how
    far apart the rows of a document are, if it is not complete in that table; None: use `sentence`.
    """

    classes: NDArray[np.uint64]
    document: NDArray[np.int32]
    document_first: NDArray[np.int64]
    n_words: NDArray[np.int32]
    words_before: NDArray[np.int64]
    sentence: NDArray[np.int32]
    position: NDArray[np.int32] | None = None

    @property
    def columns(self) -> RowColumns:
        """The columns as one argument of a kernel."""
        position = self.sentence if self.position is None else self.position
        return RowColumns(self.classes, self.document, self.document_first, self.n_words, self.words_before, position)


@dataclass(frozen=True)
class Pairing:
    """Which documents are compared: `side` per document (empty: all with all), and `group_numbers` per document (-1: none).

    `leads` says per document whether pairs with it as the first document are wanted (empty: all are).
    """

    same_document: bool
    side: NDArray[np.int8]
    group_numbers: NDArray[np.int32]
    leads: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    @property
    def columns(self) -> PairingColumns:
        """The columns as one argument of a kernel."""
        return PairingColumns(self.same_document, self.side, self.group_numbers, self.leads)

    def allows(self, documents: NDArray[np.int32], first: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which texts have two places that may be compared; text t is in `documents[first[t]:first[t + 1]]`."""
        if len(first) == 1:
            return np.empty(0, np.bool_)

        def least_and_most(column: NDArray[np.int32] | NDArray[np.int8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            of_place = column[documents].astype(np.int32)
            return np.minimum.reduceat(of_place, first[:-1]), np.maximum.reduceat(of_place, first[:-1])

        is_one = np.minimum.reduceat(documents, first[:-1]) == np.maximum.reduceat(documents, first[:-1])
        allowed = np.where(is_one, self.same_document & (np.diff(first) > 1), True)
        if len(self.side):
            least, most = least_and_most(self.side)
            allowed &= is_one | (least != most)
        if len(self.group_numbers):
            least, most = least_and_most(self.group_numbers)
            allowed &= is_one | (least < 0) | (least != most)
        return allowed


def rows_of(collection: Collection, classes: NDArray[np.uint64], max_gap_sentences: int) -> Rows:
    """Return the sentences that have a class. Up to `max_gap_sentences` without one are skipped.

    More of them in a row interrupt: one of them is kept, with its own class.
    """
    n = len(classes)
    words_before = np.zeros(n, np.int64)
    np.cumsum(collection.n_words[:-1], out=words_before[1:])
    if classes.min(initial=1) > 0:
        every = np.arange(n, dtype=np.int32)
        return Rows(classes, collection.document, collection.document_first, collection.n_words, words_before, every)
    numbers = np.arange(n)
    last_known = np.maximum.accumulate(np.where(classes != 0, numbers, -1))
    last_known = np.maximum(last_known, collection.document_first[collection.document] - 1)
    interrupts = numbers - last_known == max_gap_sentences + 1
    classes = np.where(interrupts, numbers.astype(np.uint64) + np.uint64(1 << 63), classes)
    rows = np.flatnonzero(classes).astype(np.int32)
    document = collection.document[rows]
    document_first = np.searchsorted(document, np.arange(collection.n_documents + 1)).astype(np.int64)
    return Rows(classes[rows], document, document_first, collection.n_words[rows], words_before[rows], rows)


def pairing(collection: Collection, config: Config) -> Pairing:
    """Return which documents are compared."""
    group_numbers = collection.group_numbers if config.passages.skip_same_group else np.empty(0, np.int32)
    return Pairing(config.passages.same_document, collection.side, group_numbers)
