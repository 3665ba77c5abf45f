"""Words as text: one for each token, and each gives that token again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.sentences.word_texts import words_in
from tests.sentences.test_sentence_tokens import texts, tokens_of


@settings(deadline=None)
@given(texts)
def test_a_word_is_what_its_token_is_made_of(text: str) -> None:
    found, tokens = words_in(text), tokens_of(text)
    assert len(found) == len(tokens)
    assert [tokens_of(word) for word in found] == [[token] for token in tokens]


@settings(deadline=None)
@given(st.lists(texts, max_size=6))
def test_different_tokens_are_different_words(several: list[str]) -> None:
    pairs = {pair for text in several for pair in zip(tokens_of(text), words_in(text), strict=True)}
    assert len(pairs) == len({word for _, word in pairs})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It\u2019s 3rd STRASSE, Straße!", ["it", "s", "3rd", "strasse", "strasse"]),
        ("漢字、仮名", ["漢字", "字仮", "仮名"]),
        ("漢a字", ["漢", "a", "字"]),
        ("— … !", []),
    ],
)
def test_words_read_as_people_would_write_them(text: str, expected: list[str]) -> None:
    assert words_in(text) == expected
