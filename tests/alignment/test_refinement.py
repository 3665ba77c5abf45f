"""Passages brought together: extended word by word, chosen among those that overlap, and located in characters."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.alignment import Aligned, Words
from ibidem.alignment.kernels.pairs import OUTCOME
from ibidem.alignment.kernels.refinement import (
    ENTRIES,
    MOST_BEYOND,
    MOST_DIFFERENT,
    MOST_REST,
    choose_passages,
    extend_across,
    extend_equal,
    find_around,
    mark_covered,
)
from ibidem.alignment.places import locate, words_of
from ibidem.alignment.windows import merged
from ibidem.columns.collection import Collection
from ibidem.config import SentencesConfig
from ibidem.execution.tasks import in_turn
from ibidem.model import DOCUMENT_BATCH
from ibidem.sentences import split_sentences, stem_words
from ibidem.sentences.core import gather
from ibidem.sentences.kernels.stems import ATTACHED, SENTENCE_BOUND, STOP_BOUND, WITHIN_CLAUSE
from tests.alignment.written import TEXTS, is_plain, with_signs, words_of_text

Span4 = tuple[int, int, int, int]


def cells_for(n_passages: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for the cells that passages are in; few slots, so that cells share them."""
    return np.full(16, -1, np.int64), np.empty(ENTRIES * n_passages, np.int64)


def flat(rows: list[Span4]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1)


@st.composite
def passages_in_texts(draw: st.DrawFn) -> tuple[list[list[int]], list[tuple[int, int]], list[Span4]]:
    """Texts over few words, and passages (equal or not) of pairs of them, as places in the collection."""
    rng = draw(st.randoms(use_true_random=False))
    n_words = draw(st.integers(1, 3))
    texts = [[rng.randint(1, n_words) for _ in range(rng.randint(2, 25))] for _ in range(rng.randint(1, 4))]
    first = np.cumsum([0, *map(len, texts)]).tolist()
    pairs, spans = [], []
    for _ in range(rng.randint(1, 6)):
        pair = rng.randrange(len(texts)), rng.randrange(len(texts))
        places = [place for d in pair for place in sorted(rng.sample(range(first[d], first[d + 1] + 1), 2))]
        pairs.append(pair)
        spans.append((places[0], places[1], places[2], places[3]))
    return texts, pairs, spans


@settings(max_examples=300, deadline=None)
@given(passages_in_texts(), st.integers(1, 4))
def test_passages_are_extended_as_far_as_words_are_equal(case, least: int) -> None:  # type: ignore[no-untyped-def]
    texts, pairs, spans = case
    words = [word for text in texts for word in text]
    first = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    found, added = flat(spans), np.full(len(spans), -1, np.int64)
    extend_equal(found, np.array(pairs, np.int64).reshape(-1), np.array(words, np.uint32), first, least, added)
    for i, ((a, b), (a_start, a_end, b_start, b_end)) in enumerate(zip(pairs, spans, strict=True)):
        n_after = n_before = 0
        # Within one document a passage and its copy may meet, and not overlap.
        a_limit = b_start if a == b else first[a + 1]
        for x, y in zip(words[a_end:a_limit], words[b_end : first[b + 1]], strict=False):
            if x != y:
                break
            n_after += 1
        n_after = n_after if n_after >= least else 0
        b_limit = a_end + n_after if a == b else first[b]
        for x, y in zip(words[first[a] : a_start][::-1], words[b_limit:b_start][::-1], strict=False):
            if x != y:
                break
            n_before += 1
        n_before = n_before if n_before >= least else 0
        assert found[4 * i : 4 * i + 4].tolist() == [a_start - n_before, a_end + n_after, b_start - n_before, b_end + n_after]
        assert added[i] == n_after + n_before


