"""Kernels that extract from documents what others may share with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import outer_kernel


class Stretches(NamedTuple):
    """Rows [low, high) of stretches; those of excerpt e are [first[e], first[e + 1])."""

    first: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


class Bounds(NamedTuple):
    """The sentence of each row, and the first row and the first sentence of each document."""

    sentence: NDArray[np.int32]
    row_first: NDArray[np.int64]
    sentence_first: NDArray[np.int64]


class Counts(NamedTuple):
    """How many sentences, rows and gaps each excerpt has."""

    n_sentences: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    n_gaps: NDArray[np.int64]


class Listed(NamedTuple):
    """Sentences and rows of excerpts, -1 for a gap; for each gap its place, the first sentence it replaces, and how many."""

    sources: NDArray[np.int64]
    rows: NDArray[np.int64]
    gap_at: NDArray[np.int64]
    gap_first: NDArray[np.int64]
    gap_size: NDArray[np.int64]

    @classmethod
    def of(cls, n_sentences: int, n_rows: int, n_gaps: int) -> Listed:
        """Return room for these numbers."""
        return cls(*(np.empty(n, np.int64) for n in (n_sentences, n_rows, n_gaps, n_gaps, n_gaps)))


@outer_kernel
def bound_stretches(is_hot, is_known, document, document_first, reach, low, high):
    """Write for each row the rows [low, high) that must come with it if a gram that begins in it is shared.

    Those are `reach` rows on both sides and consecutive hot windows next to them: where a text continues through other windows,
    these are shared too and are found separately. An unknown row appears nowhere else: no text continues beyond it.
    """
    n = len(is_hot)
    begin = 0
    interrupted = 0
    for row in range(n):
        first = document_first[document[row]]
        begin = max(begin, first)
        interrupted = max(interrupted, first)
        if not is_known[row]:
            interrupted = row + 1
        low[row] = max(interrupted, min(begin, row - reach))
        if not is_hot[row]:
            begin = row + 1
    end = n
    interrupted = n
    for row in range(n - 1, -1, -1):
        last = document_first[document[row] + 1]
        end = min(end, last)
        interrupted = min(interrupted, last)
        if not is_known[row]:
            interrupted = row
        high[row] = min(interrupted, max(end, row + reach + 1))
        if not is_hot[row]:
            end = row


@outer_kernel
def join_stretches(excerpt, row, low, high, first, joined_low, joined_high):
    """Join the stretches of wanted rows, which increase within each excerpt; those of excerpt e are then [first[e], first[e +
    1]).
    """
    n = 0
    last = -1
    for k in range(len(row)):
        e = excerpt[k]
        if e == last and low[row[k]] <= joined_high[n - 1]:
            joined_high[n - 1] = max(joined_high[n - 1], high[row[k]])
            continue
        for each in range(last + 1, e + 1):
            first[each] = n
        last = e
        joined_low[n] = low[row[k]]
        joined_high[n] = high[row[k]]
        n += 1
    for each in range(last + 1, len(first)):
        first[each] = n


@outer_kernel
def list_excerpts(excerpt_from, excerpt_to, documents, stretches, bounds, is_counting, counts, listed):
    """Write the sentences and rows of excerpts: the stretches, and a *gap*, -1, for all that is between two of them.

    The place of a gap is counted among the sentences of its excerpt. When counting, only the numbers of all these are written.
    """
    first = stretches.first
    low = stretches.low
    high = stretches.high
    sentence = bounds.sentence
    document_first = bounds.row_first
    sentence_first = bounds.sentence_first
    s = r = g = 0
    for e in range(excerpt_from, excerpt_to):
        d = documents[e]
        begin = s
        rows_before = r
        gaps_before = g
        place = sentence_first[d]
        for k in range(first[e], first[e + 1] + 1):
            if k < first[e + 1]:
                from_sentence = sentence_first[d] if low[k] == document_first[d] else sentence[low[k]]
                to_sentence = sentence_first[d + 1] if high[k] == document_first[d + 1] else sentence[high[k] - 1] + 1
            else:
                from_sentence = sentence_first[d + 1]
                to_sentence = from_sentence
            if from_sentence > place:
                if not is_counting:
                    listed.sources[s] = -1
                    listed.rows[r] = -1
                    listed.gap_at[g] = s - begin
                    listed.gap_first[g] = place
                    listed.gap_size[g] = from_sentence - place
                s += 1
                r += 1
                g += 1
            if not is_counting:
                for i in range(to_sentence - from_sentence):
                    listed.sources[s + i] = from_sentence + i
                if k < first[e + 1]:
                    for i in range(high[k] - low[k]):
                        listed.rows[r + i] = low[k] + i
            s += to_sentence - from_sentence
            if k < first[e + 1]:
                r += high[k] - low[k]
            place = to_sentence
        if is_counting:
            counts.n_sentences[e] = s - begin
            counts.n_rows[e] = r - rows_before
            counts.n_gaps[e] = g - gaps_before
