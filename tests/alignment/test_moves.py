"""Words that were moved: a twin tries every pair of places; a move is never an edit as well."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.alignment.differences import word_differences
from ibidem.alignment.moves import LEAST_MOVED_WORDS, Move, moved_words
from ibidem.model import Difference
from tests.texts import render, text, words

VOCABULARY = words(1, 9)
BLOCKS = st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=7), min_size=1, max_size=5)


def canonical(whole: str) -> list[str]:
    return re.findall(r"\w+", whole.casefold())


def changed_words(differences: list[Difference], whole: str, side: int) -> list[int | None]:
    """The number of the change that each word is in; None if it is equal in both texts."""
    found: list[int | None] = []
    for number, difference in enumerate(differences):
        start, end = difference[1 + 2 * side : 3 + 2 * side]
        found += [None if difference.operation == "equal" else number] * len(canonical(whole[start:end]))
    return found


def twin(text_a: str, text_b: str) -> set[tuple[str, str]]:
    """The words of moves on both sides: the longest runs first, of all runs that cannot be extended."""
    differences = word_differences(text_a, text_b)
    a, b = canonical(text_a), canonical(text_b)
    of_a, of_b = changed_words(differences, text_a, 0), changed_words(differences, text_b, 1)
    runs = []
    for i in range(len(a)):
        for j in range(len(b)):
            n = 0
            while (
                i + n < len(a) and j + n < len(b) and a[i + n] == b[j + n] and None not in (of_a[i + n], of_b[j + n])
                and of_a[i + n] == of_a[i] and of_b[j + n] == of_b[j]
            ):  # fmt: skip
                n += 1
            is_begun = i and j and a[i - 1] == b[j - 1] and of_a[i - 1] == of_a[i] and of_b[j - 1] == of_b[j]
            if n >= LEAST_MOVED_WORDS and not is_begun:
                runs.append((-n, i, j))
    taken: tuple[set[int], set[int]] = set(), set()
    found = set()
    for negative, i, j in sorted(runs):
        places = set(range(i, i - negative)), set(range(j, j - negative))
        if not any(own & used for own, used in zip(places, taken, strict=True)):
            for own, used in zip(places, taken, strict=True):
                used |= own
            found.add((i, j, -negative))
    return found  # type: ignore[return-value]


def as_words(whole: str, start: int, end: int) -> tuple[int, list[str]]:
    return len(canonical(whole[:start])), canonical(whole[start:end])


@settings(max_examples=300, deadline=None)
@given(BLOCKS, st.randoms(use_true_random=False), st.lists(st.sampled_from(VOCABULARY), max_size=6))
def test_moves_are_those_of_the_twin(blocks: list[list[str]], chance: object, own: list[str]) -> None:
    turned = list(blocks)
    chance.shuffle(turned)  # type: ignore[attr-defined]
    text_a, text_b = " ".join(map(render, blocks)), " ".join(map(render, [*turned, *([own] if own else [])]))
    made = set()
    for move in moved_words(word_differences(text_a, text_b), text_a, text_b):
        (i, mine), (j, theirs) = as_words(text_a, *move[:2]), as_words(text_b, *move[2:])
        assert mine == theirs
        made.add((i, j, len(mine)))
    assert made == twin(text_a, text_b)  # words of the tests are long enough, however many there are


def test_a_paragraph_that_changed_places_is_one_move() -> None:
    moved, rest, own = text(1, 2, 3), text(10, 11, 12, 13, 14, 15), text(20)
    a, b = f"{moved}\n\n{rest}", f"{rest}\n\n{own}\n\n{moved}"
    (move,) = moved_words(word_differences(a, b), a, b)
    assert a[move.a_start : move.a_end] == b[move.b_start : move.b_end] == moved


def test_common_phrases_are_not_moves() -> None:
    a = f"On the way to it. {text(1, 2, 3)} {text(4)}"
    b = f"{text(1, 2, 3)} {text(5)} On the way to it."
    assert moved_words(word_differences(a, b), a, b) == []


def test_unspaced_scripts_move_too() -> None:
    moved, rest = "潮位在夜里上涨得很快。", "渔船因此没有出海。港口的灯一直亮到早晨。居民们在堤上守了一夜。"
    assert moved_words(word_differences(moved + rest, rest + moved), moved + rest, rest + moved) == [
        Move(0, len(moved), len(rest), len(rest) + len(moved))
    ]
