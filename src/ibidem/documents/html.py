"""Text out of HTML. Blocks become paragraphs, list items lines; scripts, hidden parts and link targets are left out."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

# The time to take text out grows with the cube of the depth; no page that people made is a tenth as deep.
_MOST_DEPTH = 1_000
_FEW_TAGS = 5_000  # cannot be deep enough to matter
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>")
_NEVER_DEEP = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option"}  # they end where the next one begins
)
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)


def decode_html(data: bytes, charset: str | None = None) -> str:
    """Return the characters of a page: by what was declared for it or in it, otherwise as they look most likely."""
    encoding = map_encoding_to_html5(charset) if charset else detect_encoding(data, from_html_meta=True)
    return str(bytes_to_str(data, encoding, errors="replace"))


def extract_text(html: str, main_content: bool) -> str:
    """Return the text that a reader of the page sees."""
    # The words of neighbouring cells would run together where no space stands between the tags.
    spaced = _CELL.sub(r" \g<0>", _flattened(html) if html.count("<") > _FEW_TAGS else html)
    return str(extract_plain_text(spaced, main_content=main_content, alt_texts=False))


def _flattened(html: str) -> str:
    """Return a page without the tags that are nested too deep."""
    depth = 0

    def keep(tag: re.Match[str]) -> str:
        nonlocal depth
        if tag[2].lower() in _NEVER_DEEP or tag[0].endswith("/>"):
            return tag[0]
        if tag[1]:
            depth = max(0, depth - 1)
            return tag[0] if depth < _MOST_DEPTH else " "
        depth += 1
        return tag[0] if depth <= _MOST_DEPTH else " "

    return _TAG.sub(keep, html)


def extract_texts(pages: Any, main_content: bool) -> Any:
    """Return an Arrow column of pages as a column of their texts."""
    texts = (None if page is None else extract_text(page, main_content) for page in pages.to_pylist())
    return pa.array(list(texts), pa.large_string())
