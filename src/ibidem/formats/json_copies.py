"""JSON files: values and what stands between them, so that a value can go together with its comma."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ibidem.formats.byte_streams import MAX_RECORD_BYTES
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.fields import whole_number
from ibidem.formats.json_fields import names_of
from ibidem.formats.json_files import READ_BYTES, TextWindow, is_cut_off

_BETWEEN = re.compile(r"[\s,]*")
_PARSER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
_READER = json.JSONDecoder(strict=False, parse_int=whole_number)


def rewrite_json(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all values but those that go; what the reader does not get to, because of a break, stays as it is."""
    output.write_mark()
    values = _Values(file)
    first_gap: str | None = None
    any_kept = any_dropped = False
    for position, (gap, source) in enumerate(values, 1):
        first_gap = gap if first_gap is None else first_gap
        decision = edits.at(position)
        if decision is not None:
            edits.meet(position, _text_of(source, edits))
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


def _text_of(source: str, edits: Edits) -> Any:
    """Return the value of the text field of a record, as the reader gets it."""
    value = _READER.decode(source)
    if not isinstance(value, dict):
        raise edits.changed()
    return value.get(edits.text_field)


def first_names(file: InputFile) -> set[str]:
    """Return the names of the fields of the first value, as far as it is an object."""
    return next((names_of(source) for _, source in _Values(file)), set())


def _write(output: OutputFile, text: str) -> None:
    output.write(text.encode("utf-8", "surrogateescape"))


class _Values(TextWindow):
    """Walks over the values of a file as the reader does: those of the outermost array, or all if there is none."""

    def __init__(self, file: InputFile) -> None:
        super().__init__(file.chunks(READ_BYTES, file.encoding))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the source text of each value and what stands before it; stop at the end, or where JSON breaks."""
        in_array: bool | None = None
        n_wanted = 0
        place = 0
        while True:
            # A value may be much larger than a chunk: read twice as much each time, so that no text is scanned too often.
            if not self.ended and len(self.text) - self.start <= n_wanted:
                place -= self.start
                self.read(n_wanted)
            place = _BETWEEN.match(self.text, place).end()  # type: ignore[union-attr]
            if place == len(self.text):
                if self.ended:
                    return
                n_wanted = len(self.text) - self.start
                continue
            if in_array is None:
                in_array = self.text[place] == "["
                place += in_array
                continue
            if in_array and self.text[place] == "]":
                return
            try:
                _, end = _PARSER.raw_decode(self.text, place)
                whole = end < len(self.text) or self.ended
            except RecursionError:
                return
            except json.JSONDecodeError as error:
                if self.ended or not is_cut_off(error, self.text) or len(self.text) - place > MAX_RECORD_BYTES:
                    return
                whole, n_wanted = False, min(2 * (len(self.text) - self.start), MAX_RECORD_BYTES)
            else:
                n_wanted = len(self.text) - self.start
            if whole:
                gap, source = self.text[self.start : place], self.text[place:end]
                self.start = place = end
                n_wanted = 0
                yield gap, source

    def rest(self) -> Iterator[str]:
        """Yield all that was not walked over."""
        while True:
            yield self.text[self.start :]
            if self.ended:
                return
            self.start = len(self.text)
            self.read(0)
