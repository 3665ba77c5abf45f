"""Segments: the documents of one or more commits with everything searches need, as immutable columns.

A segment is made once, from new documents (`segment_build.py`) or from older segments (`merge.py`), and never changed. On disk
it is one file that is mapped. Documents, sentences and types are numbered in the order of arrival, words by decreasing
frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of, take_ranges
from ibidem.columns.texts import text_buffers
from ibidem.config import SignaturesConfig
from ibidem.index.kept_texts import TextColumns
from ibidem.index.kernels import segment as kernels
from ibidem.passages.extension import EndWords
from ibidem.signatures.sentence_types import NO_WORDS

LONG_GAP = kernels.LONG_GAP
_SENTENCES_A_STEP = 1 << 20
_FACTORS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))  # those of SplitMix64
ABSENT: Any = None  # a column that an index does not need


def frozen(column: NDArray[Any]) -> NDArray[Any]:
    """Return a contiguous read-only view: mapped columns are read-only, and Numba compiles a kernel for each kind of array."""
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
    """What segments of one index have in common.

    Sentences are known by their words, where `exact` by these in their order; or by `elements`, the settings of the signature
    that makes them of the words. `stops` are the hashes of words that do not count, `element_stops` those for the signature.
    `texts`: the texts are kept.
    """

    signature_bits: int
    bits_per_word: int
    max_document_share: float
    min_similarity: Fraction
    exact: bool
    elements: SignaturesConfig | None = None
    stops: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS, compare=False)
    element_stops: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS, compare=False)
    texts: bool = False


@dataclass(frozen=True)
class DocumentColumns:
    """Documents in the order of arrival. `serials` increase and are never reused; `group_codes` is -1 if there is none."""

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


class TextOrder(NamedTuple):
    """Documents that have sentences, by rising digest of their text; of equal ones, the first to arrive comes first."""

    digests: NDArray[np.uint64]
    documents: NDArray[np.uint32]


def text_order(document_first: NDArray[np.int64], types: NDArray[np.uint32], type_digests: NDArray[np.uint64]) -> TextOrder:
    """Return documents in the order of digests that are made of the digests of their sentences, and of their order."""
    digests = np.empty(len(document_first) - 1, np.uint64)
    begin = 0
    while begin < len(digests):  # a part at a time: of a large segment, all sentences at once take room
        end = max(begin + 1, int(np.searchsorted(document_first, document_first[begin] + _SENTENCES_A_STEP, side="right")) - 1)
        first = document_first[begin : end + 1]
        place = (np.arange(first[0], first[-1]) - np.repeat(first[:-1], np.diff(first)) + 1).astype(np.uint64)
        sums = np.zeros(len(place) + 1, np.uint64)
        np.cumsum(_stirred(type_digests[types[first[0] : first[-1]]], place), out=sums[1:])
        digests[begin:end] = sums[first[1:] - first[0]] - sums[first[:-1] - first[0]]
        begin = end
    documents = np.flatnonzero(np.diff(document_first))
    digests = digests[documents]
    order = np.argsort(digests, kind="stable")
    return TextOrder(digests[order], documents[order].astype(np.uint32))


def _stirred(digests: NDArray[np.uint64], place: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose sum says which digests are at which places."""
    values = digests + place * _FACTORS[0]
    values = (values ^ (values >> np.uint64(30))) * _FACTORS[1]
    values = (values ^ (values >> np.uint64(27))) * _FACTORS[2]
    stirred: NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return stirred


