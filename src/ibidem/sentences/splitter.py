"""From texts to sentences: the kernels behind Arrow and Python types."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.hashes import seed_of
from ibidem.columns.kernels.machine_words import WORD_BYTES
from ibidem.columns.texts import Bytes, Hashes, Offsets, kernel_texts, read_only, word_bytes
from ibidem.config import SentencesConfig
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences.abbreviations import load_words
from ibidem.sentences.code_points import FIRST_TOKEN_KIND, load_code_points
from ibidem.sentences.kernels import scan as scan_kernels
from ibidem.sentences.kernels import split as split_kernels
from ibidem.sentences.kernels import stems as stem_kernels
from ibidem.sentences.kernels import tokens as token_kernels

SPLITTER_VERSION: int = 1

_CONTRACTION = "(\\pL)['\u2019\u02bc](\\pL)"
_BATCH_CHARS = 4 << 20
CharSpan: TypeAlias = tuple[int, int]
_NO_PLACES = np.empty(0, np.uint64)


@overload
def split_sentences(text: str, lang: str = "auto") -> list[CharSpan]: ...  # type: ignore[overload-overlap]
@overload
def split_sentences(text: Iterable[str], lang: str = "auto") -> list[list[CharSpan]]: ...
def split_sentences(text: str | Iterable[str], lang: str = "auto") -> list[CharSpan] | list[list[CharSpan]]:
    """Return the sentences of a text as spans of characters: half open, in reading order, without surrounding spaces.

    Of many texts, it returns a list for each. That is faster than a call for each of them.
    """
    config = SentencesConfig(lang=lang)
    if isinstance(text, str):
        return _char_spans([text], config)[0]
    found: list[list[CharSpan]] = []
    waiting: list[str] = []
    n_chars = 0
    for one in text:
        waiting.append(one)
        n_chars += len(one)
        if n_chars >= _BATCH_CHARS:
            found += _char_spans(waiting, config)
            waiting, n_chars = [], 0
    return found + _char_spans(waiting, config)


def _char_spans(texts: list[str], config: SentencesConfig) -> list[list[CharSpan]]:
    data, offsets = kernel_texts(pa.array(texts, pa.large_string()))
    documents, starts, ends = _split(data, kinds_of_bytes(data), offsets, config)
    spans = list(zip(*(places.tolist() for places in _in_chars(data, offsets, documents, starts, ends)), strict=True))
    if len(texts) == 1:
        return [spans]
    bounds = np.searchsorted(documents, np.arange(len(texts) + 1)).tolist()
    return [spans[first:last] for first, last in pairwise(bounds)]


def _in_chars(
    data: Bytes, offsets: Offsets, documents: Offsets, starts: Offsets, ends: Offsets
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return where spans of bytes begin and end, counted in the characters of their texts."""
    start_chars, end_chars = (np.empty(len(starts), dtype=np.uint32) for _ in range(2))
    scan_kernels.count_offsets(data, offsets, documents, starts, ends, start_chars, end_chars)
    return start_chars, end_chars


def split_texts(texts: pa.LargeStringArray, config: SentencesConfig) -> pa.RecordBatch:
    """Return the sentences of all texts, one row each, in the schema SENTENCE_BATCH; a null is a text without any."""
    return split_and_check(texts, config, _NO_PLACES)[0]


def split_and_check(texts: pa.LargeStringArray, config: SentencesConfig, places: Hashes) -> tuple[pa.RecordBatch, Hashes]:
    """Return the same, and the checks of the words of each sentence at the `places` of a `CheckKey`; none without places."""
    data, offsets = kernel_texts(texts)
    documents, starts, ends = _split(data, kinds_of_bytes(data), offsets, config)
    n_words, digests, checks = _count_and_digest(data, starts, ends, config.hash_seed, places)
    start_chars, end_chars = _in_chars(data, offsets, documents, starts, ends)
    begins = offsets[documents]
    columns = [
        documents.astype(np.int32),
        (starts - begins).astype(np.uint32),
        (ends - begins).astype(np.uint32),
        start_chars,
        end_chars,
        n_words.astype(np.int32),
        digests,
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SENTENCE_BATCH), checks


