"""The words of a collection, counted as documents are read: only the vocabulary is kept, however large the collection is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.hashes import draw_seed
from ibidem.columns.texts import text_buffers
from ibidem.config import SentencesConfig
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.formats.word_tables import WordTable
from ibidem.sentences.core import gather
from ibidem.sentences.word_texts import words_in
from ibidem.signatures.sentence_types import collapse_sentences, count_vocabulary, type_tokens


class _BatchWords(NamedTuple):
    """The words of some documents: hashes and counts, and where each one occurs first: in which span, as which token."""

    n_documents: int
    n_sentences: int
    hashes: NDArray[np.uint64]
    occurrences: NDArray[np.int64]
    documents: NDArray[np.int32]
    spans: NDArray[np.int64]  # two columns: first byte, end
    place: NDArray[np.int64]  # of the word in its span
    text: pa.Buffer


def count_collection(
    batches: Iterable[pa.RecordBatch],
    config: SentencesConfig,
    run_tasks: RunTasks,
    on_batch: Callable[[int, int], None],
) -> WordTable:
    """Return the words of all sentences; `on_batch` gets the numbers of new documents and sentences.

    They are counted as `find` counts them. The most frequent come first; letters settle ties.
    """
    seeded = SentencesConfig(config.lang, config.max_sentence_words, draw_seed())  # so that no text can merge two words
    number_of: dict[int, int] = {}
    words: list[str] = []
    totals = np.zeros((2, 1 << 12), np.int64)
    n_documents = 0
    for found in run_tasks(lambda batch: _count_batch(batch, seeded), batches):
        n_documents += found.n_documents
        hashes = found.hashes.tolist()
        new = [row for row, word in enumerate(hashes) if word not in number_of]
        for row, text in zip(new, _texts_of(found, new), strict=True):
            number_of[hashes[row]] = len(words)
            words.append(text)
        if len(words) > totals.shape[1]:
            totals = np.pad(totals, ((0, 0), (0, len(words))))
        rows = np.array([number_of[word] for word in hashes], np.int64)
        totals[0, rows] += found.documents
        totals[1, rows] += found.occurrences
        on_batch(found.n_documents, found.n_sentences)
    documents, occurrences = totals[:, : len(words)]
    order = np.array(sorted(range(len(words)), key=lambda row: (-occurrences[row], -documents[row], words[row])), np.int64)
    return WordTable(
        pa.array(words, pa.large_string()).take(pa.array(order)), documents[order], occurrences[order], n_documents
    )


def _count_batch(batch: pa.RecordBatch, config: SentencesConfig) -> _BatchWords:
    collection = gather([batch], iter(()), config, in_turn, lambda n_documents, n_sentences: None)
    types = collapse_sentences(collection.digest)
    tokens = type_tokens(collection, types, in_turn)
    counted = count_vocabulary(tokens, types.of_sentence, collection.document, collection.n_documents)
    _, first_token = np.unique(counted.ids, return_index=True)  # by rising number, as the other columns are
    of_type = np.searchsorted(tokens.first, first_token, side="right") - 1
    sentence = types.first_sentence[of_type]
    data, offsets = text_buffers(batch.column("text"))
    begins = offsets[collection.document[sentence]]
    spans = np.stack([begins + collection.start_byte[sentence], begins + collection.end_byte[sentence]], axis=1)
    place = first_token - tokens.first[of_type]
    columns = (counted.hashes, counted.counts, counted.document_counts, spans, place)
    return _BatchWords(collection.n_documents, len(collection.document), *columns, pa.py_buffer(data))


def _texts_of(found: _BatchWords, rows: list[int]) -> list[str]:
    """Return the texts of words: sentences that contain one are read again, each once."""
    texts = []
    read: dict[tuple[int, int], list[str]] = {}
    for row in rows:
        begin, end = found.spans[row].tolist()
        if (begin, end) not in read:
            read[begin, end] = words_in(found.text[begin:end].to_pybytes().decode())
        texts.append(read[begin, end][found.place[row]])
    return texts