@dataclass(frozen=True)
class TypeElements:
    """What the types of a segment are known by: lists of elements by type, and postings by element, all or of the rarest.

    Elements are words, or what the index's signature makes of them. By type: the bits of its elements, and how many there are
    (255 for all from there on).
    """

    hashes: NDArray[np.uint64]
    by_hash: NDArray[np.uint32]
    lists: kernels.ByteLists
    postings: kernels.ByteLists
    prefixes: kernels.ByteLists
    signatures: NDArray[np.uint64]
    sizes: NDArray[np.uint8]

    def numbers_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the numbers of these elements, -1 for those that are not here."""
        found = np.empty(len(hashes), np.int64)
        kernels.find_hashes(self.hashes, self.by_hash, frozen(hashes), found)
        return found

    def counts(self, types: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the number of elements of each of these types, repeated ones included."""
        lengths = np.empty(len(types), np.int32)
        kernels.read_lengths(self.lists, frozen(types.astype(np.int64)), lengths)
        return lengths

    def read(self, types: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the numbers of the elements of these types, type after type, and how many each has."""
        lengths = self.counts(types)
        first = np.zeros(len(types) + 1, np.int64)
        elements = np.empty(int(lengths.sum()), np.int32)
        kernels.read_lists(self.lists, frozen(types), 0, elements, first)
        return elements, lengths


@dataclass(frozen=True)
class Segment(DocumentColumns):
    """The columns of a segment, those of its documents first. See `kernels/segment.py` for lists and postings.

    Columns that are ABSENT are those of other indexes: signatures that make elements of words have some, bit signatures of
    more than 64 bits one. Then `signatures` have as many bits as the other searches take, and `wide_signatures` contain the
    planes, one after the other. Segments that an earlier version wrote have no `text_digests`, nor their documents. Where
    texts are kept, there are the columns of `TextColumns`, by rising key the pairs of words of types (`word_pairs.py`), and
    what is known of the words next to sentences (`EndWords`). Of many pairs, the lower halves of keys are stored, and where
    those of each upper half begin.
    """

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
    text_digests: NDArray[np.uint64] | None = None
    documents_by_text: NDArray[np.uint32] | None = None
    element_hashes: NDArray[np.uint64] = ABSENT
    elements_by_hash: NDArray[np.uint32] = ABSENT
    element_list_first: NDArray[np.uint32] = ABSENT
    element_lists: NDArray[np.uint8] = ABSENT
    element_prefix_first: NDArray[np.uint32] = ABSENT
    element_prefix_postings: NDArray[np.uint8] = ABSENT
    element_signatures: NDArray[np.uint64] = ABSENT
    element_sizes: NDArray[np.uint8] = ABSENT
    wide_signatures: NDArray[np.uint64] = ABSENT
    pair_keys: NDArray[np.uint32] = ABSENT
    pair_heads: NDArray[np.uint32] = ABSENT
    pair_tails: NDArray[np.uint16] = ABSENT
    pair_types: NDArray[np.uint32] = ABSENT
    text_sizes: NDArray[np.int64] = ABSENT
    text_documents: NDArray[np.int64] = ABSENT
    text_first: NDArray[np.int64] = ABSENT
    text_checks: NDArray[np.uint32] = ABSENT
    text_bytes: NDArray[np.uint8] = ABSENT
    paged_texts: NDArray[np.uint32] = ABSENT
    words_after: NDArray[np.uint8] = ABSENT
    words_before: NDArray[np.uint8] = ABSENT

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
    def words(self) -> TypeElements:
        """The words of every type."""
        lists = kernels.ByteLists(self.list_first, self.lists)
        postings = kernels.ByteLists(self.posting_first, self.postings)
        prefixes = kernels.ByteLists(self.prefix_first, self.prefix_postings)
        return TypeElements(self.word_hashes, self.words_by_hash, lists, postings, prefixes, self.signatures, self.sizes)

    @cached_property
    def elements(self) -> TypeElements:
        """What every type is known by: its words, unless the signature makes something else of them."""
        if self.element_hashes is ABSENT:
            return self.words
        lists = kernels.ByteLists(self.element_list_first, self.element_lists)
        prefixes = kernels.ByteLists(self.element_prefix_first, self.element_prefix_postings)
        hashes = (self.element_hashes, self.elements_by_hash)
        return TypeElements(*hashes, lists, prefixes, prefixes, self.element_signatures, self.element_sizes)

    @cached_property
    def text_order(self) -> TextOrder:
        """The documents by digest of their text; worked out where it is not stored."""
        if self.text_digests is None or self.documents_by_text is None:
            return text_order(self.document_first, self.types, self.digests)
        return TextOrder(self.text_digests, self.documents_by_text)

    @cached_property
    def texts(self) -> TextColumns | None:
        """The texts of the documents, if they are kept."""
        if self.text_sizes is ABSENT:
            return None
        columns = (self.text_sizes, self.text_documents, self.text_first, self.text_checks, self.text_bytes, self.paged_texts)
        return TextColumns(*columns)

    @property
    def n_text_bytes(self) -> int:
        """Number of bytes that are there because texts are kept: the texts, and pairs of words."""
        kept = () if self.texts is None else self.texts.arrays().values()
        of_pairs = (self.pair_keys, self.pair_heads, self.pair_tails, self.pair_types)
        others = (*of_pairs, self.words_after, self.words_before)
        return sum(column.nbytes for column in (*kept, *others) if column is not ABSENT)

    def bit_signatures(self, n_planes: int) -> NDArray[np.uint64]:
        """Return the bit signatures of all types as `bits` takes them, so many planes of 64 bits."""
        return self.signatures if n_planes == 1 else self.wide_signatures.reshape(n_planes, self.n_types)

    def places(self, kept: NDArray[np.bool_]) -> kernels.Places:
        """Return the places of every type in kept documents, as kernels need them; in all if `kept` is empty."""
        # If all are kept, kernels need not check.
        flags = frozen(kept[:0] if kept.all() else kept)
        return kernels.Places(self.occurrence_first, self.occurrences, self.document_first, flags)

    @classmethod
    def stored(cls, arrays: Mapping[str, NDArray[Any]]) -> Segment:
        """Return a segment from the columns of a file."""
        names = [field.name for field in fields(cls) if field.name in arrays or field.default is MISSING]
        return cls(**{name: arrays[name] for name in names})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, as they are stored."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}

    def ids(self, documents: NDArray[np.int64] | None = None) -> pa.LargeStringArray:
        """Return the ids of all documents, or of these."""
        if documents is None:
            return strings(self.id_first, self.id_bytes)
        # Not taken by Arrow, which needs longer for a few strings than a search for a sentence.
        begins = self.id_first[documents]
        sizes = self.id_first[documents + 1] - begins
        return strings(starts_of(sizes), take_ranges(self.id_bytes, begins, sizes))

    def groups(self, documents: NDArray[np.int64]) -> pa.LargeStringArray:
        """Return the groups of these documents, null if there is none."""
        names = strings(self.group_first, self.group_bytes)
        codes = self.group_codes[documents]
        return names.take(pa.array(codes, mask=codes < 0)) if len(names) else pa.nulls(len(codes), pa.large_string())

    def end_chars(self, sentences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the end of each sentence; `documents` are theirs. An end is before the next start, or the text's end."""
        ends = np.empty(len(sentences), np.int64)
        kernels.find_ends(sentences, documents, self.document_first, self.n_chars, self.start_char, self.gaps, ends)
        return ends

    @property
    def gaps(self) -> kernels.Gaps:
        """How many characters are between each sentence and what follows it."""
        return kernels.Gaps(self.gap_after, self.long_gap_sentences, self.long_gaps)

    def sentence_counts(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these documents."""
        counts: NDArray[np.int64] = self.document_first[documents + 1] - self.document_first[documents]
        return counts

    def documents_of(self, sentences: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents in which these sentences occur."""
        return np.searchsorted(self.document_first, sentences, side="right") - 1

    def end_words(self, sentences: NDArray[np.int64]) -> EndWords:
        """Return what is known of the words next to these sentences: that they may be any, where nothing is stored."""
        if self.words_after is ABSENT:
            return EndWords.unknown(len(sentences))
        return EndWords(*(column[sentences].astype(np.uint16) for column in (self.words_after, self.words_before)))

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of words are stored."""
        return self.pair_types is not ABSENT

    def find_pairs(self, keys: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the types of each of these keys begin in `pair_types`, and how many there are."""
        if self.pair_tails is ABSENT:
            first = np.searchsorted(self.pair_keys, keys)
            return first, np.searchsorted(self.pair_keys, keys, side="right") - first
        first, size = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        kernels.find_halves(self.pair_heads, self.pair_tails, frozen(keys), first, size)
        return first, size

    def place_counts(self, types: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of sentences of each of these types."""
        return self.occurrence_first[types + 1].astype(np.int64) - self.occurrence_first[types]

    def types_of(self, digests: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the types of these digests, -1 for those that are not here."""
        found = np.empty(len(digests), np.int64)
        kernels.find_hashes(self.digests, self.types_by_digest, frozen(digests), found)
        return found

    def word_counts(self, types: NDArray[np.int64] | NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the number of words of each of these types."""
        return self.words.counts(types)
