"""Texts in, sentences out: the kernels behind Arrow and Python types."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import SentencesConfig
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences import char_kernels, cut_kernels, split_kernels, token_kernels
from ibidem.sentences.abbreviations import load_words
from ibidem.sentences.code_points import load_code_points

SPLITTER_VERSION: int = 1

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]


def split_sentences(text: str, lang: str = "auto") -> list[tuple[int, int]]:
    """Return the sentences of a text as spans of characters: half open, in reading order, without blanks around them."""
    batch = split_texts(pa.array([text], type=pa.large_string()), SentencesConfig(lang=lang))
    return list(zip(batch["start_char"].to_pylist(), batch["end_char"].to_pylist(), strict=True))


def split_texts(texts: pa.LargeStringArray, config: SentencesConfig) -> pa.RecordBatch:
    """Return the sentences of all texts, one row each, in the schema SENTENCE_BATCH; a null is a text without any."""
    data, offsets = _buffers(texts)
    code_points = load_code_points()
    spans = split_kernels.split_documents(data, offsets, code_points, load_words(config.lang))
    documents, starts, ends = cut_kernels.cut_long_spans(data, *spans, code_points, config.max_sentence_words)
    n_words, digests = token_kernels.count_and_digest(data, starts, ends, code_points)
    start_chars, end_chars = char_kernels.char_offsets(data, offsets, documents, starts, ends)
    begins = offsets[documents]
    columns = [
        documents,
        (starts - begins).astype(np.uint32),
        (ends - begins).astype(np.uint32),
        start_chars,
        end_chars,
        n_words,
        digests,
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SENTENCE_BATCH)


def tokenise_spans(data: Bytes, starts: Offsets, ends: Offsets) -> tuple[Hashes, Offsets]:
    """Return the token hashes of byte spans of a UTF-8 buffer, and `first`: span i has tokens[first[i]:first[i + 1]]."""
    tokens, first = token_kernels.tokenise(data, starts, ends, load_code_points())
    return tokens, first


def digest_tokens(tokens: Hashes, first: Offsets) -> Hashes:
    """Return the digest of every span's tokens, the same that `split_texts` gives to a sentence."""
    digests: Hashes = token_kernels.fold_tokens(tokens, first)
    return digests


def _buffers(texts: pa.LargeStringArray) -> tuple[Bytes, Offsets]:
    """Return the UTF-8 bytes and the n + 1 offsets of a (perhaps sliced) array, without copying them."""
    if texts.null_count:
        texts = texts.fill_null("")
    _, offset_buffer, data_buffer = texts.buffers()
    if len(texts) == 0 or data_buffer is None:
        return np.zeros(0, dtype=np.uint8), np.zeros(len(texts) + 1, dtype=np.int64)
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data_buffer, dtype=np.uint8), offsets
