"""Differences word by word: they cover both texts, what is equal is equal, and long texts are no trouble."""

from __future__ import annotations

import doctest
import random
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem import Passage, Span, model
from ibidem.alignment.differences import word_differences, word_places
from ibidem.model import Difference
from tests.texts import word

_PIECES = st.sampled_from(
    [
        "one", "two", "Two", "three", "four", "ﬁve", "Straße", "é", "e\u0301", "中", "文", "か", "が", "ก", "กำ", "9", "_",
        " ", " ", "\n", ", ", ".", "\u00ad", "\u202e", "–",
    ]
)  # fmt: skip
_LISTS = st.lists(_PIECES, max_size=40)
TEXTS = st.one_of(_LISTS.map("".join), _LISTS.map(" ".join), st.text(max_size=60))


def words_of(text: str) -> list[str]:
    return [canonical(text[start:end]) for start, end in word_places(text)]


def canonical(text: str) -> str:
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())


def shown(a: str, b: str) -> list[tuple[str, str, str]]:
    return [(d.operation, a[d.a_start : d.a_end], b[d.b_start : d.b_end]) for d in word_differences(a, b)]


def operations(a: str, b: str) -> list[str]:
    return [difference.operation for difference in word_differences(a, b)]


def check(a: str, b: str) -> list[Difference]:
    """Check what is promised of any two texts."""
    found = word_differences(a, b)
    assert "".join(a[d.a_start : d.a_end] for d in found) == a
    assert "".join(b[d.b_start : d.b_end] for d in found) == b
    a_end = b_end = 0
    for d in found:
        assert (d.a_start, d.b_start) == (a_end, b_end)
        a_end, b_end = d.a_end, d.b_end
        words_a, words_b = words_of(a[d.a_start : d.a_end]), words_of(b[d.b_start : d.b_end])
        if d.operation == "equal":
            assert words_a == words_b
        else:
            assert (
                d.operation
                == {(True, True): "replace", (True, False): "delete", (False, True): "insert"}[bool(words_a), bool(words_b)]
            )
    assert all((one.operation == "equal") != (other.operation == "equal") for one, other in pairwise(found))
    return found


@settings(max_examples=300)
@given(TEXTS, TEXTS)
def test_both_texts_are_covered_and_equal_stretches_have_equal_words(a: str, b: str) -> None:
    check(a, b)


@given(TEXTS)
def test_identical_texts_are_one_equal_stretch(text: str) -> None:
    assert word_differences(text, text) == ([Difference("equal", 0, len(text), 0, len(text))] if text else [])


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_the_other_way_round_it_is_the_same_mirrored(a: str, b: str) -> None:
    turned = {"equal": "equal", "replace": "replace", "delete": "insert", "insert": "delete"}
    mirrored = [Difference(turned[d.operation], d.b_start, d.b_end, d.a_start, d.a_end) for d in word_differences(a, b)]
    assert word_differences(b, a) == mirrored


@given(st.lists(st.sampled_from(["mo", "ta", "ve", "su"]), min_size=1), st.sampled_from([" ", "\n", ", ", " – ", "…\r\n\t"]))
def test_punctuation_blanks_and_line_breaks_make_no_difference(words: list[str], between: str) -> None:
    assert operations(" ".join(words), f"« {between.join(words)}!") == ["equal"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The Bridge", "the BRIDGE"), ("STRASSE", "Straße"), ("ﬁve", "five"), ("caf\u00e9", "cafe\u0301"),
        ("ＡＢＣ　１２", "abc 12"), ("co\u00adop", "coop"), ("한국어", unicodedata.normalize("NFD", "한국어")), ("ｶﾞ", "ガ"),
    ],
)  # fmt: skip
def test_case_and_compatibility_forms_make_no_difference(a: str, b: str) -> None:
    assert operations(a, b) == ["equal"]


def test_what_differs_is_named_with_the_blanks_after_it() -> None:
    assert shown("Four ferries lay in port.", "Two ferries lay in the port!") == [
        ("replace", "Four ", "Two "), ("equal", "ferries lay in ", "ferries lay in "), ("insert", "", "the "),
        ("equal", "port.", "port!"),
    ]  # fmt: skip
    assert shown("  one two", "two") == [("delete", "  one ", ""), ("equal", "two", "two")]
    assert shown("one (two", "one (three") == [("equal", "one ", "one "), ("replace", "(two", "(three")]
    assert shown("one two.", "one") == [("equal", "one ", "one"), ("delete", "two.", "")]


