"""Bit signatures: masks and their joins, what the paper predicts, and the search against comparing everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.index import bits

WIDTHS = [8, 16, 32, 64, 80, 128, 200]
NEVER = 1 << 60  # work after which a query is given up


def random_hashes(n: int, seed: int = 0) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def zipf_signatures(n: int, n_bits: int, bits_per_word: int, seed: int, n_words: int = 10) -> NDArray[np.uint64]:
    """Signatures of sentences whose words are as unevenly spread as those of texts."""
    masks = bits.word_masks(random_hashes(5000, seed), n_bits, bits_per_word)
    words = np.minimum(np.random.default_rng(seed).zipf(1.3, n * n_words) - 1, masks.shape[-1] - 1)
    return bits.sentence_signatures(masks, words, np.arange(0, n * n_words + 1, n_words))


def random_signatures(n: int, n_bits: int, seed: int = 0) -> NDArray[np.uint64]:
    """Signatures with every bit set by chance."""
    return as_signatures([int.from_bytes(np.random.default_rng([seed, k]).bytes(64), "little") for k in range(n)], n_bits)


def as_signatures(numbers: Sequence[int], n_bits: int) -> NDArray[np.uint64]:
    """Return the lowest bits of numbers as signatures, in planes if they are wide."""
    low = (1 << n_bits) - 1
    planes = [[(number & low) >> shift & (1 << 64) - 1 for number in numbers] for shift in range(0, n_bits, 64)]
    return np.array(planes if len(planes) > 1 else planes[0], np.uint64)


def as_numbers(signatures: NDArray[np.uint64]) -> list[int]:
    """Return signatures as whole numbers."""
    planes = np.atleast_2d(signatures).tolist()
    return [sum(bits << 64 * plane for plane, bits in enumerate(row)) for row in zip(*planes, strict=True)]


def brute_force(signatures: NDArray[np.uint64], queries: NDArray[np.uint64], radius: int) -> list[list[int]]:
    rows = as_numbers(signatures)
    return [[row for row, other in enumerate(rows) if (query ^ other).bit_count() <= radius] for query in as_numbers(queries)]


def as_lists(found: tuple[NDArray[np.int64], NDArray[np.uint32]]) -> list[list[int]]:
    first, rows = found
    assert first.dtype == np.int64
    assert rows.dtype == np.uint32
    assert first[0] == 0
    assert first[-1] == len(rows)
    return [rows[first[q] : first[q + 1]].tolist() for q in range(len(first) - 1)]


def compare_all(signatures: NDArray[np.uint64], queries: NDArray[np.uint64], n_bits: int, radius: int) -> None:
    expected = brute_force(signatures, queries, radius)
    tables = bits.build_tables(signatures, n_bits)
    assert as_lists(bits.scan(signatures, queries, radius)) == expected
    assert as_lists(bits.search(tables, signatures, queries, radius)) == expected
    # Few rows are always scanned: ask the tables themselves, patiently and ready to give up.
    assert as_lists(bits._search_tables(tables, signatures, queries, radius, NEVER)) == expected
    assert as_lists(bits._search_tables(tables, signatures, queries, radius, 40 * 16)) == expected


# Masks and signatures


@pytest.mark.parametrize("n_bits", [8, 13, 16, 32, 33, 64, 65, 128, 300])
@pytest.mark.parametrize("hashes", [random_hashes(3000), np.arange(3000, dtype=np.uint64)], ids=["random", "counted"])
def test_a_mask_has_as_many_bits_as_asked_for_and_all_bits_are_used_alike(n_bits: int, hashes: NDArray[np.uint64]) -> None:
    for bits_per_word in (1, 2, 3, n_bits // 2, n_bits):
        masks = bits.word_masks(hashes, n_bits, bits_per_word)
        assert {mask.bit_count() for mask in as_numbers(masks)} == {bits_per_word}
        assert max(as_numbers(masks)) < 1 << n_bits
        planes = np.atleast_2d(masks)
        uses = np.array([np.count_nonzero(planes[bit // 64] >> np.uint64(bit % 64) & np.uint64(1)) for bit in range(n_bits)])
        share = bits_per_word / n_bits
        assert np.abs(uses - len(hashes) * share).max() <= 5 * (len(hashes) * share * (1 - share)) ** 0.5


@pytest.mark.parametrize("hashes", [random_hashes(60_000), np.arange(60_000, dtype=np.uint64)], ids=["random", "counted"])
def test_every_choice_of_bits_is_about_as_likely(hashes: NDArray[np.uint64]) -> None:
    masks, counts = np.unique(bits.word_masks(hashes, 16, 2), return_counts=True)
    assert len(masks) == 120
    expected = len(hashes) / 120
    assert ((counts - expected) ** 2 / expected).sum() < 119 + 5 * (2 * 119) ** 0.5  # chi square


def test_masks_never_change() -> None:
    hashes = np.array([0, 1, 2**64 - 1, 0x9E3779B97F4A7C15], np.uint64)
    assert bits.word_masks(hashes, 8, 3).tolist() == [104, 7, 81, 194]
    assert bits.word_masks(hashes, 64, 3).tolist() == [1154047404647907328, 8405000, 274877907464, 2306968909120798720]


def test_settings_that_cannot_be_met_are_refused() -> None:
    hashes = random_hashes(3)
    for n_bits, bits_per_word in [(7, 1), (513, 1), (8, 0), (8, 9)]:
        with pytest.raises(ValueError):
            bits.word_masks(hashes, n_bits, bits_per_word)
    tables = bits.build_tables(hashes, 64)
    with pytest.raises(ValueError):
        bits.search(tables, hashes, hashes, -1)
    with pytest.raises(ValueError):
        bits.scan(hashes, hashes, -1)
    with pytest.raises(ValueError):
        bits.search(tables, hashes[:2], hashes, 1)
    with pytest.raises(ValueError):
        bits.pieces_of(1 << 32, 64)


def test_the_worked_example_of_the_paper() -> None:
    """Figure 3: which words a sentence seems to contain."""
    masks = np.array([0b00110010, 0b00011100, 0b00010110, 0b10000011, 0b00101010], np.uint64)
    motorola, music, phone, game, television = range(5)
    words = np.array([motorola, music, phone, game])
    signatures = bits.sentence_signatures(masks, words, np.array([0, 3, 3, 4]))
    assert signatures.tolist() == [0b00111110, 0, 0b10000011]
    contained = {word for word in range(5) if int(masks[word]) & ~int(signatures[0]) == 0}
    assert contained == {motorola, music, phone, television}  # the last one is a false match


# Predictions


def test_predictions_for_32_bits() -> None:
    assert bits.bit_change_probability(32, 2, 8, 3) == pytest.approx(0.10437, abs=5e-6)
    within = [bits.within_probability(32, 2, 8, 3, radius) for radius in range(6)]
    assert within == pytest.approx([0.0294, 0.1390, 0.3369, 0.5676, 0.7624, 0.8896], abs=5e-5)
    assert [bits.predicted_false_positive(32, 2, 8, 2, radius) for radius in range(6)] == within
    assert bits.predicted_recall(32, 2, 8, 3, 2) == within[2]


def test_radii_of_the_paper() -> None:
    assert [bits.radius_for(32, 2, 8, 2, limit) for limit in (0.1, 0.25)] == [0, 1]
    assert [bits.radius_for(64, 3, 8, 2, limit) for limit in (0.1, 0.25)] == [2, 3]
    assert bits.radius_for(16, 1, 8, 2, 0.1) is None
    assert bits.radius_for(16, 1, 8, 2, 1.0) == 16


def test_bits_that_a_vocabulary_needs() -> None:
    assert [bits.bits_per_word_for(n_bits, 10**5) for n_bits in (16, 32, 64, 128)] == [None, 5, 4, 3]
    assert [bits.bits_per_word_for(32, size) for size in (0, 1, 32, 33, 496, 497)] == [1, 1, 1, 2, 2, 3]


@given(st.integers(2, 64), st.integers(1, 8), st.integers(0, 200), st.integers(0, 200))
def test_predictions_are_probabilities(n_bits: int, bits_per_word: int, n_words: int, n_more: int) -> None:
    p = bits.bit_change_probability(n_bits, bits_per_word, n_words, n_more)
    q = 1 - 1 / n_bits
    assert p == pytest.approx(q ** (n_words * bits_per_word) * (1 - q ** (n_more * bits_per_word)), abs=1e-12)
    within = [bits.within_probability(n_bits, bits_per_word, n_words, n_more, r) for r in range(-1, n_bits + 1)]
    assert within[0] == 0.0
    assert within[-1] == 1.0
    assert within == sorted(within)
    if n_more == 0:
        assert within[1] == 1.0


@pytest.mark.parametrize(("n_bits", "bits_per_word"), [(16, 1), (32, 2), (64, 3)])
def test_words_change_as_many_bits_as_predicted(n_bits: int, bits_per_word: int) -> None:
    n, n_words, n_more = 20_000, 8, 3
    masks = bits.word_masks(random_hashes(n * (n_words + n_more), 7), n_bits, bits_per_word)
    size = n_words + n_more
    before = np.bitwise_or.reduce(masks.reshape(n, size)[:, :n_words], axis=1)
    after = bits.sentence_signatures(masks, np.arange(len(masks)), np.arange(0, len(masks) + 1, size))
    changed = np.array([word.bit_count() for word in (before ^ after).tolist()])
    rate = bits.bit_change_probability(n_bits, bits_per_word, n_words, n_more)
    assert changed.mean() / n_bits == pytest.approx(rate, rel=0.03)
    # The paper takes bits for independent, but so few words set at most 3 l: their number is less spread than predicted.
    for radius in range(6):
        predicted = bits.within_probability(n_bits, bits_per_word, n_words, n_more, radius)
        assert np.mean(changed <= radius) == pytest.approx(predicted, abs=0.16)


@settings(max_examples=50)
@given(st.integers(1, 4), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32))
def test_the_lossless_radius_loses_nothing(bits_per_word: int, n_left: int, n_right: int, seed: int) -> None:
    masks = bits.word_masks(random_hashes(6 + n_left + n_right, seed), 64, bits_per_word)
    left, right = masks[: 6 + n_left], np.concatenate([masks[:6], masks[6 + n_left :]])
    apart = int(np.bitwise_or.reduce(left) ^ np.bitwise_or.reduce(right)).bit_count()
    assert apart <= bits.lossless_radius(bits_per_word, n_left + n_right)


# Search


@st.composite
def collections(draw: st.DrawFn) -> tuple[int, NDArray[np.uint64], NDArray[np.uint64]]:
    """Bits of a signature, signatures, queries: even ones, skewed ones, copies of few, and neighbours of one another."""
    n_bits = draw(st.sampled_from([8, 16, 24, 31, 32, 63, 64, 65, 127, 128, 192, 300]))
    n = draw(st.integers(0, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["even", "zipf", "few", "neighbours", "full"]))
    every_bit = (1 << n_bits) - 1

    def drawn() -> list[int]:
        return [int.from_bytes(rng.bytes(40), "little") & every_bit for _ in range(n + 10)]

    even = drawn()
    if kind == "zipf":
        numbers = as_numbers(zipf_signatures(n + 10, n_bits, draw(st.integers(1, 3)), int(rng.integers(2**31))))
    elif kind == "few":
        numbers = [even[k] for k in rng.integers(0, draw(st.integers(1, 5)), n + 10)]
    elif kind == "neighbours":
        numbers = [even[0] ^ sum(1 << int(bit) for bit in set(rng.integers(0, n_bits, 4).tolist())) for _ in even]
    elif kind == "full":
        numbers = [a | b | 1 for a, b in zip(even, drawn(), strict=True)]
    else:
        numbers = even
    numbers = [numbers[k] for k in rng.permutation(len(numbers))]
    queries = [*numbers[n:], *even[:3], 0, every_bit]
    n_queries = draw(st.integers(0, len(queries)))
    return n_bits, as_signatures(numbers[:n], n_bits), as_signatures(queries[:n_queries], n_bits)


@settings(max_examples=400, deadline=None)
@given(collections(), st.data())
def test_search_finds_what_comparing_everything_finds(
    collection: tuple[int, NDArray[np.uint64], NDArray[np.uint64]], data: st.DataObject
) -> None:
    n_bits, signatures, queries = collection
    radius = data.draw(st.one_of(st.integers(0, 8), st.integers(0, n_bits + 2)))
    compare_all(signatures, queries, n_bits, radius)


@pytest.mark.parametrize("n_bits", WIDTHS)
@pytest.mark.parametrize("kind", ["even", "zipf", "equal"])
def test_search_at_every_radius(n_bits: int, kind: str) -> None:
    even = random_signatures(600, n_bits)
    equal = np.repeat(even[..., :1], 600, axis=-1)
    signatures = {"even": even, "zipf": zipf_signatures(600, n_bits, 2, 3), "equal": equal}[kind]
    queries = np.concatenate([signatures[..., :3], even[..., :3], np.zeros_like(even[..., :1])], axis=-1)
    for radius in range(0, n_bits + 1, 1 if n_bits <= 64 else 9):
        compare_all(signatures, queries, n_bits, radius)


@pytest.mark.parametrize("n_bits", WIDTHS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 33])
def test_few_rows(n_bits: int, n: int) -> None:
    signatures = zipf_signatures(n, n_bits, 2, 1)
    queries = zipf_signatures(5, n_bits, 2, 1)
    for radius in (0, 1, n_bits - 1, n_bits, 1000):
        compare_all(signatures, queries, n_bits, radius)
    compare_all(signatures, queries[..., :0], n_bits, 1)


@pytest.mark.parametrize(("n_bits", "bits_per_word"), [(16, 1), (32, 2), (64, 3), (128, 4)])
def test_many_rows(n_bits: int, bits_per_word: int) -> None:
    """So many that queries go through the tables, and that results outgrow their room."""
    signatures = zipf_signatures(60_000, n_bits, bits_per_word, 5)
    queries = np.concatenate([signatures[..., ::1200], random_signatures(10, n_bits)], axis=-1)
    tables = bits.build_tables(signatures, n_bits)
    for radius in (0, 1, 2, 3, 5, 8, n_bits // 2):
        first, rows = bits.scan(signatures, queries, radius)
        for found in (
            bits.search(tables, signatures, queries, radius),
            bits._search_tables(tables, signatures, queries, radius, NEVER),
        ):
            assert np.array_equal(found[0], first)
            assert np.array_equal(found[1], rows)
        n_different = popcounts(signatures ^ queries[..., :1])
        assert np.array_equal(rows[first[0] : first[1]], np.flatnonzero(n_different <= radius))


def popcounts(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    planes = np.atleast_2d(words)
    return sum(np.unpackbits(plane.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64) for plane in planes)  # type: ignore[return-value]


@pytest.mark.parametrize("n_bits", WIDTHS)
def test_tables_take_the_promised_room_and_can_be_opened_again(n_bits: int, tmp_path: Path) -> None:
    signatures = zipf_signatures(5000, n_bits, 2, 9)
    tables = bits.build_tables(signatures, n_bits)
    n_pieces, directory_bits = bits.pieces_of(5000, n_bits)
    assert tables.rows.nbytes == 4 * n_pieces * 5000
    assert len(tables.starts) == n_pieces * ((1 << directory_bits) + 1) <= n_pieces * (5000 // 4 + 1)
    for piece in range(n_pieces):
        assert np.array_equal(np.sort(tables.rows[piece * 5000 : (piece + 1) * 5000]), np.arange(5000))
    for name, column in [("rows", tables.rows), ("starts", tables.starts), ("signatures", signatures)]:
        column.tofile(tmp_path / name)
    mapped = bits.BitTables(
        np.memmap(tmp_path / "rows", np.uint32, "r"), np.memmap(tmp_path / "starts", np.uint32, "r"), n_bits
    )
    stored = np.memmap(tmp_path / "signatures", np.uint64, "r").reshape(signatures.shape)
    for radius in (0, 2):
        expected = as_lists(bits.scan(signatures, signatures[..., :20], radius))
        assert as_lists(bits.search(mapped, stored, signatures[..., :20], radius)) == expected
        assert as_lists(bits._search_tables(mapped, stored, signatures[..., :20], radius, NEVER)) == expected


def test_the_number_of_pieces() -> None:
    assert [bits.pieces_of(n, 64).n_pieces for n in (0, 1000, 10**5, 10**6, 5 * 10**6, 10**9)] == [8, 6, 4, 3, 3, 2]
    assert [bits.pieces_of(n, 32).n_pieces for n in (10**5, 10**6, 5 * 10**6)] == [2, 2, 2]
    assert bits.pieces_of(10**6, 8) == (1, 8)
