"""Passages found by sentences, as spans of words; aligned ones are joined to those they run into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.aligner import Aligned
from ibidem.alignment.kernels.refinement import ENTRIES, count_common, find_around
from ibidem.columns.components import connected

_SLACK_WORDS = 8  # by which words may be moved inside a passage, besides words that are only on one side
_DOCUMENT_BITS = 32
Numbers = NDArray[np.int64]


def pair_numbers(documents: Numbers) -> Numbers:
    """Return a number for each pair of documents."""
    pairs: Numbers = documents[:, 0] << _DOCUMENT_BITS | documents[:, 1]
    return pairs


def documents_of(spans: Numbers, document_first: Numbers) -> Numbers:
    """Return the documents of spans of words, a and b."""
    documents: Numbers = np.searchsorted(document_first, spans[:, [0, 2]], side="right") - 1
    return documents


@dataclass(frozen=True)
class FoundSpans:
    """Passages found by sentences: spans of words, how many words were added as equal, documents, whether sentences differ,
    similarity.
    """

    spans: Numbers
    added: Numbers
    documents: Numbers
    is_near: NDArray[np.bool_]
    similarity: NDArray[np.float64]

    @cached_property
    def pairs(self) -> Numbers:
        """A number for the pair of documents of each passage."""
        return pair_numbers(self.documents)

    @classmethod
    def none(cls) -> FoundSpans:
        """Return no passages."""
        numbers = np.empty(0, np.int64)
        return cls(np.empty((0, 4), np.int64), numbers, np.empty((0, 2), np.int64), np.empty(0, np.bool_), np.empty(0))


def cells(n_passages: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return an empty table of cells for `n_passages` passages, and room for their entries."""
    n_entries = ENTRIES * n_passages
    dtype = np.int32 if n_entries < 1 << 31 else np.int64
    return np.full(1 << max(4, n_entries.bit_length()), -1, dtype), np.empty(n_entries, dtype)


def passages_around(points: Numbers, pairs: Numbers, found: FoundSpans) -> Numbers:
    """Return for each point (a word of a, one of b) in a pair of documents the longest passage found there, -1 if none."""
    concerned = np.flatnonzero(np.isin(found.pairs, pairs))
    around = np.empty(len(points), np.int64)
    find_around(
        np.ascontiguousarray(points).reshape(-1), pairs, found.spans[concerned].reshape(-1), found.pairs[concerned],
        _SLACK_WORDS, *cells(len(concerned)), around,
    )  # fmt: skip
    return np.where(around < 0, -1, concerned[around]) if len(concerned) else around


def joined(aligned: Aligned, beside: Numbers, found: FoundSpans, stems: NDArray[np.uint32]) -> Aligned:
    """Return aligned passages, each as one with the found passages `beside` its start and its end (-1: none).

    Those beside the same found passage become one. Their words in common are counted again.
    """
    n = len(aligned)
    rows, ends = np.nonzero(beside >= 0)
    if len(rows) == 0:
        return aligned
    which, at = np.unique(beside[rows, ends], return_inverse=True)
    root = connected(rows.astype(np.int32), (n + at).astype(np.int32), n + len(which))
    table = aligned.table.copy()
    low, high = aligned.spans.copy(), aligned.spans.copy()
    for part, of_part in ((aligned.spans, root[:n]), (found.spans[which], root[n:])):
        np.minimum.at(low, of_part, part)
        np.maximum.at(high, of_part, part)
    table[:, 1:5] = np.where(np.arange(4) % 2 == 0, low, high)
    changed = np.unique(root[rows])
    table[changed, 5] = words_in_common(table[changed, 1:5], stems)
    return Aligned(table[root[:n] == np.arange(n)])


def words_in_common(spans: Numbers, stems: NDArray[np.uint32]) -> Numbers:
    """Return how many words of each span of a have a counterpart of their own in the span of b."""
    lengths = np.diff(spans, axis=1)[:, [0, 2]]
    room = [np.empty(int(lengths[:, side].max(initial=0)), np.uint32) for side in range(2)]
    counts = np.empty(len(spans), np.int64)
    count_common(np.ascontiguousarray(spans).reshape(-1), stems, *room, counts)
    return counts
