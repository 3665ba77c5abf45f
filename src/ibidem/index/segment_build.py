"""Building a segment: what is looked up together is stored together, and everything searches need is computed once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.distinct import stable_order
from ibidem.columns.sets import HashSets
from ibidem.config.surface import named
from ibidem.errors import ResourceError
from ibidem.index.bits import PLANE_BITS, build_tables, narrow_bits, sentence_signatures, word_masks
from ibidem.index.elements import has_key, make_elements
from ibidem.index.kept_texts import TextColumns
from ibidem.index.kernels import segment as kernels
from ibidem.index.kernels.word_pairs import list_pairs
from ibidem.index.segment import LONG_GAP, DocumentColumns, Segment, SegmentSettings, frozen, text_order
from ibidem.index.vocabulary import WordCounts
from ibidem.passages.extension import EndWords
from ibidem.signatures import TypeTokens
from ibidem.signatures.sentence_types import NumberedHashes, number_hashes

COMMON_SHARE = 0.1  # words in a larger share of the documents do not count in pairs of words
MOST_PAIRED_WORDS = 24  # of a sentence
_EXPECTED_SHARE, _MORE_ROOM = 7, 1000  # one in eight pairs of words is listed, by chance some more
ELEMENT_BITS = (64, 2)  # of the sketch of a type's elements, and those that each sets
_TAIL_BITS, _MANY_KEYS = 16, 1 << 18  # of fewer keys, heads take more than they save
_MOST_BYTES = 1 << 32
_HALF = np.uint64(32)


@dataclass(frozen=True)
class SentenceColumns:
    """Sentences in the order of arrival: document d has `[document_first[d], document_first[d + 1])`.

    `end_words` are there if the texts are kept.
    """

    document_first: NDArray[np.int64]
    types: NDArray[np.uint32]
    start_char: NDArray[np.uint32]
    end_char: NDArray[np.uint32]
    end_words: EndWords | None = None  # in bytes


@dataclass(frozen=True)
class TypeColumns:
    """Types in any order, each once: digests, and words as numbers into `word_hashes`, concatenated.

    `elements` are what they are known by, if that cannot be made of words in any order.
    """

    digests: NDArray[np.uint64]
    words: NDArray[np.int32]
    first: NDArray[np.int64]
    word_hashes: NDArray[np.uint64]
    elements: HashSets | None = None


def build_segment(
    documents: DocumentColumns,
    sentences: SentenceColumns,
    types: TypeColumns,
    counts: WordCounts,
    settings: SegmentSettings,
    texts: TextColumns | None = None,
) -> Segment:
    """Return the segment of these documents. `types.words` is consumed."""
    # Texts that come together share words: in the order of arrival, what is looked up together is stored together.
    order = np.argsort(_first_sentences(sentences.types, len(types.digests)), kind="stable")
    place = np.empty(len(order), np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    digests = types.digests[order]
    sentence_types = place[sentences.types]
    columns: dict[str, NDArray[Any]] = {field.name: getattr(documents, field.name) for field in fields(documents)}
    columns |= {"document_first": sentences.document_first, "types": sentence_types, "start_char": sentences.start_char}
    columns |= _gaps(sentences, documents.n_chars)
    if settings.elements is not None:  # before the words are used up
        elements = types.elements
        if has_key(settings.elements):
            words = NumberedHashes(types.words, types.word_hashes, np.zeros(len(types.word_hashes), np.int32))
            tokens = TypeTokens(types.word_hashes[types.words], types.first)
            elements = make_elements(tokens, words, counts, settings)
        assert elements is not None
        columns |= _elements(elements, order, settings.min_similarity)
    columns |= _types_and_words(types, order, counts, settings)
    occurrence_first = np.zeros(len(order) + 1, np.uint32)
    occurrences = np.empty(len(sentence_types), np.uint32)
    kernels.list_occurrences(sentence_types, occurrence_first, occurrences)
    columns |= {"digests": digests, "types_by_digest": np.argsort(digests).astype(np.uint32)}
    columns |= {"occurrence_first": occurrence_first, "occurrences": occurrences}
    planes = columns.get("wide_signatures", columns["signatures"])
    columns |= {"wide_signatures": planes.reshape(-1)} if planes.ndim > 1 else {}
    tables = build_tables(planes, settings.signature_bits)
    columns |= {"bit_rows": tables.rows, "bit_starts": tables.starts}
    in_order = text_order(sentences.document_first, sentence_types, digests)
    columns |= {"text_digests": in_order.digests, "documents_by_text": in_order.documents}
    columns |= {} if texts is None else texts.arrays()
    if sentences.end_words is not None:
        after, before = sentences.end_words.after, sentences.end_words.before
        columns |= {"words_after": after.astype(np.uint8), "words_before": before.astype(np.uint8)}
    return Segment(**{name: frozen(column) for name, column in columns.items()})


def _first_sentences(types: NDArray[np.uint32], n_types: int) -> NDArray[np.int64]:
    first = np.empty(n_types, np.int64)
    first[types[::-1]] = np.arange(len(types) - 1, -1, -1)
    return first


def _elements(elements: HashSets, order: NDArray[np.int64], limit: Fraction) -> dict[str, NDArray[Any]]:
    """Return the columns of what types are known by: as those of words, but without the postings of all."""
    numbered = number_hashes(elements.hashes)
    columns = TypeColumns(np.empty(0, np.uint64), numbered.ids, elements.first, numbered.hashes)
    hashes, lists = _lists(columns, order)
    prefix_first, prefix_postings = _postings(columns, order, lists["sizes"], len(hashes), limit)
    signatures = sentence_signatures(word_masks(hashes, *ELEMENT_BITS), columns.words, columns.first)[order]
    return {f"element_{name}": column for name, column in lists.items()} | {
        "element_hashes": hashes,
        "elements_by_hash": np.argsort(hashes).astype(np.uint32),
        "element_prefix_first": prefix_first,
        "element_prefix_postings": prefix_postings,
        "element_signatures": signatures,
    }


def _lists(types: TypeColumns, order: NDArray[np.int64]) -> tuple[NDArray[np.uint64], dict[str, NDArray[Any]]]:
    """Return the hashes of words by falling frequency, and the lists of words; `types.words` is put into their numbers."""
    n_types, n_words = len(order), len(types.word_hashes)
    type_counts = np.zeros(n_words, np.int64)
    kernels.count_types(types.words, types.first, np.full(n_words, -1, np.int64), type_counts)
    # Frequent words get small numbers, which take fewer bytes; the hash breaks ties, so that everything is reproducible.
    frequent_first = np.lexsort((types.word_hashes, -type_counts))
    rank = np.empty(n_words, np.int32)
    rank[frequent_first] = np.arange(n_words, dtype=np.int32)
    n_words = int(np.count_nonzero(type_counts))  # words of removed documents come last, and are dropped
    hashes = types.word_hashes[frequent_first][:n_words]

    longest = int(np.diff(types.first).max(initial=0))
    lists = np.empty(5 * (len(types.words) + n_types), np.uint8)
    list_first = np.empty(n_types + 1, np.uint32)
    sizes = np.empty(n_types, np.uint8)
    scratch = np.empty(longest, np.int32)
    if 5 * (len(types.words) + n_types) >= _MOST_BYTES:  # offsets have 32 bits
        step = f"Set a lower {named('memory')}: segments become smaller."
        raise ResourceError("a segment of more than 800 million words", step)
    n_bytes = kernels.write_lists(types.words, types.first, order, rank, scratch, lists, list_first, sizes)
    return hashes, {"lists": lists[:n_bytes].copy(), "list_first": list_first, "sizes": sizes}


def _types_and_words(
    types: TypeColumns, order: NDArray[np.int64], counts: WordCounts, settings: SegmentSettings
) -> dict[str, NDArray[Any]]:
    hashes, lists = _lists(types, order)
    n_types, n_words = len(order), len(hashes)
    posting_first, postings = _postings(types, order, lists["sizes"], n_words, Fraction(0))
    # If similar words are not searched for, one word of each type is enough to find the same words again.
    limit = settings.min_similarity if settings.elements is None else Fraction(1)
    prefix_first, prefix_postings = _postings(types, order, lists["sizes"], n_words, limit)

    n_bits, per_word = settings.signature_bits, settings.bits_per_word
    is_stop = np.isin(hashes, settings.stops)
    masks = word_masks(hashes, *narrow_bits(n_bits, per_word))
    masks[is_stop] = 0
    signatures = sentence_signatures(masks, types.words, types.first)[order]
    wide = {}
    if n_bits > PLANE_BITS:
        masks = word_masks(hashes, n_bits, per_word)
        masks[:, is_stop] = 0
        wide = {"wide_signatures": sentence_signatures(masks, types.words, types.first)[:, order]}
    pairs = {}
    if settings.texts:  # pairs of words lead to documents that are aligned
        pair_keys, pair_types = pairs_of_words(types.words, types.first, order, hashes, common_in_pairs(hashes, counts))
        packed = pair_keys.astype(np.uint64) << _HALF | pair_types  # sorted as one number, which is faster
        packed.sort()
        pairs = {"pair_types": packed.astype(np.uint32), **_halved((packed >> _HALF).astype(np.uint32))}
    keys = np.empty(n_types, np.uint64)
    is_common = is_stop | np.isin(hashes, counts.common_hashes(settings.max_document_share))
    kernels.fingerprint_types(types.words, types.first, order, hashes, is_common, keys)
    known = np.flatnonzero(keys)
    by_key = known[stable_order(keys[known])]
    return (
        lists
        | wide
        | pairs
        | {
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
    )


def _halved(keys: NDArray[np.uint32]) -> dict[str, NDArray[Any]]:
    """Return the columns of sorted keys: of many, the lower halves, and where those of each upper half begin."""
    if len(keys) < _MANY_KEYS:
        return {"pair_keys": keys}
    heads = np.searchsorted(keys, np.arange(1 << _TAIL_BITS, dtype=np.uint32) << np.uint32(_TAIL_BITS))
    return {"pair_heads": np.append(heads, len(keys)).astype(np.uint32), "pair_tails": keys.astype(np.uint16)}


def common_in_pairs(hashes: NDArray[np.uint64], counts: WordCounts) -> NDArray[np.bool_]:
    """Return which words are too common to count in pairs of words."""
    return np.isin(hashes, counts.common_hashes(COMMON_SHARE))


def pairs_of_words(
    words: NDArray[np.int32],
    first: NDArray[np.int64],
    order: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    is_common: NDArray[np.bool_],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the keys of one in eight pairs of words of every type, and the numbers of the types, in the given order.

    Equal words of a type are adjacent.
    """
    scratch = np.empty(int(np.diff(first).max(initial=0)), np.uint64)
    given = words, first, order, hashes, is_common, MOST_PAIRED_WORDS, scratch
    n_words = np.minimum(np.diff(first), MOST_PAIRED_WORDS)
    room = int((n_words * (n_words - 1)).sum()) // 2 // _EXPECTED_SHARE + _MORE_ROOM
    while True:
        keys, types = np.empty(room, np.uint32), np.empty(room, np.uint32)
        n = list_pairs(*given, keys, types)
        if n <= room:
            return keys[:n], types[:n]
        room = n


