"""The texts that an index keeps: compressed in blocks of neighbouring documents, so that one is read without the others.

A block is closed as soon as it has BLOCK_BYTES of text. It has a checksum of its own, which is verified when it is read: a
large index is not checked as a whole when it is opened.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.page_columns import rows_with_pages
from ibidem.columns.ragged import starts_of
from ibidem.columns.texts import text_buffers
from ibidem.errors import IndexDamagedError

BLOCK_BYTES = 1 << 16
_CODEC, _LEVEL = "zstd", 3
_NOT_KEPT = -1
_MOST_OPEN_BLOCKS = 64  # of a segment: some megabytes
Numbers = NDArray[np.int64]
_STEP = "Run `ibidem index verify DIR`; restore the index from a backup, or rebuild it."


@dataclass(frozen=True)
class TextColumns:
    """Texts of documents, as a segment stores them. Block b has the documents `[text_documents[b], text_documents[b + 1])`.

    `text_sizes` are the bytes of each text in UTF-8; -1 if it is not there. `paged_texts` are the documents whose text has
    pages, in order; None if an earlier version wrote some of the texts.
    """

    text_sizes: Numbers
    text_documents: Numbers
    text_first: Numbers
    text_checks: NDArray[np.uint32]
    text_bytes: NDArray[np.uint8]
    paged_texts: NDArray[np.uint32] | None = None
    _opened: dict[int, memoryview] = field(default_factory=dict, repr=False, compare=False)  # the blocks opened last

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        names = (field.name for field in fields(self) if not field.name.startswith("_"))
        columns = {name: getattr(self, name) for name in names}
        return {name: column for name, column in columns.items() if column is not None}

    def may_have_pages(self, documents: Numbers) -> NDArray[np.bool_]:
        """Return which of these documents may have a text with pages."""
        if self.paged_texts is None:
            return self.has(documents)
        return np.isin(documents, self.paged_texts) if len(self.paged_texts) else np.zeros(len(documents), np.bool_)

    def has(self, documents: Numbers) -> NDArray[np.bool_]:
        """Return which of these documents have a text."""
        return np.asarray(self.text_sizes[documents] != _NOT_KEPT)

    def read(self, documents: Numbers) -> list[bytes]:
        """Return the texts of these documents in UTF-8; empty if there is none."""
        block_of = np.searchsorted(self.text_documents, documents, side="right") - 1
        texts: list[bytes] = [b""] * len(documents)
        order = np.argsort(block_of, kind="stable")
        numbers = (documents - self.text_documents[block_of])[order].tolist()
        codec = pa.Codec(_CODEC)
        last, first, opened = -1, [0], memoryview(b"")
        for row, block, number in zip(order.tolist(), block_of[order].tolist(), numbers, strict=True):
            if block != last:
                starts = self._starts_in(block)
                last, first, opened = block, starts.tolist(), self._open(block, int(starts[-1]), codec)
            texts[row] = bytes(opened[first[number] : first[number + 1]])
        return texts

    def _starts_in(self, block: int) -> Numbers:
        sizes = self.text_sizes[self.text_documents[block] : self.text_documents[block + 1]]
        return starts_of(np.maximum(sizes, 0))

    def _open(self, block: int, n_bytes: int, codec: pa.Codec) -> memoryview:
        """Return the texts of a block, one after the other, which have so many bytes.

        Some blocks stay open: what one document shares text with, the next one often does, too.
        """
        opened = self._opened.get(block)
        if opened is None:
            opened = self._unpacked(block, n_bytes, codec)
            if n_bytes <= 2 * BLOCK_BYTES:
                if len(self._opened) >= _MOST_OPEN_BLOCKS:
                    with suppress(KeyError, StopIteration, RuntimeError):  # other threads may do the same
                        del self._opened[next(iter(self._opened))]
                self._opened[block] = opened
        return opened

    def _unpacked(self, block: int, n_bytes: int, codec: pa.Codec) -> memoryview:
        packed = self.text_bytes[self.text_first[block] : self.text_first[block + 1]]
        if zlib.crc32(packed.data) != self.text_checks[block]:
            raise IndexDamagedError("the texts in the index are damaged: a checksum differs", _STEP)
        return memoryview(codec.decompress(pa.py_buffer(packed), n_bytes)) if n_bytes else memoryview(b"")


class _Blocks:
    """Blocks as they are filled with texts, or taken over from elsewhere."""

    def __init__(self) -> None:
        self._codec = pa.Codec(_CODEC, compression_level=_LEVEL)
        self._sizes: list[Numbers] = [np.empty(0, np.int64)]
        self._waiting: list[bytes | memoryview] = []
        self._n_waiting = self._n_bytes = 0  # documents and bytes of the block that is being filled
        self._documents: list[int] = []
        self._packed: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)]
        self._checks: list[int] = []

    def add(self, text: bytes | memoryview) -> None:
        """Add the text of the next document; its size is added by `add_sizes`."""
        self._waiting.append(text)
        self._n_waiting += 1
        self._n_bytes += len(text)
        if self._n_bytes >= BLOCK_BYTES:
            self._close()

    def add_sizes(self, sizes: Numbers) -> None:
        """Add the sizes of texts."""
        self._sizes.append(sizes)

    def take_over(self, packed: NDArray[np.uint8], check: int, n_documents: int) -> None:
        """Add a whole block as it is."""
        self._close()
        self._put(packed, check, n_documents)

    def _close(self) -> None:
        if self._n_waiting:
            packed = self._codec.compress(b"".join(self._waiting)) if self._n_bytes else b""
            self._put(np.frombuffer(packed, np.uint8), zlib.crc32(packed), self._n_waiting)
            self._waiting, self._n_waiting, self._n_bytes = [], 0, 0

    def _put(self, packed: NDArray[np.uint8], check: int, n_documents: int) -> None:
        self._packed.append(packed)
        self._checks.append(check)
        self._documents.append(n_documents)

    def columns(self, paged: NDArray[np.uint32] | None) -> TextColumns:
        """Return everything as columns, given the documents with pages."""
        self._close()
        return TextColumns(
            text_sizes=np.concatenate(self._sizes),
            text_documents=starts_of(self._documents),
            text_first=starts_of([len(packed) for packed in self._packed[1:]]),
            text_checks=np.array(self._checks, np.uint32),
            text_bytes=np.concatenate(self._packed),
            paged_texts=paged,
        )


def pack_texts(columns: Iterable[pa.LargeStringArray]) -> TextColumns:
    """Return texts, given by columns in order, in blocks."""
    blocks = _Blocks()
    paged, n_before = [np.empty(0, np.int64)], 0
    for texts in columns:
        data, first = text_buffers(texts)
        view = data.data
        paged.append(rows_with_pages(data, first) + n_before)
        n_before += len(texts)
        for start, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
            blocks.add(view[start:end])
        blocks.add_sizes(np.diff(first))
    return blocks.columns(np.concatenate(paged).astype(np.uint32))


def merge_texts(parts: Sequence[tuple[TextColumns | None, Numbers]]) -> TextColumns | None:
    """Return the texts of documents of several segments, given by their numbers, in order; None if no segment has any.

    Full blocks that are needed as they are, are not compressed again.
    """
    if all(columns is None for columns, _ in parts):
        return None
    blocks = _Blocks()
    for columns, documents in parts:
        if columns is None:
            blocks.add_sizes(np.full(len(documents), _NOT_KEPT))
            for _ in documents:
                blocks.add(b"")
            continue
        blocks.add_sizes(columns.text_sizes[documents])
        for block, chosen in _by_block(columns, documents):
            n_documents = int(columns.text_documents[block + 1] - columns.text_documents[block])
            n_bytes = int(columns._starts_in(block)[-1])
            if len(chosen) == n_documents and n_bytes >= BLOCK_BYTES:
                packed = columns.text_bytes[columns.text_first[block] : columns.text_first[block + 1]]
                blocks.take_over(packed, int(columns.text_checks[block]), n_documents)
            else:
                for text in columns.read(chosen):
                    blocks.add(text)
    return blocks.columns(_merged_pages(parts))


def _merged_pages(parts: Sequence[tuple[TextColumns | None, Numbers]]) -> NDArray[np.uint32] | None:
    """Return which of the chosen documents have pages, by their numbers in the merged segment; None if not known of all."""
    paged, n_before = [np.empty(0, np.uint32)], 0
    for columns, documents in parts:
        if columns is not None:
            if columns.paged_texts is None:
                return None
            paged.append((np.flatnonzero(columns.may_have_pages(documents)) + n_before).astype(np.uint32))
        n_before += len(documents)
    return np.concatenate(paged)


def _by_block(columns: TextColumns, documents: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield the blocks of documents in rising order, each with its documents."""
    bounds = np.searchsorted(documents, columns.text_documents)
    for block, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        if begin < end:
            yield block, documents[begin:end]
