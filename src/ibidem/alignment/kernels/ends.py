"""Kernels that extend passages by whole sentences: what is beside a copied passage is likely to be copied too, if loosely.

The evidence of a passage as a whole is blind to a loosely edited sentence at its end: against a long stretch of the other
text, words in common say little. Beside the passage, sentence against sentence, they say more.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.evidence import VERBATIM_MODELS
from ibidem.alignment.kernels.grades import N_GRADES, grade_against
from ibidem.alignment.kernels.room import PASSAGE
from ibidem.execution.compiler import inner_kernel, outer_kernel
from ibidem.sentences.kernels.stems import STOP_BOUND, is_joined

_MOST_UNITS = 3  # sentences on each side that are tried together
_MOST_UNIT_WORDS = 60
_LEAST_UNIT_WORDS = 3
_MOST_EXTENSIONS = 8  # of one end
LOOSE_MODELS = 4  # from this one on, a passage has less than half of its words in order
MORE_BESIDE_VERBATIM = 2.0  # times the evidence, beside what is word for word: a name in common is more likely the subject


@inner_kernel
def _unit_end(bounds, at, step, limit):
    """Return where the sentence ends that begins at `at` and reads on in the direction of `step`; `at` if there is none."""
    k = at
    while k != limit:
        k += step
        if abs(k - at) > _MOST_UNIT_WORDS:
            return at
        if k == limit or (bounds[k] >= STOP_BOUND and abs(k - at) >= _LEAST_UNIT_WORDS):
            return k
    return at


@inner_kernel
def _local_evidence(text, low, high, other_low, other_high, is_loose, room, limits):
    """Return the evidence that words [low, high) were taken from the stretch of the other text, under the best model.

    That for noise, under which hardly anything speaks against a copy, is asked beside a loose or noisy passage only.
    """
    grade_against(text, other_low, other_high, low, high, room, limits)
    most = -1e18
    for model in range(limits.n_models - 1):
        total = 0.0
        for k in range(low, high):
            total += limits.weights[model * N_GRADES + room.grading.grades[k]]
        most = max(most, total)
    if is_loose:
        total = 0.0
        for k in range(low, high):
            total += limits.weights[(limits.n_models - 1) * N_GRADES + room.grading.in_place[k]]
        most = max(most, total)
    return most


@inner_kernel
def _is_free(passages, evidence, n, own, a_low, a_high, b_low, b_high):
    """Tell whether no other passage lies over two stretches."""
    for i in range(n):
        at = PASSAGE * i
        if i == own or evidence[2 * i] <= 0.0:
            continue
        if passages[at] < a_high and a_low < passages[at + 1] and passages[at + 2] < b_high and b_low < passages[at + 3]:
            return False
    return True


@inner_kernel
def _extend_end(text, own, n, step, room, limits):
    """Extend one end of a passage by the sentences beside it that have the most evidence; tell whether there are any."""
    passages, at = room.passages, PASSAGE * own
    is_end = 1 if step > 0 else 0
    start_a, start_b = passages[at + is_end], passages[at + 2 + is_end]
    limit_a = text.n_a_words if is_end else np.int64(0)
    limit_b = text.n_words if is_end else text.n_a_words
    most, best_a, best_b = limits.min_extension_evidence, start_a, start_b
    is_loose = passages[at + 4] >= LOOSE_MODELS
    if passages[at + 4] < VERBATIM_MODELS:
        most *= MORE_BESIDE_VERBATIM
    a = start_a
    for _ in range(_MOST_UNITS):
        before, a = a, _unit_end(text.bounds, a, step, limit_a)
        if a == before:
            break
        b = start_b
        for _ in range(_MOST_UNITS):
            before, b = b, _unit_end(text.bounds, b, step, limit_b)
            if b == before:
                break
            a_low, a_high = min(start_a, a), max(start_a, a)
            b_low, b_high = min(start_b, b), max(start_b, b)
            of_a = _local_evidence(text, a_low, a_high, b_low, b_high, is_loose, room, limits)
            if of_a <= 0.0:
                continue
            of_b = _local_evidence(text, b_low, b_high, a_low, a_high, is_loose, room, limits)
            if of_b > 0.0 and of_a + of_b > most and _is_free(passages, room.evidence, n, own, a_low, a_high, b_low, b_high):
                most, best_a, best_b = of_a + of_b, a, b
    if best_a == start_a:
        return False
    passages[at + is_end], passages[at + 2 + is_end] = best_a, best_b
    return True


@inner_kernel
def extend_passages(text, room, limits, n):
    """Extend passages by sentences beside them that were taken over too."""
    for i in range(n):
        if room.evidence[2 * i] <= 0.0 or room.passages[PASSAGE * i + 4] == limits.n_models:  # a summary
            continue
        for step in (-1, 1):
            for _ in range(_MOST_EXTENSIONS):
                if not _extend_end(text, i, n, step, room, limits):
                    break


@outer_kernel
def cover_last(spans, stems, bounds, added):
    """Move the ends of passages (start and end in a, start and end in b; flat) behind the character that the last stem of both
    contains, in place; `added` gets one more for each.

    In scripts without spaces, a stem is that of a character and the next one: if it is equal, so are both of them.
    """
    for i in range(len(added)):
        a, b = spans[4 * i + 1], spans[4 * i + 3]
        if stems[a - 1] != stems[b - 1] or not is_joined(stems, bounds, a - 1) or not is_joined(stems, bounds, b - 1):
            continue
        if a != spans[4 * i + 2]:  # within one document, the two sides must not overlap
            spans[4 * i + 1], spans[4 * i + 3] = a + 1, b + 1
            added[i] += 1