def _postings(
    types: TypeColumns, order: NDArray[np.int64], sizes: NDArray[np.uint8], n_words: int, limit: Fraction
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Return the postings per word; with a limit, only those of the rarest words of each type."""
    chosen = (types.words, types.first, order, sizes, limit.numerator, limit.denominator)
    n_bytes = np.zeros(n_words, np.int64)
    kernels.write_postings(*chosen, np.full(n_words, -1, np.int64), False, n_bytes, np.empty(0, np.uint8))
    first = np.zeros(n_words + 1, np.uint32)
    np.cumsum(n_bytes, out=first[1:])
    postings = np.empty(int(first[-1]), np.uint8)
    kernels.write_postings(*chosen, np.full(n_words, -1, np.int64), True, first[:-1].astype(np.int64), postings)
    return first, postings


def _gaps(sentences: SentenceColumns, n_chars: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Store the end of a sentence as the distance to what follows it: nearly always one byte."""
    n = len(sentences.types)
    follower = np.empty(n, np.int64)
    follower[:-1] = sentences.start_char[1:]
    last = sentences.document_first[1:] - 1
    filled = np.diff(sentences.document_first) > 0
    follower[last[filled]] = n_chars[filled]
    gaps = follower - sentences.end_char
    long = np.flatnonzero(gaps >= LONG_GAP)
    return {
        "gap_after": np.minimum(gaps, LONG_GAP).astype(np.uint8),
        "long_gap_sentences": long.astype(np.uint32),
        "long_gaps": gaps[long].astype(np.uint32),
    }
