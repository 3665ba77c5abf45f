"""Splitter and tokeniser on arbitrary bytes, valid UTF-8 or not, as they reach the kernels."""

# ruff: noqa: E501

from __future__ import annotations

import statistics
import time
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz.targets import Target
from ibidem.columns.texts import hash_strings
from ibidem.config import SentencesConfig
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences import digest_tokens, split_texts, stem_words, tokenise_spans, tokenise_texts
from ibidem.sentences.code_points import FIRST_TOKEN_KIND
from ibidem.sentences.make_code_points import TABLE_PATH, kind_of
from tests.alignment.written import is_plain, words_of_text
from tests.sentences.test_sentence_tokens import twin

PIECES = [
    "word", "Word", "The", "Dr.", "U.S.", "12", "3.5", "z. B.", ". ", ". . .", "...", "…", "! ", "?", "?!", "。", "！", "「", "」", '"', "'", "(", ")",
    "[1]", ".[1]", " ", "  ", "\n", "\n\n", "\r\n", "\f", "\u2029", "\u2028", "\u0085", "\u00a0", "\u3000", "\t", "> ", "\n> ", ">>", "- ", "# ", "• ",
    "1. ", "2. ", "2) ", "(a) ", "(b) ", "a. ", "iv. ", "---", "===", "漢字", "かな", "ไทย", "กขค" * 8, "한글", "\u1112\u1161\u11ab", "é", "e\u0301", "\u0301",
    "\ufe0f", "\u200b", "\u00ad", "»", "«", "°", "N°.", "，", ", ", "、", "।", "😀", "\x00", "ﷺ", "ß", "İ", "ŉ", "½", "Ⅷ", "𝐀", "\ufe70", "A\n", "a,", "é.",
]  # fmt: skip
BROKEN = [
    b"\xff",
    b"\xc3",
    b"\xe3\x81",
    b"\xf0\x9f\x98",
    b"\x80\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
    b"\xf0a.",
]
CONFIGS = (SentencesConfig(), SentencesConfig(lang="de"), SentencesConfig(lang="en"), SentencesConfig(max_sentence_words=16))
_AFTER = ("a.", "1) ", "\u0301", "。", "\n", ". ", "•", "\u00ad", "> b")
_LONG_BYTES = 200_000
_SLOWER_THAN_MEDIAN = 50
_LEAST_SECONDS = 0.1  # below, the clock and the machine have more part in it than the text
_SAME_UNICODE = str(np.load(TABLE_PATH)["unicode_version"]) == unicodedata.unidata_version
_paces: list[float] = []


def seeds() -> list[bytes]:
    """Return texts of all kinds: prose, mail, lists, scripts without spaces, headings, broken bytes."""
    texts = [
        "The harbour was closed. Dr. Vale said so at 3.5 knots, e.g. on Monday… “Why?” she asked. (No answer.) See [1].",
        "On Monday Wren wrote:\n> The pump runs\n> fine. Below that\n>> it stops.\n\n# Heading\n\n- one\n- two\n1. First 2. Second\n",
        "漢字。「かな！」と言った。한글 문장이다. ภาษาไทย ภาษาไทย นี้คือประโยค เรา हिन्दी वाक्य। Καλημέρα; Да. Нет!",
        "word " * 200 + ", ".join(f"w{k}" for k in range(150)),
        "".join(PIECES),
    ]
    return [bytes([number]) + text.encode() for number in (0, 3, 7, 16) for text in texts] + [
        b"",
        b"\x00",
        b"\x01" + b"".join(BROKEN),
    ]


def check(data: bytes) -> str:
    """Split and tokenise what follows the first byte, which says how it is cut into texts and with which settings."""
    how, rest = (data[0], data[1:]) if data else (0, b"")
    config = replace(CONFIGS[how & 3], hash_seed=how >> 4)
    values = rest.split(b"\x1e" if how & 4 else b"\xff\xfe")
    if how & 8:
        values = [value.decode("utf-8", "ignore").encode() for value in values]
    batch = split_texts(_column(values), config)
    rows = _rows(batch)
    if all(map(_is_utf8, values)):
        _check_texts([value.decode() for value in values], rows, config)
    else:
        _check_spans(values, rows)
    tokens, first = tokenise_texts(_column(values))
    if len(first) != len(values) + 1 or first[-1] != len(tokens) or (np.diff(first) < 0).any():
        raise AssertionError("tokens do not belong to texts")
    if len(hash_strings(_column(values))) != len(values) or len(digest_tokens(tokens, first)) != len(values):
        raise AssertionError("a text without a hash")
    if zlib.crc32(data) % 16 == 0 and rest:
        _check_pace(rest, config)
    longest = max((row["n_words"] for row in rows), default=0)
    return f"{len(values).bit_length()} texts, {min(len(rows), 24)} sentences, up to {min(longest, 24)} words, {how & 15}"


