"""Pages of OCR: ALTO and PAGE files. Words are in reading order; pages and regions are marked in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ibidem.columns.page_marks import regions_text, with_page_marks
from ibidem.formats.line_joins import join_lines, join_pages, without_hyphenation
from ibidem.formats.xml_events import XmlReader

_ORDER = re.compile(r"readingOrder\s*\{\s*index\s*:\s*(\d+)")
_NO_READING = 1 << 30


@dataclass
class _Line:
    """A line: its words, its whole text if the file has that too, and its place among the lines of its region."""

    order: int | None = None
    words: list[str] = field(default_factory=list)
    whole: str = ""
    reading: int = _NO_READING  # which of several `whole` is

    @property
    def text(self) -> str:
        return " ".join((self.whole or " ".join(self.words)).split())


@dataclass
class _Region:
    """A region of a page, in the order of the file."""

    name: str
    lines: list[_Line] = field(default_factory=list)
    whole: str = ""
    reading: int = _NO_READING

    @property
    def text(self) -> str:
        orders = [line.order for line in self.lines]
        lines = sorted(self.lines, key=lambda line: line.order or 0) if None not in orders else self.lines
        texts = [line.text for line in lines if line.text] or [" ".join(line.split()) for line in self.whole.splitlines()]
        return join_lines([(text, False) for text in texts if text])


@dataclass
class _Page:
    """A page: its regions, and their names in reading order as far as the file says."""

    regions: list[_Region] = field(default_factory=list)
    order: list[tuple[int, str]] = field(default_factory=list)

    def in_order(self) -> list[_Region]:
        """Return the regions with text in reading order; those that the order does not name come last."""
        places = {name: place for place, (_, name) in enumerate(sorted(self.order, key=lambda entry: entry[0]))}
        return sorted(self.regions, key=lambda region: places.get(region.name, len(places)))


class OcrPages(XmlReader):
    """The pages of an ALTO or PAGE file."""

    def __init__(self) -> None:
        super().__init__()
        self._pages: list[_Page] = []
        self._open: list[_Region] = []  # regions may be inside one another
        self._early_order: list[tuple[int, str]] = []  # ALTO has the order before its page
        self._line: _Line | None = None
        self._skip_second = False
        self._word_reading = _NO_READING
        self._reading = 0  # of several for the same place, 0 is the best
        self._pieces: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if name == "Page":
            self._pages.append(_Page(order=self._early_order))
            self._early_order = []
        elif name in ("RegionRefIndexed", "RegionRef", "ElementRef"):
            self._refer(attributes)
        elif name in ("TextBlock", "TextRegion") and self._pages:
            self._open.append(_Region(attributes.get("ID") or attributes.get("id") or ""))
            self._pages[-1].regions.append(self._open[-1])
        elif name == "TextLine" and self._open:
            found = _ORDER.search(attributes.get("custom", ""))
            self._line = _Line(int(found[1]) if found else None)
            self._open[-1].lines.append(self._line)
        elif name == "String" and self._line is not None:
            self._add_word(self._line, attributes)
        elif name == "HYP" and self._line is not None and self._line.words and not self._skip_second:
            self._line.words[-1] += "-"
        elif name == "Word":
            self._word_reading = _NO_READING
        elif name == "TextEquiv":
            index = attributes.get("index", "")
            self._reading = int(index) if index.isdecimal() else 0
        elif name == "Unicode":
            self._pieces = []

    def _refer(self, attributes: Mapping[str, str]) -> None:
        order = self._pages[-1].order if self._pages else self._early_order
        name = attributes.get("regionRef") or attributes.get("REF") or ""
        index = attributes.get("index", "")
        order.append((int(index) if index.isdecimal() else len(order), name))

    def _add_word(self, line: _Line, attributes: Mapping[str, str]) -> None:
        """Add a word of ALTO; of one that is hyphenated, the first part is the whole if the file says so."""
        part, whole = attributes.get("SUBS_TYPE"), attributes.get("SUBS_CONTENT")
        if part == "HypPart1" and whole:
            line.words.append(whole)
            self._skip_second = True
        elif part == "HypPart2" and self._skip_second:
            self._skip_second = False
        else:
            self._skip_second = False
            line.words.append(attributes.get("CONTENT", ""))

    def end(self, name: str) -> None:
        """End an element."""
        if name == "Unicode":
            self._take_text("".join(self._pieces))
        elif name == "TextLine":
            self._line = None
        elif name in ("TextBlock", "TextRegion") and self._open:
            self._open.pop()

    def _take_text(self, text: str) -> None:
        """Take a text of PAGE: of a word, a line or a region; of several readings, the one with the lowest index counts."""
        owner = self.stack[-3:-2]
        if owner == ["Word"] and self._line is not None:
            if self._reading < self._word_reading:
                self._line.words[len(self._line.words) - (self._word_reading < _NO_READING) :] = [text]
                self._word_reading = self._reading
            return
        whole = self._line if owner == ["TextLine"] else self._open[-1] if owner == ["TextRegion"] and self._open else None
        if whole is not None and text and self._reading < whole.reading:
            whole.whole, whole.reading = text, self._reading

    def text(self, data: str) -> None:
        """Take text."""
        if self.stack and self.stack[-1] == "Unicode":
            self._pieces.append(data)

    def result(self) -> str:
        """Return all pages as one text."""
        numbered = [[region.text for region in page.in_order()] for page in self._pages]
        flat = join_pages(without_hyphenation([text for page in numbered for text in page]))
        texts, at = [], 0
        for page in numbered:
            texts.append(regions_text(flat[at : at + len(page)]))
            at += len(page)
        return with_page_marks(texts)
