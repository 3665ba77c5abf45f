"""The join of sets over partitions: two sets that are similar meet at a key, also where common members are keys in twos."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.matches.exchange import join
from ibidem.matches.kernels import exchange as kernels
from tests.execution.parity import found_apart, local_tables
from tests.execution.random_collections import random_records

LIMITS = [(1, 10), (1, 3), (1, 2), (3, 5), (4, 5), (9, 10), (1, 1)]


def keys_of(sets: list[list[int]], levels: list[int], least_common: int, p: int, q: int) -> list[list[tuple[int, bool]]]:
    """Return the keys of each set, and whether larger sets look for it there."""
    sizes = np.array([len(each) for each in sets], np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    hashes = np.array([member for each in sets for member in each], np.uint64)
    of_hash = np.array([levels[member] for each in sets for member in each], np.int32)
    kernels.order_sets(hashes, of_hash, first, np.empty(len(sets), np.uint64))
    n = 0
    for _ in range(2):
        keys, which, is_indexed = np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.bool_)
        n = kernels.list_prefixes(hashes, of_hash, least_common, join.sizes_in_twos(p, q), first, p, q, keys, which, is_indexed)
    found: list[list[tuple[int, bool]]] = [[] for _ in sets]
    for key, number, indexed in zip(keys.tolist(), which.tolist(), is_indexed.tolist(), strict=True):
        found[number].append((key, indexed))
    return found


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from(LIMITS))
def test_similar_sets_meet(seed: int, limit: tuple[int, int]) -> None:
    p, q = limit
    chance = random.Random(seed)
    n_members, most = chance.choice([4, 9, 30]), chance.choice([3, 8, 20])
    sets = [chance.sample(range(n_members), chance.randint(0, min(most, n_members))) for _ in range(12)]
    levels = [max(0, chance.randint(-3, 9)) for _ in range(n_members)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(join, "_MOST_IN_TWOS", chance.choice([1, 2, 3, 16]))
        keys = keys_of(sets, levels, chance.randint(1, 11), p, q)
    for x, larger in enumerate(sets):
        for y, smaller in enumerate(sets):
            shared, total = len({*larger} & {*smaller}), len({*larger} | {*smaller})
            if x == y or len(smaller) > len(larger) or not shared or q * shared < p * total:
                continue
            assert {key for key, _ in keys[x]} & {key for key, indexed in keys[y] if indexed}


def test_common_members_are_keys_in_twos_only() -> None:
    # At 4/5 the first two of ten members are keys; one and two are common, zero is not.
    ((alone, *others),) = keys_of([list(range(6))], [0, 8, 9, 9, 9, 9], 5, 4, 5)
    assert alone == (0, True)
    assert len(others) == 1
    assert not {key for key, _ in others} & set(range(6))


@pytest.mark.parametrize("seed", range(24))
def test_collections_of_common_words(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "_SAMPLE_EVERY", 1)
    monkeypatch.setattr(join, "_LEAST_COUNT", 1)
    monkeypatch.setattr(join, "_COMMON_COUNT", seed % 4)
    records = random_records(seed, 30)
    chosen = {"min_similarity": ("0.3", "0.5", "0.8")[seed % 3], "signature": "words" if seed % 2 else "shingles"}
    assert found_apart(records, None, 3, seed=seed, **chosen) == local_tables(records, None, **chosen)


@pytest.mark.parametrize("seed", range(12))
def test_crowds_are_joined_as_on_one_machine(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists and blocks so short that every way is taken."""
    monkeypatch.setattr(join, "_LONG_LIST", 2)
    monkeypatch.setattr(join, "_LONG_CROWD", (3, 10**6)[seed % 2])
    monkeypatch.setattr(join, "MOST_POSTINGS", (1, 4, 10**6)[seed % 3])
    records = random_records(seed, 30)
    chosen = {"min_similarity": ("0.3", "0.5", "0.8")[seed % 3], "signature": "words"}
    assert found_apart(records, None, 3, seed=seed, **chosen) == local_tables(records, None, **chosen)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LIMITS))
def test_sets_are_possible_if_any_other_is(seed: int, limit: tuple[int, int]) -> None:
    p, q = limit
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 30))
    member, size = np.sort(chance.integers(0, 3, n)), chance.integers(1, 6, n).astype(np.int32)
    size = size[np.lexsort((size, member))]
    bitmap, is_indexed = chance.integers(0, 16, n).astype(np.uint64), chance.random(n) < 0.5
    active = np.zeros(n, np.bool_)
    kernels.find_possible(member, size, bitmap, is_indexed, p, q, np.empty(n + 1, np.int64), np.empty(n + 1, np.int64), active)
    expected = np.zeros(n, np.bool_)
    for x in range(n):
        for y in range(x):
            needed = -(-p * int(size[x] + size[y]) // (p + q))
            differing = int(bitmap[x] ^ bitmap[y]).bit_count()
            is_near = q * int(size[y]) >= p * int(size[x]) and differing <= int(size[x] + size[y]) - 2 * needed
            if member[x] == member[y] and is_indexed[y] and is_near:
                expected[[x, y]] = True
    assert active.tolist() == expected.tolist()
