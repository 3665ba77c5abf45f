"""Text out of HTML. Blocks become paragraphs, list items lines; scripts, hidden parts and link targets are left out."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)


def decode_html(data: bytes, charset: str | None = None) -> str:
    """Return the characters of a page: by what was declared for it or in it, otherwise as they look most likely."""
    encoding = map_encoding_to_html5(charset) if charset else detect_encoding(data, from_html_meta=True)
    return str(bytes_to_str(data, encoding, errors="replace"))


def extract_text(html: str, main_content: bool) -> str:
    """Return the text that a reader of the page sees."""
    # The words of neighbouring cells would run together where no space stands between the tags.
    spaced = _CELL.sub(r" \g<0>", html)
    return str(extract_plain_text(spaced, main_content=main_content, alt_texts=False))


def extract_texts(pages: Any, main_content: bool) -> Any:
    """Return an Arrow column of pages as a column of their texts."""
    texts = (None if page is None else extract_text(page, main_content) for page in pages.to_pylist())
    return pa.array(list(texts), pa.large_string())
