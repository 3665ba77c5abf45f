"""Words and their stems: where they are, and which are the same."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ibidem.sentences import split_sentences, stem_words
from ibidem.sentences.code_points import load_code_points
from ibidem.sentences.kernels.stems import ATTACHED, CLAUSE_BOUND, SENTENCE_BOUND, STOP_BOUND, WITHIN_CLAUSE, locate_words
from tests.alignment.written import PIECES, TEXTS, is_alone, is_plain, stem_of, with_signs, words_of_text

NONE = np.empty(0, np.int64)


def stems_of(text: str) -> list[int]:
    stems, _, first, _ = stem_words(pa.array([text], pa.large_string()), NONE, NONE)
    assert first.tolist() == [0, len(stems)]
    found: list[int] = stems.tolist()
    return found


def places_of(text: str, n_words: int) -> list[tuple[int, int, int, int]]:
    """Return where words begin and end: in characters with the signs that belong to them, and in bytes without."""
    data = np.frombuffer(text.encode() + bytes(8), np.uint8)
    zeros, ends, numbers = np.zeros(n_words, np.int64), np.full(n_words, len(data) - 8), np.arange(n_words)
    places, in_bytes = np.empty((2, n_words), np.int64), np.empty((2, n_words), np.int64)
    for end in range(2):
        locate_words(
            data,
            zeros,
            ends,
            zeros,
            zeros,
            numbers,
            load_code_points(),
            bool(end),
            in_bytes[end],
            places[end],
            np.empty(2, np.int64),
        )
    return [(a, b, c, d) for a, b, c, d in np.concatenate([places, in_bytes]).T.tolist()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see floor(3), lrint", ["see", "floor", "3)", "lrint"]),
        ('„so“ (he said)." X', ["so", "(he", "said).", "X"]),
        ("<joe@tilapin.org>, and", ["<joe", "tilapin", "org>", "and"]),
        ("--lock A_NAME _B 2.25 .conf", ["--lock", "A", "NAME", "_B", "2", "25", ".conf"]),
        ("「漢」字。次", ["「漢」", "字。", "次"]),
        ("**so** 50% x=1", ["so", "50%", "x", "1"]),
    ],
)
def test_signs_right_beside_a_word_belong_to_it(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end, _, _ in places_of(text, len(found))] == found


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_words_are_where_the_twin_says(text: str) -> None:
    assume(is_plain(text))
    expected = words_of_text(text)
    assert len(stems_of(text)) == len(expected)
    places = [
        (*with_signs(text, expected, number, 0), len(text[:start].encode()), len(text[:end].encode()))
        for number, (start, end) in enumerate(expected)
    ]
    assert places_of(text, len(expected)) == places
    assert all(one[1] <= following[0] for one, following in pairwise(places))  # no sign belongs to two words


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXTS, max_size=4))
def test_texts_and_sentences_begin_with_the_words_that_follow(texts: list[str]) -> None:
    """Words of several texts are those of each, one after the other; a sentence without words begins with the next one."""
    assume(all(map(is_plain, texts)))
    begins = [(d, len(t[:start].encode())) for d, t in enumerate(texts) for start, _ in split_sentences(t)]
    documents, start_bytes = (np.array([place[k] for place in begins], np.int64) for k in range(2))
    stems, _, first, sentence_first = stem_words(pa.array(texts, pa.large_string()), documents, start_bytes)
    own = [start_bytes[documents == d] for d in range(len(texts))]
    alone = [
        stem_words(pa.array([text], pa.large_string()), np.zeros(len(o), np.int64), o)[0]
        for text, o in zip(texts, own, strict=True)
    ]
    assert stems.tolist() == [stem for some in alone for stem in some.tolist()]
    assert first.tolist() == np.cumsum([0, *(len(words_of_text(text)) for text in texts)]).tolist()
    starts = [[len(text[:start].encode()) for start, _ in words_of_text(text)] for text in texts]
    expected = [first[d] + sum(place < byte for place in starts[d]) for d, byte in begins]
    assert sentence_first.tolist() == expected


def bound_of(text: str, after: int, start: int, is_apart: bool) -> int:
    """Return how strongly a text is divided before the word at `start`, with no letter from `after` on. `is_apart`: the script
    of this word or of the one before has no spaces.
    """
    gap = text[after:start]
    if any(character in "\n\f\u2028\u2029\x0b\r\x85…•。" for character in gap) or re.search(r"[.!?](?!$)", gap, re.DOTALL):
        return STOP_BOUND
    if re.search(r"""[,:;：；]['"]|['"][,:;：；]""", gap) or (is_alone(text[start]) and re.search("[.!?]", gap)):
        return STOP_BOUND
    if after > 0 and not is_apart and " " not in gap:
        return ATTACHED
    is_capital = unicodedata.category(text[start]) in ("Lu", "Lt")
    return CLAUSE_BOUND if is_capital or set(gap) & set(":;：；") else WITHIN_CLAUSE


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["one", "Two", "Über", "ж", "Ж", "漢", "9", "x"]),
            st.sampled_from(
                [
                    " ",
                    " ",
                    ", ",
                    ". ",
                    "! ",
                    "? ",
                    "。",
                    "\n",
                    ": ",
                    "; ",
                    "：",
                    "；",
                    " (",
                    ") ",
                    " – ",
                    "'",
                    '"',
                    ".",
                    "!",
                    "_",
                    ":",
                    "..",
                    " .",
                    '," ',
                    '", ',
                    ' "',
                    "', ",
                ]
            ),
        ),
        max_size=30,
    ).map(lambda pieces: "".join(word + gap for word, gap in pieces))
)
def test_bounds_are_graded_by_what_is_before_a_word(text: str) -> None:
    begins = [len(text[:start].encode()) for start, _ in split_sentences(text)]
    _, bounds, _, sentence_first = stem_words(
        pa.array([text], pa.large_string()), np.zeros(len(begins), np.int64), np.array(begins, np.int64)
    )
    expected, after, was_alone = [], 0, False
    for number, (start, end) in enumerate(words_of_text(text)):
        is_apart = was_alone or is_alone(text[start])
        expected.append(SENTENCE_BOUND if number in sentence_first else bound_of(text, after, start, is_apart))
        after, was_alone = end, is_alone(text[start:end])
    assert bounds.tolist() == expected


