"""What is true of every text, and that a batch is no more than its texts."""

# ruff: noqa: E501

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.config import SentencesConfig
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences import split_sentences, split_texts
from ibidem.sentences.code_points import FIRST_TOKEN_KIND
from ibidem.sentences.make_code_points import kind_of

PIECES = [
    "word", "Word", "The", "Dr.", "U.S.", "12", "3.5", "z. B.", ". ", ". . .", "…", "! ", "?", "。", "！", "「", "」", '"', "(", ")", "[1]",
    " ", "  ", "\n", "\n\n", "\r\n", "\f", "\u2029", "\u2028", "\u00a0", "\u3000", "> ", "- ", "# ", "• ", "1. ", "2) ", "(a) ", "---",
    "漢字", "かな", "ไทย", "กขค" * 8, "한글", "é", "e\u0301", "\u0301", "\ufe0f", "\u200b", "»", "«", "°", "N°.", "，", ", ", "।", "😀", "\x00",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)
config = SentencesConfig()


def split(values: list[str], chosen: SentencesConfig = config) -> pa.RecordBatch:
    return split_texts(pa.array(values, type=pa.large_string()), chosen)


@settings(deadline=None)
@given(texts)
def test_spans_are_ordered_trimmed_and_hold_every_token_character(text: str) -> None:
    batch = split([text])
    assert batch.schema == SENTENCE_BATCH
    encoded = text.encode()
    covered: set[int] = set()
    last_end = 0
    for row in batch.to_pylist():
        start, end = row["start_char"], row["end_char"]
        sentence = text[start:end]
        assert last_end <= start < end <= len(text)
        assert sentence == sentence.strip()
        assert any(kind_of(character) >= FIRST_TOKEN_KIND for character in sentence)
        assert row["n_words"] > 0
        assert encoded[row["start_byte"] : row["end_byte"]].decode() == sentence
        covered.update(range(start, end))
        last_end = end
    assert all(k in covered for k, character in enumerate(text) if kind_of(character) >= FIRST_TOKEN_KIND)


@settings(deadline=None)
@given(st.lists(texts, max_size=6), st.sampled_from([1, 20, 1 << 22]))
def test_many_texts_have_the_spans_of_each(values: list[str], batch_chars: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ibidem.sentences.splitter._BATCH_CHARS", batch_chars)
        found = split_sentences(iter(values))
    assert found == [split_sentences(value) for value in values]
    for value, spans in zip(values, found, strict=True):
        rows = split([value]).to_pylist()
        assert spans == [(row["start_char"], row["end_char"]) for row in rows]


@settings(deadline=None)
@given(st.lists(texts, max_size=6))
def test_a_batch_is_its_texts_one_by_one(values: list[str]) -> None:
    rows = split(values).to_pylist()
    alone = [{**row, "document": k} for k, value in enumerate(values) for row in split([value]).to_pylist()]
    assert rows == alone
    assert (
        split_texts(pa.array(["Padding. Of course.", *values, "end"], type=pa.large_string())[1:-1], config).to_pylist() == rows
    )


@settings(deadline=None)
@given(texts)
def test_short_limit_keeps_every_token(text: str) -> None:
    rows = split([text * 5], SentencesConfig(max_sentence_words=16)).to_pylist()
    covered = sum(row["end_char"] - row["start_char"] for row in rows)
    whole = split([text * 5]).to_pylist()
    assert covered <= sum(row["end_char"] - row["start_char"] for row in whole)
    assert (len(rows) > 0) == (len(whole) > 0)


def test_empty_and_null_texts() -> None:
    assert split([]).num_rows == 0
    assert split([]).schema == SENTENCE_BATCH
    assert split(["", ""]).num_rows == 0
    assert split_texts(pa.array([None, "One.", None], type=pa.large_string()), config)["document"].to_pylist() == [1]


def test_over_long_text_is_cut_by_its_words_and_copies_agree() -> None:
    words = [f"w{k * 7919 % 1009}" for k in range(900)]
    body = " ".join(words)
    a = split(["alpha beta gamma " + body]).to_pylist()
    b = split(["delta " + body]).to_pylist()
    assert all(16 <= row["n_words"] <= 96 for row in a[:-1])
    shared = {row["digest"] for row in a} & {row["digest"] for row in b}
    assert len(shared) >= len(a) - 4


def test_over_long_text_is_cut_after_commas() -> None:
    text = ("one two three four five six seven eight nine ten, " * 20).strip()
    assert all(text[start:end].endswith(",") for start, end in split_sentences(text))


def test_over_long_chinese_is_cut() -> None:
    text = "".join(chr(0x4E00 + k * 37 % 5000) for k in range(1000))
    spans = split_sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) > 10


@pytest.mark.parametrize(
    "piece",
    [
        "!",
        "! ",
        ". ",
        "a. ",
        "1. ",
        "(",
        ")",
        '"',
        "> ",
        "\n> ",
        "-\n",
        "A\n",
        "•",
        "• ",
        "[1]",
        ".[1]",
        "。",
        "！漢",
        "ก ",
        "a",
        "a,",
        "é.",
        "\u0301",
    ],
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    split_sentences(piece * 10)
    started = time.process_time()
    split_sentences("A" + piece * (500_000 // len(piece.encode())))
    assert time.process_time() - started < 3
