"""Kernels that align two texts: from seeds to clusters, from clusters to the stretches with the most evidence, and what of all
these is kept.

Both texts lie in one array of words, those of b from `n_a_words` on. A row of `passages` is: start and end in a, start and end
in b, model; `evidence` has that of a and of b.
"""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.evidence import best_stretch, count_stretch, forget_stretch, grade_words
from ibidem.alignment.kernels.seed_clusters import next_cluster, put_task
from ibidem.execution.compiler import inner_kernel

PASSAGE = 5
_NO_SCORE = -1e18
_MODELS_REFINED = 3
_ROUNDS = 4
_COMPETITIVE = 0.8  # a model that begins with less of the best one's evidence does not overtake it
_MARGIN_WORDS = 60  # looked at beyond a cluster, and half of its length more


@inner_kernel
def grade_against(text, other_start, other_end, low, high, room, limits):
    """Grade the words [low, high) against a stretch of the other text."""
    count_stretch(
        text.words, text.pairs, text.runs, other_start, other_end, room.counts, room.pair_counts, room.run_counts
    )  # fmt: skip
    grade_words(
        text.words, text.pairs, text.runs, low, high, room.counts, room.pair_counts, room.run_counts,
        other_end - other_start, room.rates, limits.levels, limits.highest_chance_level, room.used, room.grades,
    )  # fmt: skip
    forget_stretch(
        text.words, text.pairs, text.runs, other_start, other_end, room.counts, room.pair_counts, room.run_counts
    )  # fmt: skip


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
def refine_side(text, place, side, model, room, limits):
    """Move the ends of one side of a passage to where the evidence is greatest, given the other side; return the evidence."""
    low, high = _grade_side(text, place, side, room, limits)
    evidence = best_stretch(
        room.grades, text.is_bound, low, high, place[2 * side], place[2 * side + 1], limits.weights, model,
        limits.within_sentence, room.found,
    )  # fmt: skip
    place[2 * side], place[2 * side + 1] = room.found[0], room.found[1]
    return evidence


@inner_kernel
def _choose_models(text, core, room, limits):
    """Write the models that give side a the most evidence, as the cluster stands, to `room.chosen`; return how much.

    Their stretches and scores stay in the room.
    """
    low, high = _grade_side(text, core, 0, room, limits)
    for model in range(limits.n_models):
        room.model_scores[model] = best_stretch(
            room.grades, text.is_bound, low, high, core[0], core[1], limits.weights, model, limits.within_sentence, room.found
        )
        room.model_stretches[2 * model], room.model_stretches[2 * model + 1] = room.found[0], room.found[1]
        room.model_order[model] = room.model_scores[model]
    most = _NO_SCORE
    for i in range(_MODELS_REFINED):
        best = np.int64(0)
        for model in range(1, limits.n_models):
            if room.model_order[model] > room.model_order[best]:
                best = model
        room.chosen[i] = best
        most = max(most, room.model_order[best])
        room.model_order[best] = _NO_SCORE
    return most


@inner_kernel
def refine(text, core, room, limits, passages, evidence, n):
    """Write the passage that a cluster makes as row n, under the model that gives both sides the most evidence."""
    evidence[2 * n] = evidence[2 * n + 1] = _NO_SCORE
    if _choose_models(text, core, room, limits) < limits.min_evidence / 2.0:  # hopeless
        return
    place, most = room.place, _NO_SCORE
    for i in range(_MODELS_REFINED):
        model = room.chosen[i]
        of_a, of_b = room.model_scores[model], _NO_SCORE
        if 2.0 * of_a < _COMPETITIVE * most:
            continue
        # The first turn of side a was taken when models were chosen.
        place[0], place[1] = room.model_stretches[2 * model], room.model_stretches[2 * model + 1]
        place[2], place[3] = core[2], core[3]
        for turn in range(_ROUNDS):
            a_start, a_end, b_start, b_end = place[0], place[1], place[2], place[3]
            if turn > 0:
                of_a = refine_side(text, place, 0, model, room, limits)
                if a_start == place[0] and a_end == place[1]:
                    break  # and so b would stay as it is
            of_b = refine_side(text, place, 1, model, room, limits)
            if min(of_a, of_b) < limits.min_evidence / 2.0:  # hopeless
                break
            if b_start == place[2] and b_end == place[3]:
                break
        if i == 0 or of_a + of_b > most:
            most = of_a + of_b
            for k in range(4):
                passages[PASSAGE * n + k] = place[k]
            passages[PASSAGE * n + 4] = model
            evidence[2 * n], evidence[2 * n + 1] = of_a, of_b


@inner_kernel
def passages_of_seeds(text, firsts, n_a, n_seeds, room, limits, passages, evidence):
    """Write the passages that the seeds lead to; return how many. Each takes its seeds away, so there are never more."""
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
            # A smaller gap has not divided it.
            if gap > 0:
                height = put_task(room.tasks, height, start, end, 0, 0, gap - 1)
            continue
        core = room.core
        core[0] = core[2] = text.n_words
        core[1] = core[3] = np.int64(0)
        for i in range(start, end):
            a, b = room.seeds[2 * i], room.seeds[2 * i + 1] + n_a
            core[0], core[1] = min(core[0], firsts[a]), max(core[1], firsts[a + 1])
            core[2], core[3] = min(core[2], firsts[b]), max(core[3], firsts[b + 1])
        refine(text, core, room, limits, passages, evidence, n)
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
            # It has moved away from what led to it.
        if gap > 0 and end - start > 1:
            failed_start, failed_end = start, end
            height = put_task(room.tasks, height, start, end, 0, 0, gap - 1)
