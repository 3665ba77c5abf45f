"""Pairs and distributions against twins that count character by character."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.model import KINDS
from ibidem.viewer.document_pairs import NO_TIME, distributions_of, pair_up
from tests.viewer.twins import MICROSECONDS_A_DAY, Plain, columns_of, expected_pairs

N_DOCUMENTS = 4
SIZE = 24
SIMILARITIES = (0.25, 0.5, 0.8, 1.0)


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    start = draw(st.integers(0, SIZE - 1))
    return start, draw(st.integers(start + 1, SIZE))


documents = st.integers(0, N_DOCUMENTS - 1)
passages = st.builds(
    lambda a, b, at, there, n, similarity, kind, direction: Plain(a, b, *at, *there, n, similarity, kind, direction),
    documents, documents, spans(), spans(), st.integers(1, 3), st.sampled_from(SIMILARITIES), st.integers(0, 2),
    st.integers(0, 2),
)  # fmt: skip
sizes = st.lists(st.sampled_from([-1, 0, 10, SIZE, 1000]), min_size=N_DOCUMENTS, max_size=N_DOCUMENTS)
moments = st.one_of(st.just(NO_TIME), st.integers(-(10**15), 10**15))
times = st.lists(moments, min_size=N_DOCUMENTS, max_size=N_DOCUMENTS)


def drawn(chance: random.Random, n_most: int) -> list[Plain]:
    """Return random passages: a thousand times as fast as drawing them one value at a time."""
    found = []
    for _ in range(chance.randint(1, n_most)):
        ends = [sorted(chance.sample(range(SIZE + 1), 2)) for _ in "ab"]
        a, b = chance.randrange(N_DOCUMENTS), chance.randrange(N_DOCUMENTS)
        found.append(Plain(a, b, *ends[0], *ends[1], 1, chance.choice(SIMILARITIES), chance.randrange(3), chance.randrange(3)))
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(passages, max_size=12), sizes, times)
def test_pairs_are_what_counting_characters_says(found: list[Plain], n_chars: list[int], moments: list[int]) -> None:
    check_pairs(found, n_chars, moments)


def test_pairs_are_what_counting_characters_says_in_many_cases() -> None:
    chance = random.Random(7)
    for _ in range(1_500):
        n_chars = chance.choices([-1, 0, 10, SIZE, 1000], k=N_DOCUMENTS)
        moments = [chance.choice([NO_TIME, chance.randint(-(10**15), 10**15)]) for _ in range(N_DOCUMENTS)]
        check_pairs(drawn(chance, 14), n_chars, moments)


def check_pairs(found: list[Plain], n_chars: list[int], moments: list[int]) -> None:
    ordered, pairs = pair_up(columns_of(found), np.array(n_chars, np.int64), np.array(moments, np.int64))
    expected = expected_pairs(found, n_chars, moments)
    assert len(pairs) == len(expected)
    assert pairs.first.tolist() == np.cumsum([0, *(pair["n_passages"] for pair in expected)]).tolist()
    for row, pair in enumerate(expected):
        own = slice(pairs.first[row], pairs.first[row + 1])
        told = list(zip(ordered.a_start[own], ordered.b_start[own], strict=True))
        assert told == [(p.a_start, p.b_start) for p in pair["passages"]]
        assert set(ordered.a[own].tolist()) == {pair["a"]}
        assert set(ordered.b[own].tolist()) == {pair["b"]}
        for name in ("a", "b", "shared", "longest"):
            assert getattr(pairs, name)[row] == pair[name], name
        for name in ("similarity", "coverage_a", "coverage_b", "days"):
            value = float(getattr(pairs, name)[row])
            assert math.isnan(value) if pair[name] is None else math.isclose(value, pair[name]), name
        shares = [share for share in (pair["coverage_a"], pair["coverage_b"]) if share is not None]
        coverage = float(pairs.coverage[row])
        assert math.isclose(coverage, max(shares)) if shares else math.isnan(coverage)
        assert math.isclose(pairs.interest[row], math.log1p(pair["shared"]) * math.sqrt(max(shares, default=1.0)))


@settings(max_examples=150, deadline=None)
@given(st.lists(passages, min_size=1, max_size=12, unique_by=lambda p: (p.a, p.b, p.a_start, p.b_start)))
def test_the_longest_passage_speaks_for_its_pair(found: list[Plain]) -> None:
    nothing = np.full(N_DOCUMENTS, -1, np.int64)
    _, pairs = pair_up(columns_of(found), nothing, np.full(N_DOCUMENTS, NO_TIME, np.int64))
    expected = expected_pairs(found, nothing.tolist(), [NO_TIME] * N_DOCUMENTS)
    assert pairs.kind.tolist() == [pair["kind"] for pair in expected]
    assert pairs.direction.tolist() == [pair["direction"] for pair in expected]


def test_times_as_far_apart_as_they_can_be() -> None:
    ends = np.array([-62_135_596_800_000_000, 253_402_300_799_999_999], np.int64)  # the years 1 and 9999
    _, pairs = pair_up(columns_of([Plain(0, 1, 0, 5, 0, 5)]), np.array([5, 5]), ends)
    assert pairs.days[0] == pytest.approx(float(ends[1] - ends[0]) / MICROSECONDS_A_DAY)
    assert pairs.days[0] > 3_600_000


@settings(max_examples=150, deadline=None)
@given(st.lists(passages, max_size=12), sizes)
def test_every_pair_is_counted_once_in_each_distribution(found: list[Plain], n_chars: list[int]) -> None:
    _, pairs = pair_up(columns_of(found), np.array(n_chars, np.int64), np.full(N_DOCUMENTS, NO_TIME, np.int64))
    told = distributions_of(pairs)
    values = {
        "similarity": pairs.similarity.tolist(),
        "coverage": np.nan_to_num(pairs.coverage).tolist(),
        "longest": pairs.longest.tolist(),
    }
    assert set(told) == set(values)
    for name, distribution in told.items():
        edges, counts = distribution["edges"], distribution["counts"]
        assert len(edges) == len(counts) + 1
        assert edges == sorted(set(edges)), name
        assert sum(counts) == len(pairs), name
        for k, count in enumerate(counts):  # edges are told rounded
            slack = 1e-4
            low = -math.inf if k == 0 else edges[k] - slack
            high = math.inf if k == len(counts) - 1 else edges[k + 1] + slack
            assert count <= sum(low <= value <= high for value in values[name]), name


def test_kinds_are_as_the_columns_count_them() -> None:
    assert KINDS == ("exact", "near", "quote")
