"""Text from HTML. Blocks become paragraphs, list items become lines; scripts, hidden parts and link targets are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

# Extraction time grows with the cube of the depth and the square of a tag's attributes; no real page is a tenth as deep, or has
# a tag a tenth as long unless it is one long value.
_MOST_DEPTH = 1_000
_MOST_LISTS = 12  # inside one another: lists are worse than other tags, each of their lines is indented by all of them
_MOST_TAG_CHARS = 20_000
_FEW_TAGS = 5_000  # cannot be deep enough to matter
_BEGIN = re.compile(r"<(?:!--|(/?)([a-zA-Z][a-zA-Z0-9:-]*))")
_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{" + str(_MOST_TAG_CHARS) + "}")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*([\"']|[^\s>]*))?")
_GAP = re.compile(r"[\s/]*")
_NEVER_DEEP = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option"}  # these end where the next one begins
)
_NOT_PARSED = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
_LISTS = frozenset({"ol", "ul"})
_LIST = re.compile(r"<(/?)([uo]l)\b", re.IGNORECASE)
_NUMBERED, _TABLES = frozenset({"ol"}), frozenset({"table"})
_CELLS = frozenset({"caption", "tbody", "td", "tfoot", "th", "thead", "tr"})
# The end of such a tag also ends what was opened inside it and not closed.
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "dl", "fieldset", "figure"}
    | {"footer", "form", "header", "html", "main", "nav", "ol", "pre", "section", "table", "ul"}
)
_FOREIGN = frozenset({"svg", "math"})  # only in these a slash at the end of a tag closes it
# Parts of a page that are looked at by themselves: the time to take text out grows with the square of its length, and of its
# tags, where little is between them. A page that people made reaches the first limit long before the second.
PART_CHARS, PART_TAGS = 200_000, 10_000
_LONG_LIST_PARTS = 3
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"})
_LINES = _PARAGRAPHS | {"br", "dd", "div", "dt", "hr", "li", "section", "article", "table", "tr"}
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
_BETWEEN_CELLS = re.compile(r"(?<=\S)[ \t]*\t\t")


def decode_html(data: bytes, charset: str | None = None) -> str:
    """Return the characters of a page: by its declared encoding, otherwise by the most likely one."""
    encoding = map_encoding_to_html5(charset) if charset else detect_encoding(data, from_html_meta=True)
    return str(bytes_to_str(data, encoding or "utf-8", errors="replace"))


def extract_text(html: str, main_content: bool) -> str:
    """Return the text that a reader of the page sees."""
    is_usual = html.count("<") <= _FEW_TAGS and html.count("=") <= _FEW_TAGS and not _LONG_TAG.search(html)
    if is_usual and not _nests_lists(html):
        return _plain_text(html, main_content)
    # Only a whole page shows its main content.
    parts = [(between, _plain_text(part, main_content)) for between, part in _parts(html, may_cut=not main_content)]
    return "".join(between + text for between, text in parts if text).lstrip("\n")


def _plain_text(html: str, main_content: bool) -> str:
    # The words of neighbouring cells would run together where no space is between the tags.
    spaced = _CELL.sub(r" \g<0>", html)
    text = str(extract_plain_text(spaced, main_content=main_content, alt_texts=False))
    # Resiliparse separates cells by two tabs from version 2 on; every version is to give the same text.
    return _BETWEEN_CELLS.sub(" ", text) if "\t\t" in text else text


def _nests_lists(html: str) -> bool:
    """Return whether lists may be nested too deep."""
    nesting = _Nesting()
    return any(nesting.step(name.lower(), bool(slash)) > _MOST_LISTS for slash, name in _LIST.findall(html))


class _Nesting:
    """Which tags are open. The end of a tag that is not open ends nothing. Tags that are too deep are only counted."""

    def __init__(self) -> None:
        self.open: list[tuple[str, str]] = []
        self._n_open: Counter[str] = Counter()
        self._n_deeper: Counter[str] = Counter()
        self._n_all_deeper = 0

    def step(self, name: str, is_end: bool, tag: str = "") -> int:
        """Take a tag, which is opened again as `tag` in later parts; return its depth."""
        if not is_end:
            if len(self.open) < _MOST_DEPTH:
                self.open.append((name, tag))
                self._n_open[name] += 1
            else:
                self._n_deeper[name] += 1
                self._n_all_deeper += 1
            return len(self.open) + self._n_all_deeper
        depth = len(self.open) + self._n_all_deeper
        if self._n_deeper[name]:
            self._n_deeper[name] -= 1
            self._n_all_deeper -= 1
        elif self._n_open[name]:
            at = len(self.open) - 1
            while self.open[at][0] != name:
                if self.open[at][0] == "table" or (name not in _BLOCKS and self.open[at][0] in _BLOCKS):
                    return depth  # what lies further out is not ended from here
                at -= 1
            self._end_from(at)
        return depth

    def end_inside(self, names: frozenset[str]) -> None:
        """End all that was opened inside the innermost of these tags."""
        at = next((at for at in range(len(self.open) - 1, -1, -1) if self.open[at][0] in names), len(self.open))
        self._end_from(at + 1)

    def _end_from(self, at: int) -> None:
        for name, _ in self.open[at:]:
            self._n_open[name] -= 1
        del self.open[at:]

    def has_open(self, names: frozenset[str]) -> bool:
        """Return whether one of these tags is open."""
        return any(self._n_open[name] for name in names)

    def begin(self) -> str:
        """Return what opens everything again in another part: only blocks, others may have ended without a tag of their own."""
        return "".join(tag + "<tr><td>" * (name == "table") for name, tag in self.open if name in _BLOCKS)


def _parts(html: str, may_cut: bool) -> Iterator[tuple[str, str]]:
    """Yield a page in parts, each with the line ends before it, without what would take very long.

    Left out are tags that are nested too deep and the attributes of very long ones. If a page may be cut, a part ends where a
    paragraph, a line or the like begins, and the blocks that are open there are opened again in the next one. All words stay;
    blank lines and marks of items may differ there. Numbered lists are cut only if they are long: their numbers begin again.
    """
    nesting, list_nesting = _Nesting(), _Nesting()
    place = copied = cut = n_tags = 0
    between, last_ended, part = "", "", [""]
    while found := _BEGIN.search(html, place):
        start, name = found.start(), (found[2] or "").lower()
        if not name:
            place = html.find("-->", start + 2) + 3  # "<!-->" is a whole comment
            if place < 3:
                break
            continue
        place = _end_of_tag(html, found.end())
        is_end, is_foreign = bool(found[1]), name in _FOREIGN or nesting.has_open(_FOREIGN)
        n_parts = max((start - cut) / PART_CHARS, n_tags / PART_TAGS)
        if may_cut and n_parts > 1 and not is_end and name in _LINES and not is_foreign:
            if not nesting.has_open(_NUMBERED) or n_parts > _LONG_LIST_PARTS:
                yield between, "".join([*part, html[copied:start]])
                between = "\n\n" if {name, last_ended} & _PARAGRAPHS else "\n"
                part, copied, cut, n_tags = [nesting.begin()], start, start, 0
        n_tags += 1
        if is_end or name in _LINES:
            last_ended = name if is_end else ""
        instead = f"<{'/' * is_end}{name}>" if place - start > _MOST_TAG_CHARS else None
        if name in _CELLS or (name == "li" and is_end):
            nesting.end_inside(_TABLES if name in _CELLS else _LISTS)
        if name not in _NEVER_DEEP and not (is_foreign and html.endswith("/>", start, place)):
            is_too_deep = name in _LISTS and list_nesting.step(name, is_end) > _MOST_LISTS
            tag = "" if is_too_deep else html[start:place] if instead is None else instead
            if nesting.step(name, is_end, tag) > _MOST_DEPTH or is_too_deep:
                instead = " "
        if instead is not None:
            part += [html[copied:start], instead]
            copied = place
        if name in _NOT_PARSED and not is_end and not is_foreign:
            close = re.compile(f"</{name}", re.IGNORECASE).search(html, place)
            if close is None:
                break
            place = close.start()
    yield between, "".join([*part, html[copied:]])


def _end_of_tag(html: str, place: int) -> int:
    """Return where a tag ends; a sign for that inside a quoted value is none."""
    while found := _ATTRIBUTE.match(html, place):
        place = found.end()
        if found[2] in ('"', "'"):
            place = html.find(found[2], place) + 1 or len(html)
    place = _GAP.match(html, place).end()  # type: ignore[union-attr]
    return min(place + 1, len(html))


def extract_texts(pages: Any, main_content: bool) -> Any:
    """Return an Arrow column of pages as a column of their texts."""
    texts = (None if page is None else extract_text(page, main_content) for page in pages.to_pylist())
    return pa.array(list(texts), pa.large_string())
