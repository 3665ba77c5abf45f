"""Detects the encoding of a file by its bytes."""

from __future__ import annotations

import codecs
from collections import Counter

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
# Which letters beyond ASCII languages have, in the encodings of Windows for the west and for the middle of Europe.
_ALPHABETS = {
    "cp1252": (
        "àâæçèéêëîïôœùûüÿ", "äöüßé", "áéíñóúüçª", "áâãàçéêíóôõúüº", "àèéìíîòóù", "æøåéòô", "åäöéü", "áéíóúýþæöð", "éëïóöüèê",
        "àçèéíïòóúü·",
    ),
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"),
}  # fmt: skip
_PUNCTUATION = frozenset("„“”‚‘’‹›«»–—…•§°©®™€¡¿´¨·\xa0\xad")
_CLEARER = 0.05
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
    return _by_letters(data[:LOOKED_AT]) if name in ("utf-8", "ascii", "iso8859-1", "cp1252", "cp1250") else name


def _by_letters(data: bytes) -> str:
    """Return the encoding in which most of the letters beyond ASCII are of its own script; one of Windows if there is none."""
    # A few bytes beyond ASCII, such as the apostrophes of Windows, are no Korean or Japanese text.
    n_beyond = sum(byte > 0x7F for byte in data)
    for encoding, letters in _SCRIPTS.items() if n_beyond > _LEAST_SHARE * len(data) else ():
        text = codecs.getincrementaldecoder(encoding)("replace").decode(data)
        beyond = [sign for sign in text if sign > "\x7f"]
        if sum(first <= sign <= last for sign in beyond for first, last in letters) > _MOST_SHARE * len(beyond):
            return encoding
    west, middle = (_alphabet_share(data, encoding) for encoding in _ALPHABETS)
    return "cp1250" if middle > west + _CLEARER else "cp1252"


def _alphabet_share(data: bytes, encoding: str) -> float:
    """Return how many of the signs beyond ASCII are letters of one language, of the one that has most of them."""
    signs = Counter(sign for sign in data.decode(encoding, "replace").lower() if sign > "\x7f")
    # In one of the two, a punctuation mark may be a letter of the other.
    marks = {mark for mark in _PUNCTUATION if all(_byte_of(mark, each) == _byte_of(mark, encoding) for each in _ALPHABETS)}
    n_letters = sum(count for sign, count in signs.items() if sign not in marks)
    best = max(sum(signs[letter] for letter in alphabet) for alphabet in _ALPHABETS[encoding])
    return best / n_letters if n_letters else 1.0


def _byte_of(sign: str, encoding: str) -> bytes:
    return sign.encode(encoding, "ignore")
