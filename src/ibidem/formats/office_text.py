"""Text of Word (DOCX), OpenDocument (ODT) and EPUB files: zip archives of XML.

Their parts are read directly, in reading order: text boxes and notes follow the paragraph they belong to, what tracked changes
have deleted is left out. Archives that expand too far are refused as compressed files are.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import unquote

from ibidem.formats.byte_streams import most_unfolded
from ibidem.formats.extracted_texts import Budget, Extracted, UnreadableError
from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.records import Wanted
from ibidem.formats.xml_events import Paragraphs, XmlReader, spaced

_CORE = "docProps/core.xml"
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    KeyError,
    ValueError,
    OverflowError,
    lzma.LZMAError,
)
_READ_BYTES = 1 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what Word files are inside of when they are encrypted
_PROPERTIES = {"title": "title", "creator": "author", "created": "created", "creation-date": "created", "date": "date"}
_WORD_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


class _Archive:
    """A zip archive whose members are read within one budget."""

    def __init__(self, data: bytes, what: str) -> None:
        self._budget = Budget(most_unfolded(len(data)))
        self._what = what
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _ZIP_ERRORS as error:
            raise UnreadableError(f"not {what}, or damaged: {error}") from None
        self.names = frozenset(self._zip.namelist())

    def member(self, name: str) -> bytes:
        """Return a member; UnreadableError if there is none, UnfoldedError if there is too much of it."""
        pieces: list[bytes] = []
        if name not in self.names:
            raise UnreadableError(f"not {self._what}: there is no '{name[:80]}' in it")
        try:
            with self._zip.open(name) as file:
                while piece := file.read(_READ_BYTES):
                    self._budget.take(len(piece))
                    pieces.append(piece)
        except RuntimeError as error:  # zipfile's word for a password
            raise UnreadableError(f"it is protected by a password ({error})") from None
        except _ZIP_ERRORS as error:
            raise UnreadableError(f"damaged: '{name[:80]}' cannot be unpacked: {error}") from None
        return b"".join(pieces)


class _Properties(XmlReader):
    """What a document says about itself: elements of Dublin Core and their like, the first of each."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}

    def text(self, data: str) -> None:
        """Take a value."""
        name = _PROPERTIES.get(self.stack[-1]) if self.stack else None
        if name is not None and data.strip():
            self.fields.setdefault(name, data.strip())


def _properties(archive: _Archive, name: str) -> Mapping[str, str]:
    """Return what a document says about itself; nothing if that cannot be read."""
    if name not in archive.names:
        return {}
    properties = _Properties()
    with suppress(UnreadableError):
        properties.read(archive.member(name))
    return properties.fields


class _Cells:
    """Where paragraphs are in tables: those of a cell are one, cells are apart by a tab, rows are lines."""

    def __init__(self, paragraphs: Paragraphs) -> None:
        self._paragraphs = paragraphs
        self._depth = 0

    def begin_table(self) -> None:
        """Begin a table, perhaps inside of another."""
        if not self._depth:
            self._paragraphs.end_paragraph()
        self._depth += 1

    def end_table(self) -> None:
        """End the innermost table."""
        self._depth -= 1
        if not self._depth:
            self._paragraphs.end_paragraph()

    def end_paragraph(self) -> None:
        """End a paragraph, in a cell or not."""
        if self._depth:
            self._paragraphs.add(" ")
        else:
            self._paragraphs.end_paragraph()

    def end_cell(self) -> None:
        """End a cell."""
        self._paragraphs.add("\t")

    def end_row(self) -> None:
        """End a row."""
        self._paragraphs.add("\n")


class _Word(XmlReader):
    """The body of a Word file, or the paragraphs of one of its notes."""

    # A fallback repeats what precedes it, for programs that do not know that; the others are from before an edit.
    _LEFT_OUT = frozenset({"Fallback", "del", "moveFrom"})

    def __init__(self, paragraphs: Paragraphs, notes: Mapping[tuple[str, str], list[str]]) -> None:
        super().__init__()
        self._paragraphs, self._cells = paragraphs, _Cells(paragraphs)
        self._notes = notes
        self._n_left_out = 0
        self._in_text = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._n_left_out += name in self._LEFT_OUT
        if self._n_left_out:
            return
        self._in_text = name == "t"
        if name in _WORD_SIGNS and "r" in self.stack:  # a tab is also a setting of a paragraph
            self._paragraphs.add(_WORD_SIGNS[name])
        elif name == "txbxContent":
            self._paragraphs.begin_note()
        elif name in ("footnoteReference", "endnoteReference"):
            self._add_note(self._notes.get((name.removesuffix("Reference"), attributes.get("id", "")), []))
        elif name == "tbl":
            self._cells.begin_table()

    def _add_note(self, note: list[str]) -> None:
        for paragraph in note:
            self._paragraphs.begin_note()
            self._paragraphs.add(paragraph)
            self._paragraphs.end_note()

    def end(self, name: str) -> None:
        """End an element."""
        self._in_text = False
        if name in self._LEFT_OUT:
            self._n_left_out -= 1
        elif self._n_left_out:
            return
        elif name == "p":
            self._cells.end_paragraph()
        elif name == "txbxContent":
            self._paragraphs.end_note()
        elif name == "tc":
            self._cells.end_cell()
        elif name == "tr":
            self._cells.end_row()
        elif name == "tbl":
            self._cells.end_table()

    def text(self, data: str) -> None:
        """Take the text of a run."""
        if self._in_text and not self._n_left_out:
            self._paragraphs.add(data)


