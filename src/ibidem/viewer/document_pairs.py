"""Passages grouped by their two documents: how much each pair shares, and the distributions over all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME
from ibidem.model import DIRECTIONS, KINDS
from ibidem.passages.reported import covered_chars

Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]
_DAY_MICROSECONDS = 86_400_000_000
_BINS = 40


@dataclass(frozen=True)
class PassageColumns:
    """Passages as columns; `a` and `b` are document numbers; kinds and directions index `KINDS` and `DIRECTIONS`."""

    a: Numbers
    b: Numbers
    a_start: Numbers
    a_end: Numbers
    b_start: Numbers
    b_end: Numbers
    n_sentences: Numbers
    similarity: Shares
    kind: Numbers
    direction: Numbers

    def __len__(self) -> int:
        return len(self.a)

    def take(self, rows: Numbers) -> PassageColumns:
        """Return some rows, in that order."""
        return PassageColumns(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    @classmethod
    def of(cls, table: pa.Table, a: Numbers, b: Numbers) -> PassageColumns:
        """Return the columns of a table with the schema PASSAGES, whose documents have these numbers."""
        places = {name: _numbers(table, name) for name in ("a_start", "a_end", "b_start", "b_end", "n_sentences")}
        similarity = table["similarity"].cast(pa.float64()).to_numpy()
        kind, direction = _codes(table["kind"], KINDS), _codes(table["direction"], DIRECTIONS)
        return cls(a, b, **places, similarity=similarity, kind=kind, direction=direction)


@dataclass(frozen=True)
class PairColumns:
    """Pairs of documents as columns. `first` has the row of each pair's first passage, and last the number of passages."""

    first: Numbers
    a: Numbers
    b: Numbers
    shared: Numbers
    longest: Numbers
    similarity: Shares
    coverage_a: Shares
    coverage_b: Shares
    kind: Numbers
    direction: Numbers
    days: Shares

    def __len__(self) -> int:
        return len(self.a)

    @property
    def coverage(self) -> Shares:
        """The larger of the two coverages; if one is unknown, the other."""
        return np.fmax(self.coverage_a, self.coverage_b)

    @property
    def interest(self) -> Shares:
        """How interesting a pair is: many characters in common, and much of one of the two texts."""
        return self.interest_of(self.shared.astype(np.float64))

    def interest_of(self, own: Shares) -> Shares:
        """Return the same if only `own` characters of each pair count, those that are not in many other places too."""
        known = np.where(np.isnan(self.coverage), 1.0, self.coverage)
        interest: Shares = np.log1p(np.minimum(own, self.shared)) * np.sqrt(known)
        return interest


def pair_up(passages: PassageColumns, n_chars: Numbers, times: Numbers) -> tuple[PassageColumns, PairColumns]:
    """Return the passages grouped by pair, ordered by their place in a, and the pairs in the order of their documents.

    `n_chars` and `times` are those of the documents; -1 and `NO_TIME` if not known.
    """
    order = np.lexsort((passages.b_start, passages.a_start, passages.b, passages.a))
    passages = passages.take(order)
    is_first = np.ones(len(passages), bool)
    is_first[1:] = (np.diff(passages.a) != 0) | (np.diff(passages.b) != 0)
    first = np.append(np.flatnonzero(is_first), len(passages))
    pair = np.cumsum(is_first) - 1
    a, b = passages.a[first[:-1]], passages.b[first[:-1]]
    covered_a = covered_chars(pair, passages.a_start, passages.a_end, len(a))
    covered_b = covered_chars(pair, passages.b_start, passages.b_end, len(a))
    # What two texts have in common is never more than one of them has.
    lengths = np.minimum(passages.a_end - passages.a_start, passages.b_end - passages.b_start)
    weights = np.maximum(lengths, 1)
    similarity = np.bincount(pair, weights * passages.similarity, len(a)) / np.maximum(np.bincount(pair, weights, len(a)), 1)
    # The longest passage represents its pair: it sorts last; of equally long ones, the first does.
    longest = np.lexsort((-np.arange(len(pair)), lengths, pair))[first[1:] - 1]
    pairs = PairColumns(
        first, a, b, np.minimum(covered_a, covered_b), lengths[longest], np.minimum(similarity, 1.0),
        _share(covered_a, n_chars[a]), _share(covered_b, n_chars[b]),
        passages.kind[longest], passages.direction[longest], days_between(times[a], times[b]),
    )  # fmt: skip
    return passages, pairs


