"""Where in an index a quotation may be: windows of neighbouring sentences that have its words, by the postings of words.

Nothing is stored for this: every word has a posting, the list of the types that contain it. The rarest words of a quotation
lead to windows; the lists of words of their types tell which windows have the others, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts
from ibidem.columns.ragged import ranges
from ibidem.index.kernels.segment import ByteLists
from ibidem.index.segment import Segment

Numbers = NDArray[np.int64]
# Postings are read from the rarest word on, up to so many bytes, but at least those of this many words.
_MOST_POSTING_BYTES = 100_000
_FEWEST_ANCHORS = 2
# Windows in a segment whose words are all compared; and those that are returned though they lack words.
MOST_WINDOWS = 20_000
_MOST_PARTIAL = 2_000
_BEST_PARTIAL = 24


class Window(NamedTuple):
    """Neighbouring sentences `[first, last]` of a document in a segment, and the weight of the wanted words they have."""

    segment: int
    document: int
    first: int
    last: int
    weight: float
    has_all: bool


@dataclass(frozen=True)
class FoundWindows:
    """Windows, best first. `is_complete`: every window that has all words is among them."""

    windows: list[Window]
    is_complete: bool


def find_windows(
    segments: Sequence[tuple[Segment, NDArray[np.bool_]]],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    n_more: int,
    within: tuple[int, int] | None = None,
) -> FoundWindows:
    """Return where words are found together in kept documents: all of them, or as many as possible.

    `hashes` are distinct; a window is a sentence and up to `n_more` that follow it. `within` names a segment and a document, if
    only windows there are wanted.
    """
    found: list[Window] = []
    is_complete = True
    for number, (segment, kept) in enumerate(segments):
        if within is not None and within[0] != number:
            continue
        allowed = _Allowed(segment, kept, None if within is None else within[1])
        windows, is_all = _in_segment(number, allowed, hashes, weights, n_more)
        found += windows
        is_complete &= is_all
    found.sort(key=lambda window: (not window.has_all, -window.weight, window[:3]))
    return FoundWindows(found, is_complete)


class _Allowed(NamedTuple):
    """A segment, and which of its documents count: those that are kept, or one of them."""

    segment: Segment
    kept: NDArray[np.bool_]
    document: int | None

    def chosen(self, sentences: Numbers) -> tuple[Numbers, Numbers]:
        """Return which of these sentences count, and the first sentence of the document of each."""
        if self.document is not None:
            first, last = self.segment.document_first[self.document : self.document + 2].tolist()
            own = sentences[(sentences >= first) & (sentences < last)]
            return own, np.full(len(own), first, np.int64)
        documents = self.segment.documents_of(sentences)
        is_chosen = self.kept[documents]
        if not is_chosen.all():
            sentences, documents = sentences[is_chosen], documents[is_chosen]
        return sentences, self.segment.document_first[documents]


def _in_segment(
    number: int, allowed: _Allowed, hashes: NDArray[np.uint64], weights: NDArray[np.float64], n_more: int
) -> tuple[list[Window], bool]:
    segment = allowed.segment
    words = segment.words.numbers_of(hashes)
    is_known = words >= 0
    words, weights = words[is_known], weights[is_known]
    if not len(words):
        return [], True
    postings = segment.words.postings
    n_bytes = postings.first[words + 1].astype(np.int64) - postings.first[words]
    order = np.argsort(n_bytes, kind="stable")
    n_anchors = max(_FEWEST_ANCHORS, int(np.searchsorted(np.cumsum(n_bytes[order]), _MOST_POSTING_BYTES, side="right")))
    anchors = order[:n_anchors]
    starts, held = _windows_of(allowed, words[anchors], weights[anchors], n_more)
    if not len(starts):
        return [], True
    can_be_all = is_known.all()
    is_full = held >= weights[anchors].sum() - 1e-6 if can_be_all else np.zeros(len(starts), np.bool_)
    full, partial = starts[is_full], starts[~is_full]
    is_complete = len(full) <= MOST_WINDOWS
    chosen = np.concatenate([full[:MOST_WINDOWS], partial[_largest(held[~is_full], _MOST_PARTIAL)]])
    weight, n_distinct = _weigh(segment, chosen, words, weights, n_more)
    has_all = can_be_all & (n_distinct == len(words))
    rows = np.concatenate([np.flatnonzero(has_all), _apart(chosen, weight, has_all, n_more)])
    documents = segment.documents_of(chosen[rows])
    lasts = np.minimum(chosen[rows] + n_more, segment.document_first[documents + 1] - 1)
    columns = (documents, chosen[rows], lasts, weight[rows], has_all[rows])
    return [Window(number, *row) for row in zip(*(column.tolist() for column in columns), strict=True)], is_complete


def _windows_of(
    allowed: _Allowed, words: Numbers, weights: NDArray[np.float64], n_more: int
) -> tuple[Numbers, NDArray[np.float64]]:
    """Return the first sentences of all windows that have one of the words, and the weight of those that each has."""
    segment = allowed.segment
    starts, held = [], []
    for word, weight in zip(words.tolist(), weights.tolist(), strict=True):
        types = read_posting(segment.words.postings, word)
        counts = segment.place_counts(types)
        places = ranges(segment.occurrence_first[types].astype(np.int64), counts)
        # In order, their documents are found in a fraction of the time.
        sentences, first = allowed.chosen(np.sort(segment.occurrences[places]).astype(np.int64))
        own = _distinct(np.concatenate([np.maximum(sentences - back, first) for back in range(n_more + 1)]))
        starts.append(own)
        held.append(np.full(len(own), weight))
    together = np.concatenate(starts)
    order = np.argsort(together, kind="stable")  # it merges what is in order already
    at = firsts(together[order])
    return together[order[at]], np.add.reduceat(np.concatenate(held)[order], at)


def _largest(values: NDArray[np.float64], n_most: int) -> Numbers:
    """Return where the largest values are, largest first, of equal ones the first; only these are sorted."""
    if len(values) <= n_most:
        return np.argsort(-values, kind="stable")
    limit = np.partition(values, len(values) - n_most)[len(values) - n_most]
    above = np.flatnonzero(values > limit)
    equal = np.flatnonzero(values == limit)[: n_most - len(above)]
    return np.concatenate([above[np.argsort(-values[above], kind="stable")], equal])


def _distinct(numbers: Numbers) -> Numbers:
    """Return the distinct numbers in order. For many, sorting takes a fraction of the time that `numpy.unique` does."""
    ordered = np.sort(numbers, kind="stable")  # it merges what is in order already
    return ordered[firsts(ordered)]


def read_posting(postings: ByteLists, word: int) -> Numbers:
    """Return the types that contain a word, in increasing order."""
    data = np.asarray(postings.data[int(postings.first[word]) : int(postings.first[word + 1])])
    if not len(data):
        return np.empty(0, np.int64)
    is_last = data < 128
    ends = np.flatnonzero(is_last)
    begins = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(data)) - np.repeat(begins, ends - begins + 1)
    steps = np.add.reduceat((data & 127).astype(np.int64) << (7 * place), begins)
    return np.cumsum(steps)


def _weigh(
    segment: Segment, starts: Numbers, words: Numbers, weights: NDArray[np.float64], n_more: int
) -> tuple[NDArray[np.float64], Numbers]:
    """Return the weight and the number of the wanted words that windows have."""
    lasts = np.minimum(starts + n_more, segment.document_first[segment.documents_of(starts) + 1] - 1)
    sizes = lasts - starts + 1
    window = np.repeat(np.arange(len(starts)), sizes)
    types, of_sentence = np.unique(segment.types[ranges(starts, sizes)].astype(np.int64), return_inverse=True)
    listed, lengths = segment.words.read(types)
    by_number = np.argsort(words)
    at = np.minimum(np.searchsorted(words[by_number], listed), len(words) - 1)
    is_wanted = words[by_number][at] == listed
    wanted, of_type = by_number[at[is_wanted]], np.repeat(np.arange(len(types)), lengths)[is_wanted]
    first = np.searchsorted(of_type, np.arange(len(types) + 1))
    counts = np.diff(first)[of_sentence]
    pairs = _distinct(np.repeat(window, counts) * len(words) + wanted[ranges(first[of_sentence], counts)])
    weight = np.bincount(pairs // len(words), weights[pairs % len(words)], len(starts))
    return weight.astype(np.float64), np.bincount(pairs // len(words), minlength=len(starts)).astype(np.int64)


def _apart(starts: Numbers, weight: NDArray[np.float64], has_all: NDArray[np.bool_], n_more: int) -> Numbers:
    """Return the best windows that lack words; of those that overlap, the best one."""
    chosen: list[int] = []
    taken: set[int] = set()
    for row in np.argsort(-weight, kind="stable").tolist():
        if has_all[row] or starts[row] in taken:
            continue
        chosen.append(row)
        taken.update(range(int(starts[row]) - n_more, int(starts[row]) + n_more + 1))
        if len(chosen) == _BEST_PARTIAL:
            break
    return np.array(chosen, np.int64)
