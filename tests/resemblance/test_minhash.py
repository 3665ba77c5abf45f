"""MinHash estimates resemblance without bias, and bands are equal to comparing all pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.sets import HashSets
from ibidem.execution.threads import Threads
from ibidem.resemblance.kernels.sketches import EMPTY, pair_bands
from ibidem.resemblance.sketches import _draw_permutations, agreement, band_pairs, minhash

MANY = 10**9


def candidate_probability(similarity: float, n_bands: int, n_rows: int) -> float:
    """Return how likely two documents of that resemblance agree in at least one of the bands."""
    return 1.0 - (1.0 - similarity**n_rows) ** n_bands


def hash_sets(sets: list[list[int]]) -> HashSets:
    hashes = np.array([mix(SEED, np.uint64(x)) for s in sets for x in s], np.uint64)
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64))


def pairs_of_resemblance(n_pairs: int, n_common: int, n_own: int) -> tuple[HashSets, np.ndarray, np.ndarray]:
    """Documents 2i and 2i + 1 have `n_common` elements in common and `n_own` more each; no others have any."""
    sets, at = [], 0
    for _ in range(n_pairs):
        common = list(range(at, at + n_common))
        sets.append(common + list(range(at + n_common, at + n_common + n_own)))
        sets.append(list(range(at + n_common + n_own, at + n_common + 2 * n_own)) + common)
        at += n_common + 2 * n_own
    return hash_sets(sets), np.arange(0, 2 * n_pairs, 2, np.int32), np.arange(1, 2 * n_pairs, 2, np.int32)


@pytest.mark.parametrize(("n_common", "n_own"), [(10, 45), (30, 35), (50, 25), (9, 3), (90, 5)])
def test_agreement_estimates_resemblance(n_common: int, n_own: int) -> None:
    """Over many pairs the mean is the resemblance, and the spread that of independent permutations: neither can be off far."""
    n_pairs, n = 300, 512
    sets, a, b = pairs_of_resemblance(n_pairs, n_common, n_own)
    resemblance = n_common / (n_common + 2 * n_own)
    spread = (resemblance * (1 - resemblance) / n) ** 0.5
    shares = agreement(minhash(sets, n), a, b)
    assert abs(shares.mean() - resemblance) < 4 * spread / n_pairs**0.5
    assert 0.85 < shares.std() / spread < 1.15
    assert (agreement(minhash(sets, n), a[1:], b[:-1]) < 0.02).all()


def test_another_seed_is_another_estimate() -> None:
    sets, a, b = pairs_of_resemblance(20, 30, 35)
    one, same, other = (agreement(minhash(sets, 64, seed=seed), a, b) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_components_are_the_least_hashes() -> None:
    """Equal to computing every hash with plain whole numbers."""
    random = np.random.default_rng(2)
    sets = hash_sets([random.integers(0, 10**6, size).tolist() for size in (1, 2, 3, 7, 0, 40)])
    n = 37
    offsets, factors = ([int(x) for x in column] for column in _draw_permutations(n, 1))
    assert len(set(offsets)) == len(set(factors)) == n
    signatures = minhash(sets, n)
    for d in range(6):
        elements = [int(x) * 0x9E3779B97F4A7C15 % 2**64 >> 32 for x in sets.hashes[sets.first[d] : sets.first[d + 1]]]
        for i in range(n):
            values = [(x ^ offsets[i]) * factors[i] % 2**32 for x in elements]
            assert signatures[d, i] == min(((v ^ v >> 15) * 0x85EBCA6B % 2**32 for v in values), default=int(EMPTY))


def expected_pairs(signatures: np.ndarray, n_bands: int, max_bucket: int) -> list[tuple[int, int]]:
    """What `band_pairs` promises, with dictionaries."""
    n_rows = signatures.shape[1] // n_bands
    found = set()
    for band in range(n_bands):
        buckets: dict[tuple[int, ...], list[int]] = {}
        for d, row in enumerate(signatures.tolist()):
            if row[0] != EMPTY:
                buckets.setdefault(tuple(row[band * n_rows : (band + 1) * n_rows]), []).append(d)
        for members in buckets.values():
            firsts = members if len(members) <= max_bucket else members[:1]
            found |= {(x, y) for x in firsts for y in members if x < y}
    return sorted(found)


@settings(max_examples=600, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from([(1, 1), (3, 1), (1, 3), (2, 2), (4, 3), (6, 1)]),
    st.integers(1, 6),
    st.sampled_from([1, 2, 3, 5, MANY]),
)
def test_bands_equal_comparing_all_pairs(
    seed: int, n_documents: int, shape: tuple[int, int], n_values: int, max_bucket: int
) -> None:
    n_bands, n_rows = shape
    random = np.random.default_rng(seed)
    signatures = random.integers(0, n_values, (n_documents, n_bands * n_rows)).astype(np.uint32)
    signatures[random.random(n_documents) < 0.1] = EMPTY
    a, b = band_pairs(signatures, n_bands, max_bucket)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == expected_pairs(signatures, n_bands, max_bucket)
    shares = agreement(signatures, a, b)
    assert np.allclose(shares, (signatures[a] == signatures[b]).mean(axis=1))


def test_bands_of_sets_equal_comparing_all_pairs() -> None:
    random = np.random.default_rng(3)
    sets = [random.choice(60, random.integers(0, 40), replace=False).tolist() for _ in range(150)]
    signatures = minhash(hash_sets(sets), 24)
    a, b = band_pairs(signatures, 12, MANY)
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == expected_pairs(signatures, 12, MANY)
    assert 0 < len(a) < 150 * 149 // 2


@pytest.mark.parametrize("max_bucket", [2, MANY])
def test_keys_that_collide_make_no_pairs(max_bucket: int) -> None:
    """Keys of numbers only, so that all documents are in one bucket."""
    signatures = np.random.default_rng(6).integers(0, 4, (30, 2)).astype(np.uint32)
    arguments = np.arange(30, dtype=np.uint64), 5, signatures.reshape(-1), 2, 0, 2, max_bucket
    pairs = np.empty(pair_bands(*arguments, np.empty(0, np.uint64)), np.uint64)
    pair_bands(*arguments, pairs)
    found = sorted((pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist())
    assert found == expected_pairs(signatures, 1, 1 if max_bucket == 2 else MANY)
    assert len(found) > 10


def test_a_thousand_copies_are_no_million_pairs() -> None:
    signatures = minhash(hash_sets([[1, 2, 3]] * 1000 + [[4, 5]]), 16)
    a, b = band_pairs(signatures, 4, 100)
    assert a.tolist() == [0] * 999
    assert b.tolist() == list(range(1, 1000))


def test_empty_sets_are_in_no_pair() -> None:
    signatures = minhash(hash_sets([[], [1], [], [1], []]), 8)
    a, b = band_pairs(signatures, 4, MANY)
    assert (a.tolist(), b.tolist()) == ([1], [3])
    empties = np.array([0, 0, 1], np.int32), np.array([2, 1, 3], np.int32)
    assert agreement(signatures, *empties).tolist() == [0.0, 0.0, 1.0]
    a, b = band_pairs(minhash(hash_sets([]), 8), 4, MANY)
    assert len(a) == len(b) == 0


def test_bands_must_be_equal() -> None:
    with pytest.raises(ValueError, match="equal bands"):
        band_pairs(minhash(hash_sets([[1]]), 10), 3, MANY)


@pytest.mark.parametrize(("n_bands", "n_rows"), [(16, 4), (8, 8), (32, 2)])
def test_candidates_are_as_likely_as_said(n_bands: int, n_rows: int) -> None:
    n_pairs = 1000
    sets, _, _ = pairs_of_resemblance(n_pairs, 60, 20)  # resemblance 0.6
    a, b = band_pairs(minhash(sets, n_bands * n_rows), n_bands, MANY)
    found = int(((a % 2 == 0) & (b == a + 1)).sum())
    likely = candidate_probability(0.6, n_bands, n_rows)
    assert abs(found / n_pairs - likely) < 4 * (likely * (1 - likely) / n_pairs) ** 0.5 + 1 / n_pairs


def test_probability_of_candidates() -> None:
    assert candidate_probability(0.0, 16, 8) == 0.0
    assert candidate_probability(1.0, 16, 8) == 1.0
    assert candidate_probability(0.5, 1, 3) == pytest.approx(0.125)
    assert candidate_probability(0.5, 2, 1) == pytest.approx(0.75)


def test_the_outcome_does_not_depend_on_the_workers() -> None:
    random = np.random.default_rng(5)
    sets = hash_sets([random.choice(300, random.integers(0, 60), replace=False).tolist() for _ in range(800)])
    alone = minhash(sets, 64)
    pairs = band_pairs(alone, 32, 50)
    assert len(pairs[0]) > 0
    for workers in (2, 5):
        with Threads(workers) as engine:
            assert np.array_equal(alone, minhash(sets, 64, engine.run_tasks))
            shared = band_pairs(alone, 32, 50, engine.run_tasks)
        assert all(np.array_equal(x, y) for x, y in zip(pairs, shared, strict=True))


def test_the_twin_of_bands_finds_what_agrees() -> None:
    signatures = np.array([[1, 2, 3, 4], [1, 2, 9, 9], [7, 7, 3, 4], [8, 8, 8, 8]], np.uint32)
    agreeing = [
        (x, y)
        for x, y in combinations(range(4), 2)
        if any((signatures[x, c : c + 2] == signatures[y, c : c + 2]).all() for c in (0, 2))
    ]
    assert expected_pairs(signatures, 2, MANY) == agreeing == [(0, 1), (0, 2)]
