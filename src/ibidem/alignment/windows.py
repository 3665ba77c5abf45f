"""Which words around promising places are aligned.

A window is a place with a small margin. How rare a word is, is known from whole documents, so a small margin suffices. A
passage that reaches the edge of its window may go on. If sentences were found there, it is joined to them, and nothing is
aligned a second time; otherwise the window is widened at that end and aligned again. A summary draws on the whole of the other
text: where neither the shape of places nor a look at the words rules one out, all of it is in the window.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.aligner import Aligned, Words, align_spans, may_have_passages, may_have_summaries
from ibidem.alignment.found_spans import FoundSpans, documents_of, joined, pair_numbers, passages_around
from ibidem.alignment.kernels.pairs import OUTCOME
from ibidem.config import Config, passage_limits
from ibidem.execution.tasks import RunTasks, in_turn

NEAR_WORDS = 20  # around a place, which are looked at before it is aligned
MARGIN_WORDS = 30
WIDER_WORDS = (200, 400)  # by which an end is widened that is reached, and once more if it is reached again
SUMMARY_MARGIN_WORDS = 640
EDGE_WORDS = 4  # a passage that comes so close to the edge of its window may go on
# A summary draws on the whole of a text, which is in the window if it is not longer than this.
MOST_SUMMED_UP_WORDS = 3000
# The places of a summary: longer in the text that is summed up, a part of the other one.
LEAST_STRETCHED = 1.1
LEAST_OF_SUMMED_UP = 0.1
MOST_OF_OWN = 0.6
_DOCUMENT_BITS = 32
Numbers = NDArray[np.int64]


def align_windows(places: Numbers, words: Words, found: FoundSpans, config: Config, run_tasks: RunTasks = in_turn) -> Aligned:
    """Align the words around places (start and end in a, start and end in b); what runs into a found passage includes it.

    Pairs of documents do not influence one another.
    """
    gap = passage_limits(config).max_gap_sentences
    margins: Numbers = np.full((len(places), 4), MARGIN_WORDS)
    if config.alignment.summaries:
        wide = _margins_for_summaries(places, words)
        is_wide: NDArray[np.bool_] = wide.max(axis=1) > MARGIN_WORDS
        around = merged(with_margins(places[is_wide], wide[is_wide], words), words)
        around = around[may_have_summaries(words, around, config.alignment, gap, run_tasks)]
        first = words.document_first
        is_wide &= np.isin(pair_numbers(documents_of(places, first)), pair_numbers(documents_of(around, first)))
        margins[is_wide] = wide[is_wide]
    # A summary needs no place with much evidence.
    is_hopeful: NDArray[np.bool_] = margins.max(axis=1, initial=0) > MARGIN_WORDS
    near = with_margins(places[~is_hopeful], np.full((np.count_nonzero(~is_hopeful), 4), NEAR_WORDS), words)
    is_hopeful[~is_hopeful] = may_have_passages(words, near, config.alignment, gap, run_tasks)
    places, margins = places[is_hopeful], margins[is_hopeful]
    windows = merged(with_margins(places, margins, words), words)
    tables, all_beside = [np.empty((0, OUTCOME), np.int64)], [np.empty((0, 2), np.int64)]
    for wider in (*WIDER_WORDS, 0):
        aligned = align_spans(words, windows, config.alignment, gap, run_tasks)
        reaches, beside = _beside(aligned, windows, words, found)
        more = np.zeros((len(windows), 2), np.int64)
        np.maximum.at(more, aligned.table[:, 0], wider * (reaches & (beside < 0)))
        is_cut: NDArray[np.bool_] = more.max(axis=1, initial=0) > 0
        stays = ~is_cut[aligned.table[:, 0]]
        tables.append(aligned.table[stays])
        all_beside.append(beside[stays])
        windows = merged(with_margins(windows[is_cut], more[is_cut][:, [0, 1, 0, 1]], words), words)
    return joined(Aligned(np.concatenate(tables)), np.concatenate(all_beside), found, words.stem)


def _margins_for_summaries(places: Numbers, words: Words) -> Numbers:
    """Return the margins of places, wide ones for those that may be in a summary, as far as their shape tells."""
    margins: Numbers = np.full((len(places), 4), MARGIN_WORDS)
    for side, may_be in enumerate(may_sum_up(places, words)):
        own, other = slice(2 * side, 2 * side + 2), slice(2 - 2 * side, 4 - 2 * side)
        margins[may_be, own] = np.maximum(margins[may_be, own], SUMMARY_MARGIN_WORDS)
        margins[may_be, other] = MOST_SUMMED_UP_WORDS
    return margins


def with_margins(spans: Numbers, margins: Numbers, words: Words) -> Numbers:
    """Return spans (start and end in a, start and end in b) extended by a margin at each end within their documents."""
    documents = documents_of(spans, words.document_first)
    wider: Numbers = spans + np.array([-1, 1, -1, 1], np.int64) * margins
    for side in range(2):
        first, end = words.document_first[documents[:, side]], words.document_first[documents[:, side] + 1]
        wider[:, 2 * side] = np.maximum(wider[:, 2 * side], first)
        wider[:, 2 * side + 1] = np.minimum(wider[:, 2 * side + 1], end)
    return wider


def may_sum_up(places: Numbers, words: Words) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which places may be in a summary of the other text: of b, and of a.

    All places of a pair of documents decide together. In a summary they are close together, and from a long part of the text
    that is summed up.
    """
    pairs, which = np.unique(pair_numbers(documents_of(places, words.document_first)), return_inverse=True)
    low, high = np.full((len(pairs), 4), np.iinfo(np.int64).max), np.zeros((len(pairs), 4), np.int64)
    np.minimum.at(low, which, places)
    np.maximum.at(high, which, places)
    covered = high[:, [1, 3]] - low[:, [0, 2]]
    n_words = np.diff(words.document_first)[np.stack([pairs >> _DOCUMENT_BITS, pairs & ((1 << _DOCUMENT_BITS) - 1)], axis=1)]

    def may_sum_up_other(side: int) -> NDArray[np.bool_]:
        own, other = covered[:, side], covered[:, 1 - side]
        is_part = (own <= MOST_OF_OWN * n_words[:, side]) & (n_words[:, 1 - side] <= MOST_SUMMED_UP_WORDS)
        chosen: NDArray[np.bool_] = is_part & (
            other >= np.maximum(LEAST_STRETCHED * own, LEAST_OF_SUMMED_UP * n_words[:, 1 - side])
        )
        return chosen[which]

    return may_sum_up_other(0), may_sum_up_other(1)


