"""Detects the encoding of a file by its bytes."""

from __future__ import annotations

import codecs

AUTO = "auto"
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
LOOKED_AT = 1 << 16
_SCRIPTS = {
    "cp949": [("\uac00", "\ud7a3")],  # Hangul
    "euc_jp": [("\u3001", "\u30ff"), ("\u4e00", "\u9fff")],
    "cp932": [("\u3001", "\u30ff"), ("\u4e00", "\u9fff")],
}
_MOST_SHARE = 0.9
_LEAST_SHARE = 0.1


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text whose characters take two or four bytes, if its beginning shows that."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding if encoding != "utf-8" else None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 > len(head) and min(even, odd) * 10 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def detected_encoding(data: bytes, is_whole: bool = True) -> str:
    """Return the encoding of some bytes: UTF-8 wherever they are that, else UTF-16 or UTF-32, else the most likely one.

    If they are only the beginning, a character at their end may be cut off.
    """
    wide = wide_encoding(data[:LOOKED_AT])
    if wide is not None:
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=is_whole)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    from resiliparse.parse.encoding import detect_encoding

    found = str(detect_encoding(data[:LOOKED_AT], from_html_meta=False) or "")
    try:
        name = codecs.lookup(found).name
    except LookupError:
        name = "utf-8"
    return _by_letters(data[:LOOKED_AT]) if name in ("utf-8", "ascii", "iso8859-1") else name


def _by_letters(data: bytes) -> str:
    """Return the encoding in which most of the letters beyond ASCII are of its own script; that of Windows if there is none."""
    # A few bytes beyond ASCII, such as the apostrophes of Windows, are no Korean or Japanese text.
    n_beyond = sum(byte > 0x7F for byte in data)
    for encoding, letters in _SCRIPTS.items() if n_beyond > _LEAST_SHARE * len(data) else ():
        text = codecs.getincrementaldecoder(encoding)("replace").decode(data)
        beyond = [sign for sign in text if sign > "\x7f"]
        if sum(first <= sign <= last for sign in beyond for first, last in letters) > _MOST_SHARE * len(beyond):
            return encoding
    return "cp1252"