WORDS = st.lists(
    st.sampled_from(
        ["a", "b", "B", "e\u0301", "é", "É", "o\u0323\u0302", "ß", "ж", "Ж", "θ", "र", "9", "한", "글", "\u00ad", "i"]
    ),
    min_size=1, max_size=9,
).map("".join)  # fmt: skip


def twins_of(text: str, bounds: list[int]) -> list[str]:
    """Return the stems of words; a character of an unspaced script is taken with the next one, if nothing divides them."""
    words = [text[start:end] for start, end in words_of_text(text)]
    alone, twins = [is_alone(word) for word in words], list(map(stem_of, words))
    joins = [a and b and bound == WITHIN_CLAUSE for a, b, bound in zip(alone, alone[1:], bounds[1:], strict=False)]
    return [f"{twin}|{twins[k + 1]}" if k < len(joins) and joins[k] else twin for k, twin in enumerate(twins)]


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS | st.sampled_from(PIECES), max_size=12))
def test_stems_are_alike_exactly_where_the_twins_are(words: list[str]) -> None:
    text = " ".join(words)
    stems, bounds, _, _ = stem_words(pa.array([text], pa.large_string()), NONE, NONE)
    stems, twins = stems.tolist(), twins_of(text, bounds.tolist())
    assert len(stems) == len(twins)
    assert len(set(stems)) == len(set(twins)) == len(set(zip(stems, twins, strict=True)))


@pytest.mark.parametrize("word", [("cliché"), "élégante", "Ünlü", "гавань", "θάλασσα", "éé", "aéééb"])
def test_normal_forms_and_case_do_not_matter(word: str) -> None:
    stems = stems_of(word)
    for form in ("NFC", "NFD"):
        for variant in (word, word.upper(), word.lower()):
            assert stems_of(unicodedata.normalize(form, variant)) == stems


@pytest.mark.parametrize("word", ["nghiệp", "đường phố nghiệp vụ", "한국어말씀", "ṣaḥīḥ"])
def test_normal_forms_do_not_matter_to_letters_of_three_bytes(word: str) -> None:
    assert stems_of(unicodedata.normalize("NFD", word)) == stems_of(unicodedata.normalize("NFC", word))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("international", "internationally"),
        ("harbour", "harbours"),
        ("gesprochen", "gesprochenes"),
        ("пароходом", "пароходами"),
        ("हिन्दुस्तान", "हिन्दुस्तानी"),
        ("한국어를", "한국어에"),
        ("ﬁnished", "finished"),
        ("ＨＡＲＢＯＵＲ", "harbour"),
        ("STRASSE", "Straße"),
        ("co\u00adoperate", "cooperate"),
    ],
)
def test_endings_do_not_matter(a: str, b: str) -> None:
    assert stems_of(a) == stems_of(b)


@pytest.mark.parametrize(("a", "b"), [("harbor", "harbou"), ("ferry", "ferries"), ("한국어", "한국말"), ("漢", "字")])
def test_beginnings_do(a: str, b: str) -> None:
    assert stems_of(a) != stems_of(b)


def test_a_character_of_an_unspaced_script_is_a_word() -> None:
    assert [len(stems_of(text)) for text in ("漢字", "カタカナ", "ひらがな", "ภาษา", "한국어", "漢a字b9")] == [2, 4, 4, 4, 1, 4]
    # Each stands for itself and the next one; what is between them divides them.
    assert stems_of("漢字漢字")[0] == stems_of("漢字漢字")[2] != stems_of("字漢")[1]
    assert stems_of("漢：字") == stems_of("字：漢")[::-1]


@pytest.mark.parametrize("character", ["\ufe70", "\ufc5e"])
def test_words_that_fold_to_nothing_are_always_the_same(character: str) -> None:
    """A mark on a blank, which compatibility forms have for Arabic, is a letter by its category."""
    assert len({tuple(stems_of(f"{before} {character}")[1:]) for before in ("été", "über", "señor")}) == 1