def tokenise_spans(data: Bytes, starts: Offsets, ends: Offsets, hash_seed: int = 0) -> tuple[Hashes, Offsets]:
    """Return the token hashes of byte spans in UTF-8, and `first`: span i has tokens[first[i]:first[i + 1]]."""
    data, starts, ends, n = word_bytes(data), read_only(starts), read_only(ends), len(starts)
    first, no_digests, no_checks = np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.uint64), _room_for_checks(0)
    # A token takes five bytes or more on average; if they are shorter, room is added as needed.
    tokens = np.empty(int((ends - starts).sum()) // 5 + 64, dtype=np.uint64)
    seed, span = seed_of(hash_seed), 0
    while True:
        span = token_kernels.tokenise(
            data, starts, ends, load_code_points(), seed, span, tokens, first, no_digests, read_only(_NO_PLACES), no_checks
        )
        if span == n:
            # A copy, so that unused room is released.
            return tokens[: first[n]].copy(), first
        grown = np.empty(int(first[span] + ends[span] - starts[span]) + 1 + len(tokens) // 2, dtype=np.uint64)
        grown[: first[span]] = tokens[: first[span]]
        tokens = grown


def tokenise_texts(texts: pa.LargeStringArray, hash_seed: int = 0) -> tuple[Hashes, Offsets]:
    """Return the token hashes of whole texts, and `first`: text i has tokens[first[i]:first[i + 1]]."""
    data, offsets = kernel_texts(texts)
    return tokenise_spans(data, offsets[:-1], offsets[1:], hash_seed)


def join_contractions(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return texts to be tokenised in which no apostrophe between letters ends a word.

    It becomes a soft hyphen, which tokens ignore.
    """
    for _ in range(2):  # the letter between two apostrophes is part of one match only
        texts = pc.replace_substring_regex(texts, _CONTRACTION, "\\1\u00ad\\2")
    return texts


def stem_words(
    texts: pa.LargeStringArray, documents: Offsets, start_bytes: Offsets, hash_seed: int = 0, whole: bool = False
) -> tuple[NDArray[np.uint32], NDArray[np.uint8], Offsets, Offsets]:
    """Return the hashes of the stems of all words, their bounds, and the first words of texts and of sentences.

    Text i has the words [first[i], first[i + 1]). Sentences are given in reading order, by text and first byte in it. A bound
    says how strongly the text is divided before a word. With `whole`, the stem of a word is the word itself.
    """
    data, offsets = kernel_texts(texts)
    kinds = kinds_of_bytes(data)
    most = int(np.count_nonzero(kinds[: len(data)] >= FIRST_TOKEN_KIND))  # a word has a letter at least
    stems, bounds = np.empty(most, np.uint32), np.empty(most, np.uint8)
    first, sentence_first = np.zeros(len(texts) + 1, np.int64), np.empty(len(documents), np.int64)
    room = np.empty(stem_kernels.STEM_BYTES + 1, np.uint64)
    most_letters = stem_kernels.STEM_BYTES if whole else stem_kernels.STEM_LETTERS
    n = stem_kernels.stem_words(
        data, kinds, offsets, load_code_points(), seed_of(hash_seed), most_letters, offsets[documents] + start_bytes, room,
        stems, bounds, first, sentence_first,
    )  # fmt: skip
    return stems[:n], bounds[:n], first, sentence_first


def digest_tokens(tokens: Hashes, first: Offsets) -> Hashes:
    """Return the digest of every span's tokens, the same that `split_texts` gives to a sentence."""
    digests: Hashes = np.empty(len(first) - 1, dtype=np.uint64)
    token_kernels.fold_tokens(read_only(tokens), read_only(first), digests)
    return digests


def _count_and_digest(
    data: Bytes, starts: Offsets, ends: Offsets, hash_seed: int, places: Hashes
) -> tuple[Offsets, Hashes, Hashes]:
    """Return the number of tokens and the digest of every span, and its checks if there are places. Tokens are not kept."""
    n = len(starts)
    counts, digests = np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.uint64)
    checks = _room_for_checks(n if len(places) else 0)
    tokens = np.empty(int((ends - starts).max(initial=0)) + 1, dtype=np.uint64)
    spans = read_only(starts), read_only(ends)
    token_kernels.tokenise(
        data, *spans, load_code_points(), seed_of(hash_seed), 0, tokens, counts, digests, read_only(places), checks
    )
    return counts[1:], digests, checks


def _room_for_checks(n: int) -> Hashes:
    return np.empty((n, 2), dtype=np.uint64)


def _split(data: Bytes, kinds: Bytes, offsets: Offsets, config: SentencesConfig) -> tuple[Offsets, Offsets, Offsets]:
    """Return the documents, starts and ends of all sentences."""
    # Sentences of sixteen bytes or less are rare; a text of nothing else gets enough room at a later try.
    for n_bytes_each in (16, 2, 1):
        found = _rooms(len(data) // n_bytes_each + len(offsets))
        n = split_kernels.split_documents(data, kinds, offsets, load_words(config.lang), *found)
        if n >= 0:
            break
    pieces = _rooms(n + len(data) // split_kernels.MIN_PIECE_BYTES)
    n = split_kernels.cut_long_spans(data, kinds, *(values[:n] for values in found), config.max_sentence_words, *pieces)
    documents, starts, ends = (values[:n] for values in pieces)
    return documents, starts, ends


def kinds_of_bytes(data: Bytes) -> Bytes:
    """Return the kind of the character at each byte, and room for the words that kernels load."""
    kinds = np.empty(len(data) + WORD_BYTES, dtype=np.uint8)
    scan_kernels.mark_kinds(data, load_code_points(), kinds)
    return read_only(kinds)


def _rooms(n: int) -> tuple[Offsets, Offsets, Offsets]:
    """Return arrays for the documents, starts and ends of `n` spans."""
    return np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
