"""Runs of words in one part: which windows of so many words occur twice, and the runs that they form.

A *window* is a number of words in a row, `min_run_words`, in one document. Of all places of a window, the first one, in the
order of the documents, is its *source*. A *run* is what windows at neighbouring words form together if their sources are
neighbours too. So every stretch of so many words that occurs before, anywhere, is in a run, and has the words of its source.

To look at few windows, each is represented by an *anchor*: of the shorter grams in it, the one with the smallest hash. Equal
windows have equal anchors, so windows whose anchor occurs once occur once. There is about one anchor for every quarter of a
window. Time and memory are linear in the words, however many places a text has: no pairs are formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.postings import postings_of
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.hashed_words import HashedWords, document_parts, gram_keys
from ibidem.word_runs import kernels

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class WindowRule:
    """Windows of `size` words, and what represents them: the smallest of `width` grams of `gram` words."""

    size: int
    point: np.uint64

    @cached_property
    def gram(self) -> int:
        """Words of the grams of which one is the anchor."""
        return (self.size + 1) // 2

    @cached_property
    def width(self) -> int:
        """Number of grams in a window."""
        return self.size - self.gram + 1


@dataclass(frozen=True)
class Runs:
    """Runs of words that occur before, in reading order: `start` counts over all words of the part, the source by document.

    `protected` are the places, counted like `start`, of windows that are the source of another one.
    """

    start: Numbers
    n_words: Numbers
    source_document: Numbers
    source_word: Numbers
    protected: Numbers

    def __len__(self) -> int:
        return len(self.start)


def anchors_of(words: HashedWords, rule: WindowRule) -> tuple[Numbers, Keys]:
    """Return for each window the place of its anchor (-1: no window starts here), and the keys of all grams."""
    keys = gram_keys(words, rule.gram, rule.point)
    chosen = np.empty(len(keys), np.int64)
    kernels.winnow(keys, words.first, rule.width, np.empty(rule.width, np.int64), chosen)
    return chosen, keys


def repeated_windows(words: HashedWords, rule: WindowRule, run_tasks: RunTasks) -> tuple[Numbers, Keys]:
    """Return the places and keys of windows whose anchors occur twice or more: all that occur twice, and few others."""
    parts = list(document_parts(words))

    def part_of(part: tuple[int, int]) -> tuple[int, HashedWords]:
        begin, end = (int(words.first[document]) for document in part)
        return begin, HashedWords(words.hashes[begin:end], words.first[part[0] : part[1] + 1] - begin)

    def find_anchors(part: tuple[int, int]) -> tuple[Numbers, Keys]:
        begin, some = part_of(part)
        chosen, keys = anchors_of(some, rule)
        is_anchor = np.zeros(len(keys), np.bool_)
        is_anchor[chosen[chosen >= 0]] = True
        places = np.flatnonzero(is_anchor)
        return places + begin, keys[places]

    found = list(run_tasks(find_anchors, parts))
    places = np.concatenate([np.empty(0, np.int64), *(place for place, _ in found)])
    keys = np.concatenate([np.empty(0, np.uint64), *(key for _, key in found)])
    del found
    is_repeated = np.zeros(len(words.hashes), np.bool_)
    is_repeated[places[postings_of(keys).rows]] = True
    del places, keys

    def find_windows(part: tuple[int, int]) -> tuple[Numbers, Keys]:
        begin, some = part_of(part)
        windows = windows_at(some, is_repeated[begin : begin + len(some.hashes)], rule)
        return windows[0] + begin, windows[1]

    windows = list(run_tasks(find_windows, parts))
    return (
        np.concatenate([np.empty(0, np.int64), *(place for place, _ in windows)]),
        np.concatenate([np.empty(0, np.uint64), *(key for _, key in windows)]),
    )


def windows_at(words: HashedWords, is_repeated: Truths, rule: WindowRule) -> tuple[Numbers, Keys]:
    """Return the places and keys of the windows whose anchors are repeated."""
    if not is_repeated.any():
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    chosen, _ = anchors_of(words, rule)
    places = np.flatnonzero((chosen >= 0) & is_repeated[chosen])
    return places, gram_keys(words, rule.size, rule.point)[places]


def find_runs(words: HashedWords, position: Numbers, n_reference: int, rule: WindowRule, run_tasks: RunTasks) -> Runs:
    """Return the runs of words in all documents.

    `position` is the place of each document in the order of sources. With a reference, its documents are the first
    `n_reference` of these: they alone are sources, and only the others have runs.
    """
    places, keys = repeated_windows(words, rule, run_tasks)
    groups = postings_of(keys)
    del keys
    document = words.documents(places).astype(np.int32)
    source = np.full(len(places), -1, np.int32)
    kernels.find_sources(groups.rows, groups.first, document, position, source)
    del groups
    is_linked = (source >= 0) & (source != np.arange(len(places), dtype=np.int32))
    if n_reference:
        is_linked &= (position[document[source]] < n_reference) & (position[document] >= n_reference)
    source_document = document[source]
    source_word = places[source] - words.first[source_document]
    runs = linked_runs(places, document, source_document, source_word, is_linked, rule.size)
    is_source = np.zeros(len(places), np.bool_)
    is_source[source[is_linked]] = True
    same = np.empty(len(runs), np.bool_)
    sources = words.first[runs.source_document] + runs.source_word
    kernels.are_same(words.hashes, runs.start, runs.n_words, sources, same)
    start, n_words, of_source, at_source = (
        column[same] for column in (runs.start, runs.n_words, runs.source_document, runs.source_word)
    )
    return Runs(start, n_words, of_source, at_source, places[is_source])


def linked_runs(
    places: Numbers, document: NDArray[Any], source_document: NDArray[Any], source_word: Numbers, is_linked: Truths,
    size: int,
) -> Runs:  # fmt: skip
    """Return the runs that windows form whose sources follow one another; windows come in order."""
    n = int(np.count_nonzero(is_linked))
    starts, sizes, sources = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2), np.int64)
    n = kernels.link_windows(places, document, size, source_document, source_word, is_linked, starts, sizes, sources)
    return Runs(starts[:n], sizes[:n], sources[:n, 0].copy(), sources[:n, 1].copy(), np.empty(0, np.int64))


def pieces_to_cut(runs: Runs, n_words: int, size: int) -> Numbers:
    """Return what is cut: start, end and run of each piece, in order.

    Windows that are sources stay whole. So whatever is cut is, with every window in it, in text that stays: no order of
    decisions matters, and nothing that proves a cut is cut itself.
    """
    edges = np.zeros(n_words + 1, np.int32)
    np.add.at(edges, runs.protected, 1)
    np.add.at(edges, runs.protected + size, -1)
    is_protected = np.cumsum(edges[:-1]) > 0
    room = len(runs) + len(runs.protected) + 16
    pieces = np.empty((room, 3), np.int64)
    n = kernels.cut_runs(runs.start, runs.n_words, is_protected, np.int64(0), pieces)
    assert n >= 0, "a protected stretch divides a run once"
    return pieces[:n]
