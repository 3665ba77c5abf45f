"""Kernels that weigh evidence: how much more likely are these words if they were copied from that stretch of the other text?

A word of a copied passage was copied *in order* (with a neighbour) with probability c, *loosely* with probability u, or is new.
Any word may also be in the other stretch by chance; this is likelier the more often it occurs in both texts and the longer the
stretch is. The evidence of a word is the logarithm of its likelihood in a copy over its likelihood by chance: log(z + c/p) if
it is there in order, log(z + u/p) if it is there, log(z) if not, with z = 1 - c - u. A *model* is a pair of c and u; there are
a few, from word for word to loose, and the one that gives the most evidence is used.

In a *noisy* copy, from a poor scan, most words are misread, so few of its words have the right neighbours. But those that are
there are in place: as far from the words around them as in the other text. Only the last model asks for this.

Evidence decides where passages begin and end: from clusters of seeds to the stretches of both texts that have the most of it.

Both texts are in one array of words, those of b from `n_a_words` on. `counts` are those of words, pairs and runs (of four
words) in the stretch of the other text; they are all 0 between calls. `evidence` has that of a and of b, per passage.
"""

from __future__ import annotations

import math

import numpy as np

from ibidem.alignment.kernels.room import PASSAGE
from ibidem.alignment.kernels.seeds import next_cluster, put_task
from ibidem.columns.kernels.lanes import N_LANES, load_lanes, spread, store_lanes, where_greater
from ibidem.execution.compiler import inlined_kernel, inner_kernel

RUN_WORDS = 4
N_LEVELS = 48
LEVELS_PER_UNIT = 4.0
IN_ORDER = N_LEVELS  # grades: 0 to 47 loose, 48 to 95 in order, by rarity
NOT_THERE = 2 * N_LEVELS
N_GRADES = NOT_THERE + 1

# Levels by expected number: its logarithm from -14 to 2, in steps of a sixteenth.
LOWEST_EXPECTED, HIGHEST_EXPECTED, STEPS_PER_UNIT = -14.0, 2.0, 16.0
N_EXPECTED = int((HIGHEST_EXPECTED - LOWEST_EXPECTED) * STEPS_PER_UNIT)
_NO_SCORE = -1e18

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
ANCHORS, ANCHOR_REACH_WORDS = 2, 8  # words on each side that tell where a word should be, and how far away they may be


@inlined_kernel
def _place_of_level(expected):
    """Return the index in `levels` for a word with this expected number (a logarithm)."""
    place = np.int64((expected - LOWEST_EXPECTED) * STEPS_PER_UNIT)
    return max(np.int64(0), min(place, np.int64(N_EXPECTED - 1)))


@inlined_kernel
def _log(number, limits):
    """Return the logarithm of a number, which mostly is small."""
    return limits.logarithms[number] if number < len(limits.logarithms) else math.log(number)


@inner_kernel
def _count_stretch(text, start, end, grading):
    """Count the words of a stretch, and the pairs and runs completely inside it."""
    for k in range(start, end):
        grading.counts[text.words[k]] += 1
        grading.places[text.words[k]] = k
    for k in range(start, end - 1):
        grading.pair_counts[text.pairs[k]] += 1
    for k in range(start, end - RUN_WORDS + 1):
        grading.run_counts[text.runs[k]] += 1


@inner_kernel
def _forget_stretch(text, start, end, grading):
    """Set all counts of a stretch to 0 again."""
    for k in range(start, end):
        grading.counts[text.words[k]] = 0
        grading.pair_counts[text.pairs[k]] = 0
        grading.run_counts[text.runs[k]] = 0


@inner_kernel
def measure_rates(n_words, n_different, total, unseen, rates):
    """Write the logarithm of the expected number of occurrences, for each word.

    `total` counts words in both texts, without the two that would be a copy and its source.
    """
    for word in range(n_different):
        rates[word] = math.log((max(np.float64(total[word]) - 2.0, 0.0) + unseen) / n_words)


@inlined_kernel
def _grade_in_order(word, n_tries, level, rates, limits):
    """Return the grade of a word found at one of so many places: by chance, it is there as often as its rate says."""
    by_order = np.int64(-(rates[word] + _log(n_tries, limits)) * LEVELS_PER_UNIT)
    return IN_ORDER + max(level, max(0, min(by_order, limits.highest_chance_level)))


