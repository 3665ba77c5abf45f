"""SimHash codes are votes, and the search for near codes is equal to comparing all pairs."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.sets import HashSets
from ibidem.execution.threads import Threads
from ibidem.resemblance import sketches as module
from ibidem.resemblance.sketches import near_codes, simhash

MANY = 10**9
choose_tables = module._choose_tables


def make_sets(sets: list[list[int]]) -> HashSets:
    hashes = np.array([x for s in sets for x in s], np.uint64)
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(s) for s in sets])]).astype(np.int64))


def expected_code(elements: list[int]) -> int:
    """Every element votes on every bit."""
    return sum(1 << i for i in range(64) if 2 * sum(x >> i & 1 for x in elements) > len(elements))


def expected_pairs(codes: list[int], max_bits_apart: int, known: list[bool], max_bucket: int) -> list[tuple[int, int]]:
    """What `near_codes` promises: all pairs, except for codes of too many documents only those of the first one."""
    documents = [d for d in range(len(codes)) if known[d]]
    groups: dict[int, list[int]] = {}
    for d in documents:
        groups.setdefault(codes[d], []).append(d)

    def stands(d: int) -> bool:
        return len(groups[codes[d]]) <= max_bucket or groups[codes[d]][0] == d

    return [
        (x, y)
        for x, y in combinations(documents, 2)
        if (codes[x] ^ codes[y]).bit_count() <= max_bits_apart
        and ((stands(x) and stands(y)) or (codes[x] == codes[y] and stands(x)))
    ]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=70), max_size=8))
def test_codes_are_votes(sets: list[list[int]]) -> None:
    assert simhash(make_sets(sets)).tolist() == [expected_code(s) for s in sets]


def test_codes_of_large_sets_are_votes() -> None:
    random = np.random.default_rng(1)
    sets = [random.integers(0, 2**64, size, dtype=np.uint64).tolist() for size in (255, 256, 257, 5000)]
    sets.append([2**64 - 1] * 1025)
    assert simhash(make_sets(sets)).tolist() == [expected_code(s) for s in sets]


def make_codes(random: np.random.Generator, n: int, max_flips: int) -> np.ndarray:
    """Codes of which many are copies of others with a few bits flipped, anywhere or side by side."""
    codes = random.integers(0, 2**64, max(1, n), dtype=np.uint64)
    for i in range(1, n):
        if random.random() < 0.8:
            code = int(codes[random.integers(0, i)])
            flips = random.choice(64, random.integers(0, max_flips + 1), replace=False)
            if random.random() < 0.3:
                flips = (random.integers(0, 64) + np.arange(len(flips))) % 64
            for bit in flips.tolist():
                code ^= 1 << bit
            codes[i] = code
    return codes[:n]


@settings(max_examples=1200, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from([0, 1, 2, 3, 3, 3, 4, 5]),
    st.sampled_from([10, 10**3, 10**5, 10**7, 10**9]),
    st.sampled_from([1, 2, 4, MANY]),
)
def test_near_codes_equal_comparing_all_pairs(seed: int, n: int, k: int, as_if: int, max_bucket: int) -> None:
    """With the tables that serve for a few codes, and with those for very many."""
    random = np.random.default_rng(seed)
    codes = make_codes(random, n, k + 2)
    known = random.random(n) < 0.9
    with patch.object(module, "_choose_tables", lambda _, k: choose_tables(as_if, k)):
        a, b = near_codes(codes, k, known, max_bucket)
    found = list(zip(a.tolist(), b.tolist(), strict=True))
    assert found == expected_pairs(codes.tolist(), k, known.tolist(), max_bucket)


@pytest.mark.parametrize("as_if", [10, 10**5, 10**7])
@pytest.mark.parametrize("k", range(6, 17))
def test_near_codes_far_apart(k: int, as_if: int) -> None:
    random = np.random.default_rng(k)
    codes = make_codes(random, 120, k + 3)
    known = np.ones(120, bool)
    with patch.object(module, "_choose_tables", lambda _, k: choose_tables(as_if, k)):
        a, b = near_codes(codes, k, known, MANY)
    found = list(zip(a.tolist(), b.tolist(), strict=True))
    assert found == expected_pairs(codes.tolist(), k, known.tolist(), MANY)
    assert len(found) > 100


def test_many_codes_equal_comparing_all_pairs() -> None:
    """More pairs than codes, and the tables that were chosen for so many."""
    codes = make_codes(np.random.default_rng(7), 3000, 2)
    bits = np.unpackbits(codes.view(np.uint8)).reshape(3000, 64).astype(np.float32)
    only_one = bits @ (1 - bits).T
    for k in (0, 1, 3, 8):
        x, y = np.nonzero(np.triu(only_one + only_one.T <= k, 1))
        a, b = near_codes(codes, k, np.ones(3000, bool), MANY)
        assert np.array_equal(a, x)
        assert np.array_equal(b, y)
    assert len(x) > 3000


def test_keys_that_leave_no_room_for_numbers_lose_no_pair() -> None:
    """Nearly a thousand tables of up to 55 bits, and codes whose numbers take 12."""
    codes = make_codes(np.random.default_rng(9), 3000, 3)
    known = np.ones(3000, bool)
    assert len(np.unique(codes)).bit_length() == 12
    expected = near_codes(codes, 3, known, MANY)
    with patch.object(module, "_SORT_COST", 0.0):
        assert max(sum(width for _, width in blocks) for blocks in choose_tables(3000, 3)) == 55
        found = near_codes(codes, 3, known, MANY)
    assert all(np.array_equal(x, y) for x, y in zip(expected, found, strict=True))
    assert len(found[0]) > 1000


def test_rows_go_on_where_the_room_was_full() -> None:
    """All codes within two bits of each other: far more pairs than the room for them."""
    codes = np.array([1 << i for i in range(64)], np.uint64)
    a, _ = near_codes(codes, 2, np.ones(64, bool), MANY)
    assert len(a) == 64 * 63 // 2


def test_tables_are_few_or_long() -> None:
    """The choices for three bits: all pairs for a few codes, then 4 tables of 16 bits, then 10 of 25."""
    chosen = [choose_tables(n, 3) for n in (100, 10**4, 10**7)]
    assert [(len(tables), sum(width for _, width in tables[0])) for tables in chosen] == [(1, 0), (4, 16), (10, 25)]
    for n in (1, 10**3, 10**6, 10**9):
        for k in range(17):
            assert all(0 <= shift < 64 and width > 0 for blocks in choose_tables(n, k) for shift, width in blocks)


def test_ten_thousand_equal_codes_are_no_fifty_million_pairs() -> None:
    codes = np.full(10_002, 12345, np.uint64)
    codes[[500, 10_001]] = 12344, 12347
    a, b = near_codes(codes, 1, np.ones(10_002, bool), 100)
    assert len(a) == 9_999 + 2
    assert (a == 0).all()
    assert set(b.tolist()) == set(range(1, 10_002))


def test_unknown_documents_are_in_no_pair() -> None:
    sets = make_sets([[], [5, 9], [], [5, 9]])
    a, b = near_codes(simhash(sets), 3, np.diff(sets.first) > 0, MANY)
    assert (a.tolist(), b.tolist()) == ([1], [3])
    a, b = near_codes(np.zeros(0, np.uint64), 3, np.zeros(0, bool), MANY)
    assert len(a) == len(b) == 0


def test_the_outcome_does_not_depend_on_the_workers() -> None:
    random = np.random.default_rng(8)
    sets = make_sets([random.integers(0, 2**64, random.integers(0, 50), dtype=np.uint64).tolist() for _ in range(500)])
    codes = make_codes(random, 20_000, 4)
    alone, pairs = simhash(sets), near_codes(codes, 3, np.ones(20_000, bool), 50)
    assert len(pairs[0]) > 1000
    for workers in (2, 5):
        with Threads(workers) as engine:
            assert np.array_equal(alone, simhash(sets, engine.run_tasks))
            shared = near_codes(codes, 3, np.ones(20_000, bool), 50, engine.run_tasks)
        assert all(np.array_equal(x, y) for x, y in zip(pairs, shared, strict=True))
