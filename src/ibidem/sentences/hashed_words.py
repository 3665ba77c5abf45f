"""The words of texts as hashes, and where words are in their texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.hashes import GOLDEN, draw_seed, is_secret, mix, seed_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.text_checks import CheckKey
from ibidem.columns.texts import Hashes, Offsets, kernel_texts, read_only
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.code_points import load_code_points
from ibidem.sentences.kernels import hashed_words as kernels
from ibidem.sentences.splitter import kinds_of_bytes

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class HashedWords:
    """The words of texts as hashes: text i has `hashes[first[i]:first[i + 1]]`. Equal words have equal hashes."""

    hashes: Hashes
    first: Offsets

    def documents(self, words: Numbers) -> Numbers:
        """Return the text that each word is in."""
        found: Numbers = np.searchsorted(self.first, words, side="right") - 1
        return found


def seed_of_words(hash_seed: int) -> int:
    """Return a secret seed for the words of a run in memory, so that no words can be crafted to have equal hashes."""
    return hash_seed if is_secret(hash_seed) else draw_seed()


class Ignored(Protocol):
    """Says which words do not count."""

    def words(self, texts: pa.LargeStringArray) -> tuple[HashedWords, NDArray[np.bool_]]:
        """Return the words of texts, and which of them do not count."""
        ...


def hash_counted(texts: pa.LargeStringArray, documents: Numbers, hash_seed: int, ignored: Ignored | None) -> HashedWords:
    """Return the words of numbered documents under a secret seed. Every ignored word is unlike all others."""
    words = hash_texts(texts, hash_seed)
    if ignored is not None:
        places = np.flatnonzero(ignored.words(texts)[1])
        rows = words.documents(places)
        fold: Any = mix.py_func  # over a whole array at once
        unique = documents[rows].astype(np.uint64) << np.uint64(32) | (places - words.first[rows]).astype(np.uint64)
        words.hashes[places] = fold(fold(unique * GOLDEN, np.uint64(hash_seed)), GOLDEN)
    return words


def hash_texts(texts: pa.LargeStringArray, hash_seed: int) -> HashedWords:
    """Return the words of texts under a secret seed."""
    data, offsets = kernel_texts(texts)
    # A word has a byte at least, and mostly something that separates it from the next one.
    hashes, first = np.empty(len(data) + 1, np.uint64), np.zeros(len(texts) + 1, np.int64)
    room = np.empty(int(np.diff(offsets).max(initial=0)) + 2, np.uint64)  # pages that are not written to take no memory
    n = kernels.hash_words(data, kinds_of_bytes(data), offsets, load_code_points(), seed_of(hash_seed), room, hashes, first)
    return HashedWords(hashes[:n].copy(), first)


def hash_collection(collection: Collection, hash_seed: int, run_tasks: RunTasks, ignored: Ignored | None = None) -> HashedWords:
    """Return the words of all documents of a collection; ignored ones are unlike all others."""
    first = collection.batch_first

    def hash_batch(number: int) -> HashedWords:
        texts = collection.batches[number].column("text")
        return hash_counted(texts, np.arange(first[number], first[number + 1]), hash_seed, ignored)

    parts = list(run_tasks(hash_batch, range(len(collection.batches))))
    counts = [np.empty(0, np.int64), *(np.diff(part.first) for part in parts)]
    hashes = np.concatenate([np.empty(0, np.uint64), *(part.hashes for part in parts)])
    return HashedWords(hashes, starts_of(np.concatenate(counts)))


def gram_keys(words: HashedWords, size: int, point: np.uint64) -> Hashes:
    """Return the key of the `size` words that start at each word, 0 where the text ends before."""
    keys = np.empty(len(words.hashes), np.uint64)
    kernels.gram_keys(words.hashes, words.first, size, point, keys)
    return keys


def point_of(hash_seed: int) -> np.uint64:
    """Return the secret point at which keys of grams are evaluated; of a secret seed, it is secret."""
    return np.uint64(CheckKey(hash_seed).places[0])


def locate_texts(texts: pa.LargeStringArray, rows: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return where words begin and end, in characters of their texts; a word is given by its text and its number there.

    The number after the last word gives the end of the text.
    """
    order = np.lexsort((numbers, rows))
    begins, ends = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    if len(rows):
        data, offsets = kernel_texts(texts)
        found = np.empty((2, len(rows)), np.int64)
        given = read_only(rows[order].astype(np.int64)), read_only(numbers[order].astype(np.int64))
        kernels.locate_words(data, kinds_of_bytes(data), offsets, *given, found[0], found[1])
        begins[order], ends[order] = found
    return begins, ends


def locate_in_collection(
    collection: Collection, documents: Numbers, numbers: Numbers, run_tasks: RunTasks
) -> tuple[Numbers, Numbers]:
    """Return the same for words of documents of a collection."""
    order = np.argsort(documents, kind="stable")
    bounds = np.searchsorted(documents[order], collection.batch_first)
    begins, ends = np.empty(len(documents), np.int64), np.empty(len(documents), np.int64)

    def locate(number: int) -> tuple[Numbers, Numbers, Numbers]:
        chosen = order[bounds[number] : bounds[number + 1]]
        rows = documents[chosen] - collection.batch_first[number]
        return chosen, *locate_texts(collection.batches[number].column("text"), rows, numbers[chosen])

    for chosen, begin, end in run_tasks(locate, np.flatnonzero(np.diff(bounds)).tolist()):
        begins[chosen], ends[chosen] = begin, end
    return begins, ends


def number_texts(texts: pa.LargeStringArray, rows: Numbers, chars: Numbers) -> Numbers:
    """Return how many words of a text begin before a character; characters come in order, by text."""
    data, offsets = kernel_texts(texts)
    counts = np.empty(len(rows), np.int64)
    kernels.number_words(data, kinds_of_bytes(data), offsets, read_only(rows), read_only(chars), counts)
    return counts


def number_in_collection(collection: Collection, documents: Numbers, chars: Numbers, run_tasks: RunTasks) -> Numbers:
    """Return how many words of each document begin before a character."""
    order = np.lexsort((chars, documents))
    bounds = np.searchsorted(documents[order], collection.batch_first)
    counts = np.empty(len(documents), np.int64)

    def count(number: int) -> tuple[Numbers, Numbers]:
        chosen = order[bounds[number] : bounds[number + 1]]
        rows = documents[chosen] - collection.batch_first[number]
        return chosen, number_texts(collection.batches[number].column("text"), rows, chars[chosen])

    for chosen, found in run_tasks(count, np.flatnonzero(np.diff(bounds)).tolist()):
        counts[chosen] = found
    return counts


def document_parts(words: HashedWords, most_words: int = 1 << 22) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of about so many words."""
    bounds = np.unique(np.searchsorted(words.first, np.arange(0, len(words.hashes) + 1, most_words)))
    edges = np.unique(np.concatenate([[0], bounds, [len(words.first) - 1]])).tolist()
    yield from pairwise(edges)
