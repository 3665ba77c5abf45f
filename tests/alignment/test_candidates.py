"""Places worth aligning: those where enough rare words are beside one another in two documents, and long equal runs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ibidem.alignment import Words, candidates, find_rectangles
from ibidem.columns.rows import Pairing
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.execution.threads import Threads
from tests.alignment.twins import bonds_of, expected_rectangles
from tests.oracles import maximal_runs

RANDOM = st.randoms(use_true_random=False)
NO_PAIRING = Pairing(False, np.empty(0, np.int8), np.empty(0, np.int32))
SPREAD = 2654435761  # words get hashes whose first bits differ


def as_words(documents: Sequence[Sequence[int]]) -> Words:
    # The last bit would say that a word is a character of a script without spaces.
    stems = np.array([(word * SPREAD) % 2**32 for words in documents for word in words], np.uint32) & np.uint32(2**32 - 2)
    first = np.concatenate([[0], np.cumsum([len(words) for words in documents])]).astype(np.int64)
    return Words(stems, np.zeros(len(stems) + 1, np.uint8), first, first)


@st.composite
def collections(draw: st.DrawFn) -> list[list[int]]:
    """Documents of mostly rare words that take stretches from one another, some of them far apart."""
    rng = draw(st.randoms(use_true_random=False))
    n_words = draw(st.sampled_from([5, 40, 400]))
    documents: list[list[int]] = []
    for _ in range(draw(st.integers(1, 5))):
        words: list[int] = []
        for _ in range(rng.randint(0, 4)):
            source = rng.choice(documents) if documents else []
            if source and rng.random() < 0.6:
                start = rng.randrange(len(source))
                words += source[start : start + rng.choice([3, 8, 15, 16, 17, 30])]
            else:
                words += [rng.randint(1, n_words) for _ in range(rng.choice([3, 10, 130]))]
        documents.append(words)
    return documents


def common_runs(documents: list[list[int]], comparable: Callable[[int, int], bool]) -> dict[tuple[int, ...], int]:
    """Return every run of sixteen words and more in two documents, and the most places that eight words of it have."""
    n_places = Counter(tuple(words[k : k + 8]) for words in documents for k in range(len(words) - 7))
    first = [sum(map(len, documents[:d])) for d in range(len(documents))]
    found: dict[tuple[int, ...], int] = {}
    for d, e in combinations(range(len(documents)), 2):
        a, b = documents[d], documents[e]
        if not {tuple(a[k : k + 16]) for k in range(len(a) - 15)} & {tuple(b[k : k + 16]) for k in range(len(b) - 15)}:
            continue
        for i, j, n in maximal_runs(len(a), len(b), lambda i, j, a=a, b=b: a[i] == b[j]):
            if n >= 16 and comparable(d, e):
                run = first[d] + i, first[d] + i + n, first[e] + j, first[e] + j + n
                found[run] = max(n_places[tuple(a[k : k + 8])] for k in range(i, i + n - 7))
    return found


def all_pairs(d: int, e: int) -> bool:
    return True


def paired(documents: Sequence[Any], who: str) -> tuple[Pairing, Callable[[int, int], bool]]:
    """Return which documents are compared, in both forms."""
    if who == "against":
        side = np.array([2 * d >= len(documents) for d in range(len(documents))], np.int8)
        return replace(NO_PAIRING, side=side), lambda d, e: bool(side[d] != side[e])
    if who == "groups":
        group_numbers = np.array([d % 3 - 1 for d in range(len(documents))], np.int32)
        allows = lambda d, e: bool(group_numbers[d] < 0 or group_numbers[d] != group_numbers[e])  # noqa: E731
        return replace(NO_PAIRING, group_numbers=group_numbers), allows
    return NO_PAIRING, all_pairs


def rectangles_of(
    documents: Sequence[Sequence[int]], is_open: Sequence[bool], pairing: Pairing = NO_PAIRING, run_tasks: RunTasks = in_turn
) -> list[tuple[int, ...]]:
    found = find_rectangles(as_words(documents), np.array(is_open, np.bool_), pairing, run_tasks=run_tasks)
    return [tuple(row) for row in found.tolist()]


@pytest.fixture(autouse=True)
def _few_documents_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "LEAST_RARE", 8)


@settings(max_examples=80, deadline=None)
@given(collections(), st.sampled_from(["all", "against", "groups"]), RANDOM, st.sampled_from([1.0, 0.9]))
def test_rectangles_equal_brute_force(documents: list[list[int]], who: str, rng: random.Random, share_open: float) -> None:
    is_open = [[rng.random() < share_open for _ in words] for words in documents]
    pairing, comparable = paired(documents, who)
    found = rectangles_of(documents, [word for words in is_open for word in words], pairing)
    assert found == sorted(set(found))
    bonds = bonds_of(documents, is_open, most=8)
    of_bonds = set(expected_rectangles(bonds, candidates.MOST_PLACES, comparable))
    assert of_bonds <= set(found)
    # What is left are runs.
    assert set(found) - of_bonds <= common_runs(documents, comparable).keys()


@settings(max_examples=80, deadline=None, phases=[Phase.generate])
@given(collections(), st.sampled_from(["all", "against", "groups"]))
def test_every_run_of_sixteen_words_that_stands_in_few_places_is_a_rectangle(documents: list[list[int]], who: str) -> None:
    pairing, comparable = paired(documents, who)
    found = rectangles_of(documents, [True] * sum(map(len, documents)), pairing)
    assert {run for run, n_places in common_runs(documents, comparable).items() if n_places <= 2} <= set(found)


def many_documents() -> list[list[int]]:
    rng = random.Random(3)
    pool = [[rng.randint(1, 3000) for _ in range(40)] for _ in range(30)]
    parts = [[*rng.choice(pool), *(rng.randint(1, 9000) for _ in range(60))] for _ in range(160)]
    return [[word for part in parts[k : k + 4] for word in part] for k in range(0, 160, 4)]


def backwards(function: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
    """Run the last part first."""
    return iter([function(part) for part in reversed(list(parts))][::-1])


def test_neither_workers_nor_the_order_of_parts_change_anything() -> None:
    documents = many_documents()
    is_open = [True] * sum(map(len, documents))
    alone = rectangles_of(documents, is_open)
    assert len(alone) > 50
    assert rectangles_of(documents, is_open, run_tasks=backwards) == alone
    with Threads(3) as engine:
        assert rectangles_of(documents, is_open, run_tasks=engine.run_tasks) == alone


@pytest.mark.parametrize("n_common", [15, 16])
def test_sixteen_common_words_in_a_row_are_never_passed_over(n_common: int) -> None:
    """Of words that are all too frequent for bonds, wherever the run is."""
    rng = random.Random(n_common)
    for _ in range(20):
        run, n_before = [rng.randint(1, 20) for _ in range(n_common)], rng.randint(0, 30)
        a = [*(rng.randint(1, 20) for _ in range(n_before)), 50, *run, 51, *(rng.randint(1, 20) for _ in range(20))]
        b = [*(rng.randint(21, 40) for _ in range(rng.randint(0, 20))), 52, *run, 53]
        common = [word for word in range(1, 54) for _ in range(9)]
        is_open = [True] * (len(a) + len(b)) + [False] * len(common)
        place = 1 + n_before, 1 + n_before + n_common, len(a) + b.index(52) + 1, len(a) + b.index(52) + 1 + n_common
        assert rectangles_of([a, b, common], is_open) == ([place] if n_common >= 16 else [])


def test_words_that_are_too_frequent_make_no_bonds() -> None:
    shared = list(range(1, 11))
    assert rectangles_of([shared, shared], [True] * 20) == [(0, 9, 10, 19)]
    often = [word for word in shared for _ in range(8)]
    assert rectangles_of([shared, shared, often], [True] * 20 + [False] * 80) == []


def test_order_and_words_between_do_not_matter() -> None:
    """Pairs of rare words in another order, and with common words between them."""
    common = [999] * 9
    a = [1, 2, 50, 3, 4, 51, 5, 6, 52, 7, 8]
    b = [8, 999, 999, 7, 60, 5, 6, 61, 4, 999, 3, 62, 2, 1]
    assert rectangles_of([a, b, common], [True] * (len(a) + len(b) + len(common))) == [(0, 10, 11, 24)]


@pytest.mark.parametrize(
    ("gap", "order", "is_found"), [(150, (0, 1, 2, 3), True), (250, (0, 1, 2, 3), False), (150, (2, 0, 3, 1), False)]
)
def test_bonds_in_place_may_be_far_apart(gap: int, order: tuple[int, ...], is_found: bool) -> None:
    """Four bonds among words that are in one text only, in the same order on both sides or in another one."""
    texts: list[list[int]] = [[], []]
    for text, bonds in zip(texts, ((0, 1, 2, 3), order), strict=True):
        for bond in bonds:
            text += [2 * bond + 1, 2 * bond + 2, *(10_000 * (texts.index(text) + 1) + len(text) + k for k in range(gap))]
    found = rectangles_of(texts, [True] * sum(map(len, texts)))
    end, shift = 3 * (gap + 2) + 1, len(texts[0])
    assert found == ([(0, end, shift, shift + end)] if is_found else [])


def test_one_bond_that_repeats_is_no_more_than_one() -> None:
    a, b = [1, 2, 50, 51], [1, 2, 60, 61, 1, 2, 62, 63, 2, 1, 64, 65, 1, 2]
    assert rectangles_of([a, b], [True] * (len(a) + len(b))) == []


def test_nothing_comes_of_nothing() -> None:
    assert rectangles_of([], []) == []
    assert rectangles_of([[], []], []) == []
    assert rectangles_of([[1], [1]], [True, True]) == []
