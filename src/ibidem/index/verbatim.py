"""Sentences of new documents that a document of the index contains word for word, as its text proves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ibidem.columns.text_checks import CheckKey, Checks
from ibidem.columns.texts import kernel_texts
from ibidem.index.source_texts import SourceTexts, with_texts
from ibidem.sentences.equal_digests import checks_of_words


def verbatim_hits(hits: pa.Table, a: SourceTexts, b: SourceTexts) -> pa.Table:
    """Return the first hit of every sentence, with both texts, if these are the same words in the same order.

    Hits of a sentence are neighbours. Words are compared by checks with a key drawn for this purpose, so that sentences crafted
    to have equal digests are not taken for equal.
    """
    names = np.concatenate([np.empty(0, np.int64), *(chunk.indices.to_numpy() for chunk in hits["a_id"].chunks)])
    numbers = hits["a_sentence"].to_numpy()
    is_first = np.ones(len(numbers), np.bool_)
    is_first[1:] = (np.diff(names) != 0) | (np.diff(numbers) != 0)
    firsts = with_texts(hits.filter(pa.array(is_first)), a, b)
    firsts = firsts.filter(firsts["b_text"].is_valid())
    key = CheckKey.drawn()
    is_same = (_checks(key, firsts["a_text"]) == _checks(key, firsts["b_text"])).all(axis=1)
    return firsts.filter(pa.array(is_same))


def _checks(key: CheckKey, texts: pa.ChunkedArray) -> Checks:
    data, offsets = kernel_texts(pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], pa.large_string()))
    return checks_of_words(key, data, offsets[:-1], offsets[1:])
