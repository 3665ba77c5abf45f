"""Names of files as they can be shown, stored and sent."""

from __future__ import annotations

import os
import re

_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LIKE_ESCAPE = re.compile(rf"\\(?=[nrtxu\\]|{_UNPRINTABLE.pattern})")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(name: str) -> str:
    """Return a name with an escape for every character that a terminal or a table cannot show as it is.

    >>> printable("two\\nlines, caf\\udce9")
    'two\\\\nlines, caf\\\\xe9'
    """
    return _UNPRINTABLE.sub(_escaped, name)


def printable_path(path: str) -> str:
    """Return a path as `printable` does, and never the same for two: what only looks like an escape gets another backslash.

    Where a backslash separates folders, names contain none, and nothing that needs an escape either.
    """
    return printable(path if os.sep == "\\" else _LIKE_ESCAPE.sub(r"\\\\", path))


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as Python represents it
        code -= 0xDC00
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