def test_texts_without_words() -> None:
    assert word_differences("", "") == []
    assert shown("…", " - ") == [("equal", "…", " - ")]
    assert shown("", "one.") == [("insert", "", "one.")]
    assert shown(" one", "?!") == [("delete", " one", "?!")]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("他说你好。", "她说，你好", [("replace", "他", "她"), ("equal", "说你好。", "说，你好")]),
        ("これはペン", "これは本", [("equal", "これは", "これは"), ("replace", "ペン", "本")]),
        ("ไปกัน", "มากัน", [("replace", "ไป", "มา"), ("equal", "กัน", "กัน")]),
        ("ภาษาABC中", "ภาษาABD中", [("equal", "ภาษา", "ภาษา"), ("replace", "ABC", "ABD"), ("equal", "中", "中")]),
    ],
)
def test_scripts_without_blanks_are_compared_by_characters(a: str, b: str, expected: list[tuple[str, str, str]]) -> None:
    assert shown(a, b) == expected


def test_marks_belong_to_the_character_before_them() -> None:
    assert [len(range(*place)) for place in word_places("กำ ขี้ हिन्दी")] == [2, 3, 6]


def test_a_single_word_amid_long_changes_is_a_coincidence() -> None:
    left, right = [word(i) for i in range(10)], [word(100 + i) for i in range(10)]
    assert operations(" ".join([*left[:5], "of", *left[5:]]), " ".join([*right[:5], "of", *right[5:]])) == ["replace"]
    assert operations(" ".join([*left[:2], "of", *left[2:]]), " ".join([*right[:2], "of", *right[2:]])) == [
        "replace", "equal", "replace",
    ]  # fmt: skip


def test_a_passage_knows_its_differences() -> None:
    passage = Passage(Span("a", 3, 10, "one two"), Span("b", 0, 5, "ONE 2"), 1, 0.5, "near", "unknown")
    assert passage.differences == [Difference("equal", 0, 4, 0, 4), Difference("replace", 4, 7, 4, 5, "spelling")]


def test_the_example_in_the_docstring() -> None:
    example = model.Passage.differences.__doc__ or ""  # doctest does not look for it in a cached property
    parsed = doctest.DocTestParser().get_doctest(example, {}, "differences", None, 0)
    outcome = doctest.DocTestRunner().run(parsed)
    assert outcome.attempted > 0
    assert outcome.failed == 0


# Long texts: these would not end within anybody's patience if any step took the square of the words.


def long_words(seed: int, n_words: int = 100_000, vocabulary: int = 20_000) -> list[str]:
    chosen = random.Random(seed)
    return [word(min(chosen.randrange(vocabulary), chosen.randrange(vocabulary))) for _ in range(n_words)]


def test_long_texts_with_many_changes() -> None:
    chosen = random.Random(1)
    old = long_words(2)
    new = [word(20_001 + i % 700) if chosen.random() < 0.02 else w for i, w in enumerate(old)]
    found = check(" ".join(old), " ".join(new))
    n_changed = sum(one != other for one, other in zip(old, new, strict=True))
    n_found = sum(len(words_of(" ".join(old)[d.a_start : d.a_end])) for d in found if d.operation != "equal")
    assert n_changed <= n_found <= n_changed * 1.02


@pytest.mark.parametrize("vocabulary", [1, 2, 20, 20_000])
def test_long_texts_that_have_nothing_to_do_with_each_other(vocabulary: int) -> None:
    check(" ".join(long_words(3, 100_000, vocabulary)), " ".join(long_words(4, 99_000, vocabulary)))


def test_a_long_insertion_and_a_moved_half() -> None:
    old = long_words(5)
    assert operations(" ".join(old), " ".join(old[:50_000] + long_words(6, 30_000, 3) + old[50_000:])) == [
        "equal", "insert", "equal",
    ]  # fmt: skip
    assert sorted(operations(" ".join(old), " ".join(old[50_000:] + old[:50_000]))) == ["delete", "equal", "insert"]
