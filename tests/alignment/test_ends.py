"""Passages extended by the sentences beside them: as far as sentence against sentence has enough evidence, and no further."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment import Words, align_spans
from ibidem.alignment.aligner import N_MODELS
from ibidem.alignment.kernels.ends import LOOSE_MODELS, MORE_BESIDE_VERBATIM
from ibidem.alignment.kernels.grades import N_GRADES
from ibidem.config import AlignmentConfig
from ibidem.sentences.kernels.stems import SENTENCE_BOUND, STOP_BOUND, WITHIN_CLAUSE
from tests.alignment.wrapping import Pair, limits_of

Place = tuple[int, int, int, int]


def units_from(bounds: Sequence[int], at: int, step: int, limit: int) -> list[int]:
    """Return where the first three sentences end that are beside a place, in one direction."""
    ends: list[int] = []
    k = at
    while k != limit and len(ends) < 3:
        k += step
        if abs(k - at) > 60:
            break
        if k == limit or (bounds[k] >= STOP_BOUND and abs(k - at) >= 3):
            ends.append(k)
            at = k
    return ends


def expected_place(pair: Pair, bounds: Sequence[int], place: Place, least: float, is_loose: bool) -> Place:
    """Extend both ends of a passage in turn by whichever sentences have the most evidence, until none has enough.

    What is in place counts beside a loose or noisy passage only.
    """
    limits = limits_of()
    *weights, of_noise = limits.weights.reshape(-1, N_GRADES)[: limits.n_models]

    def evidence(low: int, high: int, other: tuple[int, int]) -> float:
        grades, in_place = pair.grade(other, low, high, limits)
        most = float(np.array(weights)[:, grades].sum(axis=1).max())
        return max(most, float(of_noise[in_place].sum())) if is_loose else most

    ends = list(place)
    n_a, n = len(pair.a), len(pair.a) + len(pair.b)
    for step, a_at, b_at, a_limit, b_limit in ((-1, 0, 2, 0, n_a), (1, 1, 3, n_a, n)):
        for _ in range(8):
            tried = []
            for a in units_from(bounds, ends[a_at], step, a_limit):
                for b in units_from(bounds, ends[b_at], step, b_limit):
                    of_a, of_b = sorted((ends[a_at], a)), sorted((ends[b_at], b))
                    both = evidence(of_a[0], of_a[1], (of_b[0], of_b[1])), evidence(of_b[0], of_b[1], (of_a[0], of_a[1]))
                    if min(both) > 0 and sum(both) > least:
                        tried.append((sum(both), a, b))
            if not tried:
                break
            _, ends[a_at], ends[b_at] = max(tried, key=lambda row: row[0])
    return ends[0], ends[1], ends[2], ends[3]


@st.composite
def edited_pairs(draw: st.DrawFn) -> tuple[Pair, list[int], Place]:
    """Two texts with a common sentence in the middle and edited ones around it, all of rare words."""
    rng = draw(st.randoms(use_true_random=False))
    sentences = [[rng.randint(1, 300) for _ in range(rng.randint(2, 9))] for _ in range(rng.randint(1, 7))]
    core = rng.randrange(len(sentences))
    sides: list[list[int]] = []
    all_bounds: list[list[int]] = []
    places: list[int] = []
    for _ in range(2):
        words: list[int] = []
        bounds: list[int] = []
        for number, sentence in enumerate(sentences):
            share = 1.0 if number == core else rng.choice([0.0, 0.4, 0.8, 1.0])
            own = [word if rng.random() < share else rng.randint(400, 900) for word in sentence]
            if number == core:
                places += [len(words), len(words) + len(own)]
            words += own
            bounds += [rng.choice([SENTENCE_BOUND, STOP_BOUND]), *[WITHIN_CLAUSE] * (len(own) - 1)]
        sides.append(words)
        all_bounds.append(bounds)
    a, b = sides
    pair = Pair(a, b, [True] * len(a), [True] * len(b))
    pair.bounds[1 : 1 + len(a)] = all_bounds[0]
    pair.bounds[3 + len(a) : 3 + len(a) + len(b)] = all_bounds[1]
    place = places[0], places[1], places[2] + len(a), places[3] + len(a)
    return pair, [*all_bounds[0], *all_bounds[1], SENTENCE_BOUND], place


@settings(max_examples=200, deadline=None)
@given(edited_pairs(), st.sampled_from([2.0, 8.0, 20.0]), st.integers(0, N_MODELS - 1))
def test_passages_are_extended_as_the_twin_says(case: tuple[Pair, list[int], Place], least: float, model: int) -> None:
    pair, bounds, place = case
    for at in (0, len(pair.a), len(pair.a) + len(pair.b)):
        bounds[at] = SENTENCE_BOUND
    wanted = least * (MORE_BESIDE_VERBATIM if model < 2 else 1)
    assert pair.extend(place, model, limits_of(min_extension_evidence=least)) == expected_place(
        pair, bounds, place, wanted, model >= LOOSE_MODELS
    )


def aligned(a: list[list[int]], b: list[list[int]], **changed: float) -> list[list[int]]:
    """Align two texts given as sentences of words; return spans of words, those of b counted from 0."""
    stems = np.array([word * 2654435761 % 2**32 for text in (a, b) for sentence in text for word in sentence], np.uint32)
    first = np.array([0, sum(map(len, a)), len(stems)], np.int64)
    bounds = np.full(len(stems) + 1, WITHIN_CLAUSE, np.uint8)
    starts = np.cumsum([0, *(len(sentence) for text in (a, b) for sentence in text)])
    bounds[starts] = SENTENCE_BOUND
    words = Words(stems, bounds, first, starts.astype(np.int64))
    found = align_spans(words, np.array([[0, first[1], first[1], first[2]]]), AlignmentConfig(**changed), 4)  # type: ignore[arg-type]
    return [[x - (int(first[1]) if k > 1 else 0) for k, x in enumerate(row)] for row in found.spans.tolist()]


def fresh(rng: random.Random, n_words: int) -> list[int]:
    return [rng.randint(10_000, 10_000_000) for _ in range(n_words)]


def test_a_loosely_edited_sentence_beside_a_copy_is_part_of_it() -> None:
    rng = random.Random(5)
    copied = [fresh(rng, 12) for _ in range(4)]
    before = fresh(rng, 14)
    edited = [word if k % 3 == 0 else rng.randint(10_000, 10_000_000) for k, word in enumerate(before)]
    a = [fresh(rng, 15), before, *copied, fresh(rng, 15)]
    b = [fresh(rng, 15), edited, *copied, fresh(rng, 15)]
    assert aligned(a, b) == [[15, 77, 15, 77]]


@pytest.mark.parametrize("n_copied", [0, 2])
def test_a_summary_is_the_whole_text_against_a_stretch(n_copied: int) -> None:
    """Also if some of its sentences are copied from the text that it sums up."""
    rng = random.Random(8)
    source = [fresh(rng, 15) for _ in range(40)]
    picked = [source[k] for k in range(2, 38, 6)]
    summary = [picked[k] if k < n_copied else rng.sample(picked[k], 10) + fresh(rng, 3) for k in range(len(picked))]
    around = [[fresh(rng, 15) for _ in range(20)] for _ in range(2)]
    text = [*around[0], *summary, *around[1]]
    n = sum(map(len, summary))
    assert aligned(text, source, summaries=True) == [[300, 300 + n, 0, 600]]
    assert [300, 300 + n, 0, 600] not in aligned(text, source, summaries=False)


def test_sentences_copied_from_one_place_are_no_summary() -> None:
    rng = random.Random(9)
    source = [fresh(rng, 15) for _ in range(40)]
    text = [*(fresh(rng, 15) for _ in range(20)), *source[10:14], *(fresh(rng, 15) for _ in range(20))]
    assert aligned(text, source, summaries=True) == [[300, 360, 150, 210]]
