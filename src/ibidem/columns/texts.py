"""Texts as the bytes behind Arrow's columns, ready for kernels; and the hashes of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.hashes import fold_bytes
from ibidem.columns.kernels.machine_words import WORD_BYTES
from ibidem.errors import ResourceError

MOST_TEXT_BYTES = 1 << 32
Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]


def texts_of(batch: pa.RecordBatch) -> pa.LargeStringArray:
    """Return the texts of a batch; 4 GB or more raises ResourceError."""
    texts = batch.column("text")
    if texts.nbytes >= MOST_TEXT_BYTES:  # only a single document makes a batch that large; offsets have 32 bits
        raise ResourceError(f"the document {batch.column('id')[0]} has 4 GB of text or more", "Split the document.")
    return texts


def text_buffers(texts: pa.LargeStringArray | pa.LargeBinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of a column of texts and the offsets of its rows, without copying."""
    _, offsets, data = texts.buffers()
    rows = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), rows


def kernel_texts(texts: pa.LargeStringArray) -> tuple[Bytes, Offsets]:
    """Return the UTF-8 bytes of a (perhaps sliced) array for kernels that load eight at a time, and n + 1 offsets into them.

    Nothing is copied; a null is an empty text.
    """
    if texts.null_count:
        texts = texts.fill_null("")
    _, offset_buffer, data_buffer = texts.buffers()
    if len(texts) == 0 or data_buffer is None:
        return word_bytes(np.zeros(0, dtype=np.uint8)), read_only(np.zeros(len(texts) + 1, dtype=np.int64))
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return word_bytes(data), read_only(offsets - offsets[0])


def word_bytes(data: Bytes) -> Bytes:
    """Return the bytes for reading, at least the eight that kernels load at a time."""
    return read_only(data if len(data) >= WORD_BYTES else np.pad(data, (0, WORD_BYTES - len(data))))


def read_only(values: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view: writable arrays are another type for numba, which would compile again."""
    view = values.view()
    view.flags.writeable = False
    return view


def hash_strings(strings: pa.LargeStringArray) -> Hashes:
    """Return the hash of every string, byte by byte: nothing is folded."""
    data, offsets = kernel_texts(strings)
    hashes: Hashes = np.empty(len(strings), dtype=np.uint64)
    fold_bytes(data, offsets, hashes)
    return hashes
