"""Segments: the documents of one or more commits with everything that searches need, as immutable columns.

A segment is made once, from new documents (`segment_build.py`) or from older segments (`merge.py`), and never changed. On disk
it is one file that is mapped. Documents, sentences and types are numbered in the order of arrival, words by falling frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.texts import text_buffers
from ibidem.index.kernels import segment as kernels
from ibidem.signatures.sentence_types import NO_WORDS

LONG_GAP = 255


def frozen(column: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view: mapped columns are read-only, and Numba compiles a kernel for each kind."""
    view = np.ascontiguousarray(column).view()
    view.flags.writeable = False
    return view


def strings(first: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.LargeStringArray:
    """Return the strings `data[first[i]:first[i + 1]]`, not copied."""
    return pa.LargeStringArray.from_buffers(len(first) - 1, pa.py_buffer(first), pa.py_buffer(data))


def string_columns(column: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return offsets and bytes of strings, none of them null."""
    if len(column) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    data, first = text_buffers(column)
    return first - first[0], data[first[0] : first[-1]]


@dataclass(frozen=True)
class SegmentSettings:
    """What segments of one index have in common."""

    signature_bits: int
    bits_per_word: int
    max_document_share: float
    min_similarity: Fraction
    exact: bool
    stops: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS, compare=False)  # words that do not count, by hash


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


def document_columns(
    serials: NDArray[np.int64],
    n_chars: NDArray[np.int64],
    times: NDArray[np.int64],
    ids: pa.LargeStringArray,
    groups: pa.LargeStringArray,
) -> DocumentColumns:
    """Return the columns of documents; groups may be null."""
    coded = groups.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return DocumentColumns(serials, n_chars, times, *string_columns(ids), codes, *string_columns(coded.dictionary))


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
        long = np.flatnonzero(gap == LONG_GAP)
        gap[long] = self.long_gaps[np.searchsorted(self.long_gap_sentences, sentences[long])]
        ends: NDArray[np.int64] = bound - gap
        return ends

    def sentence_counts(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these documents."""
        counts: NDArray[np.int64] = self.document_first[documents + 1] - self.document_first[documents]
        return counts

    def documents_of(self, sentences: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents in which these sentences occur."""
        return np.searchsorted(self.document_first, sentences, side="right") - 1

    def place_counts(self, types: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these types."""
        return self.occurrence_first[types + 1].astype(np.int64) - self.occurrence_first[types]

    def words_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the numbers of these words, -1 for words that it does not have."""
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