@inner_kernel
def _tries_until_in_place(words, k, n_before, n_anchors, other_start, other_end, grading):
    """Return how many places the anchors around word k suggest for it, up to the one where it is; 0 if it is at none.

    `n_before` anchors come before it. The farthest ones are asked first.
    """
    n_tries, word = np.int64(0), words[k]
    for i in range(max(n_before - ANCHORS, 0), min(n_before + ANCHORS + 1, n_anchors)):
        anchor = grading.anchors[i]
        if anchor == k or abs(anchor - k) > ANCHOR_REACH_WORDS:
            continue
        n_tries += 1
        place = grading.places[words[anchor]] + k - anchor
        if other_start <= place and place < other_end and words[place] == word:
            return n_tries
    return np.int64(0)


@inner_kernel
def _grade_words(text, low, high, other_start, other_end, grading, limits):
    """Grade the words [low, high) against the counted stretch [other_start, other_end).

    Words in common runs use up their counterparts: other words only count if counterparts are left, so that a verbatim copy
    ends where it ends even if the text continues on the same subject. `levels` gives how rare a word is, by the logarithm of
    its expected number. A neighbour gives no more than `highest_chance_level`. Grades `in_place` also take a word for one in
    order if it is as far from an *anchor*, a word that is in the stretch once, as its counterpart is.
    """
    words, pairs, counts, pair_counts = text.words, text.pairs, grading.counts, grading.pair_counts
    used, rates, grades, in_place, anchors = grading.used, grading.rates, grading.grades, grading.in_place, grading.anchors
    in_run_until = last_in_run = low
    first_in_run = high
    n_anchors = np.int64(0)
    for k in range(low, high):
        if k + RUN_WORDS <= high and grading.run_counts[text.runs[k]] > 0:
            in_run_until = last_in_run = k + RUN_WORDS
            first_in_run = min(first_in_run, k)
        if k < in_run_until:
            grades[k] = IN_ORDER
            used[words[k]] += 1
        else:
            grades[k] = NOT_THERE
        anchors[n_anchors] = k
        n_anchors += counts[words[k]] == 1
    expected = math.log(other_end - other_start)
    n_before = np.int64(0)
    for k in range(low, high):
        word = words[k]
        if counts[word] == 0 or (grades[k] == NOT_THERE and used[word] >= counts[word]):
            grades[k] = in_place[k] = NOT_THERE
            continue
        level = np.int64(limits.levels[_place_of_level(rates[word] + expected)])
        neighbours = 0
        if k > low and pair_counts[pairs[k - 1]] > 0:
            neighbours = counts[words[k - 1]]
        if k + 1 < high and pair_counts[pairs[k]] > 0:
            following = counts[words[k + 1]]
            neighbours = following if neighbours == 0 or following < neighbours else neighbours
        if neighbours > 0:
            grades[k] = in_place[k] = _grade_in_order(word, neighbours, level, rates, limits)
            continue
        grades[k] = in_place[k] = level
        while n_before < n_anchors and anchors[n_before] < k:
            n_before += 1
        n_tries = _tries_until_in_place(words, k, n_before, n_anchors, other_start, other_end, grading)
        if n_tries > 0:
            in_place[k] = _grade_in_order(word, n_tries, level, rates, limits)
    for k in range(first_in_run, last_in_run):
        used[words[k]] = 0


@inner_kernel
def best_stretches(grading, bounds, low, high, core_start, core_end, limits, found):
    """Do for all models at once what `best_stretch` does for one: write evidence, starts and ends of their stretches.

    `found` has eight of each. A lane is a model; the last one is that for noise, which takes words in place as those in order.
    """
    nothing, nowhere, falls = spread(_NO_SCORE), spread(-np.inf), load_lanes(limits.most_falls, 0)
    best, total, opened, highest = nothing, spread(0.0), nothing, spread(0.0)
    opened_at, start, end = spread(np.float64(low)), spread(np.float64(core_start)), spread(np.float64(core_end))
    for k in range(low, core_end):
        opened = where_greater(highest - total, falls, nothing, opened)
        highest = where_greater(highest - total, falls, total, highest)
        cost, here = spread(limits.end_costs[bounds[k]]), spread(np.float64(k))
        if k > core_start:
            value = total + opened - cost
            start = where_greater(value, best, opened_at, start)
            end = where_greater(value, best, here, end)
            best = where_greater(value, best, value, best)
        value = spread(0.0) - total - cost
        opened_at = where_greater(value, opened, here, opened_at)
        opened = where_greater(value, opened, value, opened)
        total = total + _weights_of_models(grading, k, limits)
        highest = where_greater(total, highest, total, highest)
    for k in range(core_end, high + 1):
        opened = where_greater(highest - total, falls, nowhere, opened)  # for good: beyond a division, no stretch ends
        value = total + opened - spread(limits.end_costs[bounds[k]])
        start = where_greater(value, best, opened_at, start)
        end = where_greater(value, best, spread(np.float64(k)), end)
        best = where_greater(value, best, value, best)
        if k < high:
            total = total + _weights_of_models(grading, k, limits)
            highest = where_greater(total, highest, total, highest)
    store_lanes(best, found, 0)
    store_lanes(start, found, N_LANES)
    store_lanes(end, found, 2 * N_LANES)


