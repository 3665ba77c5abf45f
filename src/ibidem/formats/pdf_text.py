"""Text of PDF files, page by page, by PDFium.

Lines become paragraphs by the gaps between them, words that were hyphenated at the end of a line are joined, and lines that are
the same at the top or bottom of several pages and apart from the text (titles, page numbers) are left out.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

from ibidem.columns.page_marks import with_page_marks
from ibidem.formats.byte_streams import most_unfolded
from ibidem.formats.extracted_texts import Budget, Extracted, UnreadableError, missing_library
from ibidem.formats.line_joins import HYPHENATED, join_lines, join_pages, without_hyphenation
from ibidem.formats.records import Wanted

# PDFium is not safe for threads.
_ONE_AT_A_TIME = threading.Lock()
_PARAGRAPH_GAP = 1.3  # times the usual distance of lines
_LEAST_REPEATED_PAGES = 2
_EDGE_LINES = 2  # at the top and at the bottom, that may be repeated on other pages
_APART_SHARE = 0.7  # of the pages whose text begins or ends at the same height
_SAME_HEIGHT = 2  # points
_LINE = re.compile(rf"[^\r\n{HYPHENATED}]+{HYPHENATED}?")
_OTHER_SIZE = 1.15  # times the font size of the line above
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-]\d{2})'?(\d{2})?)?")
_UNNAMED = {"untitled", "anonymous", "unspecified"}


class _Line(NamedTuple):
    """A line of a page; where it is counts from the bottom of the page."""

    text: str
    bottom: float
    font_size: float


def pdf_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of a PDF file; its pages are marked."""
    try:
        import pypdfium2
    except ImportError:
        raise missing_library("PDF files", "pypdfium2") from None
    with _ONE_AT_A_TIME:
        pages, fields = _read(pypdfium2, data)
    if not any(pages):
        raise UnreadableError("no text in it: its pages are probably pictures; run OCR first")
    texts = [join_lines(lines) for lines in _paragraphs(_without_running_lines(pages))]
    return Extracted(with_page_marks(join_pages(without_hyphenation(texts))), fields)


def _read(pypdfium2: Any, data: bytes) -> tuple[list[list[_Line]], dict[str, str]]:
    budget = Budget(most_unfolded(len(data)))
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        what = str(error).rstrip(".")
        is_locked = "password" in what.lower()
        raise UnreadableError("it is protected by a password" if is_locked else f"not a PDF, or damaged: {what}") from None
    try:
        pages = []
        for number in range(len(document)):
            try:
                page = document[number]
                pages.append(_lines(page.get_textpage(), pypdfium2.raw))
                page.close()
            except pypdfium2.PdfiumError:
                pages.append([])  # a page that cannot be loaded still counts
            budget.take(sum(len(line.text) for line in pages[-1]))
        return pages, _fields(document.get_metadata_dict())
    finally:
        document.close()


def _lines(page: Any, raw: Any) -> list[_Line]:
    """Return the lines of a page, in the order of the file."""
    text = page.get_text_range()
    lines = []
    for found in _LINE.finditer(text):
        line = found[0].strip()
        skip = len(found[0]) - len(found[0].lstrip())
        index = raw.FPDFText_GetCharIndexFromTextIndex(page.raw, _n_units(text, found.start() + skip)) if line else -1
        if index >= 0:
            _, bottom, _, _ = page.get_charbox(index, loose=True)
            lines.append(_Line(line.replace("\0", ""), bottom, raw.FPDFText_GetFontSize(page.raw, index)))
    return lines


def _paragraphs(pages: list[list[_Line]]) -> list[list[tuple[str, bool]]]:
    """Return lines with whether they begin a paragraph: after a gap that is larger than usual, or in another size."""
    usual = _usual_gap(pages)
    found = []
    for page in pages:
        apart = [
            above.bottom - here.bottom > _PARAGRAPH_GAP * usual or _is_other_size(above.font_size, here.font_size)
            for above, here in pairwise(page)
        ]
        found.append([(line.text, is_apart) for line, is_apart in zip(page, [True, *apart], strict=False)])
    return found


