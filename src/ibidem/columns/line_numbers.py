"""Lines and columns of characters in a text, as editors count them: from 1, columns in characters."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


class LineMap:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        lengths = (len(line) + 1 for line in text.split("\n"))
        self._starts = [0, *accumulate(lengths)][:-1]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
