"""Bytes of a file or of stdin, decompressed, with a count of the raw bytes read."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, TextIO

import pyarrow as pa

from ibidem.config.addresses import extension_of
from ibidem.errors import UsageError
from ibidem.formats.file_access import last_change_ns, open_at_any_place, open_file
from ibidem.formats.remote_files import RemotePath
from ibidem.formats.remote_streams import RemoteStream

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
BOM = codecs.BOM_UTF8
STDIN = "-"
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
# A longer line, row, page or text is skipped.
MAX_RECORD_BYTES = 1 << 30
_READ_BYTES = 1 << 15
# Before a damaged place, bytes are read in ever smaller steps, so that everything that can be decompressed is.
_CAREFUL_STEPS = (512, 1)
_CAREFUL_RAW_BYTES = 16
_CAREFUL_STRETCH = 1 << 18
CHANGED = "changed while it was being read; what was read is used, and may mix old and new content"
# What reading a damaged input may raise.
READ_ERRORS = (OSError, EOFError, UnicodeError, pa.ArrowException)
# Inputs that expand to many times their size are read up to a limit that no text reaches, and not to their end. A file of some
# hundred kilobytes can expand to more than any disk has room for. Text compresses 3 to 20 times, logs a hundred times.
MOST_TIMES = 1000
LEAST_LIMIT_BYTES = 100_000_000  # for small files: this much does no harm
_UNFOLDED = "it expands to more than"


class UnfoldedError(OSError):
    """An input expands to more than the limit."""

    def __init__(self) -> None:
        super().__init__(
            f"{_UNFOLDED} {MOST_TIMES:,} times its size (to read all of it, unpack it or convert it to JSON lines)"
        )


def is_unfolded(reason: str) -> bool:
    """Return whether an input was not read to its end because it expands too far."""
    return _UNFOLDED in reason


def most_unfolded(n_stored_bytes: int) -> int:
    """Return how many bytes an input of `n_stored_bytes` may expand to."""
    return max(LEAST_LIMIT_BYTES, MOST_TIMES * n_stored_bytes)


def compression_of(head: bytes) -> str | None:
    """Return how a file is compressed that begins with these bytes; four of them are enough."""
    return next((compression for magic, compression in MAGIC.items() if head.startswith(magic)), None)


class _RawFile:
    """A file that counts what is read, and whose beginning can be peeked at."""

    def __init__(self, file: BinaryIO) -> None:
        self.n_bytes = 0
        self.careful_from: int | None = None
        self.is_read_elsewhere = False
        self.closed = False
        self._file = file
        self._ahead = b""

    def peek(self, n_bytes: int) -> bytes:
        while len(self._ahead) < n_bytes and (more := self._file.read(n_bytes - len(self._ahead))):
            self._ahead += more
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int = -1) -> bytes:
        if self.careful_from is not None and self.n_bytes >= self.careful_from:
            n_bytes = min(_CAREFUL_RAW_BYTES, n_bytes) if n_bytes >= 0 else _CAREFUL_RAW_BYTES
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

    def is_changed(self) -> bool | None:
        """Return whether a file elsewhere was replaced while it was read; None for other files."""
        return self._file.is_changed(self.is_read_elsewhere) if isinstance(self._file, RemoteStream) else None

    def close(self) -> None:
        self.closed = True
        if self._file is not getattr(sys.stdin, "buffer", None):
            self._file.close()


def standard_input() -> TextIO:
    """Return standard input; raise UsageError if it is closed."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", "Name input files, or pipe documents in.")
    return sys.stdin


def _open_stdin() -> BinaryIO:
    """Return stdin without its buffer: a thread waiting inside the buffer would block the end of the program."""
    given = standard_input()
    try:
        return open(given.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, ValueError):
        return given.buffer


