"""What the tests of the index share: small collections, and plain twins that compare every sentence with every other."""

from __future__ import annotations

import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import Config
from ibidem.execution.tasks import in_turn
from ibidem.formats import read_batches
from ibidem.index.answers import QueryResult, answer
from ibidem.index.arrivals import Arrivals
from ibidem.index.bits import word_masks
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WEIGHT_UNIT, WordCounts
from ibidem.sentences import tokenise_texts
from ibidem.sentences.core import gather
from tests.texts import render, word

Sentence = tuple[str, ...]
Document = Sequence[Sentence]
Record = dict[str, Any]

WORDS = [word(number) for number in range(40)]
WORD_HASHES = dict(zip(WORDS, tokenise_texts(pa.array(WORDS, pa.large_string()))[0].tolist(), strict=True))


def text_of(document: Document) -> str:
    """Return a text whose sentences are these, whatever the splitter thinks of them."""
    return "\n\n".join(render(sentence) for sentence in document)


def records_of(documents: Iterable[Document], prefix: str = "d") -> list[Record]:
    """Return records with the ids d0, d1, …"""
    return [{"id": f"{prefix}{number}", "text": text_of(document)} for number, document in enumerate(documents)]


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Yield a new folder, in memory where there is such a place: thousands of small commits would wait for the disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield folder


def arrivals_of(records: Sequence[Record], **settings: Any) -> Arrivals:
    """Return documents as they arrive at an index. Nothing may be skipped."""
    config = Config.of(**settings)

    def refuse(record: object) -> None:
        raise AssertionError(record)

    batches = list(read_batches(list(records), config.documents, refuse))
    return Arrivals(gather(batches, iter(()), config.sentences, in_turn, lambda n_documents, n_sentences: None))


def segment_of(
    records: Sequence[Record], counts: WordCounts, settings: SegmentSettings, first_serial: int = 0, **others: Any
) -> Segment:
    """Return the segment of these documents."""
    serials = np.arange(first_serial, first_serial + len(records))
    return arrivals_of(records, **others).segment(serials, counts, settings)


def ask(
    arrivals: Arrivals,
    parts: Sequence[tuple[Segment, NDArray[np.bool_]]],
    own: Segment | None,
    counts: WordCounts,
    config: Config,
) -> QueryResult:
    """Ask segments about documents as an index does that consists of them; with `own`, the documents of a stream."""
    known = {
        name: serial
        for segment, kept in parts
        for name, serial, is_there in zip(segment.ids().to_pylist(), segment.serials.tolist(), kept.tolist(), strict=True)
        if is_there
    }
    return answer(arrivals, parts, own, known, counts, segment_settings(config), config, ())


def sentences_of(arrivals: Arrivals, documents: Iterable[Document]) -> dict[int, Sentence]:
    """Return the sentence of each digest, and see to it that the splitter has cut the texts as they were put together."""
    flat = [sentence for document in documents for sentence in document]
    digests = arrivals.collection.digest.tolist()
    assert arrivals.collection.n_words.tolist() == [len(sentence) for sentence in flat]
    return dict(zip(digests, flat, strict=True))


@dataclass(frozen=True)
class Frequencies:
    """In how many of `n_documents` documents words occur; unlisted ones, in none or one."""

    document_counts: dict[str, int]
    n_documents: int

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Frequencies:
        """Count them in documents."""
        counts = Counter(w for document in documents for w in {w for sentence in document for w in sentence})
        return cls(dict(counts), len(documents))

    def counts(self) -> WordCounts:
        """Return them as an index keeps them."""
        hashes = np.array([WORD_HASHES[w] for w in self.document_counts], np.uint64)
        return WordCounts.of(hashes, np.array(list(self.document_counts.values()), np.int64), self.n_documents, 1)

    @cached_property
    def weights(self) -> dict[str, int]:
        """The weights of all words."""
        n = max(1, self.n_documents)
        return {w: max(1, round(WEIGHT_UNIT * math.log(n / self.document_counts.get(w, 1)))) for w in WORDS}

    def is_common(self, w: str, share: Fraction) -> bool:
        """Return whether fingerprints go without a word."""
        return self.document_counts.get(w, 0) > max(share * self.n_documents, Fraction(10))


def score(query: Sentence, other: Sentence, form: str, frequencies: Frequencies) -> Fraction:
    """Return how much of a query is in another sentence; a query without words scores 0."""
    mine, common = set(query), set(query) & set(other)
    if not mine:
        return Fraction(0)
    by_words = Fraction(len(common), len(mine))
    if form == "fraction":
        return by_words
    weights = frequencies.weights
    by_weight = Fraction(sum(weights[w] for w in common), sum(weights[w] for w in mine))
    return by_weight if form == "idf" else by_weight * by_words


def is_hit(
    query: Sentence, other: Sentence, form: str, limit: Fraction, frequencies: Frequencies, min_contained_words: int = 1
) -> bool:
    """Return whether a sentence is a hit of a query; one of very few words only of the same words."""
    if len(set(query)) < min_contained_words:
        return bool(query) and set(query) == set(other)
    return bool(set(query) & set(other)) and score(query, other, form, frequencies) >= limit


def looked_at(places: Sequence[tuple[int, int, bool]], most: int) -> set[tuple[int, int]]:
    """Return the places, as serial and sentence, that are looked at: all of the very sentence, the oldest of similar ones.

    `places` are those in documents that are there: serial, sentence, and whether it is the very sentence.
    """
    similar = sorted((serial, number) for serial, number, is_equal in places if not is_equal)
    return set(similar[:most]) | {(serial, number) for serial, number, is_equal in places if is_equal}


def kept_words(sentence: Sentence, frequencies: Frequencies, share: Fraction) -> list[str]:
    """Return what a fingerprint is made of."""
    return sorted(w for w in sentence if not frequencies.is_common(w, share))


def bit_signature(sentence: Sentence, n_bits: int, bits_per_word: int) -> int:
    """Return the bit signature of a sentence."""
    masks = word_masks(np.array([WORD_HASHES[w] for w in sentence], np.uint64), n_bits, bits_per_word)
    planes = np.bitwise_or.reduce(np.atleast_2d(masks), axis=1, initial=np.uint64(0))
    return sum(int(plane) << 64 * number for number, plane in enumerate(planes))