def own_chars(passages: PassageColumns, pairs: PairColumns, n_places: Numbers) -> Shares:
    """Return the characters of each pair, those of a passage divided among the pairs of places that it has in the results.

    `n_places` is the number of places of each passage's family. A text in two places counts in full, a footer in forty hardly.
    """
    lengths = np.minimum(passages.a_end - passages.a_start, passages.b_end - passages.b_start)
    pair = np.repeat(np.arange(len(pairs)), np.diff(pairs.first))
    return np.bincount(pair, lengths * 2.0 / np.maximum(n_places, 2), len(pairs)).astype(np.float64)


def days_between(one: Numbers, other: Numbers) -> Shares:
    """Return the days between moments; NaN if one of them is not known."""
    both = (one != NO_TIME) & (other != NO_TIME)
    return np.where(both, np.abs(np.where(both, one, 0) - np.where(both, other, 0)) / _DAY_MICROSECONDS, np.nan)


def earliest_shares(passages: PassageColumns, n_chars: Numbers) -> Shares:
    """Return the share of each document that is in later documents and in no earlier one; NaN if none is known to be either.

    Equal times say nothing, so such passages do not count.
    """
    a, b = (passages.a, passages.a_start, passages.a_end), (passages.b, passages.b_start, passages.b_end)
    from_a, from_b = (passages.direction == DIRECTIONS.index(way) for way in ("a_to_b", "b_to_a"))
    fed = [np.concatenate([one[from_a], other[from_b]]) for one, other in zip(a, b, strict=True)]
    taken = [np.concatenate([one[from_b], other[from_a]]) for one, other in zip(a, b, strict=True)]
    either = [np.concatenate(both) for both in zip(fed, taken, strict=True)]
    n_documents = len(n_chars)
    own = covered_chars(either[0], either[1], either[2], n_documents) - covered_chars(taken[0], taken[1], taken[2], n_documents)
    is_ordered = np.bincount(either[0], minlength=n_documents) > 0
    return np.where(is_ordered, _share(own, n_chars), np.nan)


def distributions_of(pairs: PairColumns, has_passages: bool = True) -> dict[str, Any]:
    """Return the counts of pairs by similarity, coverage and longest passage, each with the edges of its bins."""
    coverage = np.nan_to_num(pairs.coverage, nan=0.0)
    lowest = float(pairs.similarity.min(initial=1.0))
    from_similarity = min(np.floor(lowest * 10) / 10, 0.9)
    most = max(float(pairs.longest.max(initial=0)), 100.0)
    distributions = {
        "similarity": _counted(pairs.similarity, np.linspace(from_similarity, 1, _BINS + 1)),
        "coverage": _counted(coverage, np.linspace(0, 1, _BINS + 1)),
    }
    if has_passages:
        distributions["longest"] = _counted(pairs.longest.astype(np.float64), np.geomspace(10, most, _BINS + 1))
    return distributions


def _counted(values: NDArray[np.float64], edges: NDArray[np.float64]) -> dict[str, Any]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return {"edges": [round(edge, 4) for edge in edges.tolist()], "counts": counts.tolist()}


def _share(covered: Numbers, n_chars: Numbers) -> Shares:
    return np.where(n_chars > 0, np.minimum(covered / np.maximum(n_chars, 1), 1.0), np.nan)


def _numbers(table: pa.Table, name: str) -> Numbers:
    column: Numbers = table[name].cast(pa.int64()).to_numpy()
    return column


def _codes(column: pa.ChunkedArray, words: tuple[str, ...]) -> Numbers:
    """Return the numbers of words; an unknown word counts as the first."""
    codes: Any = pa.compute.index_in(column.cast(pa.string()), value_set=pa.array(words))
    numbers: Numbers = codes.fill_null(0).to_numpy().astype(np.int64)
    return numbers
