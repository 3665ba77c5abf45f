"""Kernels that find the stretch of a text with the most evidence, given the grades of its words: under one model, or all."""

from __future__ import annotations

import numpy as np

from ibidem.alignment.kernels.grades import N_GRADES
from ibidem.columns.kernels.lanes import N_LANES, load_lanes, spread, store_lanes, where_greater
from ibidem.execution.compiler import inlined_kernel, inner_kernel

NO_SCORE = -1e18


@inner_kernel
def best_stretches(grading, bounds, low, high, core_start, core_end, limits, found):
    """Do for all models at once what `best_stretch` does for one: write evidence, starts and ends of their stretches.

    `found` has eight of each. A lane is a model; the last one is that for noise, which takes words in place as those in order.
    """
    nothing, nowhere, falls = spread(NO_SCORE), spread(-np.inf), load_lanes(limits.most_falls, 0)
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
    best, total, opened, opened_at, highest = NO_SCORE, 0.0, NO_SCORE, low, 0.0
    start, end = core_start, core_end
    base = model * N_GRADES
    # It begins before the end of the core and ends after its start, so only in between may it do both. Whether a place is
    # better cannot be predicted: the loops choose values instead of jumping.
    for k in range(low, min(core_start + 1, core_end)):
        if highest - total > most_fall:
            opened, highest = NO_SCORE, total
        value = -total - end_costs[bounds[k]]
        is_better = value > opened
        opened = value if is_better else opened
        opened_at = k if is_better else opened_at
        total += weights[base + grades[k]]
        highest = max(highest, total)
    for k in range(core_start + 1, core_end):
        if highest - total > most_fall:
            opened, highest = NO_SCORE, total
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
