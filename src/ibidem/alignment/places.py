"""From aligned words back to documents: the words of a collection, and passages located in characters."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment import Aligned, Words
from ibidem.columns.collection import NO_TIME, Collection
from ibidem.columns.texts import text_buffers
from ibidem.config.surface import named
from ibidem.errors import ResourceError
from ibidem.execution.memory import release_unused
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.model import DIRECTIONS, KINDS
from ibidem.passages.tables import LocatedPassages
from ibidem.sentences import digest_tokens, stem_words, tokenise_spans
from ibidem.sentences.code_points import load_code_points
from ibidem.sentences.kernels.stems import SENTENCE_BOUND, locate_words

Numbers = NDArray[np.int64]
_SPACED = np.uint32(0xFFFFFFFE)  # the last bit says whether the script of a word has no spaces
MOST_WORDS = 1 << 31  # plus at most as many characters of unspaced scripts: places have 32 bits


@dataclass(frozen=True)
class LocatedSide:
    """One side of aligned passages: where they are in characters, and in which sentences. Digests of equal words are equal."""

    documents: NDArray[np.int32]
    places: Numbers  # two rows: start and end
    sentences: Numbers  # two rows: the first and the last one, in the collection
    covered: Numbers  # two rows: those at least half covered, start and end
    digests: NDArray[np.uint64]
    is_whole: NDArray[np.bool_]


@dataclass(frozen=True)
class AlignedPassages:
    """Aligned passages of documents: `places` are start and end in a, start and end in b, in characters."""

    documents: NDArray[np.int32]  # two rows: a and b
    places: Numbers  # four rows
    sentences: Numbers  # four rows: those at least half covered, start and end in a and in b
    first_sentences: Numbers  # two rows: those in which a passage begins, in a and in b
    n_sentences: NDArray[np.int32]
    similarity: NDArray[np.float64]
    is_equal: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.n_sentences)


def words_of(collection: Collection, run_tasks: RunTasks, hash_seed: int | None = None, whole: bool = False) -> Words:
    """Return the words of all documents, and how strongly texts are divided before them.

    Their stems are hashed with the seed of the collection, or another one; with `whole`, a stem is the whole word.
    """

    def stem(number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8], Numbers, Numbers]:
        low, high = collection.batch_first[number], collection.batch_first[number + 1]
        sentences = slice(collection.document_first[low], collection.document_first[high])
        documents = collection.document[sentences] - low
        return stem_words(
            collection.batches[number].column("text"),
            documents,
            collection.start_byte[sentences].astype(np.int64),
            collection.hash_seed if hash_seed is None else hash_seed,
            whole,
        )

    if int(collection.n_words.sum(dtype=np.int64)) >= MOST_WORDS:
        raise ResourceError(
            f"more than {MOST_WORDS:,} words", f"Split the collection, and compare the parts with {named('against')}."
        )
    # Two letters are a word and what separates it. Room that stays unused is never touched.
    n_most = sum(batch.column("text").nbytes for batch in collection.batches) // 2 + collection.n_documents
    stems, bounds = np.empty(n_most, np.uint32), np.empty(n_most + 1, np.uint8)
    document_first = np.zeros(collection.n_documents + 1, np.int64)
    sentence_first = np.empty(len(collection.document) + 1, np.int64)
    n_words = n_documents = n_sentences = 0
    for found, found_bounds, first, begins in run_tasks(stem, range(len(collection.batches))):
        if n_words + len(found) > len(stems):  # unspaced scripts in two bytes, if there are any
            stems.resize(2 * (n_words + len(found)), refcheck=False)
            bounds.resize(len(stems) + 1, refcheck=False)
        stems[n_words : n_words + len(found)] = found
        bounds[n_words : n_words + len(found)] = found_bounds
        document_first[n_documents + 1 : n_documents + len(first)] = n_words + first[1:]
        sentence_first[n_sentences : n_sentences + len(begins)] = n_words + begins
        n_words, n_documents, n_sentences = n_words + len(found), n_documents + len(first) - 1, n_sentences + len(begins)
    sentence_first[n_sentences] = n_words
    # Where a sentence without words follows, the next one begins with them all.
    bounds[sentence_first] = SENTENCE_BOUND
    for sentence in np.flatnonzero(collection.is_ignored).tolist():  # their words are unlike all others
        begin, end = int(sentence_first[sentence]), int(sentence_first[sentence + 1])
        stems[begin:end] = np.frombuffer(secrets.token_bytes(4 * (end - begin)), np.uint32) & _SPACED
    release_unused()
    return Words(stems[:n_words], bounds[: n_words + 1], document_first, sentence_first)


def whole_documents(words: Words, pairs: NDArray[np.int64]) -> Numbers:
    """Return the spans of words of pairs of documents."""
    first = words.document_first
    return np.stack([first[pairs[:, 0]], first[pairs[:, 0] + 1], first[pairs[:, 1]], first[pairs[:, 1] + 1]], axis=1)


def locate(aligned: Aligned, words: Words, collection: Collection, run_tasks: RunTasks = in_turn) -> AlignedPassages:
    """Return where the passages are: whole sentences with their punctuation, otherwise from word to word."""

    def of_side(side: int) -> LocatedSide:
        return locate_side(aligned.spans[:, [2 * side, 2 * side + 1]], words, collection)

    a, b = run_tasks(of_side, range(2))
    return put_together(a, b, aligned.spans, aligned.n_common)


def locate_side(spans: Numbers, words: Words, collection: Collection) -> LocatedSide:
    """Return where spans of words, from start to end, are in their documents."""
    n = len(spans)
    places, bytes_of, sentences = (np.empty((2, n), np.int64) for _ in range(3))
    documents = np.empty(n, np.int32)
    for end in range(2):
        word = spans[:, end] - end
        # Sentences without words begin where the next one does: use the last of them.
        sentence = np.searchsorted(words.sentence_first, word, side="right") - 1
        sentences[end] = sentence
        documents = collection.document[sentence]
        _locate_words(collection, sentence, word - words.sentence_first[sentence], bool(end), places[end], bytes_of[end])
        at_edge = words.bounds[word + end] == SENTENCE_BOUND
        edge = collection.end_char if end else collection.start_char
        edge_byte = collection.end_byte if end else collection.start_byte
        places[end] = np.where(at_edge, edge[sentence], places[end])
        bytes_of[end] = np.where(at_edge, edge_byte[sentence], bytes_of[end])
    digests = _digests(collection, documents, *bytes_of)
    first = words.document_first
    is_whole = (spans[:, 0] == first[documents]) & (spans[:, 1] == first[documents + 1])
    return LocatedSide(documents, places, sentences, _covered_sentences(spans, words, sentences), digests, is_whole)


def put_together(a: LocatedSide, b: LocatedSide, spans: Numbers, n_common: Numbers) -> AlignedPassages:
    """Return passages, given both sides of each, the spans of words, and how many words are common."""
    is_equal = a.digests == b.digests
    lengths = np.diff(spans, axis=1)[:, [0, 2]]
    similarity = np.where(is_equal, 1.0, 2.0 * n_common / np.maximum(lengths.sum(axis=1), 1))
    n_sentences = np.maximum(a.sentences[1] - a.sentences[0], b.sentences[1] - b.sentences[0]).astype(np.int32) + 1
    return AlignedPassages(
        np.stack([a.documents, b.documents]), np.concatenate([a.places, b.places]), np.concatenate([a.covered, b.covered]),
        np.stack([a.sentences[0], b.sentences[0]]), n_sentences, similarity, is_equal, a.is_whole & b.is_whole,
    )  # fmt: skip


def kinds_of(passages: AlignedPassages, min_sentences: int) -> NDArray[np.int8]:
    """Return the kind of each passage, as its number in KINDS."""
    is_quote = (passages.n_sentences < min_sentences) & ~passages.is_whole
    kinds = np.where(is_quote, KINDS.index("quote"), np.where(passages.is_equal, KINDS.index("exact"), KINDS.index("near")))
    return kinds.astype(np.int8)


def directions_of(time_a: Numbers, time_b: Numbers) -> NDArray[np.int8]:
    """Return which side is earlier, as its number in DIRECTIONS."""
    is_known = (time_a != time_b) & (np.minimum(time_a, time_b) != NO_TIME)
    earlier = np.where(time_a < time_b, DIRECTIONS.index("a_to_b"), DIRECTIONS.index("b_to_a"))
    return np.where(is_known, earlier, DIRECTIONS.index("unknown")).astype(np.int8)


def aligned_table(passages: AlignedPassages, collection: Collection, min_sentences: int) -> pa.Table:
    """Return aligned passages in the schema PASSAGES."""
    return located(passages, collection, min_sentences).table(collection.ids)


def located(passages: AlignedPassages, collection: Collection, min_sentences: int) -> LocatedPassages:
    """Return aligned passages as those found by sentences are."""
    return LocatedPassages(
        passages.documents, passages.places, passages.n_sentences, passages.similarity, kinds_of(passages, min_sentences),
        directions_of(*(collection.times[documents] for documents in passages.documents)),
        passages.first_sentences - collection.document_first[passages.documents],
    )  # fmt: skip


def _covered_sentences(spans: Numbers, words: Words, sentences: Numbers) -> Numbers:
    """Return the sentences at least half covered by spans, start and end, given the first and the last."""
    first = words.sentence_first
    start, end = spans.T
    covered: Numbers = sentences + np.array([[0], [1]])
    for row, step in enumerate((1, -1)):
        sentence = sentences[row]
        n_covered = np.minimum(end, first[sentence + 1]) - np.maximum(start, first[sentence])
        covered[row] += np.where(2 * n_covered < first[sentence + 1] - first[sentence], step, 0)
    return covered


def _locate_words(
    collection: Collection, sentence: Numbers, number: Numbers, at_end: bool, places: Numbers, word_bytes: Numbers
) -> None:
    """Write where words of sentences begin or end, in characters and in bytes."""
    for chosen, data, begins, ends in _by_batch(collection, collection.document[sentence]):
        found, found_bytes = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
        locate_words(
            data, begins, ends, collection.start_byte[sentence[chosen]].astype(np.int64),
            collection.start_char[sentence[chosen]].astype(np.int64), number[chosen], load_code_points(), at_end, found_bytes,
            found, np.empty(2, np.int64),
        )  # fmt: skip
        places[chosen], word_bytes[chosen] = found, found_bytes


def _by_batch(
    collection: Collection, documents: NDArray[np.int32]
) -> Iterator[tuple[Numbers, NDArray[np.uint8], Numbers, Numbers]]:
    """Yield per batch which of the documents are in it, the bytes of its texts, and where theirs begin and end."""
    batch_of = np.searchsorted(collection.batch_first, documents, side="right") - 1
    for number in np.unique(batch_of):
        chosen = np.flatnonzero(batch_of == number)
        data, offsets = text_buffers(collection.batches[number].column("text"))
        row = documents[chosen] - collection.batch_first[number]
        yield chosen, data, offsets[row], offsets[row + 1]


def _digests(collection: Collection, documents: NDArray[np.int32], starts: Numbers, ends: Numbers) -> NDArray[np.uint64]:
    """Return the digests of stretches: equal for equal words in equal order."""
    digests = np.empty(len(documents), np.uint64)
    for chosen, data, begins, _ in _by_batch(collection, documents):
        digests[chosen] = digest_tokens(
            *tokenise_spans(data, begins + starts[chosen], begins + ends[chosen], collection.hash_seed)
        )
    return digests
