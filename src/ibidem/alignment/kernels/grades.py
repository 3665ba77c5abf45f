"""Kernels that grade words: which of them are in a stretch of the other text, in order or not, and how rare each is.

Both texts are in one array of words, those of b from `n_a_words` on. `counts` are those of words, pairs and runs (of four
words) in the stretch of the other text; they are all 0 between calls.
"""

from __future__ import annotations

import math

import numpy as np

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
def grade_against(text, other_start, other_end, low, high, room, limits):
    """Grade the words [low, high) against a stretch of the other text, unless that is how they were graded last."""
    graded, at = room.graded, 4 if low >= text.n_a_words else 0
    if graded[at] == low and graded[at + 1] == high and graded[at + 2] == other_start and graded[at + 3] == other_end:
        return
    graded[at], graded[at + 1], graded[at + 2], graded[at + 3] = low, high, other_start, other_end
    _count_stretch(text, other_start, other_end, room.grading)
    _grade_words(text, low, high, other_start, other_end, room.grading, limits)
    _forget_stretch(text, other_start, other_end, room.grading)
