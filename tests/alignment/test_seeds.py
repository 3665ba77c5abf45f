"""Seeds: equal to brute force, and every long common run has one."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.alignment.twins import CLOSE, likenesses, octet_places, sentences_of
from tests.alignment.wrapping import Pair, limits_of
from tests.oracles import maximal_runs

SEEDS_A_SENTENCE, OCTET_PLACES = 8, 4
Text = tuple[list[int], list[bool]]


@st.composite
def texts(draw: st.DrawFn) -> tuple[Text, Text]:
    """Two texts over a small alphabet, of which the second takes some stretches from the first."""
    rng = draw(st.randoms(use_true_random=False))
    n_words, density = draw(st.sampled_from([2, 5, 20, 60])), draw(st.sampled_from([0.0, 0.1, 0.25, 0.5]))
    a = [rng.randint(1, n_words) for _ in range(rng.randint(1, 120))]
    b: list[int] = []
    while len(b) < rng.randint(1, 120):
        if rng.random() < 0.5:
            start = rng.randrange(len(a))
            b += a[start : start + rng.randint(1, 25)]
        else:
            b += [rng.randint(1, 2 * n_words) for _ in range(rng.randint(1, 10))]
    return (a, [rng.random() < density for _ in a]), (b, [rng.random() < density for _ in b])


def check_seeds(a: Text, b: Text, pair: Pair) -> None:
    """Compare the seeds of two texts with those of the definition."""
    limits = limits_of()
    seeds, firsts = pair.seeds(limits)
    sentences_a, sentences_b = sentences_of(len(a[0]), a[1]), sentences_of(len(b[0]), b[1])
    expected_firsts = [s[0] for s in sentences_a] + [len(a[0]) + s[0] for s in sentences_b] + [len(a[0]) + len(b[0])]
    assert firsts == expected_firsts
    # Runs of eight words come last, in reading order; one after the other they are not the same.
    sentence_a = {k: s for s, places in enumerate(sentences_a) for k in places}
    sentence_b = {k: s for s, places in enumerate(sentences_b) for k in places}
    # Those of a looked up in b, then those of b in a.
    octets = []
    for places in (
        octet_places(a[0], b[0], OCTET_PLACES), [(i, j) for j, i in octet_places(b[0], a[0], OCTET_PLACES)],
    ):  # fmt: skip
        found_here = [(sentence_a[i], sentence_b[j]) for i, j in places]
        octets += [seed for k, seed in enumerate(found_here) if k == 0 or found_here[k - 1] != seed]
    assert seeds[len(seeds) - len(octets) :] == octets
    # Similar sentences come before. Where cosines are as good as equal, either may be chosen.
    similar = seeds[: len(seeds) - len(octets)]
    assert len(similar) == len(set(similar))
    bags = [[text[k] for k in places] for text, sentences in ((a[0], sentences_a), (b[0], sentences_b)) for places in sentences]
    alike = likenesses(bags[: len(sentences_a)], bags[len(sentences_a) :], limits.least_dice, limits.least_share)
    for s in range(len(sentences_a)):
        found = [seed for seed in similar if seed[0] == s]
        cosines = {seed: likeness.cosine for seed, likeness in alike.items() if seed[0] == s and likeness.is_alike}
        assert all(cosines.get(seed, 0.0) >= limits.least_cosine - CLOSE for seed in found)
        wanted = [seed for seed, cosine in cosines.items() if cosine >= limits.least_cosine + CLOSE]
        assert len(found) >= min(SEEDS_A_SENTENCE, len(wanted))
        assert len(found) <= SEEDS_A_SENTENCE
        left_out = [cosines[seed] for seed in wanted if seed not in found]
        if left_out:
            assert len(found) == SEEDS_A_SENTENCE
            assert max(left_out) <= min(cosines[seed] for seed in found) + CLOSE
        # The best one first.
        assert all(cosines[x] >= cosines[y] - CLOSE for x, y in pairwise(found))


@settings(max_examples=300, deadline=None)
@given(texts())
def test_seeds_equal_brute_force(pair: tuple[Text, Text]) -> None:
    a, b = pair
    check_seeds(a, b, Pair(a[0], b[0], a[1], b[1]))


@settings(max_examples=40, deadline=None)
@given(st.lists(texts(), min_size=2, max_size=4))
def test_seeds_are_the_same_in_a_room_that_was_used_before(pairs: list[tuple[Text, Text]]) -> None:
    most = max(max(len(a[0]), len(b[0])) for a, b in pairs)
    room = Pair([1] * most, [1] * most, [False] * most, [False] * most).room
    for a, b in pairs:
        check_seeds(a, b, Pair(a[0], b[0], a[1], b[1], room))


def test_words_of_very_many_sentences_are_left_out() -> None:
    """Every sentence contains one of two words, in more than an eighth of all and 64 besides; one word of each is its own."""
    rng = random.Random(5)
    texts = [[(rng.randint(1, 2), 100 + (s * step) % 150, 1000 + rng.randint(1, 900)) for s in range(150)] for step in (1, 7)]
    a, b = ([word for sentence in text for word in sentence] for text in texts)
    bounds = [k % 3 == 0 for k in range(len(a))]
    check_seeds((a, bounds), (b, bounds), Pair(a, b, bounds, bounds))


@pytest.mark.parametrize("length", [8, 16])
@settings(max_examples=250, deadline=None)
@given(texts())
def test_every_long_common_run_has_a_seed_in_its_sentences(length: int, pair: tuple[Text, Text]) -> None:
    (a, bounds_a), (b, bounds_b) = pair
    seeds, _ = Pair(a, b, bounds_a, bounds_b).seeds(limits_of())
    sentences_a, sentences_b = sentences_of(len(a), bounds_a), sentences_of(len(b), bounds_b)
    n_places = {tuple(b[j : j + 8]): 0 for j in range(len(b) - 7)}
    earlier: dict[int, int] = {}
    for j in range(len(b) - 7):
        earlier[j] = n_places[tuple(b[j : j + 8])]
        n_places[tuple(b[j : j + 8])] += 1
    for i, j, n in maximal_runs(len(a), len(b), lambda i, j: a[i] == b[j]):
        if n < length or all(earlier[k] >= OCTET_PLACES for k in range(j, j + n - 7)):
            continue
        holds_a = {s for s, places in enumerate(sentences_a) if places[0] < i + n and places[-1] >= i}
        holds_b = {s for s, places in enumerate(sentences_b) if places[0] < j + n and places[-1] >= j}
        assert any(x in holds_a and y in holds_b for x, y in seeds)


@settings(max_examples=150, deadline=None)
@given(texts())
def test_common_runs_of_too_many_places_still_lead_to_some_of_them(pair: tuple[Text, Text]) -> None:
    (a, bounds_a), (b, bounds_b) = pair
    seeds, _ = Pair(a, b, bounds_a, bounds_b).seeds(limits_of())
    sentence_a = {k: s for s, places in enumerate(sentences_of(len(a), bounds_a)) for k in places}
    in_b = {tuple(b[j : j + 8]) for j in range(len(b) - 7)}
    assert {sentence_a[i] for i in range(len(a) - 7) if tuple(a[i : i + 8]) in in_b} <= {seed[0] for seed in seeds}
