"""The formats: how a file of each is recognised, and which module reads and rewrites it.

To add a format, put a module beside this one that provides what `FileFormat` lists, and enter the format in `FORMATS`. Content
whose name wrongly suggests one of our formats is also recognised here.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, cast

from ibidem.config.addresses import file_part
from ibidem.config.surface import given
from ibidem.formats.byte_streams import BOM, COMPRESSIONS, MAGIC, ByteStream, is_utf8
from ibidem.formats.file_encodings import wide_encoding

if TYPE_CHECKING:
    from ibidem.formats.copy_files import InputFile, OutputFile
    from ibidem.formats.edits import Edits
    from ibidem.formats.jobs import Job
    from ibidem.formats.records import Wanted
    from ibidem.formats.sources import FileSource

TEXT, HTML, JSONL, JSON, CSV, TSV, PARQUET, WARC = "text", "html", "jsonl", "json", "csv", "tsv", "parquet", "warc"
SQLITE, DUCKDB = "sqlite", "duckdb"
PDF, DOCX, ODT, RTF, EPUB, XML, EML, MBOX = "pdf", "docx", "odt", "rtf", "epub", "xml", "eml", "mbox"
HEAD_BYTES = 4096
_TWICE = " data, compressed twice"
_FOREIGN = {
    b"%PDF-": "a PDF",
    b"{\\rtf": "an RTF file",
    b"%!PS": "a PostScript file",
    b"PK\x03\x04": "a zip archive (Word, Excel, OpenDocument, EPUB, …)",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document",
    b"\x89PNG\r\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "an SQLite database",
    b"PAR1": "a Parquet file",
    b"ARROW1\0\0": "an Arrow file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"Rar!\x1a\x07": "a RAR archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"\xfd7zXZ\0": "xz data",
    b"\x04\x22\x4d\x18": "LZ4 data",
    **{magic: f"{name}{_TWICE}" for magic, name in MAGIC.items()},
}
# What is read under another name.
_NAMED = {
    b"%PDF-": "as .pdf it would be read",
    b"{\\rtf": "as .rtf it would be read",
    b"SQLite format 3\0": "as .sqlite it would be read",
    b"PK\x03\x04": "as .docx, .odt or .epub, if it is one, it would be read",
}
_TAR_PLACE, _TAR = 257, b"ustar"


@dataclass(frozen=True)
class Format:
    """What is known about a format before its module is loaded.

    `other_extensions` are recognised too, and not listed for users. A file whose name says nothing is known by its
    `first_bytes`; in text they may follow spaces, and are compared in lower case.
    """

    module: str
    extensions: tuple[str, ...]
    other_extensions: tuple[str, ...] = ()
    first_bytes: tuple[bytes, ...] = ()
    is_binary: bool = False  # a file of it is not text in the encoding that the settings name
    is_html: bool = False  # texts are taken out of HTML, which also says its encoding
    is_extracted: bool = False  # texts are taken out of something else, and nothing can be put back
    is_document: bool = False  # a file is one document
    is_database: bool = False  # records are what a query gives, and nothing can be put back
    has_fields: bool = False  # records have named fields
    has_lines: bool = False  # the position of a record is its line


_extracted = partial(Format, "extracted_files", is_binary=True, is_extracted=True, is_document=True)
_database = partial(Format, "database_files", is_binary=True, has_fields=True, is_database=True)
FORMATS = {
    TEXT: Format("text_files", (".txt", ".md", ".rst", ".log"), (".text", ".markdown"), is_document=True),
    HTML: Format("text_files", (".html",), (".htm", ".xhtml"), (b"<!doctype html", b"<html"), is_html=True, is_document=True),
    PDF: _extracted((".pdf",), first_bytes=(b"%PDF-",)),
    DOCX: _extracted((".docx",), (".docm", ".dotx")),
    ODT: _extracted((".odt",), (".ott",)),
    RTF: _extracted((".rtf",), first_bytes=(b"{\\rtf",)),
    EPUB: _extracted((".epub",)),
    XML: _extracted((".xml",), (".tei", ".alto"), first_bytes=(b"<?xml",)),
    EML: _extracted((".eml",)),
    MBOX: Format("mbox_files", (".mbox",), (".mbx",), is_binary=True, is_extracted=True),
    JSONL: Format("jsonl_files", (".jsonl",), (".ndjson",), (b"{",), has_fields=True, has_lines=True),
    JSON: Format("json_files", (".json",), first_bytes=(b"[",), has_fields=True),
    CSV: Format("csv_files", (".csv",), has_fields=True, has_lines=True),
    TSV: Format("csv_files", (".tsv",), has_fields=True, has_lines=True),
    PARQUET: Format("parquet_files", (".parquet",), first_bytes=(b"PAR1",), is_binary=True, has_fields=True),
    SQLITE: _database((".sqlite", ".db"), (".sqlite3",), (b"SQLite format 3\0",)),
    DUCKDB: _database((".duckdb",)),
    WARC: Format("warc_files", (".warc",), first_bytes=(b"WARC/",), is_binary=True, is_html=True),
}
_BY_EXTENSION = {extension: name for name, kind in FORMATS.items() for extension in (*kind.extensions, *kind.other_extensions)}


class FileFormat(Protocol):
    """What the module of a format provides, as functions of these names."""

    def read(self, stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
        """Yield jobs that make documents of an open file."""
        ...

    def rewrite(self, file: InputFile, output: OutputFile, edits: Edits) -> None:
        """Copy all records except removed ones; unchanged records keep their bytes where possible."""
        ...

    def field_names(self, file: InputFile, of_all: bool = False) -> Collection[str]:
        """Return the names of fields, as far as the beginning of a file tells; or those of all records. Not needed where
        records have no fields.
        """
        ...


def load_format(name: str) -> FileFormat:
    """Return the module of a format. It is imported on demand: most runs need only one."""
    return cast(FileFormat, import_module(f"ibidem.formats.{FORMATS[name].module}"))


def format_of(path: str) -> str | None:
    """Return the format that a file name means, or None if it says nothing."""
    name = PurePath(file_part(path))
    if name.suffix.lower() in COMPRESSIONS:
        name = name.with_suffix("")
    return _BY_EXTENSION.get(name.suffix.lower())


def has_lines(path: str) -> bool:
    """Return whether positions of records are lines, by the name of their file."""
    name = format_of(path)
    return name is not None and FORMATS[name].has_lines


def sniff_format(stream: ByteStream) -> str:
    """Return the format of a stream whose name says nothing, by its beginning."""
    head = stream.peek(HEAD_BYTES).removeprefix(BOM)
    text = head.lstrip().lower()
    for name, kind in FORMATS.items():
        if (head if kind.is_binary else text).startswith(kind.first_bytes):
            return name
    return TEXT


def unfit_reason(head: bytes, name: str, is_guessed: bool, encoding: str) -> str | None:
    """Return why a file that begins like this is not read as the format of that name, if that can be known.

    `encoding` is the one that texts are to be read in; `is_guessed` says that the file has no telling name.
    """
    kind = FORMATS[name]
    if kind.is_binary:
        return None
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            if magic in _NAMED:
                return f"this is {what}, not text; {_NAMED[magic]}"
            step = "decompress it" if what.endswith(_TWICE) else "extract its text"
            return f"this is {what}, not text; {step} first"
    if head[_TAR_PLACE:].startswith(_TAR):
        return "this is a tar archive, not text; unpack it first"
    if not kind.is_html and is_utf8(encoding) and (wide := wide_encoding(head)):
        return f"{wide.upper()} with NUL characters; read it with {given('encoding', wide)} or auto"
    if is_guessed and b"\0" in head and not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        return "this is binary data of an unknown kind, not text"
    return None
