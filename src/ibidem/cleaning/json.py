"""JSON files: values and what stands between them, so that a value can go together with its comma."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator

from ibidem.cleaning.edits import Edits
from ibidem.cleaning.files import InputFile, OutputFile
from ibidem.cleaning.json_fields import names_of
from ibidem.documents.json import READ_BYTES, is_cut_off
from ibidem.documents.streams import MAX_RECORD_BYTES

_BETWEEN = re.compile(r"[\s,]*")
_PARSER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def rewrite_json(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all values but those that go; what the reader does not get to, because of a break, stays as it is."""
    output.write_mark()
    values = _Values(file)
    first_gap: str | None = None
    any_kept = any_dropped = False
    for position, (gap, source) in enumerate(values, 1):
        first_gap = gap if first_gap is None else first_gap
        decision = edits.at(position)
        if edits.marks is not None:
            source = edits.mark_value(source, decision)
        elif decision is not None and decision.drop:
            any_dropped = True
            continue
        elif decision is not None:
            source = edits.cut_object(source, decision)
        if not any_kept:
            gap = first_gap  # before the first value that stays there is no comma
        elif any_dropped and not gap:
            gap = " "  # what stood between two numbers is perhaps gone
        _write(output, gap + source)
        any_kept = True
        if edits.past_last(position + 1):
            break
    if first_gap is not None and not any_kept:
        _write(output, first_gap)
    for text in values.rest():
        _write(output, text)


def first_names(file: InputFile) -> set[str]:
    """Return the names of the fields of the first value, as far as it is an object."""
    return next((names_of(source) for _, source in _Values(file)), set())


def _write(output: OutputFile, text: str) -> None:
    output.write(text.encode("utf-8", "surrogateescape"))


class _Values:
    """Walks over the values of a file as the reader does: those of the outermost array, or all if there is none."""

    def __init__(self, file: InputFile) -> None:
        self._chunks = file.chunks(READ_BYTES, file.encoding)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
        self._text = ""
        self._start = 0
        self._ended = False

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the source text of each value and what stands before it; stop at the end, or where JSON breaks."""
        in_array: bool | None = None
        n_wanted = 0
        place = 0
        while True:
            # A value may be much larger than a chunk: read twice as much each time, so that no text is scanned too often.
            if not self._ended and len(self._text) - self._start <= n_wanted:
                place -= self._start
                self._read(n_wanted)
            place = _BETWEEN.match(self._text, place).end()  # type: ignore[union-attr]
            if place == len(self._text):
                if self._ended:
                    return
                n_wanted = len(self._text) - self._start
                continue
            if in_array is None:
                in_array = self._text[place] == "["
                place += in_array
                continue
            if in_array and self._text[place] == "]":
                return
            try:
                _, end = _PARSER.raw_decode(self._text, place)
                whole = end < len(self._text) or self._ended
            except RecursionError:
                return
            except json.JSONDecodeError as error:
                if self._ended or not is_cut_off(error, self._text) or len(self._text) - place > MAX_RECORD_BYTES:
                    return
                whole, n_wanted = False, min(2 * (len(self._text) - self._start), MAX_RECORD_BYTES)
            else:
                n_wanted = len(self._text) - self._start
            if whole:
                gap, source = self._text[self._start : place], self._text[place:end]
                self._start = place = end
                n_wanted = 0
                yield gap, source

    def rest(self) -> Iterator[str]:
        """Yield all that was not walked over."""
        while True:
            yield self._text[self._start :]
            if self._ended:
                return
            self._start = len(self._text)
            self._read(0)

    def _read(self, n_wanted: int) -> None:
        """Let go of what was walked over, and take more until there are more characters than wanted, or no more."""
        parts, self._start = [self._text[self._start :]], 0
        n_chars = len(parts[0])
        while not self._ended and n_chars <= n_wanted:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            parts.append(self._decoder.decode(chunk or b"", final=self._ended))
            n_chars += len(parts[-1])
        self._text = "".join(parts)
