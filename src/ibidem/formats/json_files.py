"""JSON files: an array of records, one record, or consecutive records; read as a stream.

In copies, a value is removed together with its comma; what the reader does not reach, because of an error, is unchanged.
"""

from __future__ import annotations

import codecs
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.field_paths import names_of_all, value_at
from ibidem.formats.jobs import Job, skip_source
from ibidem.formats.json_fields import cut_object, mark_value, names_of
from ibidem.formats.python_records import record_jobs, whole_number
from ibidem.formats.records import Wanted, too_long
from ibidem.formats.sources import FileSource

READ_BYTES = 1 << 20
_PARSER = json.JSONDecoder(strict=False, parse_int=whole_number)
_after_gap = re.compile(r"[\s,]*").match
# The longest thing, in characters, that a piece of JSON may end in the middle of without an error before it.
_LONGEST_SIGN = 16


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of records; their position is their number in the file."""
    values = _Values(stream, wanted.config.encoding)
    yield from record_jobs(values, source.name, wanted, stream.take_count)
    if values.broken is not None:
        seen = f"{values.n_seen:,} record{'s' * (values.n_seen != 1)}"
        reason = f"broken JSON after {seen}: {values.broken}; the rest of the file was skipped"
        yield functools.partial(skip_source, source.name, reason)


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all values except removed ones."""
    output.write_mark()
    values = _Values(file, file.encoding, keeps_gaps=True)
    first_gap: str | None = None
    any_kept = any_dropped = False
    for value, position, _ in values:
        gap, source = values.gap, values.source
        first_gap = gap if first_gap is None else first_gap
        decision = edits.at(position)
        if decision is not None and not isinstance(value, dict):
            raise edits.changed()
        if decision is not None and (edits.marks is not None or decision.drop):
            edits.meet(position, value_at(value, edits.text_field))
        if decision is not None and decision.drop:
            any_dropped = True
            continue
        if edits.marks is not None:
            source = mark_value(source, decision, edits)
        elif decision is not None:
            source = cut_object(source, position, decision, edits)
        if not any_kept:
            gap = first_gap  # there is no comma before the first kept value
        elif any_dropped and not gap:
            gap = " "  # what was between two numbers is perhaps gone
        output.write_text(gap + source)
        any_kept = True
        if edits.past_last(position + 1):
            break
    if first_gap is not None and not any_kept:
        output.write_text(first_gap)
    for text in values.rest():
        output.write_text(text)


def field_names(file: InputFile, of_all: bool = False) -> list[str]:
    """Return the names of the fields of the first value, as far as it is an object; or those of all objects."""
    values = _Values(file, file.encoding)
    if of_all:
        return names_of_all(value for value, _, _ in values if isinstance(value, dict))
    return next((names_of(values.source) for _ in values), [])


class _Values:
    """Iterates over the values of the outermost array, or over all values if there is none. It ends where the JSON is broken.

    `n_seen` counts the values so far; `broken` says why and where it stopped. With `keeps_gaps`, what is between values is
    available too.
    """

    def __init__(self, stream: ByteStream, encoding: str, keeps_gaps: bool = False) -> None:
        self.n_seen = 0
        self.broken: str | None = None
        self._keeps_gaps = keeps_gaps
        self._text = ""  # the part of the file in memory
        self._start = 0  # what is before it is done with
        self._place_before = self._place = 0  # of the value that came last: its gap and itself, up to the start
        self._line = self._column = 1
        self._ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
        self._chunks = stream.chunks(READ_BYTES, encoding)

    @property
    def source(self) -> str:
        """The source text of the last value."""
        return self._text[self._place : self._start]

    @property
    def gap(self) -> str:
        """What precedes the last value."""
        return self._text[self._place_before : self._place]

    def __iter__(self) -> Iterator[tuple[Any, int, int]]:
        """Yield the values in order, each with its number and length."""
        in_array: bool | None = None
        place = n_wanted = 0
        while True:
            # A value may be much larger than a chunk: read twice as much each time, so that no text is scanned too often.
            if not self._ended and len(self._text) - self._start <= n_wanted:
                place -= self._start
                self._read(n_wanted)
            place = _after_gap(self._text, place).end()  # type: ignore[union-attr]
            if not self._keeps_gaps:
                self._start = place
            if place == len(self._text):
                if not self._ended:
                    n_wanted = len(self._text) - self._start
                    continue
                if in_array:
                    self._break("the array is not closed", place)
                return
            if in_array is None:
                in_array = self._text[place] == "["
                place += in_array
                continue
            if in_array and self._text[place] == "]":
                if not self._keeps_gaps:
                    self._check_end(place + 1)
                return
            try:
                value, end = _PARSER.raw_decode(self._text, place)
            except RecursionError:
                self._break("nested too deeply", place)
                return
            except json.JSONDecodeError as error:
                if self._ended or not self._is_cut_off(error):
                    self._break(error.msg, error.pos)
                    return
                if len(self._text) - place > MAX_RECORD_BYTES:
                    self._break(too_long("value"), place)
                    return
                n_wanted = min(2 * (len(self._text) - self._start), MAX_RECORD_BYTES)
                continue
            if end == len(self._text) and not self._ended:
                n_wanted = len(self._text) - self._start
                continue
            self._place_before, self._place, self._start = self._start, place, end
            self.n_seen += 1
            yield value, self.n_seen, end - place
            place, n_wanted = end, 0

    def rest(self) -> Iterator[str]:
        """Yield everything after the last value."""
        while True:
            yield self._text[self._start :]
            if self._ended:
                return
            self._start = len(self._text)
            self._read(0)

    def _check_end(self, place: int) -> None:
        """Break if something follows the outermost array."""
        self._start = place
        while (place := _after_gap(self._text, self._start).end()) == len(self._text):  # type: ignore[union-attr]
            if self._ended:
                return
            self._start = place
            self._read(0)
        self._break("something follows the end of the array", place)

    def _read(self, n_wanted: int) -> None:
        """Drop what is before the start, and take more until there are more characters than wanted, or no more."""
        self._line, self._column = self._place_of(self._start)
        parts, self._start = [self._text[self._start :]], 0
        n_chars = len(parts[0])
        while not self._ended and n_chars <= n_wanted:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            parts.append(self._decoder.decode(chunk or b"", final=self._ended))
            n_chars += len(parts[-1])
        self._text = "".join(parts)

    def _is_cut_off(self, error: json.JSONDecodeError) -> bool:
        """Return whether more text could fix an error; if not, there is no need to read on."""
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _LONGEST_SIGN

    def _break(self, message: str, place: int) -> None:
        line, column = self._place_of(place)
        what = message[0].lower() + message[1:].removesuffix(" starting at")
        self.broken = f"in line {line}, character {column}, {what}"

    def _place_of(self, place: int) -> tuple[int, int]:
        """Return the line and the column in the file of a place in the text."""
        n_breaks = self._text.count("\n", 0, place)
        if not n_breaks:
            return self._line, self._column + place
        return self._line + n_breaks, place - self._text.rfind("\n", 0, place)
