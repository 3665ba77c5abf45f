"""Lines: of a file in blocks of complete lines, of an endless stream one by one as they arrive."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from ibidem.execution.descriptors import is_readable
from ibidem.formats.byte_streams import BOM, MAX_RECORD_BYTES

# Small enough to stay near the cache: blocks of 16 MB parse at two thirds of the speed.
BLOCK_BYTES = 4 << 20
_ARRIVING_BYTES = 1 << 16
_SECONDS_BETWEEN_LOOKS = 0.2


class Chunks(Protocol):
    """A file of lines, or a part of one."""

    def chunks(self, n_bytes: int, encoding: str) -> Iterator[bytes]:
        """Yield its content in pieces of about `n_bytes`, as UTF-8 whatever `encoding` it is in."""
        ...

    def take_count(self) -> int:
        """Return how many bytes were read since the last call."""
        ...


class LongLine(bytes):
    """A part of a line that is too long to be a record; only its last part ends with a line break."""


def line_blocks(stream: Chunks, encoding: str) -> Iterator[bytes]:
    """Yield the content of a stream in blocks of whole lines; a line longer than a block is a block of its own.

    Lines longer than the record limit come in parts, as LongLine.
    """
    parts: list[Any] = []
    n_bytes = 0
    is_long = False
    for chunk in stream.chunks(BLOCK_BYTES, encoding):
        if is_long:
            end = chunk.find(b"\n") + 1
            yield LongLine(chunk[:end] if end else chunk)
            is_long = not end
            chunk = chunk[end:] if end else b""
        cut = chunk.rfind(b"\n") + 1
        if cut:
            parts.append(memoryview(chunk)[:cut])
            yield b"".join(parts)
            parts, n_bytes = [], 0
        parts.append(chunk[cut:])
        n_bytes += len(chunk) - cut
        if n_bytes > MAX_RECORD_BYTES:
            yield from map(LongLine, parts)
            parts, n_bytes, is_long = [], 0, True
    if rest := b"".join(parts):
        yield rest


def arriving_lines(descriptor: int, stopped: threading.Event) -> Iterator[bytes]:
    """Yield each line as soon as it is whole, without its line break and without a byte order mark before the first.

    Ends with the stream, or soon after `stopped` is set; a line that was not whole by then is left out.
    """
    unfinished: list[bytes] = []
    is_first = True
    while not stopped.is_set():
        # Not a plain read: that would keep waiting when nothing more arrives.
        if not is_readable(descriptor, _SECONDS_BETWEEN_LOOKS):
            continue
        block = os.read(descriptor, _ARRIVING_BYTES)
        first, *others = block.split(b"\n")
        unfinished.append(first)
        if block and not others:
            continue
        last = others.pop() if others else b""
        for line in (b"".join(unfinished), *others):
            if stopped.is_set():
                return
            yield line.removeprefix(BOM) if is_first else line
            is_first = False
        if not block:
            return
        unfinished = [last]