def merged(spans: Numbers, words: Words) -> Numbers:
    """Return spans; those of a pair of documents are joined unless a gap on one side separates them.

    They are cut at gaps on one side and the other in turn until nothing more is cut, as seeds are. What is around one place
    then explains the words of another, and no word is aligned twice.
    """
    if len(spans) == 0:
        return spans
    group = np.unique(pair_numbers(documents_of(spans, words.document_first)), return_inverse=True)[1].astype(np.int64)
    n_before = 0
    while n_before < (n_groups := int(group.max()) + 1):
        n_before = n_groups
        for start, end in ((0, 1), (2, 3)):
            order = np.lexsort((spans[:, start], group))
            spans, group = spans[order], group[order]
            reached = np.maximum.accumulate(group << _DOCUMENT_BITS | spans[:, end])
            is_first = np.ones(len(spans), np.bool_)
            is_first[1:] = (group << _DOCUMENT_BITS | spans[:, start])[1:] > reached[:-1]
            group = np.cumsum(is_first) - 1
    first = np.flatnonzero(np.diff(group, prepend=-1))
    low, high = np.minimum.reduceat(spans, first), np.maximum.reduceat(spans, first)
    return np.where(np.arange(4) % 2 == 0, low, high)


def _beside(aligned: Aligned, windows: Numbers, words: Words, found: FoundSpans) -> tuple[NDArray[np.bool_], Numbers]:
    """Return whether passages come close to an edge of their window that is not the edge of a document, at their start and at
    their end; and the found passages that they run into there, -1 if none.
    """
    around, spans = windows[aligned.table[:, 0]], aligned.spans
    documents = documents_of(around, words.document_first)
    reaches, beside = np.zeros((len(spans), 2), np.bool_), np.full((len(spans), 2), -1)
    for side in range(2):
        start, end = 2 * side, 2 * side + 1
        is_open = around[:, start] > words.document_first[documents[:, side]]
        reaches[:, 0] |= is_open & (spans[:, start] < around[:, start] + EDGE_WORDS)
        is_open = around[:, end] < words.document_first[documents[:, side] + 1]
        reaches[:, 1] |= is_open & (spans[:, end] > around[:, end] - EDGE_WORDS)
    for end in range(2):
        concerned = np.flatnonzero(reaches[:, end])
        points = spans[concerned][:, [end, 2 + end]] - end
        beside[concerned, end] = passages_around(points, pair_numbers(documents[concerned]), found)
    return reaches, beside
