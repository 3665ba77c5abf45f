"""Which of the passages that were found are reported: those of some similarity and length, of documents that share enough.

The limits are about the rows that users see, so their effect can be read off a table. `tune` chooses them from verdicts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import Config

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Limits(NamedTuple):
    """Limits of reported passages; 0 is no limit."""

    min_similarity: Fraction = Fraction(0)
    min_chars: int = 0
    min_coverage: Fraction = Fraction(0)

    @classmethod
    def of(cls, config: Config) -> Limits:
        """Return the limits that the settings give."""
        settings = config.passages
        return cls(settings.min_passage_similarity, settings.min_passage_chars, settings.min_coverage)


class Spans(NamedTuple):
    """Passages as columns: their pairs of documents, counted from 0, where they are on both sides, and their similarity."""

    pair: Numbers
    a_start: Numbers
    a_end: Numbers
    b_start: Numbers
    b_end: Numbers
    similarity: NDArray[np.float64]

    @classmethod
    def of(cls, passages: pa.Table, pair: Numbers) -> Spans:
        """Return the columns of a table of passages."""
        return cls(pair, *(passages[name].to_numpy() for name in cls._fields[1:]))

    @property
    def chars(self) -> Numbers:
        """The characters of the shorter side."""
        shorter: Numbers = np.minimum(self.a_end - self.a_start, self.b_end - self.b_start)
        return shorter

    def where(self, chosen: Truths) -> Spans:
        """Return some of the passages."""
        a, b = (self.a_start[chosen], self.a_end[chosen]), (self.b_start[chosen], self.b_end[chosen])
        return Spans(self.pair[chosen], *a, *b, self.similarity[chosen])


def are_reported(spans: Spans, n_chars: Numbers, limits: Limits) -> Truths:
    """Return which passages are reported; `n_chars` are those of both documents of each pair (columns).

    First each passage has to be similar and long enough. Then those that remain of a pair have to cover enough of one of the
    two documents.
    """
    chosen = are_long_and_similar(spans, limits.min_similarity, limits.min_chars)
    if limits.min_coverage:
        is_enough = coverages(spans.where(chosen), n_chars) >= float(limits.min_coverage)
        chosen &= is_enough[spans.pair]
    return chosen


def are_long_and_similar(spans: Spans, min_similarity: Fraction | float, min_chars: int) -> Truths:
    """Return which passages are as similar, and as long."""
    chosen: Truths = (spans.similarity >= float(min_similarity)) & (spans.chars >= min_chars)
    return chosen


def coverages(spans: Spans, n_chars: Numbers) -> NDArray[np.float64]:
    """Return which share of a document the passages of each pair cover: the larger of the two; 0 without passages."""
    n_pairs = len(n_chars)
    covered = [
        covered_chars(spans.pair, start, end, n_pairs)
        for start, end in ((spans.a_start, spans.a_end), (spans.b_start, spans.b_end))
    ]
    shares: NDArray[np.float64] = (np.stack(covered, axis=1) / np.maximum(n_chars, 1)).max(axis=1, initial=0.0)
    return shares


def covered_chars(owner: Numbers, start: Numbers, end: Numbers, n_owners: int) -> Numbers:
    """Return how many characters the spans of each owner cover; overlaps count once."""
    if not len(owner):
        return np.zeros(n_owners, np.int64)
    order = np.lexsort((end, start, owner))
    owner, start, end = owner[order], start[order], end[order]
    # Every owner gets its own range of positions, so that no span reaches into the next one.
    origin = owner * (int(end.max()) + 1)
    reached = np.maximum.accumulate(origin + end)
    before = np.concatenate([[0], reached[:-1]])
    new = np.maximum(0, origin + end - np.maximum(origin + start, before))
    return np.bincount(owner, new, n_owners).astype(np.int64)