class ByteStream:
    """Decompressed bytes of one input. The first bytes show the compression, so a wrong name does no harm."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._raw = _RawFile(_open_stdin() if path == STDIN else open_file(path))
        self._is_file = isinstance(path, RemotePath) or os.path.isfile(path)
        self._as_it_was = self._state()
        self._taken = 0
        self._n_unfolded = 0
        self._steps = [_READ_BYTES, *_CAREFUL_STEPS]
        self._ahead = b""
        self._error: Exception | None = None
        self._source: Any = self._raw
        try:
            head = self._raw.peek(4)
            self._source = self._unfold(self._raw, head)
        except BaseException:
            self._raw.close()
            raise

    def _unfold(self, raw: _RawFile, head: bytes) -> Any:
        compression = compression_of(head)
        return raw if compression is None else pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)

    def _state(self) -> tuple[int | None, int | str | None] | None:
        """Return what changes when a file is modified."""
        if isinstance(self.path, RemotePath):
            return self.path.state
        try:
            state = os.stat(self.path) if self._is_file else None
        except OSError:
            return None
        return (state.st_size, last_change_ns(self.path, state)) if state is not None else None

    def is_emptied(self) -> bool:
        """Return whether a file with a compressed extension is empty, which compressed files never are."""
        return extension_of(self.path) in COMPRESSIONS and not self._raw.n_bytes and not self._raw.peek(1)

    @property
    def is_changed(self) -> bool:
        """Whether the file was modified or removed since it was opened."""
        changed_elsewhere = self._raw.is_changed()
        return self._as_it_was != self._state() if changed_elsewhere is None else changed_elsewhere

    def explain(self, error: Exception) -> str:
        """Explain an error met while reading, and after how many bytes it occurred."""
        reason = str(getattr(error, "strerror", None) or error)
        if self._error is None or not self._n_unfolded:
            return reason
        return f"{reason.rstrip('.')}, after {self._n_unfolded:,} bytes of decompressed text"

    @property
    def n_stored_bytes(self) -> int:
        """Size of the file; for a stream, the bytes read so far."""
        known = None if self._as_it_was is None else self._as_it_was[0]
        return self._raw.n_bytes if known is None else known

    @property
    def is_forward_only(self) -> bool:
        """Whether the decompressed bytes can only be read from the beginning."""
        return self._source is not self._raw or not self._is_file

    def open_at_any_place(self) -> Any:
        """Return the bytes, decompressed, as a file that Arrow can seek in; what cannot be sought in is read as a whole."""
        file = None if self.is_forward_only else open_at_any_place(self.path)
        self._raw.is_read_elsewhere = file is not None
        return pa.BufferReader(self.read()) if file is None else file

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._raw.close()

    def peek(self, n_bytes: int) -> bytes:
        """Return the first bytes that `read` will give, without taking them; fewer if the stream ends or is damaged."""
        try:
            while len(self._ahead) < n_bytes and (more := self._take(n_bytes - len(self._ahead))):
                self._ahead += more
        except READ_ERRORS:
            if not self._ahead:
                raise
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int = -1) -> bytes:
        """Return up to `n_bytes` decompressed bytes, all that is left for -1, nothing at the end."""
        if n_bytes < 0:
            return b"".join(iter(lambda: self.read(_READ_BYTES), b""))
        if self._ahead:
            taken, self._ahead = self._ahead[:n_bytes], self._ahead[n_bytes:]
            return taken
        return self._take(n_bytes)

    def _take(self, n_bytes: int) -> bytes:
        return self._raw.read(n_bytes) if self._source is self._raw else self._decompress(n_bytes)

    def _decompress(self, n_bytes: int) -> bytes:
        """Read in small pieces: what precedes a damaged place is returned, and the error is raised by the next call.

        The same goes for a file that expands too far.
        """
        if self._error is not None:
            raise self._error
        pieces: list[bytes] = []
        while n_bytes > 0:
            try:
                piece = self._source.read(min(n_bytes, self._steps[0]))
            except READ_ERRORS as error:
                if self._be_careful():
                    continue
                # If asked again, Arrow returns whatever is in its memory.
                self._error = error
                if not pieces:
                    raise
                break
            if not piece:
                break
            most = most_unfolded(self.n_stored_bytes) - self._n_unfolded
            if len(piece) > most:  # always up to the same byte, however much is read at a time
                piece, self._error = piece[:most], UnfoldedError()
                if not piece and not pieces:
                    raise self._error
            pieces.append(piece)
            n_bytes -= len(piece)
            self._n_unfolded += len(piece)
            if self._error is not None:
                break
        return b"".join(pieces)

    def _be_careful(self) -> bool:
        """Start again and skip to the current position, to continue in smaller steps; return whether that is possible."""
        if not self._is_file or len(self._steps) == 1:
            return False
        del self._steps[0]
        raw = _RawFile(open_file(self.path))
        careful_from = self._raw.careful_from
        raw.careful_from = max(0, self._raw.n_bytes - _CAREFUL_STRETCH) if careful_from is None else careful_from
        self._raw.close()
        self._raw = raw
        self._source = self._unfold(raw, raw.peek(4))
        n_left = self._n_unfolded
        while n_left and (piece := self._source.read(min(n_left, _READ_BYTES))):
            n_left -= len(piece)
        return True

    def skip_bom(self) -> None:
        """Skip a UTF-8 byte order mark at the beginning."""
        if self.peek(len(BOM)) == BOM:
            self.read(len(BOM))

    def take_count(self) -> int:
        """Return how many raw bytes were read since the last call."""
        taken, self._taken = self._raw.n_bytes - self._taken, self._raw.n_bytes
        return taken

    def take_all(self) -> None:
        """Count the whole file as read: other code has read it."""
        if not self.is_forward_only:
            self._raw.n_bytes = self.n_stored_bytes

    def chunks(self, n_bytes: int, encoding: str = "utf-8") -> Iterator[bytes]:
        """Yield what is left in pieces of about `n_bytes`, as UTF-8 whatever `encoding` it is in.

        Bytes that the encoding cannot decode are passed on unchanged, so that their record is skipped.
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
    """Return whether an encoding is UTF-8 under any of its names."""
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
