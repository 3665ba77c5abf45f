"""Evidence: grades by definition, the best of all stretches, and the tables against their formulas."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment import Words
from ibidem.alignment.aligner import (
    MODELS,
    MOST_EVIDENCE,
    N_MODELS,
    NOISY_MODEL,
    NOISY_WEIGHT,
    SUMMARY_MODEL,
    all_weights,
    chance_level,
    logarithms,
    may_have_passages,
    rarity_levels,
    word_weights,
)
from ibidem.alignment.kernels.grades import (
    IN_ORDER,
    LEVELS_PER_UNIT,
    LOWEST_EXPECTED,
    N_EXPECTED,
    N_GRADES,
    N_LEVELS,
    NOT_THERE,
    STEPS_PER_UNIT,
)
from ibidem.columns.kernels.lanes import N_LANES
from ibidem.config import Config
from ibidem.sentences.kernels.stems import ATTACHED, CLAUSE_BOUND, SENTENCE_BOUND, STOP_BOUND, WITHIN_CLAUSE
from tests.alignment.twins import expected_grades, stretches
from tests.alignment.wrapping import Pair, as_array, best_stretch_of, best_stretches_of, limits_of

Case = tuple[list[int], list[int], tuple[int, int], tuple[int, int]]


@st.composite
def stretches_of_texts(draw: st.DrawFn) -> Case:
    """Two texts of which the second takes from the first, a stretch of one and the words to be graded of the other."""
    rng = draw(st.randoms(use_true_random=False))
    n_words = draw(st.sampled_from([2, 6, 30]))
    a = [rng.randint(1, n_words) for _ in range(rng.randint(1, 50))]
    b: list[int] = []
    while len(b) < rng.randint(1, 50):
        start = rng.randrange(len(a))
        b += a[start : start + rng.randint(1, 12)]
        b += [rng.randint(1, 2 * n_words) for _ in range(rng.randint(0, 5))]
    spans = [sorted(rng.sample(range(first, last + 1), 2)) for first, last in ((0, len(a)), (len(a), len(a) + len(b)))]
    if rng.random() < 0.5:
        spans.reverse()
    return a, b, (spans[0][0], spans[0][1]), (spans[1][0], spans[1][1])


def check_grades(case: Case) -> None:
    """Compare what is there, and how rare it is: to the level, whose table has steps of a sixteenth."""
    a, b, other, (low, high) = case
    limits = limits_of()
    pair = Pair(a, b, [False] * len(a), [False] * len(b))
    grades = pair.grade(other, low, high, limits)
    expected = expected_grades(a + b, other, low, high, limits.unseen, limits.highest_chance_level)
    step = LEVELS_PER_UNIT / STEPS_PER_UNIT
    both = zip(itertools.chain(*grades), itertools.chain(*expected), strict=True)
    for grade, (state, by_rarity, by_order) in both:
        assert state == ("not there" if grade == NOT_THERE else "in order" if grade >= IN_ORDER else "loose")
        if state == "not there":
            continue
        level = grade - (IN_ORDER if state == "in order" else 0)
        most = min(max(by_rarity, by_order), N_LEVELS - 1)
        assert most - 1 - step <= level <= most + step
    # Nothing is left behind for the next call.
    assert pair.room is not None
    for counts in pair.room.grading[:4]:
        assert not counts.any()


@settings(max_examples=300, deadline=None)
@given(stretches_of_texts())
def test_grades_equal_their_definition(case: Case) -> None:
    check_grades(case)


WEIGHTS = st.lists(st.sampled_from([-4.0, -1.5, -0.25, 0.0, 0.5, 2.0, 6.0]) | st.floats(-5, 8), min_size=1, max_size=24)


def check_stretch(
    weights: list[float], bounds: list[int], core: tuple[int, int], end_costs: tuple[float, ...], model: int, low: int,
    most_fall: float,
) -> None:  # fmt: skip
    """Compare the best stretch of [low, low + n) with all there are."""
    n = len(weights)
    # Every word has a grade of its own, as there are grades enough.
    table = np.full((3, N_GRADES), -1e6)
    table[model, :n] = weights
    grades = as_array([NOT_THERE] * low + list(range(n)) + [NOT_THERE] * 3, np.int32)
    all_bounds = as_array([0] * low + bounds + [0] * 3, np.uint8)
    found = np.empty(2, np.int64)
    evidence = best_stretch_of(
        grades,
        all_bounds,
        low,
        low + n,
        low + core[0],
        low + core[1],
        table.reshape(-1),
        model,
        np.array(end_costs),
        most_fall,
        found,
    )
    expected = stretches(weights, bounds, core, end_costs, most_fall)
    if not expected:
        assert evidence < -1e17
        return
    assert evidence == pytest.approx(max(expected.values()), abs=1e-9)
    assert expected[int(found[0]) - low, int(found[1]) - low] == pytest.approx(evidence, abs=1e-9)


COSTS = st.sampled_from([(0.0, 0.0, 0.0, 0.0), (5.0, 5.0, 5.0, 0.0), (10.0, 6.0, 2.0, 0.0)])
FALLS = st.sampled_from([1.0, 4.0, 10.0, np.inf])
PLACES = (WEIGHTS, st.randoms(use_true_random=False), COSTS, st.integers(0, 2), st.integers(0, 5), FALLS)


@settings(max_examples=300, deadline=None)
@given(*PLACES)
def test_the_best_stretch_is_the_best_of_all_from_a_core_to_the_end(weights, random, end_costs, model, low, most_fall) -> None:  # type: ignore[no-untyped-def]
    bounds = [random.randrange(4) for _ in range(len(weights) + 1)]
    check_stretch(weights, bounds, (random.randrange(len(weights)), len(weights)), end_costs, model, low, most_fall)


@settings(max_examples=300, deadline=None)
@given(*PLACES)
def test_the_best_stretch_is_the_best_of_all_that_meet_the_core(weights, random, end_costs, model, low, most_fall) -> None:  # type: ignore[no-untyped-def]
    bounds = [random.randrange(4) for _ in range(len(weights) + 1)]
    start, end = sorted(random.sample(range(len(weights) + 1), 2))
    check_stretch(weights, bounds, (start, end), end_costs, model, low, most_fall)


def test_weights_are_the_logarithms_that_the_models_say() -> None:
    """Within half a level of rarity, at which they are rounded."""
    every = (*MODELS, NOISY_MODEL, SUMMARY_MODEL)
    weights = word_weights(every).reshape(len(every), N_GRADES)
    for row, (in_order, loose) in zip(weights, every, strict=True):
        new = 1 - in_order - loose
        assert row[NOT_THERE] == pytest.approx(math.log(new))
        for rarity in np.linspace(0, N_LEVELS / LEVELS_PER_UNIT - 1e-6, 500):
            level = int(rarity * LEVELS_PER_UNIT)
            chance = math.exp(-rarity)
            for share, first in ((loose, 0), (in_order, IN_ORDER)):
                exact = min(math.log(new + share / chance), MOST_EVIDENCE)
                assert row[first + level] == pytest.approx(exact, abs=0.5 / LEVELS_PER_UNIT + 1e-9)
    assert (weights <= MOST_EVIDENCE).all()


def test_after_the_models_come_summaries_and_the_most_that_a_model_gives() -> None:
    weights = all_weights().reshape(-1, N_GRADES)
    assert len(weights) == N_MODELS + 2
    assert (weights[: len(MODELS)].reshape(-1) == word_weights(MODELS)).all()
    assert (weights[len(MODELS)] == NOISY_WEIGHT * word_weights((NOISY_MODEL,))).all()
    assert (weights[N_MODELS] == word_weights((SUMMARY_MODEL,))).all()
    assert (weights[-1] >= weights[:N_MODELS]).all()
    assert (weights[-1] == weights[:N_MODELS]).any(axis=0).all()


def test_logarithms_of_small_numbers_are_exact() -> None:
    table = logarithms()
    assert len(table) > 1
    assert all(table[number] == math.log(number) for number in range(1, len(table)))


def test_weights_rise_with_rarity_and_order_counts_more_in_closer_copies() -> None:
    weights = word_weights().reshape(len(MODELS), N_GRADES)
    assert (np.diff(weights[:, :IN_ORDER], axis=1) >= 0).all()
    assert (np.diff(weights[:, IN_ORDER:NOT_THERE], axis=1) >= 0).all()
    assert (weights[:, NOT_THERE] < 0).all()
    assert (np.diff(weights[:, NOT_THERE]) > 0).all()  # from word for word to loose, a new word speaks less against a copy


def test_levels_are_the_logarithms_of_chances() -> None:
    levels = rarity_levels()
    assert len(levels) == N_EXPECTED
    for place in np.arange(0, N_EXPECTED, 0.25):
        expected = math.exp(LOWEST_EXPECTED + place / STEPS_PER_UNIT)  # how often a word is expected there
        exact = min(-LEVELS_PER_UNIT * math.log(-math.expm1(-expected)), N_LEVELS - 1)
        assert exact - 1 - 0.25 <= levels[int(place)] <= exact + 0.25


def test_the_chance_of_order_has_a_level() -> None:
    for chance in (0.5, 0.05, 0.001):
        assert chance_level(chance) == math.floor(-LEVELS_PER_UNIT * math.log(chance))


def test_models_are_shares() -> None:
    for in_order, loose in (*MODELS, NOISY_MODEL, SUMMARY_MODEL):
        assert in_order > 0
        assert loose > 0
        assert in_order + loose < 1


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 300), st.booleans())
def test_all_models_at_once_find_what_each_finds_by_itself(rng: random.Random, n_words: int, has_low_limits: bool) -> None:
    limits = limits_of()
    if has_low_limits:  # so that stretches are divided often
        limits = limits._replace(most_falls=limits.most_falls / 8)
    low, high = sorted(rng.sample(range(n_words + 1), 2))
    core_start = rng.randint(low, high - 1)
    core_end = rng.randint(core_start + 1, high)
    share = rng.random()
    grades, in_place = (
        as_array([rng.randrange(NOT_THERE) if rng.random() < share else NOT_THERE for _ in range(n_words)], np.int32)
        for _ in range(2)
    )
    kinds = [ATTACHED, *[WITHIN_CLAUSE] * 4, CLAUSE_BOUND, STOP_BOUND, SENTENCE_BOUND]
    bounds = as_array([rng.choice(kinds) for _ in range(n_words + 1)], np.uint8)
    room = Pair([1] * n_words, [1], [False] * n_words, [False]).room
    assert room is not None
    room.grading.grades[:n_words], room.grading.in_place[:n_words] = grades, in_place
    together = np.empty(3 * N_LANES)
    best_stretches_of(room.grading, bounds, low, high, core_start, core_end, limits, together)
    for model in range(N_MODELS):
        found = np.empty(2, np.int64)
        graded = in_place if model == N_MODELS - 1 else grades
        alone = best_stretch_of(
            graded, bounds, low, high, core_start, core_end, limits.weights, model, limits.end_costs, limits.most_falls[model],
            found,
        )  # fmt: skip
        if alone < -1e17:
            assert together[model] < -1e17
        else:
            assert [alone, *found.tolist()] == together[model::N_LANES].tolist()


@settings(max_examples=200, deadline=None)
@given(stretches_of_texts(), st.sampled_from([2.0, 10.0, 25.0]))
def test_places_are_hopeful_if_both_sides_have_half_the_evidence_of_a_passage(case: Case, min_evidence: float) -> None:
    a, b = case[:2]
    limits = limits_of(min_evidence=min_evidence)
    pair = Pair(a, b, [False] * len(a), [False] * len(b))
    most = []
    for low, high, other in ((0, len(a), (len(a), len(a) + len(b))), (len(a), len(a) + len(b), (0, len(a)))):
        graded = [as_array([NOT_THERE] * low + grades, np.int32) for grades in pair.grade(other, low, high, limits)]
        assert pair.room is not None
        most.append(
            max(
                best_stretch_of(
                    graded[model == N_MODELS - 1], pair.room.bounds, low, high, low, high, limits.weights, model,
                    limits.end_costs, limits.most_falls[model], np.empty(2, np.int64),
                )
                for model in range(N_MODELS)
            )
        )  # fmt: skip
    first = np.array([0, len(a), len(a) + len(b)])
    bounds = np.full(len(a) + len(b) + 1, WITHIN_CLAUSE, np.uint8)
    words = Words(np.array(a + b, np.uint32), bounds, first, first)
    config = dataclasses.replace(Config().alignment, min_evidence=min_evidence)
    spans = np.array([[0, len(a), len(a), len(a) + len(b)]])
    assert may_have_passages(words, spans, config, 4).tolist() == [min(most) >= 0.5 * min_evidence]
