"""XML written piece by piece: only one element is in memory, and whatever a text contains, the file is well-formed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

# Not even escaped may these be in XML 1.0: control characters, halves of characters, and two code points that are none.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def without_forbidden(text: str) -> str:
    """Return a text with U+FFFD for every character that XML cannot contain; offsets stay as they are."""
    return _FORBIDDEN.sub("\ufffd", text)


class XmlWriter:
    """Writes elements to a file. Attributes without a value are left out."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._depth = 0
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')

    @contextmanager
    def element(self, name: str, attributes: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Write an element around those that are written in the block."""
        self._line(f"<{name}{_attributes(attributes)}>")
        self._depth += 1
        yield
        self._depth -= 1
        self._line(f"</{name}>")

    def leaf(self, name: str, attributes: Mapping[str, Any] | None = None, text: str | None = None) -> None:
        """Write an element that contains a text, or nothing."""
        if text is None:
            self._line(f"<{name}{_attributes(attributes)}/>")
        else:
            # A carriage return would otherwise be read as a line feed.
            content = escape(without_forbidden(text), {"\r": "&#13;"})
            self._line(f"<{name}{_attributes(attributes)}>{content}</{name}>")

    def _line(self, markup: str) -> None:
        self._file.write(f"{'  ' * self._depth}{markup}\n")


def _attributes(values: Mapping[str, Any] | None) -> str:
    return "".join(f" {name}={quoteattr(_word(value))}" for name, value in (values or {}).items() if value is not None)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return without_forbidden(str(value))
