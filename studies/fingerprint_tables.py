"""Hashes of documents, of sentences and of fingerprints: the three models of the paper. Used by fingerprints.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from newsgroups import count_words, every_sentence
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.execution.tasks import in_turn
from ibidem.index.arrivals import Arrivals
from ibidem.index.segment import SegmentSettings
from ibidem.index.vocabulary import WordCounts
from ibidem.signatures import type_tokens

MOST_PLACES = 300
MIN_HITS = 3
MIN_WORDS = 4
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0)
PAPER_SHARE = 300_000 / 500_000
PLACES = (3, 10, 30, 100, 300, float("inf"))
RANGES = tuple((low, high) for low in (0.0, 0.0002, 0.001, 0.005) for high in (0.01, 0.05, 0.2, 1.0) if low < high)

Keys = NDArray[np.uint64]
# Of documents to hash and document of each entry, and the words of what was hashed.
HashesOf = Callable[[Collection], tuple[Keys, NDArray[np.int64], NDArray[Any]]]


@dataclass(frozen=True)
class HashTable:
    """The hashes that are known, rising, and how to find those of documents."""

    name: str
    known: Keys
    hashes_of: HashesOf
    min_hits: int = MIN_HITS

    def is_known(self, hashes: Keys) -> NDArray[np.bool_]:
        """Tell which hashes are known."""
        at = np.minimum(np.searchsorted(self.known, hashes), len(self.known) - 1)
        known: NDArray[np.bool_] = self.known[at] == hashes
        return known

    def n_hits(self, collection: Collection, min_words: int = MIN_WORDS) -> NDArray[np.int64]:
        """Return by document the number of known hashes of so many words."""
        hashes, document, n_words = self.hashes_of(collection)
        return np.bincount(document[self.is_known(hashes) & (n_words >= min_words)], minlength=collection.n_documents)

    def found(self, collection: Collection) -> NDArray[np.bool_]:
        """Tell which documents are duplicates."""
        return self.n_hits(collection) >= self.min_hits


def hash_table(
    name: str, hashes_of: HashesOf, sources: Collection, min_hits: int = MIN_HITS, most_places: float = MOST_PLACES
) -> HashTable:
    """Return the table of the sources' hashes, without those that occur too often and the 0 of sentences without words."""
    hashes, n_times = np.unique(hashes_of(sources)[0], return_counts=True)
    return HashTable(name, hashes[(n_times <= most_places) & (hashes != 0)], hashes_of, min_hits)


def sentence_hashes(collection: Collection) -> tuple[Keys, NDArray[np.int64], NDArray[Any]]:
    """Wang09: all words of a sentence, in order."""
    return collection.digest, collection.document.astype(np.int64), collection.n_words


def fingerprints(counts: WordCounts, share: float) -> HashesOf:
    """The paper's: the words of a sentence in any order, but for those in a larger share of the documents."""
    settings = SegmentSettings(64, 3, share, Fraction(1), exact=True)

    def hashes_of(collection: Collection) -> tuple[Keys, NDArray[np.int64], NDArray[Any]]:
        arrivals = Arrivals(collection)
        keys = arrivals.queries(counts, settings).fingerprints[arrivals.types.of_sentence]
        return keys, collection.document.astype(np.int64), collection.n_words

    return hashes_of


def document_hashes(counts: WordCounts, low: float, high: float) -> HashesOf:
    """Chowdhury02 (I-Match): the distinct words that occur in more than a share `low` of the documents and at most `high`."""
    n = max(1, counts.n_documents)

    def hashes_of(collection: Collection) -> tuple[Keys, NDArray[np.int64], NDArray[Any]]:
        tokens = type_tokens(collection, every_sentence(collection), in_turn)
        document = np.repeat(collection.document, np.diff(tokens.first)).astype(np.int64)
        share = counts.counts_of(tokens.tokens) / n
        kept = (share > low) & (share <= high)
        words, where = tokens.tokens[kept], document[kept]
        order = np.lexsort((words, where))
        words, where = words[order], where[order]
        new = np.ones(len(words), np.bool_)
        new[1:] = (words[1:] != words[:-1]) | (where[1:] != where[:-1])
        words, where = words[new], where[new]
        mixed = (words ^ words >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        first = np.flatnonzero(np.append(True, where[1:] != where[:-1])) if len(where) else np.empty(0, np.int64)
        sums = np.add.reduceat(mixed ^ mixed >> np.uint64(32), first) if len(first) else np.empty(0, np.uint64)
        return sums, where[first], np.bincount(document, minlength=collection.n_documents)[where[first]]

    return hashes_of


@dataclass(frozen=True)
class Sources:
    """What targets are compared with: the documents, their words, and the tables, which are made once for all targets."""

    collection: Collection
    counts: WordCounts
    by_range: dict[tuple[float, float], HashTable]
    by_share: dict[float, HashTable]
    sentences: HashTable
    by_places: dict[float, HashTable]

    @classmethod
    def of(cls, collection: Collection) -> Sources:
        """Return sources with their tables."""
        counts = count_words(collection)
        by_range = {
            (low, high): hash_table(f"Chowdhury02, {low:g} to {high:g}", document_hashes(counts, low, high), collection, 1)
            for low, high in RANGES
        }
        by_share = {share: hash_table(f"fingerprints, {share:g}", fingerprints(counts, share), collection) for share in SHARES}
        as_printed = fingerprints(counts, PAPER_SHARE)
        by_places = {most: hash_table(f"{most:g} places", as_printed, collection, most_places=most) for most in PLACES}
        return cls(collection, counts, by_range, by_share, hash_table("Wang09", sentence_hashes, collection), by_places)
