"""Windows around places: how often words are in their documents, which places may be summaries, and windows that widen."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment import Words, align_spans
from ibidem.alignment.found_spans import FoundSpans, words_in_common
from ibidem.alignment.windows import (
    LEAST_OF_SUMMED_UP,
    LEAST_STRETCHED,
    MARGIN_WORDS,
    MOST_OF_OWN,
    MOST_SUMMED_UP_WORDS,
    WIDER_WORDS,
    align_windows,
    may_sum_up,
)
from ibidem.config import Config
from ibidem.sentences.kernels.stems import SENTENCE_BOUND


def words_of_documents(documents: list[list[int]], sentence_words: int = 10) -> Words:
    """Return documents given by the numbers of their words, in sentences of equal length."""
    first = np.cumsum([0, *map(len, documents)])
    bounds = np.zeros(first[-1] + 1, np.uint8)
    for start, document in zip(first[:-1], documents, strict=True):
        bounds[start : start + len(document) : sentence_words] = SENTENCE_BOUND
    bounds[-1] = SENTENCE_BOUND
    stems = np.array([word for document in documents for word in document], np.uint64) * 2654435761 % (1 << 32)
    return Words(stems.astype(np.uint32), bounds, first, first)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=40), max_size=5))
def test_words_are_counted_in_their_documents(documents: list[list[int]]) -> None:
    counts = [Counter(document) for document in documents]
    expected = [count[word] for count, document in zip(counts, documents, strict=True) for word in document]
    assert words_of_documents(documents).in_document.tolist() == expected


def test_counts_in_a_document_end_at_the_most_that_can_be_written() -> None:
    words = words_of_documents([[1] * 70_000 + [2], [1] * 65_535])
    assert set(words.in_document[:70_000].tolist()) == {65_535}
    assert words.in_document[70_000] == 1
    assert set(words.in_document[70_001:].tolist()) == {65_535}


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_places_may_sum_up_a_text_by_their_shape(rng: random.Random) -> None:
    sizes = [rng.choice((30, 100, 400, MOST_SUMMED_UP_WORDS, MOST_SUMMED_UP_WORDS + 1)) for _ in range(4)]
    words = words_of_documents([[0] * size for size in sizes])
    first = words.document_first
    rows, pairs = [], []
    for _ in range(rng.randint(1, 8)):
        pair = sorted(rng.sample(range(4), 2))
        row = []
        for document in pair:
            start = rng.randrange(sizes[document])
            end = rng.randint(start + 1, min(sizes[document], start + rng.choice((5, 50, sizes[document]))))
            row += [int(first[document]) + start, int(first[document]) + end]
        rows.append(row)
        pairs.append(tuple(pair))
    found = may_sum_up(np.array(rows, np.int64), words)
    for i, pair in enumerate(pairs):
        together = [row for row, other in zip(rows, pairs, strict=True) if other == pair]
        covered = [max(row[2 * s + 1] for row in together) - min(row[2 * s] for row in together) for s in range(2)]
        for side in range(2):
            own, other = covered[side], covered[1 - side]
            n_own, n_other = sizes[pair[side]], sizes[pair[1 - side]]
            expected = n_other <= MOST_SUMMED_UP_WORDS and own <= MOST_OF_OWN * n_own
            expected &= other >= LEAST_STRETCHED * own and other >= LEAST_OF_SUMMED_UP * n_other
            assert found[side][i] == expected


def test_a_second_copy_of_the_same_words_is_a_passage_too() -> None:
    rng = random.Random(4)
    copied, *own = [[rng.randrange(1000, 1_000_000) for _ in range(80)] for _ in range(5)]
    words = words_of_documents([[*own[0], *copied], [*copied, *own[1], *own[2], *copied, *own[3]]])
    whole = np.array([[0, 160, 160, 560]])
    found = align_spans(words, whole, Config().alignment, 4).spans.tolist()
    assert found == [[80, 160, 160, 240], [80, 160, 400, 480]]


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40), st.integers(1, 12))
def test_words_in_common_are_counted_with_their_repetitions(rng: random.Random, n_words: int, n_different: int) -> None:
    stems = [rng.randrange(n_different) for _ in range(n_words)]
    spans = [[*sorted(rng.choices(range(n_words + 1), k=2)), *sorted(rng.choices(range(n_words + 1), k=2))] for _ in range(5)]
    expected = [sum((Counter(stems[s[0] : s[1]]) & Counter(stems[s[2] : s[3]])).values()) for s in spans]
    assert words_in_common(np.array(spans), np.array(stems, np.uint32)).tolist() == expected


def test_a_passage_that_goes_on_beyond_its_window_is_found_whole() -> None:
    """The place is in the middle of 900 equal words; each text goes on with 3,000 words of its own on both sides."""
    rng = random.Random(1)
    texts = [[rng.randrange(1000, 50_000) for _ in range(6900)] for _ in range(2)]
    start, end = 3000, 3900
    assert end - start > 2 * MARGIN_WORDS + 100
    assert end - start < 2 * (MARGIN_WORDS + sum(WIDER_WORDS))
    texts[1][start:end] = texts[0][start:end]
    words = words_of_documents(texts)
    shift = len(texts[0])
    place = np.array([[start + 400, start + 440, shift + start + 400, shift + start + 440]])
    found = align_windows(place, words, FoundSpans.none(), Config())
    assert found.spans.tolist() == [[start, end, shift + start, shift + end]]


def test_a_passage_that_runs_into_a_found_one_is_joined_to_it() -> None:
    """Copied words around the place, beside sentences that were found on one side or on both: one passage, wherever it ends."""
    rng = random.Random(3)
    texts = [[rng.randrange(1000, 50_000) for _ in range(4000)] for _ in range(2)]
    start, end = 500, 3500
    texts[1][start:end] = texts[0][start:end]
    words = words_of_documents(texts)
    shift = len(texts[0])
    for at, places in ((2000, [(500, 1960), (2060, 3500)]), (1800, [(500, 1750)]), (2200, [(2250, 3500)])):
        spans = np.array([[low, high, shift + low, shift + high] for low, high in places])
        n = len(spans)
        found = FoundSpans(
            spans, np.zeros(n, np.int64), np.array([[0, 1]] * n), np.zeros(n, np.bool_), np.ones(n)
        )  # fmt: skip
        place = np.array([[at, at + 30, shift + at, shift + at + 30]])
        aligned = align_windows(place, words, found, Config())
        widened = MARGIN_WORDS + sum(WIDER_WORDS)
        low = start if places[0][0] == start else at - widened
        high = end if places[-1][1] == end else at + 30 + widened
        assert aligned.spans.tolist() == [[low, high, shift + low, shift + high]]
        assert aligned.n_common.tolist() == [high - low]


def test_a_summary_of_a_text_that_is_only_partly_in_the_window_is_none() -> None:
    """The same words, from all over a text: a summary if the text is short enough to be in the window, nothing if it is not."""
    rng = random.Random(2)
    for size, n_expected in ((1000, 1), (MOST_SUMMED_UP_WORDS + 10, 0)):
        source = [rng.randrange(1000, 1_000_000) for _ in range(size)]
        taken = sorted(rng.sample(range(size), 100))
        summary = [source[k] if i % 3 else rng.randrange(2_000_000, 3_000_000) for i, k in enumerate(taken)]
        other = [rng.randrange(3_000_000, 4_000_000) for _ in range(900)]
        words = words_of_documents([[*other[:450], *summary, *other[450:]], source])
        place = np.array([[450, 550, 1000, 1000 + size]])
        found = align_windows(place, words, FoundSpans.none(), Config())
        assert [row[2:] for row in found.spans.tolist()] == [[1000, 1000 + size]] * n_expected
