"""JSON files: an array of records, one record, or records that follow one another; read as a stream, not as a whole."""

from __future__ import annotations

import codecs
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, READ_ERRORS, ByteStream
from ibidem.formats.fields import MAX_JOB_CHARS, RecordCollector, whole_number
from ibidem.formats.records import Job, Wanted, skip_source, too_long

READ_BYTES = 1 << 20
_BETWEEN = re.compile(r"[\s,]*")
# The longest thing, in characters, that a piece of JSON may end in the middle of without an error in what stands before.
_LONGEST_SIGN = 16


class BrokenJsonError(Exception):
    """JSON that cannot be read on; the message says why, and where."""


def read_json(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of records; their position is their number in the file."""
    collector = RecordCollector(source, wanted)
    n_seen = 0
    try:
        for n_seen, (value, n_chars) in enumerate(_values(stream, wanted.config.encoding), 1):
            collector.add(value, n_seen, n_chars)
            if collector.n_chars >= MAX_JOB_CHARS:
                yield collector.job(stream.take_count())
                collector = RecordCollector(source, wanted)
    except BrokenJsonError as error:
        yield collector.job(stream.take_count())
        reason = f"broken JSON after {n_seen} records: {error}; the rest of the file is left out"
        yield functools.partial(skip_source, source, reason)
    except READ_ERRORS:
        yield collector.job(stream.take_count())
        raise
    else:
        yield collector.job(stream.take_count())


def is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    """Say whether more text could mend an error; if not, there is no need to read on."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(text) - _LONGEST_SIGN


class TextWindow:
    """The part of a file that is looked at: `text`, from `start` on; `ended` if there is no more behind it."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.text = ""
        self.start = 0
        self.ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
        self._chunks = chunks

    def read(self, n_wanted: int) -> None:
        """Let go of what stands before the start, and take more until there are more characters than wanted, or no more."""
        parts, self.start = [self.text[self.start :]], 0
        n_chars = len(parts[0])
        while not self.ended and n_chars <= n_wanted:
            chunk = next(self._chunks, None)
            self.ended = chunk is None
            parts.append(self._decoder.decode(chunk or b"", final=self.ended))
            n_chars += len(parts[-1])
        self.text = "".join(parts)


class _PlacedWindow(TextWindow):
    """The same, and where it stands in the file."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        super().__init__(stream.chunks(READ_BYTES, encoding))
        self._line = self._column = 1

    def read(self, n_wanted: int) -> None:
        """Go on."""
        self._line, self._column = self._place(self.start)
        super().read(n_wanted)

    def broken(self, message: str, position: int) -> BrokenJsonError:
        """Return the error for a break at some place of the text."""
        line, column = self._place(position)
        what = message[0].lower() + message[1:].removesuffix(" starting at")
        return BrokenJsonError(f"in line {line}, character {column}, {what}")

    def _place(self, position: int) -> tuple[int, int]:
        n_breaks = self.text.count("\n", 0, position)
        if not n_breaks:
            return self._line, self._column + position
        return self._line + n_breaks, position - self.text.rfind("\n", 0, position)


def _values(stream: ByteStream, encoding: str) -> Iterator[tuple[Any, int]]:
    """Yield the values of the outermost array, or all values if there is none, with their lengths; stop at a break."""
    scanner = json.JSONDecoder(strict=False, parse_int=whole_number)
    window = _PlacedWindow(stream, encoding)
    in_array: bool | None = None
    n_wanted = 0
    while True:
        # A value may be much larger than a chunk: read twice as much each time, so that no text is scanned too often.
        if not window.ended and len(window.text) - window.start <= n_wanted:
            window.read(n_wanted)
        window.start = start = _BETWEEN.match(window.text, window.start).end()  # type: ignore[union-attr]
        if start == len(window.text):
            if not window.ended:
                n_wanted = 0
                continue
            if in_array:
                raise window.broken("the array is not closed", start)
            return
        if in_array is None:
            in_array = window.text[start] == "["
            window.start += in_array
            continue
        if in_array and window.text[start] == "]":
            window.start += 1
            _check_end(window)
            return
        try:
            value, end = scanner.raw_decode(window.text, start)
        except RecursionError:
            raise window.broken("nested too deeply", start) from None
        except json.JSONDecodeError as error:
            if window.ended or not is_cut_off(error, window.text):
                raise window.broken(error.msg, error.pos) from error
            if len(window.text) - start > MAX_RECORD_BYTES:
                raise window.broken(too_long("value"), start) from error
            n_wanted = min(2 * (len(window.text) - start), MAX_RECORD_BYTES)
            continue
        if end == len(window.text) and not window.ended:
            n_wanted = len(window.text) - start
            continue
        yield value, end - start
        window.start, n_wanted = end, 0


def _check_end(window: _PlacedWindow) -> None:
    """Raise BrokenJsonError if something follows the outermost array."""
    while True:
        window.start = _BETWEEN.match(window.text, window.start).end()  # type: ignore[union-attr]
        if window.start < len(window.text):
            raise window.broken("the array has ended, and something follows", window.start)
        if window.ended:
            return
        window.read(0)
