"""Texts in, sentences out: the kernels behind Arrow and Python types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import SentencesConfig
from ibidem.model import SENTENCE_BATCH
from ibidem.sentences import char_kernels, cut_kernels, scan_kernels, split_kernels, token_kernels
from ibidem.sentences.abbreviations import load_words
from ibidem.sentences.code_points import load_code_points

SPLITTER_VERSION: int = 1

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]


def split_sentences(text: str, lang: str = "auto") -> list[tuple[int, int]]:
    """Return the sentences of a text as spans of characters: half open, in reading order, no blanks around them."""
    batch = split_texts(pa.array([text], type=pa.large_string()), SentencesConfig(lang=lang))
    return list(zip(batch["start_char"].to_pylist(), batch["end_char"].to_pylist(), strict=True))


def split_texts(texts: pa.LargeStringArray, config: SentencesConfig) -> pa.RecordBatch:
    """Return the sentences of all texts, one row each, in the schema SENTENCE_BATCH; a null is a text without any."""
    data, offsets = _buffers(texts)
    code_points = load_code_points()
    kinds = np.empty(len(data), dtype=np.uint8)
    scan_kernels.mark_kinds(data, code_points, kinds)
    n, documents, starts, ends = _split(data, kinds, offsets, config.lang)
    n, documents, starts, ends = cut_kernels.cut_long_spans(
        data, kinds, n, documents, starts, ends, config.max_sentence_words
    )
    documents, starts, ends = documents[:n], starts[:n], ends[:n]
    n_words, digests = token_kernels.count_and_digest(data, _read_only(starts), _read_only(ends), code_points)
    start_chars, end_chars = np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint32)
    char_kernels.count_offsets(data, offsets, documents, starts, ends, start_chars, end_chars)
    begins = offsets[documents]
    columns = [
        documents.astype(np.int32),
        (starts - begins).astype(np.uint32),
        (ends - begins).astype(np.uint32),
        start_chars,
        end_chars,
        n_words,
        digests,
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=SENTENCE_BATCH)


def tokenise_spans(data: Bytes, starts: Offsets, ends: Offsets) -> tuple[Hashes, Offsets]:
    """Return the token hashes of byte spans in UTF-8, and `first`: span i has tokens[first[i]:first[i + 1]]."""
    tokens, first = token_kernels.tokenise(_read_only(data), _read_only(starts), _read_only(ends), load_code_points())
    # A copy, so that the room that was left over is given back.
    return tokens[: first[-1]].copy(), first


def digest_tokens(tokens: Hashes, first: Offsets) -> Hashes:
    """Return the digest of every span's tokens, the same that `split_texts` gives to a sentence."""
    digests: Hashes = token_kernels.fold_tokens(_read_only(tokens), _read_only(first))
    return digests


def _split(data: Bytes, kinds: Bytes, offsets: Offsets, lang: str) -> tuple[int, Offsets, Offsets, Offsets]:
    """Return the number of sentences, and documents, starts and ends in arrays that are at least that long."""
    # Sentences of sixteen bytes and less are rare; for a text of nothing else there is room at the second try.
    for n_bytes_each in (16, 2):
        room = len(data) // n_bytes_each + len(offsets)
        documents, starts, ends = (np.empty(room, dtype=np.int64) for _ in range(3))
        n = split_kernels.split_documents(data, kinds, offsets, load_words(lang), documents, starts, ends)
        if n >= 0:
            break
    return n, documents, starts, ends


def _buffers(texts: pa.LargeStringArray) -> tuple[Bytes, Offsets]:
    """Return the UTF-8 bytes of a (perhaps sliced) array, not copied, and n + 1 offsets into them."""
    if texts.null_count:
        texts = texts.fill_null("")
    _, offset_buffer, data_buffer = texts.buffers()
    if len(texts) == 0 or data_buffer is None:
        return _read_only(np.zeros(0, dtype=np.uint8)), _read_only(np.zeros(len(texts) + 1, dtype=np.int64))
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return _read_only(data), _read_only(offsets - offsets[0])


def _read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view: writable arrays are another type to numba, for which it would compile once more."""
    view = values.view()
    view.flags.writeable = False
    return view
