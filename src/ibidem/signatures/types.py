"""Types: all sentences with the same canonical tokens are one type, and everything costly is done once a type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.signatures import kernels

VOCABULARY_PART_BITS = 2  # fixed, so that numbers do not depend on how many workers count


@dataclass(frozen=True)
class SentenceTypes:
    """`of_sentence`: the type of each sentence; `first_sentence`: the first sentence of each type. Types rise in reading order."""

    of_sentence: NDArray[np.int32]
    first_sentence: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first_sentence)


@dataclass(frozen=True)
class TypeTokens:
    """The tokens of every type in order: type t has `tokens[first[t]:first[t + 1]]`, 64-bit hashes."""

    tokens: NDArray[np.uint64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True)
class Vocabulary:
    """The distinct tokens. `ids[i]` is the word of token i; `hashes`, `counts` and `document_counts` go by word."""

    ids: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    document_counts: NDArray[np.int32]
    n_documents: int


def collapse_sentences(digests: NDArray[np.uint64]) -> SentenceTypes:
    """Collapse sentences of equal digests to types."""
    n = len(digests)
    row_bits = max(1, n.bit_length())
    row_mask = np.uint64((1 << row_bits) - 1)
    packed = digests & ~row_mask
    packed |= np.arange(n, dtype=np.uint64)
    packed.sort()  # one word holds the digest's high bits and the row: far faster than sorting row numbers by digest
    of_sentence = np.empty(n, np.int32)
    kernels.number_types(packed, digests, row_bits, of_sentence)
    del packed
    first_sentence = np.empty(n, np.int64)
    n_types = kernels.dense_types(of_sentence, first_sentence)
    return SentenceTypes(of_sentence, first_sentence[:n_types].copy())


def count_vocabulary(types: TypeTokens, of_sentence: NDArray[np.int32], document: NDArray[np.int32], n_documents: int) -> Vocabulary:
    """Number the distinct tokens and count how often, and in how many documents, each one stands in the collection."""
    ids = np.empty(len(types.tokens), np.int32)
    parts = [
        kernels.number_tokens(types.tokens, np.uint64(part), VOCABULARY_PART_BITS, ids)
        for part in range(1 << VOCABULARY_PART_BITS)
    ]
    sizes = np.array([len(hashes) for hashes, _ in parts], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    ids += starts[(types.tokens >> np.uint64(64 - VOCABULARY_PART_BITS)).astype(np.int64)]
    hashes = np.concatenate([hashes for hashes, _ in parts])
    counts = np.zeros(len(hashes), np.int64)
    document_counts = np.zeros(len(hashes), np.int32)
    kernels.count_documents(ids, types.first, of_sentence, document, counts, document_counts)
    return Vocabulary(ids, hashes, counts, document_counts, n_documents)
