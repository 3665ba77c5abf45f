"""Tokens and digests: a plain twin made of `unicodedata` alone, and the variants that have to look alike."""

# ruff: noqa: E501

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.columns.hashes import SEED, mix
from ibidem.sentences import digest_tokens, tokenise_spans
from ibidem.sentences.code_points import CLUSTER, DIGIT, IGNORED, MARK, UNSPACED
from ibidem.sentences.make_code_points import TABLE_PATH, fold, kind_of, make_tables

SAME_UNICODE = str(np.load(TABLE_PATH)["unicode_version"]) == unicodedata.unidata_version

SCRIPTS = (
    "aB9é ßŉ ﬁ Ⅷ½ｆＦ İıſΣς ≠ Å Å ộ '’-_.,!  \u00ad\u200b\u200d\ufe0f\ufeff\u0301\u0323 漢字々ー。、がガｶﾞﾊﾟか\u3099 ㄅ 한글각\u1112\u1161\u11ab"
    "ภาษาไทยน้ำก็ ລາວ ខ្មែរ မြန်မာ हिन्दी كتاب لا 𝐀𝒷 豈 \U00020000 ⼀ ﷺ ①"
)
texts = st.text(alphabet=st.sampled_from(SCRIPTS) | st.characters(codec="utf-8"), max_size=40)


def tokens_of(text: str) -> list[int]:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    tokens, first = tokenise_spans(data, np.array([0]), np.array([len(data)]))
    assert first.tolist() == [0, len(tokens)]
    return [int(token) for token in tokens]


def twin(text: str) -> list[tuple[str, ...]]:
    """Return tokens as tuples of characters, marks sorted: equal tuples represent equal hashes."""
    tokens: list[tuple[str, ...]] = []
    run: list[str] = []
    order = 0  # 1 word, 2 pairs, 3 threes

    def end_run() -> None:
        nonlocal order
        if run and order == 1:
            tokens.append(("".join(run),))
        elif run:
            tokens.extend(tuple(run[k : k + order]) for k in range(max(1, len(run) - order + 1)))
        run.clear()
        order = 0

    extendable = False
    for character in text:
        kind = kind_of(character)
        for part in fold(character) if kind >= DIGIT or kind == MARK else character:
            kind = kind_of(part)
            if kind == IGNORED:
                continue
            if kind == MARK:
                if extendable:
                    run[-1] = run[-1][0] + "".join(sorted(run[-1][1:] + part))
                continue
            extendable = kind >= DIGIT
            if not extendable:
                if order == 1:
                    end_run()
                continue
            wanted = 2 if kind == UNSPACED else 3 if kind == CLUSTER else 1
            if wanted != order:
                end_run()
                order = wanted
            run.extend(unicodedata.normalize("NFD", part) if wanted == 1 else part)
    end_run()
    return tokens


@pytest.mark.skipif(not SAME_UNICODE, reason="the tables are of another Unicode version")
@settings(deadline=None)
@given(texts, texts)
def test_tokens_are_alike_exactly_where_the_twins_are(a: str, b: str) -> None:
    tokens = tokens_of(a) + tokens_of(b) + tokens_of(a + b)
    twins = twin(a) + twin(b) + twin(a + b)
    assert len(tokens) == len(twins)
    assert len(set(tokens)) == len(set(twins)) == len(set(zip(tokens, twins, strict=True)))


@settings(deadline=None)
@given(texts)
def test_normal_forms_case_and_soft_hyphens_do_not_matter(text: str) -> None:
    tokens = tokens_of(text)
    assert tokens_of(unicodedata.normalize("NFC", text)) == tokens
    assert tokens_of(unicodedata.normalize("NFD", text)) == tokens
    assert tokens_of(text.casefold()) == tokens
    assert tokens_of("\u00ad".join(text)) == tokens


@pytest.mark.parametrize(
    ("text", "n_tokens"),
    [
        ("It's a well-known 3rd mp3_file", 8),
        ("漢", 1),
        ("漢字", 1),
        ("漢字、仮名。", 3),
        ("漢a字", 3),
        ("한국어 문장", 2),
        ("ภาษาไทย", 5),
        ("กก", 1),
        ("", 0),
        ("— … !", 0),
    ],
)
def test_number_of_tokens(text: str, n_tokens: int) -> None:
    assert len(tokens_of(text)) == n_tokens


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),
        ("ＡＢＣ１", "abc1"),
        ("ｶﾞﾊﾟ", "ガパ"),
        ("“a”—b", "a b"),
        ("co\u00adop", "coop"),
    ],
)
def test_variants_have_the_same_tokens(a: str, b: str) -> None:
    assert tokens_of(a) == tokens_of(b)


@pytest.mark.parametrize("n_letters", range(1, 36))
@pytest.mark.parametrize("after", ["", " ", " and so on and so forth", "é", "\u0301", "漢"])
def test_long_words_are_alike_however_they_are_written(n_letters: int, after: str) -> None:
    word = "internationalisation0of9everything12"[:n_letters]
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in word)
    tokens = tokens_of(word + after)
    assert tokens_of(wide + after) == tokens
    assert tokens_of(word[: n_letters // 2] + wide[n_letters // 2 :] + after) == tokens
    assert tokens_of(wide[: n_letters // 2] + word[n_letters // 2 :].upper() + after) == tokens
    assert tokens_of(word[:-1] + after)[:1] != tokens[:1]
    assert tokens_of(word[:-1] + "z" + after)[:1] != tokens[:1]


@settings(deadline=None)
@given(st.lists(texts | st.sampled_from(["abcdefgh", "internationalisation", " ", "."]), max_size=6))
def test_spans_know_nothing_of_what_is_around_them(parts: list[str]) -> None:
    data = np.frombuffer("".join(parts).encode(), dtype=np.uint8)
    bounds = np.cumsum([0, *(len(part.encode()) for part in parts)])
    tokens, first = tokenise_spans(data, bounds[:-1], bounds[1:])
    assert [tokens[first[k] : first[k + 1]].tolist() for k in range(len(parts))] == [tokens_of(part) for part in parts]


def test_digest_is_the_fold_of_the_tokens() -> None:
    data = np.frombuffer(b"one two three four", dtype=np.uint8)
    tokens, first = tokenise_spans(data, np.array([0, 4, 18]), np.array([7, 18, 18]))
    assert first.tolist() == [0, 2, 5, 5]
    digests = digest_tokens(tokens, first)
    h = SEED
    for token in tokens[:2]:
        h = np.uint64(mix(h, token))
    assert digests.dtype == np.uint64
    assert digests[0] == h
    assert digests[2] == SEED


@pytest.mark.skipif(not SAME_UNICODE, reason="the tables are of another Unicode version")
def test_committed_tables_are_those_that_the_script_makes() -> None:
    made = make_tables()
    with np.load(TABLE_PATH) as committed:
        assert sorted(committed.files) == sorted(made)
        for name, values in made.items():
            assert np.array_equal(committed[name], values), name
