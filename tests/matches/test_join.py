"""The set-similarity join is equal to comparing all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.engines import LocalEngine
from ibidem.matches import join_types, sort_sets
from ibidem.sentences.hashing import SEED, mix
from ibidem.signatures import HashSets
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
        with LocalEngine(workers) as engine:
            shared = join_types(sort_sets(hash_sets(sets), engine.map_parts), Fraction(3, 5), engine.map_parts)
        assert np.array_equal(alone.of_type, shared.of_type)
    assert len(np.unique(alone.of_type)) < len(sets)


def test_a_large_vocabulary_is_numbered_without_loss() -> None:
    """More distinct elements than the first table of the vocabulary holds."""
    sets = [frozenset(range(50 * i, 50 * i + 60)) for i in range(1000)]
    sorted_sets = sort_sets(hash_sets(sets))
    assert sorted_sets.n_values == 50 * 999 + 60
    assert (sorted_sets.size == 60).all()
