"""Texts in `view.sqlite`: compressed in blocks of neighbouring documents, which often resemble one another."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

_CODEC, _LEVEL = "zstd", 9
_BLOCK_BYTES = 1 << 17
_BLOCKS_CACHED = 32  # one page of a list reads many texts


class TextPlace(NamedTuple):
    """Where a text is: its block, and its bytes there."""

    block: int
    first: int
    last: int


class TextWriter:
    """Fills blocks one after the other. Whatever was added can be read after `flush`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._codec = pa.Codec(_CODEC, compression_level=_LEVEL)
        self._block = 0
        self._texts: list[bytes] = []
        self._n_bytes = 0

    def add(self, text: str) -> TextPlace:
        """Store a text and return its place; it is never divided."""
        data = text.encode("utf-8", "surrogatepass")
        place = TextPlace(self._block, self._n_bytes, self._n_bytes + len(data))
        self._texts.append(data)
        self._n_bytes = place.last
        if self._n_bytes >= _BLOCK_BYTES:
            self.flush()
        return place

    def flush(self) -> None:
        """Write what has been added."""
        if not self._texts:
            return
        packed = self._codec.compress(b"".join(self._texts), asbytes=True)
        self._connection.execute("INSERT INTO blocks VALUES (?, ?, ?)", (self._block, self._n_bytes, packed))
        self._block, self._texts, self._n_bytes = self._block + 1, [], 0


class TextReader:
    """Reads texts by their places, for any thread; `one` returns the first row of a query."""

    def __init__(self, one: Callable[[str, list[int]], sqlite3.Row | tuple[int, bytes] | None]) -> None:
        self._one = one
        self._open = lru_cache(maxsize=_BLOCKS_CACHED)(self._unpack)

    def read(self, place: TextPlace) -> str:
        """Return a text."""
        return self._open(place.block)[place.first : place.last].decode("utf-8", "surrogatepass")

    def _unpack(self, block: int) -> bytes:
        row = self._one("SELECT n_bytes, data FROM blocks WHERE number = ?", [block])
        assert row is not None
        content: bytes = pa.Codec(_CODEC).decompress(row[1], row[0], asbytes=True)
        return content
