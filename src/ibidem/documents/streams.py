"""Bytes of a file or of stdin, decompressed on the way, with the count of raw bytes that were taken."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO

import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
BOM = codecs.BOM_UTF8
STDIN = "-"
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_READ_BYTES = 1 << 15
# What a damaged input may raise while it is read.
READ_ERRORS = (OSError, EOFError, UnicodeError, pa.ArrowException)


class _RawFile:
    """A file that counts what is read of it, and whose beginning may be looked at in advance."""

    def __init__(self, file: BinaryIO) -> None:
        self.n_bytes = 0
        self.closed = False
        self._file = file
        self._ahead = b""

    def peek(self, n_bytes: int) -> bytes:
        while len(self._ahead) < n_bytes and (more := self._file.read(n_bytes - len(self._ahead))):
            self._ahead += more
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int = -1) -> bytes:
        if self._ahead:
            if n_bytes < 0:
                data = self._ahead + self._file.read()
                self._ahead = b""
            else:
                data, self._ahead = self._ahead[:n_bytes], self._ahead[n_bytes:]
        else:
            data = self._file.read(n_bytes)
        self.n_bytes += len(data)
        return data

    def close(self) -> None:
        self.closed = True
        if self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()


def _open_stdin() -> BinaryIO:
    """Return stdin without its buffer: a thread that waits inside the buffer would block the end of the program."""
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, ValueError):
        return sys.stdin.buffer


class ByteStream:
    """Decompressed bytes of one input. Compression is known by the first bytes, so a wrong name does no harm."""

    def __init__(self, path: str) -> None:
        self._raw = _RawFile(_open_stdin() if path == STDIN else open(path, "rb", buffering=0))  # noqa: SIM115
        self._is_file = os.path.isfile(path)
        self._path = path
        self._taken = 0
        self._ahead = b""
        self._error: Exception | None = None
        self._source: Any = self._raw
        try:
            head = self._raw.peek(4)
            for magic, compression in MAGIC.items():
                if head.startswith(magic):
                    self._source = pa.CompressedInputStream(pa.PythonFile(self._raw, mode="r"), compression)
        except BaseException:
            self._raw.close()
            raise

    @property
    def is_forward_only(self) -> bool:
        """Whether the decompressed bytes can only be read from the beginning on."""
        return self._source is not self._raw or not self._is_file

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._raw.close()

    def peek(self, n_bytes: int) -> bytes:
        """Return the first bytes that `read` will give, without taking them."""
        while len(self._ahead) < n_bytes and (more := self._source.read(n_bytes - len(self._ahead))):
            self._ahead += more
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int = -1) -> bytes:
        """Return up to `n_bytes` decompressed bytes, all that is left for -1, nothing at the end."""
        if n_bytes < 0:
            return b"".join(iter(lambda: self.read(_READ_BYTES), b""))
        if self._ahead:
            taken, self._ahead = self._ahead[:n_bytes], self._ahead[n_bytes:]
            return taken
        return self._raw.read(n_bytes) if self._source is self._raw else self._decompress(n_bytes)

    def _decompress(self, n_bytes: int) -> bytes:
        """Read in small pieces: what stands well before a damaged place is handed out, the error with the next call."""
        if self._error is not None:
            raise self._error
        pieces: list[bytes] = []
        while n_bytes > 0:
            try:
                piece = self._source.read(min(n_bytes, _READ_BYTES))
            except READ_ERRORS as error:
                if not pieces:
                    raise
                self._error = error
                break
            if not piece:
                break
            pieces.append(piece)
            n_bytes -= len(piece)
        return b"".join(pieces)

    def skip_bom(self) -> None:
        """Take a byte order mark of UTF-8 away from the beginning."""
        if self.peek(len(BOM)) == BOM:
            self.read(len(BOM))

    def take_count(self) -> int:
        """Return how many raw bytes were read since the last call."""
        taken, self._taken = self._raw.n_bytes - self._taken, self._raw.n_bytes
        return taken

    def take_all(self) -> None:
        """Count the whole file as read: somebody else has done so."""
        if not self.is_forward_only:
            self._raw.n_bytes = os.path.getsize(self._path)

    def chunks(self, n_bytes: int, encoding: str = "utf-8") -> Iterator[bytes]:
        """Yield what is left in pieces of about `n_bytes`, as UTF-8 whatever `encoding` it is in.

        Bytes that the encoding does not know are handed on as they are, for the record that holds them to be skipped.
        """
        if is_utf8(encoding):
            self.skip_bom()
            while data := self.read(n_bytes):
                yield data
            return
        decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")
        while data := self.read(n_bytes):
            yield decoder.decode(data).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")


def is_utf8(encoding: str) -> bool:
    """Say whether an encoding is UTF-8 under any of its names."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
