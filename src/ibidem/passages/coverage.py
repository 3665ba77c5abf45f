"""Coverage: what of each document stands elsewhere, and what stands somewhere before, kept by sentence.

A mark is +1 at the first sentence and -1 after the last one. Every document has a slot for each of its sentences and one
more, so the marks of a document never touch those of the next: they can be made apart and added up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Rows
from ibidem.passages import PassageRows
from ibidem.passages.kernels import coverage as kernels

Numbers = NDArray[np.int64]
Edges = tuple[NDArray[np.int32], NDArray[np.int32]]

MIN_COVERAGE = 0.8  # of both documents, for two to be copies of one another as wholes


class Coverage:
    """Coverage of the documents of a collection, in slots: one per sentence, and one more per document; `first` bounds them."""

    def __init__(self, collection: Collection) -> None:
        n_documents, n_sentences = collection.n_documents, len(collection.document)
        self.first = collection.document_first + np.arange(n_documents + 1)
        n_slots = n_sentences + n_documents
        n_chars = np.zeros(n_slots, np.int64)
        n_chars[np.arange(n_sentences) + collection.document] = collection.end_char - collection.start_char
        self.chars_before = starts_of(n_chars)
        self.elsewhere, self.before = np.zeros(n_slots + 1, np.int32), np.zeros(n_slots + 1, np.int32)
        self._times = collection.times

    def add_passages(self, parts: Sequence[PassageRows], rows: Rows, a_is_first: bool) -> Edges:
        """Mark passages; return the pairs of documents that are copies: passages cover most of both.

        `a_is_first` says which place counts as the earlier one where times do not tell.
        """
        slots = rows.sentence + rows.document
        counted = np.full(len(self.chars_before) - 1, -1, np.int32)
        n_passages = 0
        a, b = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for part in filter(len, parts):
            copies_a, copies_b = np.empty(len(part), np.int32), np.empty(len(part), np.int32)
            n_copies = kernels.mark_passages(
                part.table, rows.document, slots, self._times, a_is_first, self.chars_before, self.first,
                MIN_COVERAGE, self.elsewhere, self.before, counted, n_passages, copies_a, copies_b,
            )  # fmt: skip
            n_passages += len(part)
            a.append(copies_a[:n_copies])
            b.append(copies_b[:n_copies])
        return np.concatenate(a), np.concatenate(b)

    def add_places(self, document: Numbers, first: Numbers, last: Numbers, earliest: int) -> None:
        """Mark places of one text: sentences [first, last) of each document, counted over all; `earliest` is not before any."""
        kernels.mark_places(first + document, last + document, earliest, self.elsewhere, self.before)

    def is_whole(self, document: Numbers, first: Numbers, last: Numbers) -> NDArray[np.bool_]:
        """Tell which places cover most of their document."""
        covered = self.chars_before[last + document] - self.chars_before[first + document]
        whole = self.chars_before[self.first[document + 1]] - self.chars_before[self.first[document]]
        is_whole: NDArray[np.bool_] = covered >= MIN_COVERAGE * whole
        return is_whole

    def shares(self) -> NDArray[np.float64]:
        """Return by document the share of its characters that stands elsewhere, and the share first seen in it."""
        shares = np.empty((2, len(self.first) - 1))
        kernels.share_by_document(self.elsewhere, self.before, self.chars_before, self.first, shares)
        return shares
