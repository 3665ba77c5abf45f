"""Checks: the polynomials that they are said to be, and digests that different texts share distinguished by them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import draw_seed, is_secret
from ibidem.columns.text_checks import CheckKey, settle_digests
from ibidem.sentences.equal_digests import checks_of_words

FIELD = (1 << 61) - 1
TEXTS = st.lists(st.text(max_size=40), max_size=6)
SEEDS = st.integers(0, (1 << 63) - 1)


def check_of(blocks: list[int], length: int, place: int) -> int:
    """Return the value of a polynomial over the field, by Horner's rule."""
    value = length
    for block in blocks:
        value = (value * place + block) % FIELD
    return value % FIELD


@settings(deadline=None)
@given(TEXTS, SEEDS)
def test_checks_of_bytes_are_polynomials(texts: list[str], seed: int) -> None:
    key = CheckKey(seed)
    places = key.places.tolist()
    found = key.of_texts(pa.array(texts, pa.large_string())).tolist()
    for text, checks in zip(texts, found, strict=True):
        data = text.encode()
        blocks = [int.from_bytes(data[i : i + 7], "little") for i in range(0, len(data), 7)]
        assert checks == [check_of(blocks, len(data), place) for place in places]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=9), max_size=5), SEEDS)
def test_checks_of_tokens_are_polynomials(lists: list[list[int]], seed: int) -> None:
    key = CheckKey(seed)
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    found = key.of_tokens(np.array([token for tokens in lists for token in tokens], np.uint64), first).tolist()
    expected = [[check_of(tokens, len(tokens), place) for place in key.places.tolist()] for tokens in lists]
    assert found == expected


def test_numbers_at_the_edges_of_the_field() -> None:
    key = CheckKey(1)
    tokens = [0, 1, FIELD - 1, FIELD, FIELD + 1, 2 * FIELD, (1 << 63), (1 << 64) - 1]
    first = np.array([0, len(tokens)])
    expected = [check_of(tokens, len(tokens), place) for place in key.places.tolist()]
    assert key.of_tokens(np.array(tokens, np.uint64), first).tolist() == [expected]


def test_words_are_folded_before_they_are_checked() -> None:
    key = CheckKey.drawn()
    data = np.frombuffer(b"The Ferry, left! the ferry left the ferries left", np.uint8)
    checks = checks_of_words(key, data, np.array([0, 17, 32]), np.array([16, 31, 48]))
    assert checks[0].tolist() == checks[1].tolist()
    assert (checks[0] != checks[2]).all()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_settled_digests_are_equal_where_both_are(pairs: list[tuple[int, int]]) -> None:
    digests = np.array([digest for digest, _ in pairs], np.uint64)
    # Texts of one check have one digest.
    checks = np.array([(10 * digest + check, check) for digest, check in pairs], np.uint64).reshape(-1, 2)
    settled = settle_digests(digests, checks)
    for i, one in enumerate(pairs):
        for k, other in enumerate(pairs):
            if one[0] and other[0]:
                assert (settled[i] == settled[k]) == (one == other)
        assert (settled[i] == 0) == (one[0] == 0)


def test_digests_that_nobody_shares_stay_as_they_are() -> None:
    digests = np.array([5, 7, 5, 0, 0], np.uint64)
    checks = np.array([[1, 1], [2, 2], [1, 1], [3, 3], [3, 3]], np.uint64)
    assert settle_digests(digests, checks) is digests


def test_drawn_seeds_are_new_and_known_as_secret() -> None:
    seeds = {draw_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert all(is_secret(seed) and 0 < seed < 1 << 63 for seed in seeds)
    assert not is_secret(0)
    assert not is_secret(12345)
