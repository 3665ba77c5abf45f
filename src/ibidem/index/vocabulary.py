"""How common words are: a frozen document count per word, taken once and stored with the index.

The weights of words come from it and do not change as documents arrive: what matches does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.index.kernels.segment import count_documents, find_hashes
from ibidem.index.segment import Segment, frozen
from ibidem.signatures.known_words import KnownWords

ENOUGH_DOCUMENTS = 1000  # from so many on, the counts of words stay as they are
WEIGHT_UNIT = 1 << 16  # weights are integers, so that sums do not depend on the order
NO_ORDER = frozen(np.empty(0, np.uint32))
NO_WORDS, NO_NUMBERS = frozen(np.empty(0, np.uint64)), frozen(np.empty(0, np.int64))
_FEWEST_COMMON = 10  # in a handful of documents every word occurs in most of them


@dataclass(frozen=True)
class WordCounts:
    """The words that occur in two or more documents, by increasing hash, with the number of their documents."""

    hashes: NDArray[np.uint64]
    document_counts: NDArray[np.uint32]
    n_documents: int
    version: int
    is_given: bool = False  # from elsewhere: they are never taken from the documents of the index
    # The words that occur most often, by rising hash, if the signature asks for them, and how often they do.
    frequent: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS)
    occurrences: NDArray[np.int64] = field(default_factory=lambda: NO_NUMBERS)
    _common: dict[float, NDArray[np.uint64]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def empty(cls) -> WordCounts:
        """Return the counts of no documents: every word weighs the same and none is common."""
        return cls(frozen(np.empty(0, np.uint64)), frozen(np.empty(0, np.uint32)), 0, 0)

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], document_counts: NDArray[np.int64], n_documents: int, version: int) -> WordCounts:
        """Return the counts of these words (in any order); words of one document count as never seen."""
        several = np.flatnonzero(document_counts > 1)
        order = several[np.argsort(hashes[several])]
        return cls(frozen(hashes[order]), frozen(document_counts[order].astype(np.uint32)), n_documents, version)

    @classmethod
    def given(cls, known: KnownWords, n_frequent: int) -> WordCounts:
        """Return the counts that a user gives for good."""
        top = known.most_frequent(n_frequent)
        counts = cls.of(known.hashes, known.document_counts, known.n_documents, 1)
        return replace(counts, is_given=True, frequent=frozen(top.hashes), occurrences=frozen(top.counts))

    @classmethod
    def counted(cls, parts: Sequence[tuple[Segment, NDArray[np.bool_]]], version: int, n_frequent: int = 0) -> WordCounts:
        """Count the kept documents of segments by word, and how often the `n_frequent` most frequent words occur in them."""
        hashes, n_documents = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        for segment, kept in parts:
            counts = np.zeros(len(segment.word_hashes), np.int64)
            last = np.full(len(counts), -1, np.int64)
            count_documents(segment.types, segment.document_first, kept, segment.words.lists, last, counts)
            hashes.append(segment.word_hashes)
            n_documents.append(counts)
        words, which = np.unique(np.concatenate(hashes), return_inverse=True)
        total = np.bincount(which, np.concatenate(n_documents), len(words)).astype(np.int64)
        found = cls.of(words, total, int(sum(kept.sum() for _, kept in parts)), version)
        if not n_frequent:
            return found
        times = np.concatenate([np.empty(0, np.int64), *(_occurrences(segment, kept) for segment, kept in parts)])
        known = KnownWords(words, np.bincount(which, times, len(words)).astype(np.int64), total, found.n_documents)
        top = known.most_frequent(n_frequent)
        return replace(found, frequent=frozen(top.hashes), occurrences=frozen(top.counts))

    def frequent_words(self) -> KnownWords:
        """Return the most frequent words, of which it matters that they are."""
        return KnownWords(self.frequent, self.occurrences, np.ones(len(self.frequent), np.int64), self.n_documents)

    def counts_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of documents of each word, at least 1."""
        found = np.empty(len(hashes), np.int64)
        find_hashes(self.hashes, NO_ORDER, frozen(hashes), found)
        counts = np.ones(len(hashes), np.int64)
        seen = found >= 0
        counts[seen] = self.document_counts[found[seen]]
        return counts

    def weights_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return log(N/df) of each word in units of 1/65536, at least one unit; without documents, every word has one unit."""
        return self.weights_by_counts(self.counts_of(hashes))

    def weights_by_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the same, given in how many documents each word is."""
        if self.n_documents < 2:
            return np.ones(len(counts), np.int64)
        idf = np.log(self.n_documents / counts)
        return np.maximum(1, np.round(WEIGHT_UNIT * idf)).astype(np.int64)

    def most_of_uncommon(self, max_document_share: float) -> int:
        """Return in how many documents a word may be that does not occur in a larger share of them."""
        return max(int(Fraction(str(max_document_share)) * self.n_documents), _FEWEST_COMMON)

    def common_hashes(self, max_document_share: float) -> NDArray[np.uint64]:
        """Return the words that occur in a larger share of the documents: fingerprints ignore them."""
        if max_document_share not in self._common:
            self._common[max_document_share] = self.hashes[self.document_counts > self.most_of_uncommon(max_document_share)]
        return self._common[max_document_share]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns as they are stored."""
        columns: dict[str, NDArray[Any]] = {"hashes": self.hashes, "document_counts": self.document_counts}
        return columns | ({"frequent": self.frequent, "occurrences": self.occurrences} if len(self.frequent) else {})

    @classmethod
    def stored(cls, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> WordCounts:
        """Return counts from the columns of a file."""
        numbers = int(about["n_documents"]), int(about["version"])
        frequent = (arrays["frequent"], arrays["occurrences"]) if "frequent" in arrays else ()
        return cls(arrays["hashes"], arrays["document_counts"], *numbers, bool(about.get("given")), *frequent)


def _occurrences(segment: Segment, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often each word of a segment occurs in its kept documents."""
    of_type = np.bincount(segment.types, np.repeat(kept, np.diff(segment.document_first)), segment.n_types)
    words, lengths = segment.words.read(np.arange(segment.n_types))
    return np.bincount(words, np.repeat(of_type, lengths), len(segment.word_hashes)).astype(np.int64)
