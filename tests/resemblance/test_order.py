"""The order measure is equal to dynamic programming over all pairs, with every filter."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.sets import HashSets
from ibidem.execution.threads import Threads
from ibidem.resemblance import order
from ibidem.resemblance.order import occurrence_hashes, order_overlaps, order_similarity

LIMITS = [Fraction(n, 10) for n in range(1, 11)] + [Fraction(1, 3), Fraction(2, 3), Fraction(5, 7), Fraction(55, 100)]
WIDTHS = (64, 128, 256)
HASH_OF = np.array([mix(SEED, np.uint64(x)) for x in range(2000)], np.uint64)


def hash_sequences(documents: list[list[int]]) -> HashSets:
    hashes = HASH_OF[np.array([x for d in documents for x in d], np.int64)]
    return HashSets(hashes, np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64))


def all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.triu_indices(n, 1)
    return a.astype(np.int32), b.astype(np.int32)


def common_subsequence(a: list[int], b: list[int]) -> int:
    """The textbook's dynamic programme."""
    row = [0] * (len(a) + 1)
    for y in b:
        above_left = 0
        for i, x in enumerate(a, 1):
            above = row[i]
            row[i] = above_left + 1 if x == y else max(above, row[i - 1])
            above_left = above
    return row[-1]


def common_subsequence_by_rows(a: np.ndarray, b: np.ndarray) -> int:
    """The same a row at a time: each cell is the largest of those to its left, above, and diagonally above plus a match."""
    row = np.zeros(len(a) + 1, np.int64)
    for y in b:
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], row[:-1] + (a == y)))
    return int(row[-1])


def expected_overlaps(documents: list[list[int]], limit: Fraction) -> list[int]:
    """What `order_overlaps` promises, by comparing everything."""
    overlaps = []
    for a, b in combinations(documents, 2):
        length = common_subsequence(a, b)
        overlaps.append(length if a and b and Fraction(2 * length, len(a) + len(b)) >= limit else -1)
    return overlaps


@st.composite
def collections_of_sequences(draw: st.DrawFn) -> list[list[int]]:
    """Sequences over a vocabulary from one word to many, many of them edited copies of one another."""
    vocabulary = draw(st.sampled_from([1, 2, 3, 6, 12, 40, 200]))
    sequence = st.lists(st.integers(0, vocabulary - 1), max_size=draw(st.integers(0, 24)))
    documents = [draw(sequence)]
    for _ in range(draw(st.integers(1, 6))):
        base = list(draw(st.sampled_from(documents)) if draw(st.booleans()) else draw(sequence))
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(base)))
            to = draw(st.integers(at, len(base)))
            # Insert something, delete a stretch, move it to the front, repeat it.
            base = draw(st.sampled_from([
                base[:at] + draw(sequence) + base[at:],
                base[:at] + base[to:],
                base[at:to] + base[:at] + base[to:],
                base[:to] + base[at:],
            ]))[:60]  # fmt: skip
        documents.append(base)
    return documents


@settings(max_examples=1000, deadline=None)
@given(collections_of_sequences(), st.sampled_from(LIMITS), st.sampled_from([1, 2, 64]), st.randoms(use_true_random=False))
def test_overlaps_equal_dynamic_programming_with_every_filter(
    documents: list[list[int]], limit: Fraction, n_parts: int, random
) -> None:
    """In parts of many pairs, which share an index of their first document, and in parts of one."""
    with patch.object(order, "_N_TASKS", n_parts):
        compare_with_every_filter(documents, limit, random)


