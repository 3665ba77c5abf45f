"""Segments: the documents of one or more commits with everything that searches need, as immutable columns.

A segment is made once, from new documents or from older segments, and never changed. On disk it is one file that is mapped.
Documents, sentences and types are numbered in the order of arrival, words by falling frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.errors import ResourceError
from ibidem.index.bits import build_tables, sentence_signatures, word_masks
from ibidem.index.columns import frozen, strings
from ibidem.index.kernels import segment as kernels
from ibidem.index.vocabulary import WordCounts

_LONG_GAP = 255
_MOST_BYTES = 1 << 32


@dataclass(frozen=True)
class SegmentSettings:
    """What segments of one index have in common."""

    signature_bits: int
    bits_per_word: int
    max_document_share: float
    min_similarity: Fraction
    exact: bool


@dataclass(frozen=True)
class DocumentColumns:
    """Documents in the order of arrival. `serials` rise and are never given twice; `group_codes` is -1 where there is none."""

    serials: NDArray[np.int64]
    n_chars: NDArray[np.int64]
    times: NDArray[np.int64]
    id_first: NDArray[np.int64]
    id_bytes: NDArray[np.uint8]
    group_codes: NDArray[np.int32]
    group_first: NDArray[np.int64]
    group_bytes: NDArray[np.uint8]


@dataclass(frozen=True)
class SentenceColumns:
    """Sentences in the order of arrival: document d has `[document_first[d], document_first[d + 1])`."""

    document_first: NDArray[np.int64]
    types: NDArray[np.uint32]
    start_char: NDArray[np.uint32]
    end_char: NDArray[np.uint32]


@dataclass(frozen=True)
class TypeColumns:
    """Types in any order, each once: digests, and words as numbers into `word_hashes`, type after type."""

    digests: NDArray[np.uint64]
    words: NDArray[np.int32]
    first: NDArray[np.int64]
    word_hashes: NDArray[np.uint64]


@dataclass(frozen=True)
class Segment(DocumentColumns):
    """The columns of a segment, those of its documents first. See `kernels/segment.py` for lists and postings."""

    document_first: NDArray[np.int64]
    types: NDArray[np.uint32]
    start_char: NDArray[np.uint32]
    gap_after: NDArray[np.uint8]
    long_gap_sentences: NDArray[np.uint32]
    long_gaps: NDArray[np.uint32]
    digests: NDArray[np.uint64]
    types_by_digest: NDArray[np.uint32]
    signatures: NDArray[np.uint64]
    occurrence_first: NDArray[np.uint32]
    occurrences: NDArray[np.uint32]
    list_first: NDArray[np.uint32]
    lists: NDArray[np.uint8]
    sizes: NDArray[np.uint8]
    word_hashes: NDArray[np.uint64]
    words_by_hash: NDArray[np.uint32]
    posting_first: NDArray[np.uint32]
    postings: NDArray[np.uint8]
    prefix_first: NDArray[np.uint32]
    prefix_postings: NDArray[np.uint8]
    fingerprint_heads: NDArray[np.uint32]
    fingerprint_types: NDArray[np.uint32]
    bit_rows: NDArray[np.uint32]
    bit_starts: NDArray[np.uint32]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.serials)

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.types)

    @property
    def n_types(self) -> int:
        """Number of types."""
        return len(self.digests)

    @cached_property
    def word_lists(self) -> kernels.ByteLists:
        """The words of every type, as kernels take them."""
        return kernels.ByteLists(self.list_first, self.lists)

    def places(self, kept: NDArray[np.bool_]) -> kernels.Places:
        """Return the places of every type in the documents that are kept, as kernels take them; of all if `kept` is empty."""
        # Where all are kept, kernels are spared the look.
        flags = frozen(kept[:0] if kept.all() else kept)
        return kernels.Places(self.occurrence_first, self.occurrences, self.document_first, flags)

    @classmethod
    def stored(cls, arrays: Mapping[str, NDArray[Any]]) -> Segment:
        """Return a segment from the columns of a file."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, as they are stored."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def ids(self, documents: NDArray[np.int64] | None = None) -> pa.LargeStringArray:
        """Return the ids of all documents, or of these."""
        names = strings(self.id_first, self.id_bytes)
        return names if documents is None else names.take(pa.array(documents))

    def groups(self, documents: NDArray[np.int64]) -> pa.LargeStringArray:
        """Return the groups of these documents, null where there is none."""
        names = strings(self.group_first, self.group_bytes)
        codes = self.group_codes[documents]
        return names.take(pa.array(codes, mask=codes < 0)) if len(names) else pa.nulls(len(codes), pa.large_string())

    def end_chars(self, sentences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the end of each sentence; `documents` are theirs. An end lies before the next start, or the text's end."""
        is_last = sentences + 1 == self.document_first[documents + 1]
        follower = np.minimum(sentences + 1, self.n_sentences - 1)
        bound = np.where(is_last, self.n_chars[documents], self.start_char[follower])
        gap = self.gap_after[sentences].astype(np.int64)
        long = np.flatnonzero(gap == _LONG_GAP)
        gap[long] = self.long_gaps[np.searchsorted(self.long_gap_sentences, sentences[long])]
        ends: NDArray[np.int64] = bound - gap
        return ends

    def sentence_counts(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these documents."""
        counts: NDArray[np.int64] = self.document_first[documents + 1] - self.document_first[documents]
        return counts

    def documents_of(self, sentences: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents in which these sentences stand."""
        return np.searchsorted(self.document_first, sentences, side="right") - 1

    def place_counts(self, types: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these types."""
        return self.occurrence_first[types + 1].astype(np.int64) - self.occurrence_first[types]

    def words_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the numbers of these words, -1 for words that stand nowhere here."""
        found = np.empty(len(hashes), np.int64)
        kernels.find_hashes(self.word_hashes, self.words_by_hash, frozen(hashes), found)
        return found

    def types_of(self, digests: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the types of these digests, -1 for those that are not here."""
        found = np.empty(len(digests), np.int64)
        kernels.find_hashes(self.digests, self.types_by_digest, frozen(digests), found)
        return found

    def word_counts(self, types: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the number of words of each of these types."""
        lengths = np.empty(len(types), np.int32)
        kernels.read_lengths(self.word_lists, frozen(types.astype(np.int64)), lengths)
        return lengths


def build_segment(
    documents: DocumentColumns, sentences: SentenceColumns, types: TypeColumns, counts: WordCounts, settings: SegmentSettings
) -> Segment:
    """Return the segment of these documents. `types.words` is used up."""
    # Texts that come together share words: in the order of arrival, what is looked up together lies together.
    order = np.argsort(_first_sentences(sentences.types, len(types.digests)), kind="stable")
    place = np.empty(len(order), np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    digests = types.digests[order]
    sentence_types = place[sentences.types]
    columns: dict[str, NDArray[Any]] = {field.name: getattr(documents, field.name) for field in fields(documents)}
    columns |= {"document_first": sentences.document_first, "types": sentence_types, "start_char": sentences.start_char}
    columns |= _gaps(sentences, documents.n_chars)
    columns |= _types_and_words(types, order, counts, settings)
    occurrence_first = np.zeros(len(order) + 1, np.uint32)
    occurrences = np.empty(len(sentence_types), np.uint32)
    kernels.list_occurrences(sentence_types, occurrence_first, occurrences)
    columns |= {"digests": digests, "types_by_digest": np.argsort(digests).astype(np.uint32)}
    columns |= {"occurrence_first": occurrence_first, "occurrences": occurrences}
    tables = build_tables(columns["signatures"], settings.signature_bits)
    columns |= {"bit_rows": tables.rows, "bit_starts": tables.starts}
    return Segment(**{name: frozen(column) for name, column in columns.items()})


def _first_sentences(types: NDArray[np.uint32], n_types: int) -> NDArray[np.int64]:
    first = np.empty(n_types, np.int64)
    first[types[::-1]] = np.arange(len(types) - 1, -1, -1)
    return first


def _types_and_words(
    types: TypeColumns, order: NDArray[np.int64], counts: WordCounts, settings: SegmentSettings
) -> dict[str, NDArray[Any]]:
    n_types, n_words = len(order), len(types.word_hashes)
    type_counts = np.zeros(n_words, np.int64)
    kernels.count_types(types.words, types.first, np.full(n_words, -1, np.int64), type_counts)
    # Frequent words get small numbers, which take fewer bytes; the hash decides among equals, so that all is reproducible.
    frequent_first = np.lexsort((types.word_hashes, -type_counts))
    rank = np.empty(n_words, np.int32)
    rank[frequent_first] = np.arange(n_words, dtype=np.int32)
    n_words = int(np.count_nonzero(type_counts))  # words of removed documents only come last, and go
    hashes = types.word_hashes[frequent_first][:n_words]

    longest = int(np.diff(types.first).max(initial=0))
    lists = np.empty(5 * (len(types.words) + n_types), np.uint8)
    list_first = np.empty(n_types + 1, np.uint32)
    sizes = np.empty(n_types, np.uint8)
    scratch = np.empty(longest, np.int32)
    if 5 * (len(types.words) + n_types) >= _MOST_BYTES:  # offsets have 32 bits
        raise ResourceError("a segment of more than 800 million words", "Give less --memory, so that segments stay smaller.")
    n_bytes = kernels.write_lists(types.words, types.first, order, rank, scratch, lists, list_first, sizes)

    posting_first, postings = _postings(types, order, sizes, n_words, Fraction(0))
    prefix_first, prefix_postings = _postings(types, order, sizes, n_words, settings.min_similarity)

    masks = word_masks(hashes, settings.signature_bits, settings.bits_per_word)
    signatures = sentence_signatures(masks, types.words, types.first)[order]
    keys = np.empty(n_types, np.uint64)
    is_common = np.isin(hashes, counts.common_hashes(settings.max_document_share))
    kernels.fingerprint_types(types.words, types.first, order, hashes, is_common, keys)
    known = np.flatnonzero(keys)
    by_key = known[np.argsort(keys[known], kind="stable")]
    return {
        "lists": lists[:n_bytes].copy(),
        "list_first": list_first,
        "sizes": sizes,
        "postings": postings,
        "posting_first": posting_first,
        "prefix_postings": prefix_postings,
        "prefix_first": prefix_first,
        "signatures": signatures,
        "word_hashes": hashes,
        "words_by_hash": np.argsort(hashes).astype(np.uint32),
        "fingerprint_heads": (keys[by_key] >> np.uint64(32)).astype(np.uint32),
        "fingerprint_types": by_key.astype(np.uint32),
    }


def _postings(
    types: TypeColumns, order: NDArray[np.int64], sizes: NDArray[np.uint8], n_words: int, limit: Fraction
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return the postings by word, those of the rarest words of each type only if there is a limit."""
    chosen = (types.words, types.first, order, sizes, limit.numerator, limit.denominator)
    n_bytes = np.zeros(n_words, np.int64)
    kernels.write_postings(*chosen, np.full(n_words, -1, np.int64), False, n_bytes, np.empty(0, np.uint8))
    first = np.zeros(n_words + 1, np.uint32)
    np.cumsum(n_bytes, out=first[1:])
    postings = np.empty(int(first[-1]), np.uint8)
    kernels.write_postings(*chosen, np.full(n_words, -1, np.int64), True, first[:-1].astype(np.int64), postings)
    return first, postings


def _gaps(sentences: SentenceColumns, n_chars: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Store the end of a sentence as the characters to what follows it: one byte, nearly always."""
    n = len(sentences.types)
    follower = np.empty(n, np.int64)
    follower[:-1] = sentences.start_char[1:]
    last = sentences.document_first[1:] - 1
    filled = np.diff(sentences.document_first) > 0
    follower[last[filled]] = n_chars[filled]
    gaps = follower - sentences.end_char
    long = np.flatnonzero(gaps >= _LONG_GAP)
    return {
        "gap_after": np.minimum(gaps, _LONG_GAP).astype(np.uint8),
        "long_gap_sentences": long.astype(np.uint32),
        "long_gaps": gaps[long].astype(np.uint32),
    }
