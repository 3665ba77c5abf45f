"""Files that are one document, whose text is taken out of them: PDF, Word, OpenDocument, RTF, EPUB, XML and mail.

Copies have such files as they are, or not at all: nothing can be cut out of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from ibidem.formats.byte_streams import READ_ERRORS, ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.extracted_texts import Extracted, ExtractedRow, UnreadableError, documents_of_extracted
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.records import Wanted
from ibidem.formats.registry import DOCX, EML, EPUB, ODT, PDF, RTF, XML
from ibidem.formats.sources import FileSource
from ibidem.formats.text_files import read_whole

Extractor = Callable[[bytes, Wanted], Extracted]
# Module and function that take the text out of a file, imported when the first file of its format is met.
_EXTRACTORS = {
    PDF: ("pdf_text", "pdf_text"),
    DOCX: ("office_text", "docx_text"),
    ODT: ("office_text", "odt_text"),
    EPUB: ("office_text", "epub_text"),
    RTF: ("rtf_text", "rtf_text"),
    XML: ("xml_text", "xml_text"),
    EML: ("mail_text", "mail_text"),
}


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield the job for one file."""
    data = read_whole(stream)
    yield weighed(functools.partial(documents_of_contents, [(source, data)], wanted, stream.take_count()), len(data))


def documents_of_contents(contents: Sequence[tuple[FileSource, bytes]], wanted: Wanted, n_bytes: int = 0) -> Outcome:
    """Return the documents that files are, given what they contain."""
    rows = [ExtractedRow(source.name, 0, source.doc_id, _extracted(source, data, wanted)) for source, data in contents]
    return documents_of_extracted(rows, wanted, n_bytes)


def _extracted(source: FileSource, data: bytes, wanted: Wanted) -> Extracted | str:
    module, function = _EXTRACTORS[source.format or ""]
    if not data.strip(b"\0 \t\r\n"):
        return "the file is empty"
    extract: Extractor = getattr(import_module(f"ibidem.formats.{module}"), function)
    try:
        return extract(data, wanted)
    except UnreadableError as error:
        return str(error)
    except READ_ERRORS as error:
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Refuse: callers check this before."""
    raise edits.changed()
