"""The encodings in which a text may be sent: those whose decoders take time in proportion to the bytes, whatever these are.

Python knows others, and decodes `punycode` in the square of the length. Names are looked up in a table of our own: Python
would remember every name that it was ever asked for.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from encodings.aliases import aliases

ACCEPTED = (
    "UTF-8, UTF-16, UTF-32, US-ASCII, ISO-8859-1 to -16, windows-1250 to -1258, windows-874, KOI8-R, KOI8-U, macintosh, "
    "IBM866, GB18030, GBK, Big5, EUC-KR, EUC-JP, ISO-2022-JP, Shift_JIS"
)
_CODECS = (
    *("ascii", "utf_8", "utf_8_sig", "utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"),
    *("latin_1", *(f"iso8859_{part}" for part in (*range(2, 12), *range(13, 17)))),
    *(f"cp{page}" for page in (*range(1250, 1259), 874, 866, 932, 949, 950)),
    *("koi8_r", "koi8_u", "mac_roman", "gb2312", "gbk", "gb18030", "big5", "big5hkscs"),
    *("euc_jp", "euc_kr", "iso2022_jp", "shift_jis"),
)
_MARKS = {
    "utf_16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf_32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_SLICE_BYTES = 1 << 16  # decoding one takes a millisecond, and lets other threads run before the next


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]", "", name.lower())


_BY_NAME = {
    **{_plain(codec): codec for codec in _CODECS},
    **{_plain(alias): codec for alias, codec in aliases.items() if codec in _CODECS},
    "unicode": "utf_16",
    "windows874": "cp874",
    "windows31j": "cp932",
    "xsjis": "shift_jis",
    "xgbk": "gbk",
}


def codec_of(charset: str) -> str | None:
    """Return the name of the decoder for a charset of a Content-Type header; None for one that is not accepted."""
    return _BY_NAME.get(_plain(charset)) if len(charset) <= 40 else None


def decode_slices(data: bytes, codec: str) -> str:
    """Return what `data.decode(codec)` returns or raises. It takes the interpreter's lock for a millisecond at a time."""
    if codec in _MARKS and not data.startswith(_MARKS[codec]):
        codec += "_le"  # a decoder by slices insists on the mark
    decoder = codecs.getincrementaldecoder(codec)()
    return "".join(_decoded(decoder, data))


def _decoded(decoder: codecs.IncrementalDecoder, data: bytes) -> Iterator[str]:
    for begin in range(0, len(data), _SLICE_BYTES):
        yield decoder.decode(data[begin : begin + _SLICE_BYTES])
    yield decoder.decode(b"", final=True)