def reached_across(a: list[int], b: list[int], bounds_a: list[int], bounds_b: list[int]) -> tuple[int, int, int]:
    """Return how many words are reached on both sides across differences, and how many of them are equal.

    The words go away from the passage, to the end of the sentence at most; bounds are those beside it, then after each word.
    """
    a, b = (
        words[: next((k for k, bound in enumerate(bounds) if bound >= STOP_BOUND), len(words))]
        for words, bounds in ((a, bounds_a), (b, bounds_b))
    )

    def equal(i: int, j: int) -> int:
        n = 0
        while i + n < len(a) and j + n < len(b) and a[i + n] == b[j + n]:
            n += 1
        return n

    differences = sorted(
        ((i, j) for i in range(MOST_DIFFERENT + 1) for j in range(MOST_DIFFERENT + 1) if i or j),
        key=lambda d: (max(d), -min(d), d[0] < d[1]),
    )
    i = j = score = n = 0
    best = (0, 0, 0, 0)
    while score > best[0] - MOST_DIFFERENT and n < MOST_BEYOND:
        crossed = next((d for d in differences if equal(i + d[0], j + d[1]) >= 2), None)
        if crossed is None:
            break
        run = equal(i + crossed[0], j + crossed[1])
        i, j, n, score = i + crossed[0] + run, j + crossed[1] + run, n + run, score + run - max(crossed)
        best = max(best, (score, i, j, n), key=lambda found: found[0])
    _, i, j, n = best
    while n and bounds_a[i] == bounds_b[j] == ATTACHED:
        i, j, n = i - 1, j - 1, n - 1
    rest = [
        next((k for k in range(MOST_REST + 1) if at + k < len(bounds) and bounds[at + k] >= STOP_BOUND), 0)
        for at, bounds in ((i, bounds_a), (j, bounds_b))
    ]
    return (i + rest[0], j + rest[1], n) if min(rest) > 0 else (i, j, n)


@settings(max_examples=500, deadline=None)
@given(passages_in_texts(), st.integers(1, 3))
def test_passages_are_extended_across_short_differences(case, least: int) -> None:  # type: ignore[no-untyped-def]
    texts, pairs, spans = case
    words = [word for text in texts for word in text]
    rng = random.Random(len(words))
    bounds = [rng.choice([ATTACHED, *[WITHIN_CLAUSE] * 8, STOP_BOUND]) for _ in range(len(words) + 1)]
    first = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    for at in first:
        bounds[at] = SENTENCE_BOUND
    chosen = [i for i, (pair, span) in enumerate(zip(pairs, spans, strict=True)) if pair[0] != pair[1] or span[1] <= span[2]]
    found, equal = flat([spans[i] for i in chosen]), np.full(len(chosen), -1, np.int64)
    extend_across(
        found, flat([pairs[i] for i in chosen]), np.array(words, np.uint32), np.array(bounds, np.uint8), first, least,
        np.empty(4, np.int64), equal,
    )  # fmt: skip
    for i, number in enumerate(chosen):
        (a, b), (a_start, a_end, b_start, b_end) = pairs[number], spans[number]
        n = 0
        inner = list(zip(words[a_start:a_end][::-1], words[b_start:b_end][::-1], strict=False))
        if [x == y for x, y in inner[:least]] == [True] * least:
            a_limit = b_start if a == b else int(first[a + 1])
            sides = words[a_end:a_limit], words[b_end : first[b + 1]]
            of_a, of_b, n = reached_across(*sides, bounds[a_end : a_limit + 1], bounds[b_end : first[b + 1] + 1])
            a_end, b_end = a_end + of_a, b_end + of_b
        inner = list(zip(words[a_start:a_end], words[b_start:b_end], strict=False))
        if [x == y for x, y in inner[:least]] == [True] * least:
            b_limit = a_end if a == b else int(first[b])
            sides = words[first[a] : a_start][::-1], words[b_limit:b_start][::-1]
            of_a, of_b, more = reached_across(*sides, bounds[first[a] : a_start + 1][::-1], bounds[b_limit : b_start + 1][::-1])
            a_start, b_start, n = a_start - of_a, b_start - of_b, n + more
        assert found[4 * i : 4 * i + 4].tolist() == [a_start, a_end, b_start, b_end]
        assert equal[i] == n


SPANS = st.integers(3, 40).flatmap(
    lambda n: st.lists(
        st.tuples(*[st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True).map(sorted) for _ in range(2)]), max_size=8
    )
)


def is_covered_by(by: Span4, span: Span4, share: Fraction) -> bool:
    """Return whether a passage covers half of another one on both sides, and this share of it on one."""
    sides = [
        Fraction(len(set(range(by[k], by[k + 1])) & set(range(span[k], span[k + 1]))), span[k + 1] - span[k]) for k in (0, 2)
    ]
    return min(sides) >= Fraction(1, 2) and max(sides) >= share


@settings(max_examples=300, deadline=None)
@given(SPANS, st.randoms(use_true_random=False))
def test_a_passage_goes_if_one_before_it_that_stays_covers_enough_of_it(spans, rng: random.Random) -> None:  # type: ignore[no-untyped-def]
    rows: list[Span4] = [(*a, *b) for a, b in spans]
    pairs = sorted(rng.randint(0, 2) for _ in rows)
    is_found = [rng.random() < 0.5 for _ in rows]
    is_kept = np.empty(len(rows), np.bool_)
    choose_passages(np.array(pairs, np.int64), flat(rows), np.array(is_found, np.bool_), *cells_for(len(rows)), is_kept)
    for i, row in enumerate(rows):
        rivals = [j for j in range(i) if pairs[j] == pairs[i] and is_kept[j] and not (is_found[i] and is_found[j])]
        most = Fraction(9, 10) if is_found[i] else Fraction(1, 2)
        assert is_kept[i] == (not any(is_covered_by(rows[j], row, most) for j in rivals))


