"""Changes inside the source text of a JSON object, in JSON lines and JSON files, that leave every other character as it is.

Nothing is parsed and written again: numbers, escapes, spaces, repeated and nested fields stay as written. The objects are known
to be valid; invalid ones raise ValueError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ibidem.formats.decisions import Decision, without_spans
from ibidem.formats.edits import Edits

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_STRING_OR_BRACKET = re.compile(_STRING.pattern + r"|[\[\]{}]", re.DOTALL)
_PLAIN_VALUE = re.compile(r"[^\s,\]}]+")
# One character of the text each, whatever their length: surrogate pairs are one character, too.
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]", re.DOTALL)
_NAME = re.compile(rf"[ \t\n\r]*({_STRING.pattern})[ \t\n\r]*:[ \t\n\r]*", re.DOTALL)
_AFTER_VALUE = re.compile(r"[ \t\n\r]*([,}])")
_DECODER = json.JSONDecoder(strict=False)
_ENCODERS = (json.JSONEncoder(ensure_ascii=False), json.JSONEncoder())
# As the reader parses, but numbers are only skipped: Python refuses very long ones.
_PARSER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def cut_object(source: str, position: int, decision: Decision, edits: Edits) -> str:
    """Return the source text of an object with the rest of its text, which must be the one decided about."""
    try:
        return cut_field(source, edits.text_field, decision.cuts, partial(edits.meet_text, position))
    except ValueError as error:
        raise edits.changed() from error


def mark_value(source: str, decision: Decision | None, edits: Edits) -> str:
    """Return the source text of a value with the marks if it is an object; anything else stays as it is."""
    assert edits.marks is not None
    try:
        value = _PARSER.decode(source)
    except (ValueError, RecursionError):
        # Arrow's parser accepts nesting too deep for Python's; anything else is broken.
        value = None if decision is None else dict.fromkeys(names_of(source))
    if not isinstance(value, dict):
        return source
    edits.marks.check(value, edits.source)
    return add_fields(source, edits.marks.as_json(decision, not edits.is_utf8 or source.isascii()))


def cut_field(
    source: str, name: str, cuts: Sequence[tuple[int, int]], on_text: Callable[[str], None] = lambda text: None
) -> str:
    """Return the source text of an object without some spans of the string in its field `name`; `on_text` gets that string."""
    found: list[tuple[Any, int, int]] = []

    def end_of_value(key: str, start: int) -> int:
        if key != name or source[start : start + 1] != '"':
            text, end = None, _end_of_value(source, start)
        else:
            text, end = _DECODER.raw_decode(source, start)  # a long string is skipped once, not twice
        if key == name:
            found.append((text, start, end))
        return end

    for _ in fields(source, end_of_value):
        pass
    if not found:
        raise ValueError(f"no field '{name}'")
    text, start, end = found[-1]  # of repeated fields the last one counts, for readers of JSON as for ours
    if text is None:
        raise ValueError(f"field '{name}' is not a string")
    on_text(text)
    return source[:start] + cut_string(source[start:end], text, cuts) + source[end:]


def cut_string(token: str, text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """Return a JSON string, given with its quotation marks, without some spans of the text that it means."""
    if not cuts:
        return token
    for encoder in _ENCODERS:
        # Written as Python writes it, as nearly all are: the rest then is too, and needs no look at every escape.
        if encoder.encode(text) == token:
            return encoder.encode(without_spans(text, cuts))
    places = _places_of(token, [bound for cut in cuts for bound in cut])
    return without_spans(token, zip(places[::2], places[1::2], strict=True))


def _places_of(token: str, bounds: Sequence[int]) -> list[int]:
    """Return where in a JSON string given characters of its text begin; `bounds` rise."""
    places: list[int] = []
    place, n_chars = 1, 0
    escapes = _ESCAPE.finditer(token, 1, len(token) - 1)
    escape = next(escapes, None)
    for bound in bounds:
        while escape is not None and bound > n_chars + escape.start() - place:
            n_chars += escape.start() - place + 1
            place = escape.end()
            escape = next(escapes, None)
        places.append(place + bound - n_chars)
    if places[-1] >= len(token):
        raise ValueError("a cut beyond the end of the text")
    return places


def add_fields(source: str, members: str) -> str:
    """Return the source text of an object with more fields at its end, given as the source text of them."""
    close = source.rindex("}")
    end = len(source[:close].rstrip())
    comma = "" if source[end - 1] == "{" and not source[: end - 1].strip() else ", "
    return source[:end] + comma + members + source[end:]


def fields(source: str, end_of_value: Callable[[str, int], int] | None = None) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of value for the fields of an object that is alone in `source`.

    `end_of_value` finds the end by name and start; None: `_end_of_value`.
    """
    place = _after_space(source, 0)
    _expect(source, place, "{")
    place += 1
    while (name := _NAME.match(source, place)) is not None:
        key, start = _DECODER.raw_decode(name[1])[0], name.end()
        end = _end_of_value(source, start) if end_of_value is None else end_of_value(key, start)
        yield key, start, end
        after = _AFTER_VALUE.match(source, end)
        if after is None:
            raise ValueError(f"expected , or }} after the value that ends at character {end}")
        place = after.end()
        if after[1] == "}":
            return
    _expect(source, _after_space(source, place), "}")


def names_of(source: str) -> list[str]:
    """Return the names of the fields of an object, in their order, none if it is anything else."""
    try:
        return list(dict.fromkeys(name for name, _, _ in fields(source)))
    except ValueError:
        return []


def _end_of_value(source: str, start: int) -> int:
    """Return where a value ends; brackets are counted, so that no depth is too deep."""
    if source[start : start + 1] not in ("{", "["):
        found = (_STRING if source[start : start + 1] == '"' else _PLAIN_VALUE).match(source, start)
        if found is None:
            raise ValueError(f"expected a value at character {start}")
        return found.end()
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(source, start):
        sign = source[token.start()]
        depth += (sign in "[{") - (sign in "]}")
        if depth == 0:
            return token.end()
    raise ValueError(f"the value at character {start} never ends")


def _after_space(source: str, place: int) -> int:
    return _SPACE.match(source, place).end()  # type: ignore[union-attr]


def _expect(source: str, place: int, sign: str) -> None:
    if source[place : place + 1] != sign:
        raise ValueError(f"expected {sign} at character {place}")