@inlined_kernel
def _weights_of_models(grading, k, limits):
    """Return the evidence of word k under each model."""
    in_order = load_lanes(limits.lanes, N_LANES * grading.grades[k])
    return in_order + load_lanes(limits.noisy_lanes, N_LANES * grading.in_place[k])


@inner_kernel
def best_stretch(grades, bounds, low, high, core_start, core_end, weights, model, end_costs, most_fall, found):
    """Write the stretch of [low, high) with the most evidence that meets the core to `found`; return its evidence.

    `weights` are by model and grade. A stretch has the cost of its two ends less, which depends on the bounds there. Words are
    divided wherever their evidence has fallen by more than `most_fall` since it was highest after the last division; a stretch
    lies between divisions, so however strong two copies are, they are not joined over everything.
    """
    best, total, opened, opened_at, highest = _NO_SCORE, 0.0, _NO_SCORE, low, 0.0
    start, end = core_start, core_end
    base = model * N_GRADES
    # It begins before the end of the core and ends after its start, so only in between may it do both. Whether a place is
    # better cannot be predicted: the loops choose values instead of jumping.
    for k in range(low, min(core_start + 1, core_end)):
        if highest - total > most_fall:
            opened, highest = _NO_SCORE, total
        value = -total - end_costs[bounds[k]]
        is_better = value > opened
        opened = value if is_better else opened
        opened_at = k if is_better else opened_at
        total += weights[base + grades[k]]
        highest = max(highest, total)
    for k in range(core_start + 1, core_end):
        if highest - total > most_fall:
            opened, highest = _NO_SCORE, total
        cost = end_costs[bounds[k]]
        value = total + opened - cost
        is_better = value > best
        best = value if is_better else best
        start = opened_at if is_better else start
        end = k if is_better else end
        value = -total - cost
        is_better = value > opened
        opened = value if is_better else opened
        opened_at = k if is_better else opened_at
        total += weights[base + grades[k]]
        highest = max(highest, total)
    for k in range(core_end, high + 1):
        if highest - total > most_fall:
            break
        value = total + opened - end_costs[bounds[k]]
        if value > best and k > opened_at and k > core_start:
            best, start, end = value, opened_at, k
        if k < high:
            total += weights[base + grades[k]]
            highest = max(highest, total)
    found[0], found[1] = start, end
    return best


@inner_kernel
def grade_against(text, other_start, other_end, low, high, room, limits):
    """Grade the words [low, high) against a stretch of the other text, unless that is how they were graded last."""
    graded, at = room.graded, 4 if low >= text.n_a_words else 0
    if graded[at] == low and graded[at + 1] == high and graded[at + 2] == other_start and graded[at + 3] == other_end:
        return
    graded[at], graded[at + 1], graded[at + 2], graded[at + 3] = low, high, other_start, other_end
    _count_stretch(text, other_start, other_end, room.grading)
    _grade_words(text, low, high, other_start, other_end, room.grading, limits)
    _forget_stretch(text, other_start, other_end, room.grading)


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
    most = _NO_SCORE
    for i in range(_MODELS_REFINED):
        best = np.int64(0)
        for model in range(1, limits.n_models):
            if models.order[model] > models.order[best]:
                best = model
        models.chosen[i] = best
        most = max(most, models.order[best])
        models.order[best] = _NO_SCORE
    return most


@inner_kernel
def refine(text, core, room, limits, passages, evidence, n):
    """Write the passage of a cluster as row n, under the model that gives both sides the most evidence; tell whether there is
    any hope for it.
    """
    evidence[2 * n] = evidence[2 * n + 1] = _NO_SCORE
    if _has_little(text, core, room, limits) or _is_hopeless(_choose_models(text, core, room, limits), limits):
        return False
    place, most = room.place, _NO_SCORE
    for i in range(_MODELS_REFINED):
        model = room.models.chosen[i]
        of_a, of_b = room.models.stretches[model], _NO_SCORE
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