@settings(max_examples=200, deadline=None)
@given(SPANS, SPANS, st.integers(0, 3), st.randoms(use_true_random=False))
def test_rectangles_in_passages_of_their_pair_are_covered(inner, outer, slack: int, rng: random.Random) -> None:  # type: ignore[no-untyped-def]
    rectangles, spans = ([(*a, *b) for a, b in rows] for rows in (inner, outer))
    pairs, span_pairs = (np.array([rng.randint(0, 1) for _ in rows], np.int64) for rows in (rectangles, spans))
    is_covered = np.empty(len(rectangles), np.bool_)
    mark_covered(flat(rectangles), pairs, flat(spans), span_pairs, slack, *cells_for(len(spans)), is_covered)
    for i, rectangle in enumerate(rectangles):
        expected = any(
            all(rectangle[k] >= span[k] - slack and rectangle[k + 1] <= span[k + 1] + slack for k in (0, 2))
            for span, pair in zip(spans, span_pairs, strict=True)
            if pair == pairs[i]
        )
        assert is_covered[i] == expected


def joined(rows: list[Span4]) -> list[Span4]:
    """Join rectangles of one pair: cut at gaps on one side, then on the other, until nothing is cut."""
    groups = [sorted(rows)]
    while True:
        cut = groups
        for side in (0, 2):
            parts: list[list[Span4]] = []
            for group in cut:
                reached = -1
                for row in sorted(group, key=lambda row: row[side]):
                    if row[side] > reached:
                        parts.append([])
                    parts[-1].append(row)
                    reached = max(reached, row[side + 1])
            cut = parts
        if len(cut) == len(groups):
            return sorted((min(r[0] for r in g), max(r[1] for r in g), min(r[2] for r in g), max(r[3] for r in g)) for g in cut)
        groups = cut


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), SPANS), max_size=4))
def test_rectangles_of_a_pair_are_joined_where_no_gap_divides_them(given_rows) -> None:  # type: ignore[no-untyped-def]
    """Documents have a hundred words each; the pairs are 0 with 1, 2 and 3."""
    first = np.arange(0, 500, 100)
    words = Words(np.zeros(400, np.uint32), np.zeros(401, np.uint8), first, first)
    by_pair: dict[int, list[Span4]] = {}
    for other, spans in given_rows:
        shift = 100 * (other + 1)
        by_pair.setdefault(other, []).extend((a[0], a[1], b[0] + shift, b[1] + shift) for a, b in spans)
    rows = [row for spans in by_pair.values() for row in spans]
    found = merged(np.array(rows, np.int64).reshape(-1, 4), words)
    expected = [row for spans in by_pair.values() if spans for row in joined(spans)]
    assert sorted(tuple(row) for row in found.tolist()) == sorted(expected)


def collection_of(texts: list[str], batch_size: int) -> Collection:
    batches = []
    for start in range(0, len(texts), batch_size):
        chosen = texts[start : start + batch_size]
        columns = {
            "id": [str(start + i) for i in range(len(chosen))], "text": chosen, "time": [None] * len(chosen),
            "group": [None] * len(chosen), "source": ["memory"] * len(chosen), "position": range(len(chosen)),
            "cleaned": [False] * len(chosen),
        }  # fmt: skip
        arrays = [pa.array(columns[field.name], field.type) for field in DOCUMENT_BATCH]
        batches.append(pa.RecordBatch.from_arrays(arrays, schema=DOCUMENT_BATCH))
    return gather(batches, [], SentencesConfig(), in_turn, lambda documents, sentences: None)


