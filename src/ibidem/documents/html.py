"""Text out of HTML. Blocks become paragraphs, list items lines; scripts, hidden parts and link targets are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

# The time to take text out grows with the cube of the depth, and with the square of the attributes of a tag; no page that
# people made is a tenth as deep, or has a tag that is a tenth as long without being one long value.
_MOST_DEPTH = 1_000
_MOST_LISTS = 12  # inside of one another: lists are worse than other tags, each of their lines is indented by all of them
_MOST_TAG_CHARS = 20_000
_FEW_TAGS = 5_000  # cannot be deep enough to matter
_BEGIN = re.compile(r"<(?:!--|(/?)([a-zA-Z][a-zA-Z0-9:-]*))")
_LONG_TAG = re.compile(r"<[a-zA-Z][^<>]{" + str(_MOST_TAG_CHARS) + "}")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*([\"']|[^\s>]*))?")
_GAP = re.compile(r"[\s/]*")
_NEVER_DEEP = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option"}  # they end where the next one begins
)
_NOT_PARSED = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})
_LISTS = frozenset({"ol", "ul"})
_LIST = re.compile(r"<(/?)([uo]l)\b", re.IGNORECASE)
_FOREIGN = frozenset({"svg", "math"})  # only in these a slash at the end of a tag closes it
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)


def decode_html(data: bytes, charset: str | None = None) -> str:
    """Return the characters of a page: by what was declared for it or in it, otherwise as they look most likely."""
    encoding = map_encoding_to_html5(charset) if charset else detect_encoding(data, from_html_meta=True)
    return str(bytes_to_str(data, encoding, errors="replace"))


def extract_text(html: str, main_content: bool) -> str:
    """Return the text that a reader of the page sees."""
    is_usual = html.count("<") <= _FEW_TAGS and html.count("=") <= _FEW_TAGS and not _LONG_TAG.search(html)
    is_usual = is_usual and not _nests_lists(html)
    # The words of neighbouring cells would run together where no space stands between the tags.
    spaced = _CELL.sub(r" \g<0>", html if is_usual else "".join(_tamed(html)))
    return str(extract_plain_text(spaced, main_content=main_content, alt_texts=False))


def _nests_lists(html: str) -> bool:
    """Say whether lists may be nested too deep."""
    nesting = _Nesting()
    return any(nesting.step(name.lower(), bool(slash)) > _MOST_LISTS for slash, name in _LIST.findall(html))


class _Nesting:
    """How deep tags are nested. The end of a tag that is not open ends nothing."""

    def __init__(self) -> None:
        self._depth = 0
        self._opened: Counter[str] = Counter()

    def step(self, name: str, is_end: bool) -> int:
        """Take a tag; return how deep it lies."""
        if not is_end:
            self._opened[name] += 1
            self._depth += 1
            return self._depth
        depth = self._depth
        if self._opened[name]:
            self._opened[name] -= 1
            self._depth -= 1
        return depth


def _tamed(html: str) -> Iterator[str]:
    """Yield a page in pieces, without tags that are nested too deep, and without the attributes of very long ones."""
    nesting, list_nesting = _Nesting(), _Nesting()
    foreign_depth = place = copied = 0
    while found := _BEGIN.search(html, place):
        start, name = found.start(), (found[2] or "").lower()
        if not name:
            place = html.find("-->", start + 2) + 3  # "<!-->" is a whole comment
            if place < 3:
                break
            continue
        place = _end_of_tag(html, found.end())
        is_end = bool(found[1])
        instead = f"<{'/' * is_end}{name}>" if place - start > _MOST_TAG_CHARS else None
        if name in _FOREIGN:
            foreign_depth = max(0, foreign_depth + (-1 if is_end else 1))
        if name not in _NEVER_DEEP and not (foreign_depth and html.endswith("/>", start, place)):
            depth, list_depth = nesting.step(name, is_end), list_nesting.step(name, is_end) if name in _LISTS else 0
            if depth > _MOST_DEPTH or list_depth > _MOST_LISTS:
                instead = " "
        if instead is not None:
            yield html[copied:start]
            yield instead
            copied = place
        if name in _NOT_PARSED and not is_end and not foreign_depth:
            close = re.compile(f"</{name}", re.IGNORECASE).search(html, place)
            if close is None:
                break
            place = close.start()
    yield html[copied:]


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
