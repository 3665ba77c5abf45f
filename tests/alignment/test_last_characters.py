"""In scripts without spaces, where a stem is that of two characters, passages end with the last character in common."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment import Words
from ibidem.alignment.aligner import covering_last
from ibidem.sentences import split_sentences, stem_words
from ibidem.sentences.kernels.stems import SENTENCE_BOUND, WITHIN_CLAUSE

# A passage, and for each of two documents what is before and after it, within the same sentence.
INSIDE = {
    "Chinese": (
        "我们在山脚下的小村庄里遇见了一位老木匠他告诉我们年轻时怎样跟着父亲学会修理钟表并且走遍了整个省份的集市和寺庙",
        ("很久以前的故事总是从这里开始讲起", "后来大家都忘了这件事情再也没有人提起过它。"),
        ("有一本旧书的第三章写道", "可是没有人相信这些话所以书也丢了。"),
    ),
    "Japanese": (
        "港の入り口にある古い灯台には毎晩ひとりの老人が火をともしに来て朝になるまで海の音を聞きながら手紙を書いていた",
        ("祖母が話してくれたところによると", "けれどもその手紙を読んだ人はいない。"),
        ("新聞の片隅に載っていた記事では", "ということが町のうわさになった。"),
    ),
    "Thai": (
        "ชาวประมงคนหนึ่งพบกล่องไม้เก่าลอยอยู่ใกล้ปากแม่น้ำและนำมันกลับไปให้ครูใหญ่ของหมู่บ้านซึ่งเก็บรักษาไว้นานหลายปี",
        ("เมื่อวานนี้มีคนเล่าให้ฟังเรื่อง", "แต่ตอนนี้ไม่มีใครรู้ว่ามันหายไปไหน"),
        ("หนังสือพิมพ์ฉบับเก่ารายงานว่า", "จนกระทั่งเกิดไฟไหม้ใหญ่"),
    ),
}


@pytest.mark.parametrize("language", INSIDE)
@pytest.mark.parametrize("min_words", [10, 25])
def test_a_passage_inside_sentences_ends_with_its_last_character(language: str, min_words: int) -> None:
    passage, *around = INSIDE[language]
    texts = {name: before + passage + after for name, (before, after) in zip("ab", around, strict=True)}
    records = [{"id": name, "text": text} for name, text in texts.items()]
    given = ibidem.compare_pairs(records, [("a", "b")], min_aligned_words=min_words).passages.to_pylist()
    found = ibidem.find(records, align=True, min_aligned_words=min_words).passages.to_pylist()
    for (row,) in (given, found):
        assert [texts[side][row[f"{side}_start"] : row[f"{side}_end"]] for side in "ab"] == [passage, passage]
        assert row["similarity"] == 1.0


@settings(max_examples=200, deadline=None)
@given(*(st.text("中文字a ，。", min_size=1, max_size=12) for _ in range(2)), st.integers(1, 8), st.integers(1, 8))
def test_ends_move_only_behind_an_equal_character(a: str, b: str, end_a: int, end_b: int) -> None:
    texts = [a, b]
    places = [(d, len(text[:start].encode())) for d, text in enumerate(texts) for start, _ in split_sentences(text)]
    documents, begins = (np.array([place[k] for place in places], np.int64) for k in range(2))
    stems, bounds, first, sentence_first = stem_words(pa.array(texts, pa.large_string()), documents, begins)
    bounds = np.append(bounds, np.uint8(SENTENCE_BOUND))
    bounds[sentence_first] = bounds[first] = SENTENCE_BOUND
    words = Words(stems, bounds, first, sentence_first)
    end_a, end_b = min(end_a, int(first[1])), min(end_b, int(first[2] - first[1]))
    if end_a == 0 or end_b == 0:
        return
    spans = np.array([[0, end_a, first[1], first[1] + end_b]])
    ((_, moved_a, _, moved_b),), (n_more,) = covering_last(spans, words)
    characters = [_words(text) for text in texts]
    n_equal = 0
    same_stem = stems[end_a - 1] == stems[first[1] + end_b - 1]
    in_sentence = [
        end_a < len(characters[0]) and bounds[end_a] == WITHIN_CLAUSE,
        end_b < len(characters[1]) and bounds[first[1] + end_b] == WITHIN_CLAUSE,
    ]
    if same_stem and all(in_sentence):
        following = characters[0][end_a], characters[1][end_b]
        if all(char in "中文字" for char in (*following, characters[0][end_a - 1])):
            assert following[0] == following[1]
            n_equal = 1
    assert (moved_a - end_a, moved_b - first[1] - end_b, n_more) == (n_equal, n_equal, n_equal)


def _words(text: str) -> list[str]:
    """Return the words of a text: a character, or letters."""
    words: list[str] = []
    before = ""
    for char in text:
        if char == "a" and before == "a":
            words[-1] += char
        elif char in "中文字a":
            words.append(char)
        before = char
    return words
