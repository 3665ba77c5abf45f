"""Types: all sentences with the same canonical tokens are one type, and everything costly is done once per type."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.texts import text_buffers
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.sentences import tokenise_spans
from ibidem.signatures import kernels

NO_WORDS: NDArray[np.uint64] = np.empty(0, np.uint64)
_PREFIX_BITS = 2  # fixed, so that numbers do not depend on the number of workers


@dataclass(frozen=True)
class SentenceTypes:
    """`of_sentence`: the type of each sentence; `first_sentence`: the first one of each type. Types are numbered in reading
    order.
    """

    of_sentence: NDArray[np.int32]
    first_sentence: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first_sentence)


@dataclass(frozen=True)
class TypeTokens:
    """The tokens of every type in order: type t has `tokens[first[t]:first[t + 1]]`, 64-bit hashes made with `hash_seed`."""

    tokens: NDArray[np.uint64]
    first: NDArray[np.int64]
    hash_seed: int = 0

    def __len__(self) -> int:
        return len(self.first) - 1


@dataclass(frozen=True)
class Vocabulary:
    """The distinct tokens. `ids[i]` is the word of token i; `hashes`, `counts` and `document_counts` are per word.

    `stops` are the hashes of words that do not count, whether they occur or not.
    """

    ids: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]
    document_counts: NDArray[np.int32]
    n_documents: int
    stops: NDArray[np.uint64] = field(default_factory=lambda: NO_WORDS)

    @property
    def is_stop(self) -> NDArray[np.bool_]:
        """Which words do not count."""
        return np.isin(self.hashes, self.stops)


def collapse_sentences(digests: NDArray[np.uint64]) -> SentenceTypes:
    """Collapse sentences of equal digests to types."""
    n = len(digests)
    row_bits = max(1, n.bit_length())
    row_mask = np.uint64((1 << row_bits) - 1)
    packed = digests & ~row_mask
    packed |= np.arange(n, dtype=np.uint64)
    packed.sort()  # one machine word has the digest's high bits and the row: far faster than sorting rows by digest
    of_sentence = np.empty(n, np.int32)
    kernels.number_types(packed, digests, row_bits, of_sentence)
    del packed
    first_sentence = np.empty(n, np.int64)
    n_types = kernels.dense_types(of_sentence, first_sentence)
    return SentenceTypes(of_sentence, first_sentence[:n_types].copy())


def type_tokens(collection: Collection, types: SentenceTypes, run_tasks: RunTasks) -> TypeTokens:
    """Return the tokens of every type, read again from its first sentence: cheaper than keeping all tokens."""
    sentences = types.first_sentence
    bounds = np.searchsorted(collection.document[sentences], collection.batch_first)

    is_ignored = collection.is_ignored[sentences]
    first = starts_of(np.where(is_ignored, 1, collection.n_words[sentences]))
    tokens = np.empty(int(first[-1]), np.uint64)
    is_read = np.repeat(~is_ignored, np.diff(first)) if is_ignored.any() else None

    def tokenise(number: int) -> None:
        chosen = sentences[bounds[number] : bounds[number + 1]]
        data, offsets = text_buffers(collection.batches[number].column("text"))
        begins = offsets[collection.document[chosen] - collection.batch_first[number]]
        spans = begins + collection.start_byte[chosen], begins + collection.end_byte[chosen]
        read, _ = tokenise_spans(data, *spans, collection.hash_seed)
        part = slice(first[bounds[number]], first[bounds[number + 1]])
        if is_read is None:
            tokens[part] = read
        else:
            tokens[part][is_read[part]] = read

    for _ in run_tasks(tokenise, range(len(collection.batches))):
        pass
    tokens[first[:-1][is_ignored]] = collection.digest[sentences[is_ignored]]  # one word that no other sentence has
    return TypeTokens(tokens, first, collection.hash_seed)


@dataclass(frozen=True)
class NumberedHashes:
    """Distinct hashes: occurrence i is number `ids[i]`; `hashes` and `counts` are per number."""

    ids: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int32]


def number_hashes(hashes: NDArray[np.uint64], run_tasks: RunTasks = in_turn) -> NumberedHashes:
    """Number the distinct hashes; the numbers do not depend on how the work is shared."""
    ids = np.empty(len(hashes), np.int32)

    def number(prefix: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        distinct, counts = kernels.number_tokens(hashes, np.uint64(prefix), _PREFIX_BITS, ids)
        return distinct, counts

    found = list(run_tasks(number, range(1 << _PREFIX_BITS)))
    starts = np.cumsum([0, *(len(distinct) for distinct, _ in found)]).astype(np.int32)
    kernels.shift_numbers(hashes, _PREFIX_BITS, starts, ids)
    distinct, counts = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return NumberedHashes(ids, distinct, counts)


def count_vocabulary(
    types: TypeTokens,
    of_sentence: NDArray[np.int32],
    document: NDArray[np.int32],
    n_documents: int,
    run_tasks: RunTasks = in_turn,
) -> Vocabulary:
    """Number the distinct tokens, and count how often and in how many documents of the collection each one occurs."""
    numbered = number_hashes(types.tokens, run_tasks)
    n = len(numbered.hashes)
    counts, document_counts = np.zeros(n, np.int64), np.zeros(n, np.int32)
    last_document = np.full(n, -1, np.int32)
    kernels.count_documents(numbered.ids, types.first, of_sentence, document, counts, document_counts, last_document)
    return Vocabulary(numbered.ids, numbered.hashes, counts, document_counts, n_documents)
