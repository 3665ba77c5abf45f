"""Kernels that weigh evidence: how much more likely are these words if they were copied from that stretch of the other text?

A word of a copied passage was copied *in order* (with a neighbour) with probability c, *loosely* with probability u, or is new.
Any word may also be in the other stretch by chance; this is likelier the more often it occurs in both texts and the longer the
stretch is. The evidence of a word is the logarithm of its likelihood in a copy over its likelihood by chance: log(z + c/p) if
it is there in order, log(z + u/p) if it is there, log(z) if not, with z = 1 - c - u. A *model* is a pair of c and u; there are
a few, from word for word to loose, and the one that gives the most evidence is used.

In a *noisy* copy, from a poor scan, most words are misread, so few of its words have the right neighbours. But those that are
there are in place: as far from the words around them as in the other text. Only the last model asks for this.

Evidence decides where passages begin and end: from clusters of seeds to the stretches of both texts that have the most of it.

`evidence` has that of a and of b, per passage.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.grades import IN_ORDER, N_GRADES, NOT_THERE, grade_against
from ibidem.alignment.kernels.room import PASSAGE
from ibidem.alignment.kernels.seeds import next_cluster, put_task
from ibidem.alignment.kernels.stretches import NO_SCORE, best_stretch, best_stretches
from ibidem.columns.kernels.lanes import N_LANES
from ibidem.execution.compiler import inlined_kernel, inner_kernel

_MODELS_REFINED = 3
_ROUNDS = 2
_LEAST_HOPE = 0.8  # of the evidence that a passage needs: with less, moved ends do not make it enough
_SMALL_CORE_WORDS = 60  # a cluster with fewer is looked at by itself first,
_LEAST_CORE_HOPE = 0.5  # and needs this share of the evidence that a passage needs
VERBATIM_MODELS = 2  # the first ones: word for word, or nearly
_CLOSE_MODELS = 4  # the first ones: of copies that have at least half of their words in order
_MOST_KNOWN = 0.8  # of a cluster, in a passage found before it; of its words in order, if it is word for word
_COMPETITIVE = 0.8  # a model that starts with less than this share of the best evidence does not overtake it
_MARGIN_WORDS = 60  # considered beyond a cluster, plus half of its length


@inner_kernel
def _grade_side(text, place, side, room, limits):
    """Grade one side of a passage and what is around it against the other side; return where the graded words start and end."""
    text_start = text.n_a_words if side else np.int64(0)
    text_end = text.n_words if side else text.n_a_words
    margin = (place[2 * side + 1] - place[2 * side]) // 2 + _MARGIN_WORDS
    low, high = max(text_start, place[2 * side] - margin), min(text_end, place[2 * side + 1] + margin)
    grade_against(text, place[2 - 2 * side], place[3 - 2 * side], low, high, room, limits)
    return low, high


@inner_kernel
def _best_of_model(text, low, high, core_start, core_end, model, room, limits):
    """Write the stretch with the most evidence under a model to `room.found`; return its evidence."""
    grading = room.grading
    is_for_noise = model == limits.n_models - 1
    grades = grading.in_place if is_for_noise else grading.grades
    return best_stretch(
        grades, text.bounds, low, high, core_start, core_end, limits.weights, model, limits.end_costs,
        limits.most_falls[model], room.found,
    )  # fmt: skip


@inner_kernel
def refine_side(text, place, side, model, room, limits):
    """Move the ends of one side of a passage to where the evidence is greatest, given the other side; return the evidence."""
    low, high = _grade_side(text, place, side, room, limits)
    evidence = _best_of_model(text, low, high, place[2 * side], place[2 * side + 1], model, room, limits)
    place[2 * side], place[2 * side + 1] = room.found[0], room.found[1]
    return evidence


@inlined_kernel
def _is_hopeless(evidence, limits):
    """Tell whether so little evidence will not become enough when ends move."""
    return evidence < _LEAST_HOPE * limits.min_evidence


@inner_kernel
def _has_little(text, core, room, limits):
    """Tell whether a small cluster has so little evidence by itself that its surroundings will not make it enough."""
    side = 0 if core[1] - core[0] < core[3] - core[2] else 1
    low, high = core[2 * side], core[2 * side + 1]
    if high - low >= _SMALL_CORE_WORDS:
        return False
    grade_against(text, core[2 - 2 * side], core[3 - 2 * side], low, high, room, limits)
    total = 0.0
    for k in range(low, high):
        total += max(0.0, limits.weights[(limits.n_models + 1) * N_GRADES + room.grading.in_place[k]])
    return total < _LEAST_CORE_HOPE * limits.min_evidence


@inner_kernel
def _is_known(text, core, passages, n, room, limits):
    """Tell whether most of a cluster is in passages on both sides; or in a close copy on one side, if it is not itself a copy
    word for word.
    """
    in_a = in_b = n_close = np.int64(0)
    n_a, n_b = _MOST_KNOWN * (core[1] - core[0]), _MOST_KNOWN * (core[3] - core[2])
    for i in range(n):
        at = PASSAGE * i
        of_a = min(core[1], passages[at + 1]) - max(core[0], passages[at])
        of_b = min(core[3], passages[at + 3]) - max(core[2], passages[at + 2])
        in_a, in_b = max(in_a, of_a), max(in_b, of_b)
        n_close += passages[at + 4] < _CLOSE_MODELS and (of_a >= n_a or of_b >= n_b)
    if in_a >= n_a and in_b >= n_b:
        return True
    if n_close == 0:
        return False
    # A second copy of the same words is a passage too.
    grade_against(text, core[2], core[3], core[0], core[1], room, limits)
    n_in_order = np.int64(0)
    for k in range(core[0], core[1]):
        grade = room.grading.grades[k]
        n_in_order += grade >= IN_ORDER and grade < NOT_THERE
    return n_in_order < _MOST_KNOWN * min(core[1] - core[0], core[3] - core[2])


@inner_kernel
def _choose_models(text, core, room, limits):
    """Write the models that give side a of the cluster the most evidence to `room.models.chosen`; return how much.

    Evidence, starts and ends of the stretches of all models stay in the room.
    """
    low, high = _grade_side(text, core, 0, room, limits)
    models = room.models
    best_stretches(room.grading, text.bounds, low, high, core[0], core[1], limits, models.stretches)
    for model in range(limits.n_models):
        models.order[model] = models.stretches[model]
    most = NO_SCORE
    for i in range(_MODELS_REFINED):
        best = np.int64(0)
        for model in range(1, limits.n_models):
            if models.order[model] > models.order[best]:
                best = model
        models.chosen[i] = best
        most = max(most, models.order[best])
        models.order[best] = NO_SCORE
    return most


@inner_kernel
def refine(text, core, room, limits, passages, evidence, n):
    """Write the passage of a cluster as row n, under the model that gives both sides the most evidence; tell whether there is
    any hope for it.
    """
    evidence[2 * n] = evidence[2 * n + 1] = NO_SCORE
    if _has_little(text, core, room, limits) or _is_hopeless(_choose_models(text, core, room, limits), limits):
        return False
    place, most = room.place, NO_SCORE
    for i in range(_MODELS_REFINED):
        model = room.models.chosen[i]
        of_a, of_b = room.models.stretches[model], NO_SCORE
        if 2.0 * of_a < _COMPETITIVE * most:
            continue
        # Side a already had its first turn when models were chosen.
        place[0] = np.int64(room.models.stretches[N_LANES + model])
        place[1] = np.int64(room.models.stretches[2 * N_LANES + model])
        place[2], place[3] = core[2], core[3]
        for turn in range(_ROUNDS):
            a_start, a_end, b_start, b_end = place[0], place[1], place[2], place[3]
            if turn > 0:
                of_a = refine_side(text, place, 0, model, room, limits)
                if a_start == place[0] and a_end == place[1]:
                    break  # so b would not change either
            of_b = refine_side(text, place, 1, model, room, limits)
            if _is_hopeless(min(of_a, of_b), limits):
                break
            if b_start == place[2] and b_end == place[3]:
                break
        if i == 0 or of_a + of_b > most:
            most = of_a + of_b
            for k in range(4):
                passages[PASSAGE * n + k] = place[k]
            passages[PASSAGE * n + 4] = model
            evidence[2 * n], evidence[2 * n + 1] = of_a, of_b
    return True


@inner_kernel
def passages_of_seeds(text, firsts, n_a, n_seeds, room, limits, passages, evidence):
    """Write the passages that the seeds lead to; return how many. Each uses up its seeds, so there are never more."""
    n, height = np.int64(0), np.int64(0)
    failed_start, failed_end = np.int64(-1), np.int64(-1)
    if n_seeds > 0:
        height = put_task(room.tasks, height, 0, n_seeds, 0, 0, limits.max_gap_sentences)
    while True:
        height = next_cluster(room.seeds, room.tasks, height, room.span)
        if height < 0:
            return n
        start, end, gap = room.span[0], room.span[1], room.span[2]
        if start == failed_start and end == failed_end:
            # A smaller gap did not divide it.
            if gap > 0:
                height = put_task(room.tasks, height, start, end, 0, 0, gap // 2)
            continue
        core = room.core
        core[0] = core[2] = text.n_words
        core[1] = core[3] = np.int64(0)
        for i in range(start, end):
            a, b = room.seeds[2 * i], room.seeds[2 * i + 1] + n_a
            core[0], core[1] = min(core[0], firsts[a]), max(core[1], firsts[a + 1])
            core[2], core[3] = min(core[2], firsts[b]), max(core[3], firsts[b + 1])
        if min(core[1] - core[0], core[3] - core[2]) < limits.least_core_words:
            continue  # nor would a part of it become a passage
        if _is_known(text, core, passages, n, room, limits) or not refine(text, core, room, limits, passages, evidence, n):
            continue
        if min(evidence[2 * n], evidence[2 * n + 1]) >= limits.min_evidence:
            kept = start
            for i in range(start, end):
                a, b = room.seeds[2 * i], room.seeds[2 * i + 1]
                at = PASSAGE * n
                meets_a = firsts[a] < passages[at + 1] and firsts[a + 1] > passages[at]
                meets_b = firsts[b + n_a] < passages[at + 3] and firsts[b + n_a + 1] > passages[at + 2]
                if not (meets_a and meets_b):
                    room.seeds[2 * kept], room.seeds[2 * kept + 1] = a, b
                    kept += 1
            if kept < end:
                n += 1
                failed_start = failed_end = np.int64(-1)
                if start < kept:
                    height = put_task(room.tasks, height, start, kept, 0, 0, gap)
                continue
            # It has moved away from its seeds.
        if gap > 0 and end - start > 1:
            failed_start, failed_end = start, end
            height = put_task(room.tasks, height, start, end, 0, 0, gap // 2)
