"""The set-similarity join is equal to comparing all pairs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.sets import HashSets
from ibidem.execution.threads import Threads
from ibidem.matches import join, join_types, long_lists, sort_sets
from tests.oracles import components

LIMITS = [Fraction(n, 20) for n in range(6, 21)] + [Fraction(1, 3), Fraction(2, 3), Fraction(5, 7), Fraction(55, 100)]


def hash_sets(sets: list[frozenset[int]]) -> HashSets:
    hashes = np.array([mix(SEED, np.uint64(x)) for s in sets for x in sorted(s)], np.uint64)
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64))


@st.composite
def collections_of_sets(draw: st.DrawFn) -> list[frozenset[int]]:
    """Sets over a small vocabulary, many of them slight changes of one another."""
    vocabulary = draw(st.integers(3, 40))
    element = st.integers(0, vocabulary)
    sets = [frozenset(draw(st.sets(element, max_size=draw(st.integers(0, 24)))))]
    for _ in range(draw(st.integers(0, 25))):
        base = set(draw(st.sampled_from(sets))) if draw(st.booleans()) else draw(st.sets(element, max_size=20))
        for _ in range(draw(st.integers(0, 3))):
            base ^= {draw(element)}
        sets.append(frozenset(base))
    return sets


@settings(max_examples=1500, deadline=None)
@given(collections_of_sets(), st.sampled_from(LIMITS))
def test_classes_equal_the_components_of_all_pairs(sets: list[frozenset[int]], limit: Fraction) -> None:
    classes = join_types(sort_sets(hash_sets(sets)), limit)
    assert classes.of_type.tolist() == components(sets, limit)


SMALL = st.fixed_dictionaries(
    {
        "_MOST_ENTRIES": st.sampled_from([1, 20, 1 << 22]),
        "_MOST_PAIRS": st.sampled_from([0, 0, 1]),
        "_CHILD_COST": st.sampled_from([0, 0, 1]),
        "_MOST_LEFT": st.sampled_from([float("inf"), 1.0]),
        "_MOST_LEADERS": st.sampled_from([1, 2, 64]),
        "_LEAST_MEASURED": st.sampled_from([1, 3, 10**9]),
        "_MOST_COMPONENTS": st.sampled_from([1, 256]),
        "_MOST_DEPTH": st.sampled_from([1, 2, 16]),
    }
)


@settings(max_examples=1500, deadline=None)
@given(collections_of_sets(), st.sampled_from(LIMITS), st.sampled_from([0, 0, 1, 3]), SMALL)
def test_they_are_so_where_elements_of_many_sets_are_met_in_other_ways(
    sets: list[frozenset[int]], limit: Fraction, most_postings: int, limits: dict[str, float]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join, "MOST_POSTINGS", most_postings)
        for name, value in limits.items():
            patch.setattr(long_lists, name, value)
        classes = join_types(sort_sets(hash_sets(sets)), limit)
    assert classes.of_type.tolist() == components(sets, limit)


def template(n: int) -> list[list[int]]:
    """Sets of thirteen common elements and one of their own."""
    return [[*range(13), 1000 + k] for k in range(n)]


def two_templates(n: int) -> list[list[int]]:
    """Sets of two templates that share their rarest elements, in turns; the others are as common again elsewhere."""
    alike = [[*range(10), *(range(20, 24) if k % 2 else range(30, 34)), 10**6 + k] for k in range(n)]
    return alike + [[*(range(20, 24) if k % 2 else range(30, 34)), *range(10**7 + 8 * k, 10**7 + 8 * k + 8)] for k in range(n)]


def slots(n: int) -> list[list[int]]:
    """Sets of a template with three slots, each filled with one of fifty."""
    chance = np.random.default_rng(1)
    return [[*range(12), *(1000 + 50 * slot + int(chance.integers(50)) for slot in range(3))] for _ in range(n)]


def varied(n: int) -> list[list[int]]:
    """Sets of some of the same elements and some of their own: similar or not."""
    chance = np.random.default_rng(1)
    return [[*range(chance.integers(8, 17)), *range(10**6 + 9 * k, 10**6 + 9 * k + chance.integers(1, 6))] for k in range(n)]


def blocks(n: int) -> list[list[int]]:
    """Sets of three out of eight blocks and one element of their own."""
    chance = np.random.default_rng(1)
    chosen = [sorted(chance.choice(8, 3, replace=False).tolist()) for _ in range(n)]
    return [[*(100 * block + k for block in some for k in range(6)), 10**6 + at] for at, some in enumerate(chosen)]


@pytest.mark.parametrize("make", [template, two_templates, slots, varied, blocks])
def test_the_work_grows_with_the_sets_and_not_with_their_square(make: Callable[[int], list[list[int]]]) -> None:
    """Counted, not timed: pairs that are left to be compared, and entries that are made, at four times the size."""

    def work(n: int) -> int:
        counted = 0
        kernels = long_lists.kernels

        def count_pairs(*arguments: Any) -> None:
            nonlocal counted
            kernels.count_pairs(*arguments)
            counted += int(arguments[-1].sum())

        def count_entries(*arguments: Any) -> None:
            nonlocal counted
            kernels.unite_with_leaders(*arguments)
            counted += len(arguments[-1])

        class Counting:
            def __getattr__(self, name: str) -> Any:
                own = {"count_pairs": count_pairs, "unite_with_leaders": count_entries}
                return own[name] if name in own else getattr(kernels, name)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(long_lists, "kernels", Counting())
            found = join_types(sort_sets(quick_sets(make(n))), Fraction(4, 5))
        assert len(found.of_type) >= n
        # Shorter lists are compared in full: what they can take is bounded by their length.
        return counted

    small, large = work(10_000), work(40_000)
    assert large < 6 * small + 10_000 * long_lists.MOST_POSTINGS


def quick_sets(sets: list[list[int]]) -> HashSets:
    hashes = np.array([x for s in sets for x in s], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64))


def test_the_rounding_trap_loses_no_pair() -> None:
    """0.55 * 100 is above 55 in floating point; a pair of exactly that similarity must match."""
    a = frozenset(range(100))
    b = frozenset(range(45, 100))  # 55 of 100
    assert join_types(sort_sets(hash_sets([a, b])), Fraction("0.55")).of_type.tolist() == [0, 0]
    assert join_types(sort_sets(hash_sets([a, b])), Fraction("0.551")).of_type.tolist() == [0, 1]


def test_the_outcome_does_not_depend_on_the_workers() -> None:
    random = np.random.default_rng(5)
    sets = [frozenset(random.zipf(1.4, random.integers(1, 30)).tolist()) for _ in range(4000)]
    alone = join_types(sort_sets(hash_sets(sets)), Fraction(3, 5))
    for workers in (2, 5):
        with Threads(workers) as engine:
            shared = join_types(sort_sets(hash_sets(sets), engine.run_tasks), Fraction(3, 5), engine.run_tasks)
        assert np.array_equal(alone.of_type, shared.of_type)
    assert len(np.unique(alone.of_type)) < len(sets)


def test_a_large_vocabulary_is_numbered_without_loss() -> None:
    """More distinct elements than the first table of the vocabulary holds."""
    sets = [frozenset(range(50 * i, 50 * i + 60)) for i in range(1000)]
    sorted_sets = sort_sets(hash_sets(sets))
    assert sorted_sets.n_values == 50 * 999 + 60
    assert (sorted_sets.size == 60).all()
