"""Parts of a file of lines, for readers in several processes: each reads the lines that begin in its part."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from types import TracebackType

from ibidem.formats.byte_streams import BOM, READ_ERRORS, ByteStream, compression_of, is_utf8
from ibidem.formats.line_streams import BLOCK_BYTES, Chunks, LongLine, line_blocks
from ibidem.formats.registry import HEAD_BYTES, JSONL, unfit_reason


class LineRange:
    """The lines of an uncompressed file that begin between two bytes of it."""

    def __init__(self, path: str, begin: int, end: int) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  (closed by __exit__)
        self._end = end
        self._n_taken = 0
        self._place = begin if begin == 0 else self._first_line(begin - 1)

    def __enter__(self) -> LineRange:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def take_count(self) -> int:
        """Return how many bytes were read since the last call."""
        taken, self._n_taken = self._n_taken, 0
        return taken

    def chunks(self, n_bytes: int, encoding: str) -> Iterator[bytes]:
        """Yield the lines in pieces of about `n_bytes`, as UTF-8 whatever `encoding` they are in; see `ByteStream.chunks`."""
        if is_utf8(encoding):
            yield from self._raw_chunks(n_bytes, len(BOM) if self._place == 0 and self._file.read(len(BOM)) == BOM else 0)
            return
        decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")
        for data in self._raw_chunks(n_bytes):
            yield decoder.decode(data).encode("utf-8", "surrogateescape")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")

    def _raw_chunks(self, n_bytes: int, n_left_out: int = 0) -> Iterator[bytes]:
        place, last = self._place, self._end - 1  # the first line break at `last` or behind it ends the last line
        if place > last:
            return
        place += n_left_out
        self._file.seek(place)
        while data := self._file.read(n_bytes):
            end = data.find(b"\n", max(0, last - place)) + 1 if place + len(data) > last else 0
            data = data[:end] if end else data
            self._n_taken += len(data)
            yield data
            if end:
                return
            place += len(data)

    def _first_line(self, begin: int) -> int:
        """Return where the first line begins after a line break at `begin` or behind it; a line of others is not looked for."""
        self._file.seek(begin)
        while begin < self._end - 1 and (data := self._file.read(BLOCK_BYTES)):
            found = data.find(b"\n") + 1
            if found:
                return begin + found
            begin += len(data)
        return self._end


def can_be_cut(path: str, encoding: str) -> bool:
    """Return whether a file of lines can be read in parts: it is not compressed, and begins like a file of lines."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:  # whoever reads it says so
        return False
    return compression_of(head) is None and unfit_reason(head, JSONL, False, encoding) is None


def count_lines_between(path: str, begin: int, end: int) -> int:
    """Return the number of lines that begin between two bytes of a file."""
    n_lines, n_left = int(begin == 0 and end > 0), end - max(begin, 1)
    with open(path, "rb", buffering=0) as file:
        file.seek(max(begin - 1, 0))
        while n_left > 0 and (data := file.read(min(n_left, BLOCK_BYTES))):
            n_lines += data.count(b"\n")
            n_left -= len(data)
    return n_lines


def count_lines(path: str) -> int:
    """Return the number of lines of a file, which may be compressed; as far as it can be read."""
    n_lines, is_begun = 0, False
    try:
        with ByteStream(path) as stream:
            for data in stream.chunks(BLOCK_BYTES):
                n_lines += data.count(b"\n")
                is_begun = not data.endswith(b"\n")
    except READ_ERRORS:  # whoever reads it says so
        pass
    return n_lines + is_begun


def lines_of(stream: Chunks, encoding: str) -> Iterator[list[bytes]]:
    """Yield lines as UTF-8, without their line breaks, some at a time."""
    parts: list[bytes] = []
    for block in line_blocks(stream, encoding):
        parts.append(block)
        if isinstance(block, LongLine) and not block.endswith(b"\n"):
            continue
        yield b"".join(parts).removesuffix(b"\n").split(b"\n")
        parts = []
    if parts:
        yield [b"".join(parts)]