def compare_with_every_filter(documents: list[list[int]], limit: Fraction, random) -> None:
    sequences = hash_sequences(documents)
    a, b = all_pairs(len(documents))
    expected = expected_overlaps(documents, limit)
    for bits in (0, *WIDTHS):
        scores = order_overlaps(sequences, a, b, limit, bits)
        assert scores.overlaps.tolist() == expected, bits
        assert scores.n_rejected_by_size + scores.n_rejected_by_bitmap + scores.n_compared == len(a)
        assert bits > 0 or scores.n_rejected_by_bitmap == 0
        if limit >= Fraction(1, 2):
            printed = order_overlaps(sequences, a, b, limit, bits, paper_bound=True)
            assert printed.overlaps.tolist() == expected, bits
    # Pairs of one document need not follow one another, nor have the smaller number first.
    shuffled = list(range(len(a)))
    random.shuffle(shuffled)
    assert order_overlaps(sequences, a[shuffled], b[shuffled], limit).overlaps.tolist() == [expected[i] for i in shuffled]
    assert order_overlaps(sequences, b[shuffled], a[shuffled], limit).overlaps.tolist() == [expected[i] for i in shuffled]


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 4, 30, 300, 2000]),
    st.sampled_from([63, 64, 65, 127, 128, 129, 192, 500]),
    st.integers(0, 400),
    st.sampled_from([0.0, 0.02, 0.3, 1.0]),
)
def test_long_sequences(seed: int, vocabulary: int, length: int, other_length: int, share_changed: float) -> None:
    """Carries run through many words; with a limit the comparison may end early."""
    random = np.random.default_rng(seed)
    a = random.integers(0, vocabulary, length)
    b = np.where(random.random(length) < share_changed, random.integers(0, vocabulary, length), a)
    moved = np.roll(a, int(random.integers(0, length)))
    c = random.integers(0, vocabulary, other_length)
    documents = [a, b, moved, c, np.concatenate([c, a]), np.concatenate([a, c])]
    sequences = hash_sequences([d.tolist() for d in documents])
    firsts, seconds = all_pairs(len(documents))
    lengths = [common_subsequence_by_rows(x, y) for x, y in combinations(documents, 2)]
    for limit in (Fraction(0), Fraction(1, 3), Fraction(9, 10)):
        expected = [
            n if len(x) and len(y) and Fraction(2 * n, len(x) + len(y)) >= limit else -1
            for n, (x, y) in zip(lengths, combinations(documents, 2), strict=True)
        ]
        for n_parts in (1, 64):
            with patch.object(order, "_N_TASKS", n_parts):
                assert order_overlaps(sequences, firsts, seconds, limit).overlaps.tolist() == expected
                assert order_overlaps(sequences, seconds, firsts, limit).overlaps.tolist() == expected


@pytest.mark.parametrize("length", [4032, 4096, 4150, 8192, 8240, 8300])
def test_very_long_permutations(length: int) -> None:
    """Distinct elements: the longest common subsequence is the longest rising one, which is found by cards in piles."""
    random = np.random.default_rng(length)
    a = np.arange(length)
    for share_moved in (0.01, 0.2, 1.0):
        b = a.copy()
        moved = np.flatnonzero(random.random(length) < share_moved)
        b[moved] = b[random.permutation(moved)]
        piles: list[int] = []
        for x in b.tolist():
            at = bisect_left(piles, x)
            piles[at : at + 1] = [x]
        assert order_similarity(a.astype(np.uint64), b.astype(np.uint64)) == len(piles)


def test_the_twins_agree() -> None:
    random = np.random.default_rng(1)
    for vocabulary in (1, 2, 5, 50):
        a, b = random.integers(0, vocabulary, 40), random.integers(0, vocabulary, 30)
        assert common_subsequence(a.tolist(), b.tolist()) == common_subsequence_by_rows(a, b)


