"""The join of documents against comparing all pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.sets import HashSets
from ibidem.execution.tasks import in_turn
from ibidem.execution.threads import Threads
from ibidem.resemblance.comparison import as_resemblance, set_overlaps
from ibidem.resemblance.document_join import join_documents
from ibidem.resemblance.limits import OverlapLimits, resemblance_limits, sampled_limits
from ibidem.resemblance.prune import prune, sample

NO_SIDE = np.empty(0, np.int8)
Pairs = dict[tuple[int, int], int]

limits_of_similarity = st.fractions(Fraction(1, 10), 1, max_denominator=20)
# Few different shingles make many overlaps; templates with a few changes make pairs near every limit.
few = st.lists(st.sets(st.integers(0, 12), max_size=9), max_size=9)
edited = st.builds(
    lambda template, edits: [set(template) ^ edit for edit in edits],
    st.sets(st.integers(0, 60), min_size=15),
    st.lists(st.sets(st.integers(0, 80), max_size=8), max_size=10),
)
collections = st.one_of(few, edited, st.builds(lambda a, b: a + b, edited, edited))


def hash_sets(documents: list[set[int]], salt: int = 0) -> HashSets:
    values = np.array([value for d in documents for value in sorted(d)], np.uint64)
    fold = mix.py_func  # over a whole array at once
    hashes = fold(fold(np.full(len(values), SEED), values + np.uint64(1)), np.uint64(salt))
    first = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return HashSets(hashes, first)


def brute_force(
    documents: list[set[int]], is_wanted: object, wanted: list[bool] | None = None, side: list[int] | None = None
) -> Pairs:
    found = {}
    for (i, a), (j, b) in combinations(enumerate(documents), 2):
        if wanted is not None and not (wanted[i] and wanted[j]):
            continue
        if side is not None and side[i] == side[j]:
            continue
        if a and b and is_wanted(a, b):  # type: ignore[operator]
            found[i, j] = len(a & b)
    return found


def joined(
    sets: HashSets, limits: OverlapLimits, wanted: list[bool] | None = None, side: list[int] | None = None,
    max_documents: int = 1000, whole: bool = False, run_tasks: object = in_turn,
) -> Pairs:  # fmt: skip
    n = len(sets.first) - 1
    chosen = np.array(wanted if wanted is not None else [True] * n, np.bool_)
    sides = NO_SIDE if side is None else np.array(side, np.int8)
    pairs = join_documents(sets, limits, chosen, sides, max_documents, whole, run_tasks).pairs  # type: ignore[arg-type]
    keys = list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return dict(zip(keys, pairs.overlap.tolist(), strict=True))


def largest(documents: list[set[int]]) -> int:
    return max(map(len, documents), default=0)


def resembles(limit: Fraction) -> object:
    return lambda a, b: len(a & b) >= limit * len(a | b) and bool(a & b)


@settings(max_examples=1000, deadline=None)
@given(collections, limits_of_similarity, st.integers(0, 99), st.booleans())
def test_resemblance_is_what_comparing_all_pairs_gives(
    documents: list[set[int]], limit: Fraction, salt: int, whole: bool
) -> None:
    limits = resemblance_limits(limit, Fraction(0), largest(documents))
    assert joined(hash_sets(documents, salt), limits, whole=whole) == brute_force(documents, resembles(limit))


@settings(max_examples=500, deadline=None)
@given(collections, limits_of_similarity, st.fractions(Fraction(1, 10), 1, max_denominator=20))
def test_containment_either_way_counts_too(documents: list[set[int]], limit: Fraction, containment: Fraction) -> None:
    def is_wanted(a: set[int], b: set[int]) -> bool:
        contained = len(a & b) >= containment * min(len(a), len(b))
        return bool(a & b) and (contained or len(a & b) >= limit * len(a | b))

    limits = resemblance_limits(limit, containment, largest(documents))
    assert joined(hash_sets(documents), limits) == brute_force(documents, is_wanted)


@settings(max_examples=500, deadline=None)
@given(collections, limits_of_similarity)
def test_dice(documents: list[set[int]], limit: Fraction) -> None:
    limits = resemblance_limits(as_resemblance(limit), Fraction(0), largest(documents))
    expected = brute_force(documents, lambda a, b: a & b and 2 * len(a & b) >= limit * (len(a) + len(b)))
    assert joined(hash_sets(documents), limits) == expected


@settings(max_examples=300, deadline=None)
@given(st.data(), collections, limits_of_similarity)
def test_unwanted_documents_and_sides(data: st.DataObject, documents: list[set[int]], limit: Fraction) -> None:
    n = len(documents)
    wanted = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    side = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    limits = resemblance_limits(limit, Fraction(0), largest(documents))
    expected = brute_force(documents, resembles(limit), wanted, side)
    assert joined(hash_sets(documents), limits, wanted, side) == expected


def by_definition(
    documents: list[set[int]], sets: HashSets, limits: OverlapLimits, most: int, wanted: list[bool], side: list[int] | None
) -> tuple[Pairs, set[int]]:
    """Return what the join promises: all pairs that share a shingle that is not common, of the others those with leaders."""
    hashes = {
        v: h for d, b in zip(documents, sets.first, strict=False) for v, h in zip(sorted(d), sets.hashes[b:], strict=False)
    }
    common = {v for v in hashes if sum(v in d for d, is_wanted in zip(documents, wanted, strict=True) if is_wanted) > most}

    def reaches(i: int, j: int) -> bool:
        x, y = sorted((len(documents[i]), len(documents[j])), reverse=True)
        needed = min([limits.needed_by_sum[x + y], *limits.needed_by_small[y : y + 1]])
        return bool(len(documents[i] & documents[j]) >= needed > 0)

    pairs = {(i, j) for i, j in combinations(range(len(documents)), 2) if wanted[i] and wanted[j] and reaches(i, j)}
    truth = {(i, j) for i, j in pairs if side is None or side[i] != side[j]}
    found = {(i, j) for i, j in truth if (documents[i] & documents[j]) - common}
    groups: dict[int, list[int]] = {}
    prefixes = limits.bounds(np.diff(sets.first)).probe_prefix.tolist()
    for i, d in sorted(enumerate(documents), key=lambda item: (len(item[1]), item[0])):
        in_order = sorted(d - common) + sorted(d & common, key=hashes.__getitem__)
        for v in [v for v in in_order[: prefixes[i]] if v in common][:8] if wanted[i] else []:
            groups.setdefault(v, []).append(i)
    led: set[tuple[int, int]] = set()
    for group in groups.values():
        for walk in (group, group[::-1])[: 1 if side is None else 2]:
            leaders: list[int] = []
            for i in walk:
                leader = next((k for k in leaders[-16:] if tuple(sorted((i, k))) in pairs), None)
                if leader is not None and (side is None or side[i] == 0):
                    led.add((min(i, leader), max(i, leader)))
                if leader is None and (side is None or side[i] == 1):
                    leaders.append(i)
    return {(i, j): len(documents[i] & documents[j]) for i, j in found | led}, {i for pair in led for i in pair}


crowd_limits = st.one_of(st.just(Fraction(0)), st.fractions(Fraction(1, 5), 1, max_denominator=10))


@settings(max_examples=1500, deadline=None)
@given(st.data(), collections, limits_of_similarity, crowd_limits, st.integers(2, 5), st.integers(0, 9), st.booleans())
def test_common_shingles_lead_to_leaders_only(
    data: st.DataObject, documents: list[set[int]], limit: Fraction, containment: Fraction, most: int, salt: int, whole: bool
) -> None:
    n = len(documents)
    wanted = data.draw(st.one_of(st.just([True] * n), st.lists(st.booleans(), min_size=n, max_size=n)))
    side = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    limits = resemblance_limits(limit, containment, largest(documents))
    sets = hash_sets(documents, salt)
    expected, by_common = by_definition(documents, sets, limits, most, wanted, side)
    assert joined(sets, limits, wanted, side, most, whole) == expected
    sides = NO_SIDE if side is None else np.array(side, np.int8)
    outcome = join_documents(sets, limits, np.array(wanted, np.bool_), sides, most, whole)
    assert set(np.flatnonzero(outcome.by_common).tolist()) == by_common


def test_leaders_make_room_and_meetings_are_few() -> None:
    random = np.random.default_rng(1)
    # Crowds of three sizes around 30 templates: more templates than leaders, more common shingles than meetings.
    templates = [set(range(40)) | set(random.integers(40, 400, 12).tolist()) for _ in range(30)]
    documents = [template | set(random.integers(1000, 9000, k % 3).tolist()) for k in range(10) for template in templates]
    for limit in (Fraction(3, 5), Fraction(9, 10)):
        limits = resemblance_limits(limit, Fraction(0), largest(documents))
        for side in (None, [k % 2 for k in range(len(documents))]):
            for most in (9, 30):
                expected, _ = by_definition(documents, hash_sets(documents), limits, most, [True] * len(documents), side)
                assert joined(hash_sets(documents), limits, None, side, most) == expected


@settings(max_examples=200, deadline=None)
@given(collections, limits_of_similarity, st.integers(2, 6), st.randoms())
def test_what_is_found_does_not_depend_on_documents_that_are_in_no_pair(
    documents: list[set[int]], limit: Fraction, most: int, random: Random
) -> None:
    """Documents that share nothing may stand anywhere: numbers, tables and pruning change with them, pairs do not."""
    limits = resemblance_limits(limit, Fraction(0), max(largest(documents), 5))
    places = sorted(random.sample(range(2 * len(documents) + 1), len(documents)))
    longer = [{1000 + 10 * i, 1001 + 10 * i} for i in range(2 * len(documents) + 1)]
    for place, document in zip(places, documents, strict=True):
        longer[place] = document
    expected = joined(hash_sets(documents), limits, max_documents=most)
    found = joined(hash_sets(longer), limits, max_documents=most)
    assert found == {(places[i], places[j]): overlap for (i, j), overlap in expected.items()}


def test_a_crowd_of_near_copies_hangs_together_without_a_square_of_pairs() -> None:
    n = 500
    documents = [set(range(100)) | {1000 + i} for i in range(n)]
    limits = resemblance_limits(Fraction(9, 10), Fraction(0), 101)
    everyone = np.ones(n, np.bool_)
    outcome = join_documents(hash_sets(documents), limits, everyone, NO_SIDE, 100)
    assert outcome.by_common.all()
    assert n - 1 <= len(outcome.pairs) < 10 * n
    reached = {0}
    for a, b in sorted(zip(outcome.pairs.a.tolist(), outcome.pairs.b.tolist(), strict=True)) * 3:
        if a in reached or b in reached:
            reached |= {a, b}
    assert reached == set(range(n))


@settings(max_examples=100, deadline=None)
@given(collections, limits_of_similarity)
def test_workers_change_nothing(documents: list[set[int]], limit: Fraction) -> None:
    limits = resemblance_limits(limit, Fraction(0), largest(documents))
    with Threads(3) as engine:
        assert joined(hash_sets(documents), limits, run_tasks=engine.run_tasks) == joined(hash_sets(documents), limits)


@settings(max_examples=300, deadline=None)
@given(collections, limits_of_similarity)
def test_pruning_loses_no_document_of_a_pair(documents: list[set[int]], limit: Fraction) -> None:
    limits = resemblance_limits(limit, Fraction(0), largest(documents))
    sets = hash_sets(documents)
    kept = prune(sets, np.ones(len(documents), np.bool_), limits.bounds(np.diff(sets.first)).least_shared)
    assert set(kept.documents.tolist()) >= {d for pair in brute_force(documents, resembles(limit)) for d in pair}


@settings(max_examples=300, deadline=None)
@given(collections, limits_of_similarity)
def test_overlaps_of_given_pairs(documents: list[set[int]], limit: Fraction) -> None:
    limits = resemblance_limits(limit, Fraction(0), largest(documents))
    pairs = [(i, j) for i in range(len(documents)) for j in range(len(documents)) if documents[i] and documents[j]]
    a, b = (np.array([p[k] for p in pairs], np.int32) for k in (0, 1))
    truth = [len(documents[i] & documents[j]) if resembles(limit)(documents[i], documents[j]) else -1 for i, j in pairs]  # type: ignore[operator]
    assert set_overlaps(hash_sets(documents), a, b, limits).tolist() == truth


@settings(max_examples=200, deadline=None)
@given(collections, st.integers(1, 8), st.integers(0, 7))
def test_a_sample_is_the_hashes_that_leave_the_remainder(documents: list[set[int]], every: int, remainder: int) -> None:
    sets = hash_sets(documents)
    wanted = np.arange(len(documents)) % 3 != 1
    sampled = sample(sets, wanted, every, remainder)
    for d in range(len(documents)):
        mine = sets.hashes[sets.first[d] : sets.first[d + 1]].tolist()
        expected = [h for h in mine if h % every == remainder % every] if wanted[d] else []
        assert sampled.hashes[sampled.first[d] : sampled.first[d + 1]].tolist() == expected


@pytest.mark.parametrize("limit", ["1/10", "1/3", "11/20", "4/5", "9/10", "1"])
def test_limits_are_whole_numbers(limit: str) -> None:
    p, q = Fraction(limit).as_integer_ratio()
    limits = resemblance_limits(Fraction(limit), Fraction(0), 200)
    for x in range(1, 201):
        for y in range(1, x + 1):
            needed = next(c for c in range(y + 2) if c * q >= p * (x + y - c) or c > y)
            assert (limits.needed_by_sum[x + y] <= y) == (needed <= y)
            if needed <= y:
                assert limits.needed_by_sum[x + y] == needed


@pytest.mark.parametrize(("similarity", "probability"), [(0.8, 0.001), (0.5, 0.01), (0.95, 0.001)])
def test_sampled_limits_miss_as_seldom_as_they_say(similarity: float, probability: float) -> None:
    limits = sampled_limits(Fraction(str(similarity)), Fraction(0), probability, 800)
    random = np.random.default_rng(5)
    for union in (10, 40, 150, 500):
        shared = random.binomial(union, similarity, 200_000)
        missed = np.mean(shared < limits.needed_by_sum[union + shared])
        assert missed <= 1.3 * probability + 2e-4
        if union >= 40:  # and it does tell pairs apart
            assert limits.needed_by_sum[union + int(union * similarity)] > 0.6 * union * similarity
