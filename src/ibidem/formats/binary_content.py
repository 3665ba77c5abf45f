"""Content that is no text in the encoding that is asked for, known by its first bytes."""

from __future__ import annotations

import codecs

from ibidem.formats.byte_streams import MAGIC, is_utf8

HEAD_BYTES = 4096
_KINDS = {
    b"%PDF-": "PDF",
    b"{\\rtf": "RTF",
    b"%!PS": "PostScript",
    b"PK\x03\x04": "zip (Word, Excel, OpenDocument, EPUB, …)",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document",
    b"\x89PNG\r\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "an SQLite database",
    b"PAR1": "Parquet",
    b"ARROW1\0\0": "an Arrow file",
    b"ORC": "ORC",
    b"Obj\x01": "Avro",
    b"Rar!\x1a\x07": "RAR",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\xfd7zXZ\0": "xz",
    b"\x04\x22\x4d\x18": "LZ4",
    **{magic: f"{name}, compressed twice" for magic, name in MAGIC.items()},
}
_TAR_PLACE, _TAR = 257, b"ustar"
_WIDE_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def foreign_reason(head: bytes, encoding: str) -> str | None:
    """Return why a file that begins like this cannot be read as text or records, if that can be told.

    `encoding` is the one that it is to be read in, or nothing if it says that itself.
    """
    for magic, name in _KINDS.items():
        if head.startswith(magic):
            return f"not text but {name}; take the text out of it first"
    if head[_TAR_PLACE:].startswith(_TAR):
        return "not text but tar; unpack it first"
    wide = wide_encoding(head) if encoding and is_utf8(encoding) else None
    return f"{wide.upper()}, with NUL characters in it; --encoding {wide} reads it" if wide else None


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text whose characters take two or four bytes, if its beginning shows that."""
    for mark, encoding in _WIDE_MARKS.items():
        if head.startswith(mark):
            return encoding
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 > len(head) and min(even, odd) * 10 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def is_binary(head: bytes, encoding: str) -> bool:
    """Say whether a file whose name says nothing begins with what no text begins with."""
    return b"\0" in head and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