def test_a_hundred_thousand_shingles_are_no_matter_of_minutes() -> None:
    n = 200_000
    a = np.random.default_rng(3).permutation(np.arange(1, n + 1, dtype=np.uint64))
    assert order_similarity(a, a) == n
    assert order_similarity(a, a[::-1].copy()) == 1
    assert order_similarity(a, np.roll(a, n // 4)) == n - n // 4
    assert order_similarity(a, np.delete(a, [0, 5, 70_000, n - 1])) == n - 4


def test_similarity_of_two_sequences() -> None:
    one, other = (np.array(list(text.encode()), np.uint64) for text in ("abcbdab", "bdcaba"))
    assert order_similarity(one, other) == 4
    assert order_similarity(one, one[:0]) == 0
    assert order_similarity(one[:0], one[:0]) == 0


def test_an_empty_sequence_is_similar_to_nothing() -> None:
    sequences = hash_sequences([[], [], [1, 2]])
    for limit in (Fraction(0), Fraction(1, 10), Fraction(1)):
        assert order_overlaps(sequences, *all_pairs(3), limit).overlaps.tolist() == [-1, -1, -1]
    assert order_overlaps(sequences, *all_pairs(0), limit).overlaps.tolist() == []


@pytest.mark.parametrize("bits", WIDTHS)
def test_the_printed_bound_loses_pairs_below_one_half(bits: int) -> None:
    """20 elements each, 6 of them in common: similarity 0.3, but 28 elements apart and only 20 are allowed for."""
    sequences = hash_sequences([list(range(20)), [*range(6), *range(100, 114)]])
    pair = all_pairs(2)
    assert order_overlaps(sequences, *pair, Fraction(3, 10), bits).overlaps.tolist() == [6]
    printed = order_overlaps(sequences, *pair, Fraction(3, 10), bits, paper_bound=True)
    assert printed.overlaps.tolist() == [-1]
    assert printed.n_rejected_by_bitmap == 1


def test_bounds_are_inclusive() -> None:
    """Similarity one half, and half of the elements apart, each with a bit of its own."""
    sequences = hash_sequences([[0, 1], [0, 2]])
    for paper_bound in (False, True):
        assert order_overlaps(sequences, *all_pairs(2), Fraction(1, 2), 256, paper_bound).overlaps.tolist() == [1]
        assert order_overlaps(sequences, *all_pairs(2), Fraction(51, 100), 256, paper_bound).overlaps.tolist() == [-1]


@pytest.mark.parametrize("bits", WIDTHS)
def test_the_filters_do_reject(bits: int) -> None:
    """Unrelated documents: sizes reject some, bitmaps nearly all others, more of them than the printed bound."""
    random = np.random.default_rng(4)
    documents = [random.integers(0, 100, random.integers(8, 24)).tolist() for _ in range(200)]
    arguments = hash_sequences(documents), *all_pairs(200), Fraction(7, 10), bits
    scores, printed = order_overlaps(*arguments), order_overlaps(*arguments, paper_bound=True)
    assert scores.n_rejected_by_size > 1000
    assert scores.n_compared < 0.01 * len(scores.overlaps)
    assert printed.n_rejected_by_size == 0
    assert scores.n_compared < printed.n_compared < len(scores.overlaps)


def test_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="filter_bits"):
        order_overlaps(hash_sequences([[1], [2]]), *all_pairs(2), Fraction(1, 2), 32)


@settings(max_examples=250, deadline=None)
@given(collections_of_sequences())
def test_occurrences_turn_multisets_into_sets(documents: list[list[int]]) -> None:
    sequences = hash_sequences(documents)
    numbered = occurrence_hashes(sequences)
    assert numbered.first.tolist() == sequences.first.tolist()
    sets = []
    for d, document in enumerate(documents):
        begin, end = numbered.first[d : d + 2]
        elements = numbered.hashes[begin:end].tolist()
        assert len(set(elements)) == len(document)
        for i, x in enumerate(document):
            if x not in document[:i]:
                assert elements[i] == HASH_OF[x]
        sets.append(set(elements))
    for (a, set_a), (b, set_b) in combinations(zip(documents, sets, strict=True), 2):
        assert len(set_a & set_b) == (Counter(a) & Counter(b)).total() >= common_subsequence(a, b)


def test_the_outcome_does_not_depend_on_the_workers() -> None:
    random = np.random.default_rng(5)
    documents = [(random.zipf(1.4, random.integers(0, 90)) % 2000).tolist() for _ in range(300)]
    sequences, pairs = hash_sequences(documents), all_pairs(300)
    alone, numbered = order_overlaps(sequences, *pairs, Fraction(1, 2)), occurrence_hashes(sequences)
    for workers in (2, 5):
        with Threads(workers) as engine:
            shared = order_overlaps(sequences, *pairs, Fraction(1, 2), run_tasks=engine.run_tasks)
            assert np.array_equal(alone.overlaps, shared.overlaps)
            assert alone.n_compared == shared.n_compared > 0
            assert np.array_equal(numbered.hashes, occurrence_hashes(sequences, engine.run_tasks).hashes)
    assert (alone.overlaps >= 0).any()
