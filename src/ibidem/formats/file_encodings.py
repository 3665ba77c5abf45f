"""Detects the encoding of a file by its bytes."""

from __future__ import annotations

import codecs
import re
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
# What texts are in that a detector takes for ISO 8859, although they have bytes that are control characters there.
_OF_WINDOWS = {
    "iso8859-2": "cp1250", "iso8859-4": "cp1257", "iso8859-5": "cp1251", "iso8859-6": "cp1256", "iso8859-7": "cp1253",
    "iso8859-8": "cp1255", "iso8859-9": "cp1254", "iso8859-13": "cp1257",
}  # fmt: skip
_PUNCTUATION = frozenset("„“”‚‘’‹›«»–—…•§°©®™€¡¿´¨·\xa0\xad")
_MARK_IN_WORD = re.compile("(?<=[a-z])[„“”‚«»®©™¡¿´¨](?=[a-z])")
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
    if name in _OF_WINDOWS and _has_controls(data[:LOOKED_AT]):
        name = _OF_WINDOWS[name]
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
    west, middle = (_alphabet_share(data, encoding, encoding) for encoding in _ALPHABETS)
    if middle <= west + _CLEARER:
        return "cp1252"
    is_iso = not _has_controls(data) and _alphabet_share(data, "iso8859-2", "cp1250") > middle
    return "iso8859-2" if is_iso else "cp1250"


def _has_controls(data: bytes) -> bool:
    """Return whether there are bytes that ISO 8859 has no characters for."""
    return any(0x80 <= byte < 0xA0 for byte in data)


def _alphabet_share(data: bytes, name: str, encoding: str) -> float:
    """Return how many of the signs beyond ASCII are letters of one language, of the one that has most of them.

    `encoding` is the one of Windows that has these letters. A punctuation mark inside a word is in the place of a letter.
    """
    text = data.decode(name, "replace").lower()
    signs = Counter(sign for sign in text if sign > "\x7f")
    n_inside = len(_MARK_IN_WORD.findall(text))
    # In one of the two, a punctuation mark may be a letter of the other.
    marks = {mark for mark in _PUNCTUATION if all(_byte_of(mark, each) == _byte_of(mark, encoding) for each in _ALPHABETS)}
    n_letters = sum(count for sign, count in signs.items() if sign not in marks) + n_inside
    best = max(sum(signs[letter] for letter in alphabet) for alphabet in _ALPHABETS[encoding])
    return best / n_letters if n_letters else 1.0


def _byte_of(sign: str, encoding: str) -> bytes:
    return sign.encode(encoding, "ignore")
