"""Source texts of JSON as people and programs write them: escapes, numbers, spaces and repeated names of all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
CHARS = st.one_of(
    st.sampled_from('abc xyz.,:{}[]"\\/\n\r\t\b\u2028\u00e9\u4e2d\U0001f600\ufeff'),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
TEXTS = st.text(CHARS, min_size=1, max_size=20)
NUMBERS = st.sampled_from(["0", "-0.0", "1.0", "1e5", "1E+2", "12345678901234567890123", "0.1000", "NaN"])
SPACES = st.sampled_from(["", " ", "  ", "\t", " \t"])


@st.composite
def strings(draw: Callable[[Any], Any], text: str) -> str:
    """Draw a way to write a string."""
    written = []
    for char in text:
        ways = [json.dumps(char)[1:-1]]
        if char in SHORT:
            ways.append(SHORT[char])
        if char not in '"\\\n\r\t\b\f' and char >= " ":
            ways.append(char)
        if ord(char) < 0x10000:
            ways.append(f"\\u{ord(char):04X}")
        written.append(draw(st.sampled_from(ways)))
    return '"' + "".join(written) + '"'


@st.composite
def values(draw: Callable[[Any], Any], depth: int = 2) -> str:
    """Draw the source text of any value."""
    kind = draw(st.sampled_from(["number", "string", "word", "list", "object"] if depth else ["number", "string", "word"]))
    if kind == "number":
        return draw(NUMBERS)  # type: ignore[no-any-return]
    if kind == "string":
        return draw(strings(draw(st.text(CHARS, max_size=5))))  # type: ignore[no-any-return]
    if kind == "word":
        return draw(st.sampled_from(["true", "false", "null"]))  # type: ignore[no-any-return]
    inner = draw(st.lists(values(depth - 1), max_size=3))
    if kind == "list":
        return "[" + ",".join(inner) + "]"
    return "{" + ", ".join(f'"text": {value}' for value in inner) + "}"


@st.composite
def objects(draw: Callable[[Any], Any], line_breaks: bool = False) -> str:
    """Draw the source text of an object with a text, perhaps several times, among other fields."""
    members = []
    for name in [*draw(st.lists(st.sampled_from(["text", "n", "more", "a}b", "time"]), max_size=4)), "text"]:
        value = draw(strings(draw(TEXTS))) if name == "text" else draw(values())
        members.append((draw(strings(name)), value))
    members = draw(st.permutations(members))
    spaces = st.one_of(SPACES, st.just("\n  ")) if line_breaks else SPACES
    written = [f"{draw(spaces)}{name}{draw(spaces)}:{draw(spaces)}{value}{draw(spaces)}" for name, value in members]
    return "{" + ",".join(written) + "}"


def pairs(source: str) -> Any:
    """Return an object as its fields in their order, numbers as they are written."""
    return json.loads(source, strict=False, object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=str)