class _WordNotes(_Word):
    """The footnotes or endnotes of a Word file, by kind and number. Lines that separate them have no text."""

    def __init__(self, notes: dict[tuple[str, str], list[str]]) -> None:
        super().__init__(Paragraphs(), {})
        self._found = notes

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if name in ("footnote", "endnote"):
            self._key = name, attributes.get("id", "")
            self._paragraphs = Paragraphs()
            self._cells = _Cells(self._paragraphs)
        super().start(name, attributes)

    def end(self, name: str) -> None:
        """End an element."""
        super().end(name)
        if name in ("footnote", "endnote"):
            self._found.setdefault(self._key, list(self._paragraphs))


class _Relations(XmlReader):
    """The targets of a part of a Word file, by the last word of their kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take a relation."""
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            self.targets.setdefault(attributes.get("Type", "").rpartition("/")[2], attributes.get("Target", ""))


def _relations(archive: _Archive, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, as names of members."""
    folder, name = posixpath.split(part)
    listed = posixpath.join(folder, "_rels", f"{name}.rels")
    if listed not in archive.names:
        return {}
    relations = _Relations()
    relations.read(archive.member(listed))
    return {kind: posixpath.normpath(posixpath.join("/", folder, target))[1:] for kind, target in relations.targets.items()}


def docx_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of a Word file; notes follow the paragraph that refers to them."""
    if data.startswith(_OLE):
        raise UnreadableError("it is protected by a password, or in the format of Word before 2007")
    archive = _Archive(data, "a Word file")
    main = _relations(archive, "").get("officeDocument", "word/document.xml")
    further = _relations(archive, main)
    notes: dict[tuple[str, str], list[str]] = {}
    for part in (further.get("footnotes"), further.get("endnotes")):
        if part is not None and part in archive.names:
            _WordNotes(notes).read(archive.member(part))
    paragraphs = Paragraphs()
    _Word(paragraphs, notes).read(archive.member(main))
    return Extracted("\n\n".join(paragraphs), _properties(archive, _CORE))


class _OpenText(XmlReader):
    """The content of an OpenDocument text."""

    _LEFT_OUT = frozenset({"tracked-changes", "annotation", "note-citation", "scripts", "automatic-styles", "font-face-decls"})

    def __init__(self, paragraphs: Paragraphs) -> None:
        super().__init__()
        self._paragraphs, self._cells = paragraphs, _Cells(paragraphs)
        self._n_left_out = self._n_paragraphs = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._n_left_out += name in self._LEFT_OUT
        if self._n_left_out:
            return
        self._n_paragraphs += name in ("p", "h")
        if name == "s":
            count = attributes.get("c", "1")
            self._paragraphs.add(" " * (min(int(count), 100) if count.isdecimal() else 1))
        elif name in ("tab", "line-break"):
            self._paragraphs.add("\t" if name == "tab" else "\n")
        elif name in ("note-body", "text-box"):
            self._paragraphs.begin_note()
        elif name == "table":
            self._cells.begin_table()

    def end(self, name: str) -> None:
        """End an element."""
        if name in self._LEFT_OUT:
            self._n_left_out -= 1
        elif self._n_left_out:
            return
        elif name in ("p", "h"):
            self._n_paragraphs -= 1
            self._cells.end_paragraph()
        elif name in ("note-body", "text-box"):
            self._paragraphs.end_note()
        elif name == "table-cell":
            self._cells.end_cell()
        elif name == "table-row":
            self._cells.end_row()
        elif name == "table":
            self._cells.end_table()

    def text(self, data: str) -> None:
        """Take the text of a paragraph."""
        if self._n_paragraphs and not self._n_left_out:
            self._paragraphs.add(spaced(data))


def odt_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of an OpenDocument text."""
    archive = _Archive(data, "an OpenDocument text")
    paragraphs = Paragraphs()
    content = archive.member("content.xml")
    if "META-INF/manifest.xml" in archive.names and b"encryption-data" in archive.member("META-INF/manifest.xml"):
        raise UnreadableError("it is protected by a password")
    _OpenText(paragraphs).read(content)
    return Extracted("\n\n".join(paragraphs), _properties(archive, "meta.xml"))


class _Package(XmlReader):
    """Where the chapters of a book are, in reading order."""

    def __init__(self) -> None:
        super().__init__()
        self.package = ""
        self.files: dict[str, tuple[str, str]] = {}  # by id: name and media type
        self.chapters: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take what names a file."""
        if name == "rootfile":
            self.package = self.package or attributes.get("full-path", "")
        elif name == "item":
            self.files[attributes.get("id", "")] = attributes.get("href", ""), attributes.get("media-type", "")
        elif name == "itemref":
            self.chapters.append(attributes.get("idref", ""))


def epub_text(data: bytes, wanted: Wanted) -> Extracted:
    """Return the text of a book: its chapters in reading order."""
    archive = _Archive(data, "an EPUB book")
    package = _Package()
    package.read(archive.member("META-INF/container.xml"))
    package.read(archive.member(package.package))
    folder = posixpath.dirname(package.package)
    chapters = []
    for chapter in dict.fromkeys(package.chapters):
        name, kind = package.files.get(chapter, ("", ""))
        if "html" in kind:
            member = posixpath.normpath(posixpath.join(folder, unquote(name)))
            chapters.append(extract_text(decode_html(archive.member(member)), wanted.config.main_content))
    if not chapters:
        raise UnreadableError("not an EPUB book: it lists no chapters")
    return Extracted("\n\n".join(chapter for chapter in chapters if chapter), _properties(archive, package.package))
