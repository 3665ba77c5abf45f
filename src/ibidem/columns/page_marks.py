"""Pages and regions inside a text: which of them a character is on.

A text that has pages begins with the mark of a page, and so does each of its pages; a region of a page begins with the mark of
a region. The marks are ASCII's separators of groups and records: they count as spaces everywhere, and no text has them
otherwise. So pages travel with the text, through every engine and into an index.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

PAGE, REGION = "\x1d", "\x1e"
_SPACES = " \t\r\n"  # the marks are spaces, too
_MARK = re.compile(f"[{PAGE}{REGION}]")


def has_pages(text: str) -> bool:
    """Return whether a text has pages."""
    return text.startswith(PAGE)


def page_starts(text: str) -> list[int]:
    """Return where the pages of a text begin; none if it has no pages."""
    return [mark.start() for mark in re.finditer(PAGE, text)] if has_pages(text) else []


class PageMap:
    """Where the pages and regions of a text begin. Pages, and the regions of each page, count from 1."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._places: list[tuple[int | None, int | None]] = []
        page, region = 0, 0
        for mark in _MARK.finditer(text) if has_pages(text) else ():
            page, region = (page + 1, 0) if mark[0] == PAGE else (page, region + 1)
            self._starts.append(mark.start())
            self._places.append((page, region or None))

    def place(self, offset: int) -> tuple[int | None, int | None]:
        """Return the page and the region of a character; None where there are none."""
        at = bisect_right(self._starts, offset)
        return self._places[at - 1] if at else (None, None)

    @property
    def has_regions(self) -> bool:
        """Whether any page has regions."""
        return any(region for _, region in self._places)


def with_page_marks(pages: Sequence[str]) -> str:
    """Return pages as one text. A page that continues a sentence of the one before is not a new paragraph."""
    parts: list[str] = []
    for number, page in enumerate(pages):
        between = "" if not number else " " if _goes_on(pages[number - 1], page) else "\n\n"
        parts.append(between + PAGE + page.strip(_SPACES))
    return "".join(parts)


def _goes_on(before: str, page: str) -> bool:
    """Return whether a page ends in the middle of a sentence: after a letter or comma, as only few headings do."""
    last, first = before.rstrip()[-1:], page.lstrip()[:1]
    return (
        (last.isalpha() or last in ",;\u060c\u3001\uff0c")
        and bool(first)
        and (first.isalnum() or first in "\"'(\u201c\u201e\u00ab")
    )


def regions_text(regions: Iterable[str]) -> str:
    """Return the regions of a page as its text; those without text count too.

    A region that continues a sentence in lower case, as a column does, is not a new paragraph; before a capital, the one
    before may be a heading.
    """
    parts: list[str] = []
    before = ""
    for number, region in enumerate(regions):
        between = "" if not number else " " if region[:1].islower() and _goes_on(before, region) else "\n\n"
        parts.append(between + REGION + region.strip(_SPACES))
        before = region or before
    return "".join(parts)
