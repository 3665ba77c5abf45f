"""Passages of an index refined word by word, from the texts that it keeps.

Passages found by sentences are extended by equal words, and places that share pairs of words are aligned, as in `find`. What is
reported for two documents depends on these two alone: it does not matter when they came, and what with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.places import located
from ibidem.alignment.refinement import align_sentences
from ibidem.columns.collection import Collection
from ibidem.columns.ragged import ranges, starts_of
from ibidem.columns.rows import Rows
from ibidem.config import Config, passage_limits
from ibidem.execution.tasks import RunTasks
from ibidem.index.segment import strings
from ibidem.index.source_texts import Numbers, SourceTexts, bytes_of_chars, joined_texts
from ibidem.passages import PassageRows
from ibidem.passages.extension import EndWords, of_their_pairs
from ibidem.passages.kernels.chains import A_FIRST, B_FIRST
from ibidem.passages.tables import LocatedPassages, located_passages, passages_table


def align_known(
    passages: list[PassageRows], rows: Rows, small: Collection, texts: SourceTexts, places: Numbers, config: Config,
    run_tasks: RunTasks,
) -> pa.Table:  # fmt: skip
    """Return passages in the schema PASSAGES: those found, extended word by word, and those that aligned words show.

    Words are aligned around `places`: rows of a document, a sentence in it, another document, and a sentence in that. Where a
    text is not there, passages stay as they are.
    """
    has_text = texts.has()
    stay, moved, documents = _apart(passages, rows, has_text)
    places = places[has_text[places[:, ::2]].all(axis=1)]
    whole, in_whole = _whole_texts(small, texts, np.unique(np.concatenate([places[:, ::2], documents])), rows)
    sentences = whole.document_first[places[:, ::2]] + places[:, 1::2]
    moved, aligned = align_sentences(moved, in_whole, whole, sentences, config, run_tasks)
    min_sentences = passage_limits(config).min_sentences
    found = located_passages([*stay, *moved], rows, small, min_sentences, run_tasks)
    everything = LocatedPassages.joined([*found, located(aligned, whole, min_sentences)])
    return everything.in_reading_order().table(small.ids)


def extend_known(
    passages: list[PassageRows], rows: Rows, small: Collection, texts: SourceTexts, words: EndWords, config: Config,
    run_tasks: RunTasks,
) -> pa.Table:  # fmt: skip
    """Return passages in the schema PASSAGES; where the texts of both documents are there, their ends are moved outwards.

    `words` say for the sentences of the small collection which ends may move: only those texts are read.
    """
    min_sentences = passage_limits(config).min_sentences
    has_text = texts.has()
    stay, moved, known = [], [], [np.empty((0, 2), np.int64)]
    for part in passages:
        documents = _documents_of(part, rows)
        may_move = np.zeros(len(part), np.bool_)
        may_move[of_their_pairs(words.may_move(part, rows) != 0, documents.T)] = True
        may_move &= has_text[documents].all(axis=1)
        stay.append(part.chosen(~may_move))
        moved.append(part.chosen(may_move))
        known.append(documents[may_move])
    documents = np.concatenate(known)
    if len(documents) == 0:
        return passages_table(stay, rows, small, min_sentences, run_tasks)
    whole, in_whole = _whole_texts(small, texts, np.unique(documents), rows)
    found = [
        *located_passages(stay, rows, small, min_sentences, run_tasks),
        *located_passages(moved, in_whole, whole, min_sentences, run_tasks, extend=True),
    ]
    return LocatedPassages.joined(found).by_pair().table(small.ids)


def _documents_of(passages: PassageRows, rows: Rows) -> Numbers:
    """Return the documents of passages, a and b."""
    return rows.document[passages.table[:, [A_FIRST, B_FIRST]]].astype(np.int64)


def _apart(
    passages: list[PassageRows], rows: Rows, has_text: NDArray[np.bool_]
) -> tuple[list[PassageRows], list[PassageRows], Numbers]:
    """Return the passages of which a text is not there, and the others with their documents."""
    stay, moved, known = [], [], [np.empty((0, 2), np.int64)]
    for part in passages:
        documents = _documents_of(part, rows)
        is_moved = np.asarray(has_text[documents].all(axis=1), np.bool_)
        stay.append(part.chosen(~is_moved))
        moved.append(part.chosen(is_moved))
        known.append(documents[is_moved])
    return stay, moved, np.concatenate(known)


def _whole_texts(small: Collection, texts: SourceTexts, chosen: Numbers, rows: Rows) -> tuple[Collection, Rows]:
    """Return the documents of a small collection, some of them with their texts and all sentences, the others with neither;
    and the rows of the former.

    Words are hashed as in `compare`, whatever the seed of the index.
    """
    size, n_words, starts, ends, of_arrivals = _sentences_of(texts, chosen)
    contents = texts.read(chosen)
    text_first, data = joined_texts(contents)
    start_byte, end_byte = (bytes_of_chars(data, text_first, size, chars) for chars in (starts, ends))
    n_mine = len(of_arrivals)
    start_byte[:n_mine], end_byte[:n_mine] = texts.collection.start_byte[of_arrivals], texts.collection.end_byte[of_arrivals]
    sizes = np.zeros(small.n_documents, np.int64)
    of_texts = np.zeros(small.n_documents, np.int64)
    sizes[chosen], of_texts[chosen] = size, np.diff(text_first)
    whole = replace(
        small,
        batches=[pa.RecordBatch.from_arrays([strings(starts_of(of_texts), data)], ["text"])],
        document=np.repeat(np.arange(small.n_documents, dtype=np.int32), sizes),
        start_byte=start_byte,
        end_byte=end_byte,
        start_char=starts.astype(np.uint32),
        end_char=ends.astype(np.uint32),
        n_words=n_words,
        digest=np.zeros(len(starts), np.uint64),
    )
    assert rows.position is not None
    return whole, replace(rows, sentence=(whole.document_first[rows.document] + rows.position).astype(np.int32))


def _sentences_of(texts: SourceTexts, chosen: Numbers) -> tuple[Numbers, NDArray[np.int32], Numbers, Numbers, Numbers]:
    """Return how many sentences each of these documents has, their words, starts and ends; and the sentences of arrivals."""
    source = texts.collection
    mine = texts.arrivals[chosen[chosen < len(texts.arrivals)]]
    sizes = [np.diff(source.document_first)[mine]]
    of_arrivals = ranges(source.document_first[mine], sizes[0])
    n_words = [source.n_words[of_arrivals]]
    starts, ends = ([column[of_arrivals].astype(np.int64)] for column in (source.start_char, source.end_char))
    for segment, own in texts.of_segments(chosen):
        sizes.append(segment.sentence_counts(own))
        sentences = ranges(segment.document_first[own], sizes[-1])
        n_words.append(segment.word_counts(segment.types[sentences]))
        starts.append(segment.start_char[sentences].astype(np.int64))
        ends.append(segment.end_chars(sentences, np.repeat(own, sizes[-1])))
    return np.concatenate(sizes), np.concatenate(n_words), np.concatenate(starts), np.concatenate(ends), of_arrivals