def _check_texts(texts: list[str], rows: list[dict[str, Any]], config: SentencesConfig) -> None:
    """Check what is promised of texts: see tests/sentences. Rows have to be those of each text by itself."""
    alone = [{**row, "document": number} for number, text in enumerate(texts) for row in _split([text], config)]
    if rows != alone:
        raise AssertionError("a batch is not its texts one by one")
    after = _AFTER[zlib.crc32(texts[-1].encode()) % len(_AFTER)]
    if [row for row in _split([*texts, after], config) if row["document"] < len(texts)] != rows:
        raise AssertionError(f"sentences depend on the text that follows: {after!r}")
    _check_spans([text.encode() for text in texts], rows)
    for number, text in enumerate(texts):
        encoded, covered = text.encode(), np.zeros(len(text), bool)
        own = [row for row in rows if row["document"] == number]
        for row in own:
            sentence = text[row["start_char"] : row["end_char"]]
            if encoded[row["start_byte"] : row["end_byte"]].decode() != sentence or sentence != sentence.strip():
                raise AssertionError("bytes and characters are not those of one trimmed sentence")
            if row["n_words"] <= 0:
                raise AssertionError("a sentence without words")
            covered[row["start_char"] : row["end_char"]] = True
        if any(kind_of(character) >= FIRST_TOKEN_KIND and not covered[place] for place, character in enumerate(text)):
            raise AssertionError("a letter lies in no sentence")
        _check_tokens(text, encoded, own, config.hash_seed)


def _check_tokens(text: str, encoded: bytes, rows: list[dict[str, Any]], hash_seed: int) -> None:
    data = np.frombuffer(encoded, np.uint8)
    starts, ends = (np.array([row[name] for row in rows], np.int64) for name in ("start_byte", "end_byte"))
    tokens, first = tokenise_spans(data, starts, ends, hash_seed)
    if np.diff(first).tolist() != [row["n_words"] for row in rows]:
        raise AssertionError("tokens of spans are not as many as the splitter says")
    if digest_tokens(tokens, first).tolist() != [row["digest"] for row in rows]:
        raise AssertionError("digests of spans are not those of the splitter")
    stems, _, sentence_first = stem_words(_column([encoded]), np.zeros(len(rows), np.int64), starts, hash_seed)
    if sentence_first.tolist() != sorted(sentence_first.tolist()):
        raise AssertionError("first words of sentences are out of order")
    if _SAME_UNICODE:
        whole, _ = tokenise_spans(data, np.array([0]), np.array([len(data)]), hash_seed)
        twins = twin(text)
        if len(whole) != len(twins) or not (
            len(set(whole.tolist())) == len(set(twins)) == len(set(zip(whole.tolist(), twins, strict=True)))
        ):
            raise AssertionError("tokens are not those of the twin")
        if is_plain(text) and not _has_other_digits(text) and len(stems) != len(words_of_text(text)):
            raise AssertionError("words are not those of the twin")


def _has_other_digits(text: str) -> bool:
    """Return whether there are digits of scripts without spaces: the twin takes them for single letters, which they are not."""
    return any(unicodedata.category(character)[0] == "N" and ord(character) > 0x7F for character in text)


def _check_spans(values: Sequence[bytes], rows: list[dict[str, Any]]) -> None:
    place = (0, 0)
    for row in rows:
        start, end = (row["document"], row["start_byte"]), (row["document"], row["end_byte"])
        if not (place <= start < end and 0 <= row["document"] < len(values) and end[1] <= len(values[row["document"]])):
            raise AssertionError("spans overlap, are out of order, or lie outside of their text")
        place = end


def _check_pace(data: bytes, config: SentencesConfig) -> None:
    """Check that a long text takes a time like others of its length."""
    long = _column([data * (1 + _LONG_BYTES // len(data))])
    started_seconds = time.thread_time()
    tokenise_texts(long)
    split_texts(long, config)
    seconds = time.thread_time() - started_seconds
    _paces.append(seconds / len(data * (1 + _LONG_BYTES // len(data))))
    if seconds > _LEAST_SECONDS and len(_paces) > 20 and _paces[-1] > _SLOWER_THAN_MEDIAN * statistics.median(_paces[-1000:]):
        raise AssertionError(f"it takes {_paces[-1] * 1e9:.0f} ns a byte, others {statistics.median(_paces) * 1e9:.0f}")


def _column(values: Sequence[bytes]) -> Any:
    """Return bytes as Arrow strings, whether they are UTF-8 or not."""
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(values)))


def _split(texts: list[str], config: SentencesConfig) -> list[dict[str, Any]]:
    return _rows(split_texts(pa.array(texts, pa.large_string()), config))


def _rows(batch: Any) -> list[dict[str, Any]]:
    if batch.schema != SENTENCE_BATCH:
        raise AssertionError("another schema")
    batch.validate(full=True)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


TARGET = Target(check, seeds, [piece.encode() for piece in PIECES] + BROKEN + [b"\x1e", b"\xff\xfe"], max_bytes=2000)