def assert_same_words(cut: NDArray[np.uint32], whole: NDArray[np.uint32]) -> None:
    """A character of an unspaced script stands for the next one, too, which may be cut off, or begin another sentence."""
    assert (cut & 1).tolist() == (whole & 1).tolist()
    is_word = whole & 1 == 0
    assert cut[is_word].tolist() == whole[is_word].tolist()


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 3), st.randoms(use_true_random=False))
def test_passages_are_located_at_words_or_at_the_edges_of_sentences(
    texts: list[str], batch_size: int, rng: random.Random
) -> None:
    collection = collection_of(texts, batch_size)
    words = words_of(collection, in_turn)
    first = words.document_first.tolist()
    assert len(words.bounds) == len(words.stem) + 1
    documents = [d for d in range(len(texts)) if first[d] < first[d + 1]]
    assume(documents)
    rows, chosen = [], []
    for number in range(5):
        pair = rng.choice(documents), rng.choice(documents)
        spans = [place for d in pair for place in sorted(rng.sample(range(first[d], first[d + 1] + 1), 2))]
        rows.append([number, *spans, *[0] * (OUTCOME - 5)])
        chosen.append(pair)
    passages = locate(Aligned(np.array(rows, np.int64)), words, collection)
    for n, (row, pair) in enumerate(zip(rows, chosen, strict=True)):
        for side, d in enumerate(pair):
            low, high = row[1 + 2 * side], row[2 + 2 * side]
            start, end = passages.places[2 * side, n], passages.places[2 * side + 1, n]
            assert passages.documents[side, n] == d
            stems, *_ = stem_words(pa.array([texts[d][start:end]], pa.large_string()), *[np.empty(0, np.int64)] * 2)
            assert_same_words(stems, words.stem[low:high])
            whole = [first[pair[0]], first[pair[0] + 1], first[pair[1]], first[pair[1] + 1]]
            assert passages.is_whole[n] == (row[1:5] == whole)
            if not is_plain(texts[d]):
                continue
            places, sentences = words_of_text(texts[d]), split_sentences(texts[d])
            word_start, word_end = places[low - first[d]][0], places[high - 1 - first[d]][1]
            (a_start,) = [s for s, e in sentences if s <= word_start < e]
            (a_end,) = [e for s, e in sentences if s < word_end <= e]
            opens = not any(a_start <= s < word_start for s, _ in places)
            closes = not any(word_end <= s < a_end for s, _ in places)
            assert start == (a_start if opens else with_signs(texts[d], places, low - first[d], a_start)[0])
            (last_start,) = [s for s, e in sentences if s <= places[high - 1 - first[d]][0] < e]
            assert end == (a_end if closes else with_signs(texts[d], places, high - 1 - first[d], last_start)[1])


def test_long_words_and_long_texts_without_blanks_are_located_too() -> None:
    texts = ["x" * 5000 + " " + "y" * 3000, "漢字" * 4000, "a-" * 9000, "word " * 4000, "ก" * 3000]
    collection = collection_of(texts, 2)
    words = words_of(collection, in_turn)
    first = words.document_first.tolist()
    rng = random.Random(1)
    rows = []
    for d in range(len(texts)):
        for _ in range(20):
            span = sorted(rng.sample(range(first[d], first[d + 1] + 1), 2))
            rows.append([0, *span, *span, 0, 0, 0])
    passages = locate(Aligned(np.array(rows, np.int64)), words, collection)
    for n, row in enumerate(rows):
        start, end = passages.places[:2, n]
        cut = texts[int(passages.documents[0, n])][start:end]
        stems, *_ = stem_words(pa.array([cut], pa.large_string()), *[np.empty(0, np.int64)] * 2)
        assert_same_words(stems, words.stem[row[1] : row[2]])
        assert passages.is_equal[n]
        assert passages.similarity[n] == pytest.approx(1.0)


@settings(max_examples=200, deadline=None)
@given(SPANS, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=10), st.randoms(use_true_random=False))
def test_the_longest_passage_around_a_point_is_found(spans, points, rng: random.Random) -> None:  # type: ignore[no-untyped-def]
    rows: list[Span4] = [(*a, *b) for a, b in spans]
    slack = rng.randint(0, 8)
    pairs, span_pairs = (np.array([rng.randint(0, 1) for _ in some], np.int64) for some in (points, rows))
    around = np.empty(len(points), np.int64)
    given_points = np.array(points, np.int64).reshape(-1)
    find_around(given_points, pairs, flat(rows), span_pairs, slack, *cells_for(len(rows)), around)
    for i, (a, b) in enumerate(points):
        sizes = {
            j: a_end - a_start + b_end - b_start
            for j, (a_start, a_end, b_start, b_end) in enumerate(rows)
            if span_pairs[j] == pairs[i] and a_start <= a < a_end and b_start <= b < b_end
            if abs((a - a_start) - (b - b_start)) <= abs((a_end - a_start) - (b_end - b_start)) + slack
        }
        longest = [rows[j] for j in sizes if sizes[j] == max(sizes.values())]
        assert (rows[around[i]] if around[i] >= 0 else None) == min(longest, default=None)
