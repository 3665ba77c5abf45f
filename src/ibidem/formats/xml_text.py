"""Text of XML files: TEI editions, pages of OCR (ALTO, PAGE), XHTML, and of any other what a path names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ibidem.columns.page_marks import PAGE
from ibidem.config.surface import given
from ibidem.formats.extracted_texts import Extracted, UnreadableError
from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.ocr_pages import OcrPages
from ibidem.formats.records import Wanted
from ibidem.formats.xml_events import Paragraphs, XmlReader, spaced

AUTO_PATH = "auto"
_GAP = re.compile(r"\s")
_TEI_ROOTS, _OCR_ROOTS = ("TEI", "TEI.2", "teiCorpus"), ("alto", "PcGts")


def xml_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of an XML file: what has the path that settings name; without any, by its outermost element."""
    path = wanted.config.text_path
    if path != AUTO_PATH:
        by_path = PathText(path)
        by_path.read(data)
        if by_path.found:
            return Extracted("\n\n".join(by_path.found))
    root = _Root()
    root.read(data)
    if root.name in _OCR_ROOTS:
        pages = OcrPages()
        pages.read(data)
        return Extracted(pages.result())
    if root.name in _TEI_ROOTS:
        edition = _Edition()
        edition.read(data)
        return edition.extracted()
    if root.name == "html":
        return Extracted(extract_text(decode_html(data), wanted.config.main_content))
    if path != AUTO_PATH:
        raise UnreadableError(f"nothing in it has the path '{path}'")
    name = root.name[:40]
    example = given("text_path", f"{name}//p")
    raise UnreadableError(f"XML of an unknown kind ('{name}'): say which elements have the text, such as {example}")


class _Root(XmlReader):
    """The name of the outermost element; the whole file is checked."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the first element."""
        self.name = self.name or name


class PathText(XmlReader):
    """The texts of all elements that a path leads to, such as `article/body//p`; `*` is any one element.

    A path may begin anywhere; with a slash, it begins at the outermost element. What is inside a found element is part of it.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        steps = [re.escape(step).replace(r"\*", "[^/]+") for step in re.split("/+", path.strip("/"))]
        gaps = ["/(?:[^/]+/)*" if len(gap) > 1 else "/" for gap in re.findall("/+", path.strip("/"))]
        pattern = "".join(step + gap for step, gap in zip(steps, [*gaps, ""], strict=True))
        is_absolute = path.startswith("/") and not path.startswith("//")
        self._pattern = re.compile(("" if is_absolute else "(?:.*/)?") + pattern)
        self._last = "*" if steps[-1] == "[^/]+" else path.rpartition("/")[2]
        self._depth = 0
        self._pieces: list[str] = []
        self.found: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if not self._depth and self._last in (name, "*") and self._pattern.fullmatch("/".join(self.stack)):
            self._depth = len(self.stack)

    def end(self, name: str) -> None:
        """End an element."""
        if len(self.stack) == self._depth:
            text = " ".join("".join(self._pieces).split())
            self.found += [text] if text else []
            self._depth, self._pieces = 0, []

    def text(self, data: str) -> None:
        """Take text."""
        if self._depth:
            self._pieces.append(data)


class _Edition(XmlReader):
    """The text of a TEI edition as it is meant to be read: corrected, normalised and expanded, without what its author deleted.

    Notes follow their paragraphs.
    """

    _BLOCKS = frozenset(
        {"ab", "argument", "byline", "cell", "closer", "dateline", "epigraph", "head", "item", "l", "label", "opener", "p"}
        | {"postscript", "quote", "role", "row", "salute", "signed", "sp", "speaker", "stage", "titlePart", "trailer"}
    )
    _LEFT_OUT = frozenset({"del", "figDesc", "fw", "graphic", "facsimile", "standOff", "sourceDoc"})
    _OTHER_READINGS = frozenset({"sic", "orig", "abbr"})  # beside what the editor has made of them

    def __init__(self) -> None:
        super().__init__()
        self._paragraphs = Paragraphs()
        self._n_left_out = 0
        self._has_pages = self._has_text = self._waits = False
        self._n_due = 0  # pages that begin with the next text
        self._in_header = False
        self._fields: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._in_header = self._in_header or name == "teiHeader"
        if self._in_header:
            if name == "date" and "sourceDesc" in self.stack and attributes.get("when"):
                self._fields.setdefault("time", attributes["when"])
            return
        self._n_left_out += self._is_left_out(name)
        if self._n_left_out:
            return
        if name == "note":
            self._paragraphs.begin_note()
        elif name in self._BLOCKS and not self._in_line():
            self._paragraphs.end_paragraph()
        elif name in ("lb", "pb", "cb"):
            is_inside = attributes.get("break") == "no"
            if is_inside:
                self._paragraphs.trim_end("-")
            else:
                self._paragraphs.add(" ")
            if name == "pb":
                self._begin_page(is_inside)

    def _begin_page(self, is_inside: bool) -> None:
        """Mark a page; one that begins inside of a word, after that word."""
        self._has_pages = True
        if self._has_text and is_inside:
            self._waits = True
        elif self._has_text:
            self._n_due += 1

    def end(self, name: str) -> None:
        """End an element."""
        if self._in_header:
            self._in_header = name != "teiHeader"
        elif self._is_left_out(name):
            self._n_left_out -= 1
        elif self._n_left_out:
            return
        elif name == "note":
            self._paragraphs.end_note()
        elif name in self._BLOCKS and not self._in_line():
            self._paragraphs.end_paragraph()

    def text(self, data: str) -> None:
        """Take text."""
        if self._in_header:
            self._take_field(data.strip())
        elif not self._n_left_out and "text" in self.stack:
            self._has_text = self._has_text or bool(data.strip())
            if self._waits and (gap := _GAP.search(data)):
                data = data[: gap.start()] + " " + PAGE + data[gap.start() :]
                self._waits = False
            if self._n_due and data.strip() and "note" not in self.stack:
                data = PAGE * self._n_due + data
                self._n_due = 0
            self._paragraphs.add(PAGE.join(map(spaced, data.split(PAGE))))

    def _take_field(self, value: str) -> None:
        name = self.stack[-1]
        if value and name in ("title", "author") and "titleStmt" in self.stack:
            self._fields.setdefault(name, value)

    def _is_left_out(self, name: str) -> bool:
        return name in self._LEFT_OUT or (name in self._OTHER_READINGS and self.stack[-2:-1] == ["choice"])

    def _in_line(self) -> bool:
        """Return whether a quotation is part of a sentence."""
        return self.stack[-1] == "quote" and "p" in self.stack[:-1]

    def extracted(self) -> Extracted:
        """Return the text and what the header says."""
        text = "\n\n".join(block for block in self._paragraphs if block.strip())
        return Extracted(PAGE + text if self._has_pages else text, self._fields)
