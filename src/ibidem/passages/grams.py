"""Grams: the windows, long sentences and short texts by which documents are compared, each with a key.

A kind of gram is named by the flag that its places get when it is hot: HOT_WINDOW, HOT_SENTENCE, HOT_TEXT.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Rows
from ibidem.config import PassagesConfig
from ibidem.passages.kernels import windows as kernels
from ibidem.passages.kernels.windows import HOT_SENTENCE, HOT_TEXT, HOT_WINDOW


def kinds_of_grams(limits: PassagesConfig) -> tuple[int, ...]:
    """Return the kinds of grams to look for: only windows, or also shorter ones."""
    shorter = limits.min_sentences > 1 and limits.min_quote_words > 0
    return (HOT_WINDOW, HOT_SENTENCE, HOT_TEXT) if shorter else (HOT_WINDOW,)


def gram_keys(kind: int, rows: Rows, limits: PassagesConfig) -> NDArray[np.uint64]:
    """Return the key of the gram of one kind that starts at each row; 0 where there is none."""
    keys = np.empty(len(rows.classes), np.uint64)
    if kind == HOT_WINDOW:
        kernels.window_keys(rows.classes, rows.document, limits.min_sentences, keys)
    elif kind == HOT_SENTENCE:
        kernels.sentence_keys(rows.classes, rows.n_words, limits.min_quote_words, keys)
    else:
        kernels.whole_text_keys(rows.classes, rows.document_first, limits.min_sentences, keys)
    return keys


def rows_in_grams(
    kind: int, is_counted: NDArray[np.bool_], rows: Rows, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for the gram of one kind that starts at each row its number of rows, and how many of them are counted."""
    n, begins = len(is_counted), np.arange(len(is_counted))
    if kind == HOT_WINDOW:
        ends = np.minimum(begins + size, n)
    else:
        ends = begins + 1 if kind == HOT_SENTENCE else rows.document_first[rows.document + 1]
    before = starts_of(is_counted)
    return ends - begins, before[ends] - before[begins]


def hot_flags(is_hot: NDArray[np.bool_], size: int, rows: Rows) -> NDArray[np.uint8]:
    """Return the flags of windows, sentences and texts that are hot from end to end, given which rows are."""
    flags = np.zeros(len(is_hot), np.uint8)
    for kind in (HOT_WINDOW, HOT_SENTENCE, HOT_TEXT):
        n_rows, n_hot = rows_in_grams(kind, is_hot, rows, size)
        flags[n_hot == n_rows] |= kind
    return flags
