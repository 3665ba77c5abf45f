"""Kernels that weigh evidence: how much more likely are these words if they were copied from that stretch of the other text?

A word of a copied passage was taken over *in order* (with a neighbour) with probability c, *loosely* with probability u, or
is new. Any word may stand in the other stretch by chance, the likelier the more often it stands in both texts and the longer
the stretch is. The evidence of a word is the logarithm of its likelihood in a copy over its likelihood by chance: log(z + c/p)
if it stands there in order, log(z + u/p) if it stands there, log(z) if not, with z = 1 - c - u. A *model* is a pair of c and u;
from word for word to loose there are a few, and the one that gives the most evidence is taken.

Both texts lie in one array of words, the first from 0 on. `counts` are of words, pairs and runs (of four words) in the stretch
of the other text that is looked at; they are all 0 between calls.
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
_NO_SCORE = -1e18


@inlined_kernel
def _place_of_level(expected):
    """Return where `levels` has the level of a word that is expected so often (a logarithm)."""
    place = np.int64((expected - LOWEST_EXPECTED) * STEPS_PER_UNIT)
    return max(np.int64(0), min(place, np.int64(N_EXPECTED - 1)))


@inner_kernel
def count_stretch(words, pairs, runs, start, end, counts, pair_counts, run_counts):
    """Count the words of a stretch, and the pairs and runs that lie in it whole."""
    for k in range(start, end):
        counts[words[k]] += 1
    for k in range(start, end - 1):
        pair_counts[pairs[k]] += 1
    for k in range(start, end - RUN_WORDS + 1):
        run_counts[runs[k]] += 1


@inner_kernel
def forget_stretch(words, pairs, runs, start, end, counts, pair_counts, run_counts):
    """Set all counts of a stretch to 0 again."""
    for k in range(start, end):
        counts[words[k]] = 0
        pair_counts[pairs[k]] = 0
        run_counts[runs[k]] = 0


@inner_kernel
def measure_rates(n_words, n_different, total, unseen, rates):
    """Write the logarithm of how often a word is expected, of each of the words to come.

    `total` counts words in both texts; the two that a copy and its source would be are left out.
    """
    for word in range(n_different):
        rates[word] = math.log((max(np.float64(total[word]) - 2.0, 0.0) + unseen) / n_words)


@inner_kernel
def grade_words(
    words, pairs, runs, low, high, counts, pair_counts, run_counts, n_other, rates, levels, highest_chance_level, used, grades
):  # fmt: skip
    """Grade the words [low, high) against the stretch that was counted, of `n_other` words.

    Words in common runs use up their counterparts: other words are there only as far as there are counterparts left, so that a
    verbatim copy ends where it ends although the text goes on about the same things. `levels` gives the level of rarity of a
    word by the logarithm of how often it is expected. A neighbour gives no more than `highest_chance_level`.
    """
    for k in range(low, high):
        grades[k] = NOT_THERE
    for k in range(low, high - RUN_WORDS + 1):
        if run_counts[runs[k]] > 0:
            for i in range(k, k + RUN_WORDS):
                grades[i] = IN_ORDER
    for k in range(low, high):
        if grades[k] == IN_ORDER:
            used[words[k]] += 1
    expected = math.log(n_other)
    for k in range(low, high):
        word = words[k]
        if counts[word] == 0 or (grades[k] == NOT_THERE and used[word] >= counts[word]):
            grades[k] = NOT_THERE
            continue
        level = np.int64(levels[_place_of_level(rates[word] + expected)])
        neighbours = 0
        if k > low and pair_counts[pairs[k - 1]] > 0:
            neighbours = counts[words[k - 1]]
        if k + 1 < high and pair_counts[pairs[k]] > 0:
            following = counts[words[k + 1]]
            neighbours = following if neighbours == 0 or following < neighbours else neighbours
        if neighbours == 0:
            grades[k] = level
            continue
        # By chance, a word follows one of its neighbours as often as the neighbour stands there times its own rate.
        by_order = np.int64(-(rates[word] + math.log(neighbours)) * LEVELS_PER_UNIT)
        grades[k] = IN_ORDER + max(level, max(0, min(by_order, highest_chance_level)))
    for k in range(low, high):
        used[words[k]] = 0


@inner_kernel
def best_stretch(grades, is_bound, low, high, core_start, core_end, weights, model, within, found):
    """Write the stretch of [low, high) with the most evidence that meets the core to `found`; return its evidence.

    `weights` are by model and grade. A stretch that begins or ends within a sentence has `within` less.
    """
    best, total, opened, opened_at = _NO_SCORE, 0.0, _NO_SCORE, low
    base = model * N_GRADES
    found[0], found[1] = core_start, core_end
    for k in range(low, high + 1):
        if k > opened_at and k > core_start and opened_at < core_end:
            value = total + opened - (0.0 if is_bound[k] else within)
            if value > best:
                best = value
                found[0], found[1] = opened_at, k
        if k == high:
            break
        value = -total - (0.0 if is_bound[k] else within)
        if value > opened and k < core_end:
            opened, opened_at = value, k
        total += weights[base + grades[k]]
    return best