def _usual_gap(pages: list[list[_Line]]) -> float:
    """Return the usual distance of lines."""
    gaps = sorted(above.bottom - here.bottom for page in pages for above, here in pairwise(page) if here.bottom < above.bottom)
    return gaps[len(gaps) // 4] if gaps else 0.0


def _n_units(text: str, n_chars: int) -> int:
    """Return how many UTF-16 units characters take: PDFium counts those."""
    return n_chars if text.isascii() else len(text[:n_chars].encode("utf-16-le", "surrogatepass")) // 2


def _is_other_size(above: float, here: float) -> bool:
    return max(above, here) > _OTHER_SIZE * max(min(above, here), 1)


def _without_running_lines(pages: list[list[_Line]]) -> list[list[_Line]]:
    """Return pages without lines that several of them have at their edges, numbers aside, and without their numbers.

    Such lines are apart from the text, and so are those of nearly all pages that begin or end at the same height. A line of
    the text that also happens to begin another page stays.
    """
    usual = _usual_gap(pages)
    tops = _lines_apart(pages, usual)
    bottoms = _lines_apart([page[::-1] for page in pages], usual)
    counts: Counter[str] = Counter()
    for lines, top, bottom in zip(pages, tops, bottoms, strict=True):
        counts.update({_DIGITS.sub("#", line.text) for line in lines[:top] + lines[max(top, len(lines) - bottom) :]})
    least = max(_LEAST_REPEATED_PAGES, len(pages) // 3)
    running = {shape for shape, count in counts.items() if count >= least}
    kept = []
    for number, (lines, top, bottom) in enumerate(zip(pages, tops, bottoms, strict=True), 1):

        def is_running(line: _Line, number: int = number) -> bool:
            return line.text == str(number) or _DIGITS.sub("#", line.text) in running

        begin, end = 0, len(lines)
        while begin < top and is_running(lines[begin]):
            begin += 1
        while end > max(begin, len(lines) - bottom) and is_running(lines[end - 1]):
            end -= 1
        kept.append(lines[begin:end])
    return kept if any(kept) else pages


def _lines_apart(pages: list[list[_Line]], usual: float) -> list[int]:
    """Return how many lines at the beginning of each page are no part of its text, as on most that begin at that height."""
    numbers = [_n_apart(page, usual) for page in pages]
    heights = [round(page[0].bottom) if page else None for page in pages]
    of_all, of_apart = Counter(heights), Counter(height for height, number in zip(heights, numbers, strict=True) if number)

    def is_usual(height: int) -> bool:
        near = range(height - _SAME_HEIGHT, height + _SAME_HEIGHT + 1)
        return sum(of_apart[each] for each in near) >= _APART_SHARE * sum(of_all[each] for each in near)

    return [number if height is not None and is_usual(height) else 0 for number, height in zip(numbers, heights, strict=True)]


def _n_apart(lines: list[_Line], usual: float) -> int:
    """Return how many lines of a page come before its first gap or change of size, if these are few."""
    for number, (here, following) in enumerate(pairwise(lines[: _EDGE_LINES + 1]), 1):
        is_gap = abs(here.bottom - following.bottom) > _PARAGRAPH_GAP * usual
        if is_gap or _is_other_size(here.font_size, following.font_size):
            return number
    return len(lines) if len(lines) <= _EDGE_LINES else 0


def _fields(metadata: dict[str, str]) -> dict[str, str]:
    """Return what the file says about itself. When it was made is not when its text was published."""
    found = {name: metadata.get(name.title(), "").strip() for name in ("title", "author")}
    found = {name: value for name, value in found.items() if value and value.lower() not in _UNNAMED}
    date = _DATE.match(metadata.get("CreationDate", ""))
    if date is not None:
        year, month, day, hour, minute, second, _, hours, minutes = date.groups()
        zone = f"{hours}:{minutes or '00'}" if hours else "Z"
        found["created"] = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}{zone}"
    return found
