"""Kernels that find summaries: stretches of one text that draw on the whole of the other."""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.evidence import VERBATIM_MODELS
from ibidem.alignment.kernels.grades import N_GRADES, grade_against
from ibidem.alignment.kernels.room import PASSAGE
from ibidem.alignment.kernels.stretches import best_stretch
from ibidem.execution.compiler import inner_kernel

# What makes a stretch a summary of the whole other text.
_SUMMARY_RATIO = 2  # words of the text that is summed up, at least, for each of the summary
_MOST_OF_TEXT = 0.4  # of its own text
_MOST_AROUND_PER_WORD = -0.3  # evidence of the words around it
_LEAST_OWN_EVIDENCE, _LEAST_OWN_EVIDENCE_PER_WORD = 12.0, 0.25  # of its words that are in no passage
_MOST_COPIED = 0.5  # of its words, in one passage word for word
_RARE_COUNT, _WINDOW_RATIO, _MOST_IN_WINDOW = 4, 2, 0.8  # how many of the rare words may be from one window of the other text


@inner_kernel
def _evidence_of(grades, low, high, weights, n_models):
    """Return the evidence of words [low, high) under the model of summaries."""
    total = 0.0
    for k in range(low, high):
        total += weights[n_models * N_GRADES + grades[k]]
    return total


@inner_kernel
def _is_own_work(start, end, side, room, limits, n):
    """Tell whether a stretch draws on the other text beyond the passages found in it: a few copied sentences are no summary,
    nor is a single long copy with a few words more.
    """
    for i in range(n):
        at = PASSAGE * i + 2 * side
        if room.evidence[2 * i] > 0.0 and room.passages[PASSAGE * i + 4] < VERBATIM_MODELS:
            n_copied = min(end, room.passages[at + 1]) - max(start, room.passages[at])
            if n_copied > _MOST_COPIED * (end - start):
                return False
    evidence, n_words = 0.0, np.int64(0)
    for k in range(start, end):
        is_covered = False
        for i in range(n):
            at = PASSAGE * i + 2 * side
            is_covered |= room.evidence[2 * i] > 0.0 and room.passages[at] <= k and k < room.passages[at + 1]
        if not is_covered:
            evidence += limits.weights[limits.n_models * N_GRADES + room.grading.grades[k]]
            n_words += 1
    return evidence >= _LEAST_OWN_EVIDENCE and evidence >= _LEAST_OWN_EVIDENCE_PER_WORD * n_words


@inner_kernel
def _is_spread(text, start, end, other_start, other_end, room):
    """Tell whether the rare words of a stretch come from all over the other text, rather than from one place in it."""
    used, words = room.grading.used, text.words
    for k in range(start, end):
        used[words[k]] = 1
    width = min(_WINDOW_RATIO * (end - start), other_end - other_start)
    n_all, n_here, n_most = np.int64(0), np.int64(0), np.int64(0)
    for k in range(other_start, other_end):
        is_rare = used[words[k]] > 0 and room.total[words[k]] <= _RARE_COUNT
        n_all += is_rare
        n_here += is_rare
        gone = k - width
        if gone >= other_start and used[words[gone]] > 0 and room.total[words[gone]] <= _RARE_COUNT:
            n_here -= 1
        n_most = max(n_most, n_here)
    for k in range(start, end):
        used[words[k]] = 0
    return n_most <= _MOST_IN_WINDOW * n_all


@inner_kernel
def best_summary(text, side, n_in_other, room, limits, summary):
    """Write the stretch of one text that draws most on the whole of the other to `summary`; return its evidence, 0 if none.

    A summary is much shorter than what it sums up, and part of a text that is otherwise about something else. If only a part of
    the other document is here, there is none. Whether it has been copied is not asked here.
    """
    own_start = text.n_a_words if side else np.int64(0)
    own_end = text.n_words if side else text.n_a_words
    other_start = np.int64(0) if side else text.n_a_words
    other_end = text.n_a_words if side else text.n_words
    if other_end - other_start < n_in_other:
        return 0.0
    grade_against(text, other_start, other_end, own_start, own_end, room, limits)
    grades, weights, n_models = room.grading.grades, limits.weights, limits.n_models
    evidence = best_stretch(
        grades, text.bounds, own_start, own_end, own_start, own_end, weights, n_models, limits.end_costs, np.inf, room.found
    )
    start, end = room.found[0], room.found[1]
    n_words = end - start
    if evidence < max(limits.min_summary_evidence, limits.min_evidence) or n_words < limits.min_words:
        return 0.0
    if other_end - other_start < _SUMMARY_RATIO * n_words or n_words > _MOST_OF_TEXT * (own_end - own_start):
        return 0.0
    around = _evidence_of(grades, own_start, start, weights, n_models) + _evidence_of(grades, end, own_end, weights, n_models)
    if around > _MOST_AROUND_PER_WORD * (own_end - own_start - n_words):
        return 0.0
    if not _is_spread(text, start, end, other_start, other_end, room):
        return 0.0
    summary[2 * side], summary[2 * side + 1] = start, end
    summary[2 - 2 * side], summary[3 - 2 * side] = other_start, other_end
    return evidence


@inner_kernel
def put_summary(text, n_in_a, n_in_b, room, limits, n):
    """Add a summary, if there is one, and drop the passages that lie in it. Returns how many passages there are."""
    of_a = best_summary(text, 0, n_in_b, room, limits, room.core)
    if of_a > 0.0 and not _is_own_work(room.core[0], room.core[1], 0, room, limits, n):
        of_a = 0.0
    of_b = best_summary(text, 1, n_in_a, room, limits, room.place)
    if of_b > 0.0 and not _is_own_work(room.place[2], room.place[3], 1, room, limits, n):
        of_b = 0.0
    side = 1 if of_b > of_a else 0
    most = max(of_a, of_b)
    if most <= 0.0:
        return n
    start, end = (room.place[2], room.place[3]) if side else (room.core[0], room.core[1])
    for i in range(n):
        at = PASSAGE * i + 2 * side
        if room.passages[at] < end and start < room.passages[at + 1]:
            room.evidence[2 * i] = room.evidence[2 * i + 1] = 0.0
    for k in range(4):
        room.passages[PASSAGE * n + k] = room.place[k] if side else room.core[k]
    room.passages[PASSAGE * n + 4] = limits.n_models
    room.evidence[2 * n] = room.evidence[2 * n + 1] = most
    return n + 1
