"""Web archives.

Read: the pages among the responses; other content, and responses other than success, are not documents. In copies, whole
records are removed, all other bytes are unchanged. Records are found by the parser of the reader in a first pass over the file;
the second one copies. Where an archive is compressed record by record, as it should be, what stays is copied as it is.
"""

from __future__ import annotations

import functools
import sys
import warnings
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, READ_ERRORS, ByteStream, UnfoldedError, most_unfolded
from ibidem.formats.copy_files import COPY_BYTES, InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.file_access import open_file
from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.http_bodies import BodyError, decode_body
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.records import Records, Wanted, check, strings, too_long
from ibidem.formats.sources import FileSource
from ibidem.formats.times import from_values

with warnings.catch_warnings():
    # fastwarc 1.1 warns of its own old names when it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

MAX_JOB_BYTES = 8 << 20
PAGE_TYPES = ("text/html", "application/xhtml+xml")
PLAIN_TYPE = "text/plain"
_MAX_HEAD_BYTES = 1 << 20
_MEMBER_READ_BYTES = 1 << 15
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


class _Page(NamedTuple):
    """One response, as stored."""

    position: int
    doc_id: str
    url: str
    date: str | None
    html: bool
    charset: str | None
    data: bytes
    problem: str | None


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of pages; their position is their number among the responses of the file."""
    file = _ReadableStream(stream)
    pages: list[_Page] = []
    n_bytes = n_decoded = end = 0
    position = 0
    try:
        # Bodies are decoded here: where fastwarc cannot do it, it does not get to the next record either.
        responses = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True, auto_decode="none")
        for position, record in enumerate(responses, 1):
            end = _end(record)
            page = _page(record, position, wanted)
            if page is None:
                continue
            pages.append(page)
            n_bytes += len(page.data)
            n_decoded += len(page.data)
            if n_decoded > most_unfolded(stream.n_stored_bytes):  # packed twice: as an archive, and page by page
                del pages[-1]
                raise UnfoldedError
            if n_bytes >= MAX_JOB_BYTES:
                yield weighed(functools.partial(_to_documents, pages, source.name, wanted, stream.take_count()), n_bytes)
                pages, n_bytes = [], 0
    except READ_ERRORS as error:
        file.error = file.error or OSError(f"{str(error).rstrip('.')}, after {position} records")
    if file.error is None and end > file.tell():
        file.error = EOFError(f"it ends {end - file.tell():,} bytes before its last record does")
    if file.error is not None and pages and end > file.tell():
        pages[-1] = pages[-1]._replace(data=b"", problem="cut off in the middle")
    yield weighed(functools.partial(_to_documents, pages, source.name, wanted, stream.take_count()), n_bytes)
    if file.error is not None:
        raise file.error


def _end(record: Any) -> int:
    """Return the byte of the archive, decompressed, where a record ends by its own account; or a little before."""
    head = sum(len(name) + len(value) + 4 for name, value in record.headers) + len("WARC/1.0\r\n\r\n")
    length = record.headers.get("Content-Length") or ""
    return int(record.stream_pos) + head + int(length if length.isdecimal() else 0)


class _ReadableStream:
    """A stream in the form that fastwarc needs. Read errors are stored for later: its native code would panic."""

    def __init__(self, stream: ByteStream) -> None:
        self.error: Exception | None = None
        self._stream = stream
        self._position = 0

    def read(self, n_bytes: int = -1) -> bytes:
        """Return bytes; none after an error."""
        try:
            data = self._stream.read(n_bytes)
        except READ_ERRORS as error:
            self.error = error
            return b""
        self._position += len(data)
        return data

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def seek(self, offset: int, whence: int = 0) -> int:
        """Refuse."""
        raise OSError("this stream is not seekable")

    def close(self) -> None:
        """Leave the stream to its owner."""


def _page(record: Any, position: int, wanted: Wanted) -> _Page | None:
    url = record.headers.get("WARC-Target-URI")
    kind = (record.http_content_type or "").lower()
    if record.http_headers is None or not url or kind not in (*PAGE_TYPES, PLAIN_TYPE):
        return None
    status = record.http_headers.status_code
    if status is not None and not 200 <= status < 300:
        return None
    # Some crawlers write the address in angle brackets.
    url = url.strip("<>")
    doc_id = url if url not in wanted.seen_urls else f"{url}#{record.record_id}"
    wanted.seen_urls.add(url)
    data, problem = record.reader.read(MAX_RECORD_BYTES + 1), None
    try:
        if len(data) > MAX_RECORD_BYTES:
            raise BodyError(too_long("page"))
        data = decode_body(data, *(record.http_headers.get(name) for name in ("Transfer-Encoding", "Content-Encoding")))
    except BodyError as error:
        data, problem = b"", f"its body cannot be decoded: {error}"
    date, is_html = record.headers.get("WARC-Date"), kind != PLAIN_TYPE
    return _Page(position, doc_id, url, date, is_html, record.http_charset, data, problem)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # brackets and a few other characters, where a host should be
        return None


def _to_documents(pages: list[_Page], source: str, wanted: Wanted, n_bytes: int) -> Outcome:
    problems = {row: page.problem for row, page in enumerate(pages) if page.problem}
    texts = []
    for page in pages:
        text = decode_html(page.data, page.charset)
        texts.append(extract_text(text, wanted.config.main_content) if page.html else text)
    records = Records(
        strings(texts, "text", problems),
        [page.position for page in pages],
        source,
        strings([page.doc_id for page in pages], "id", problems),
        from_values([page.date for page in pages]),
        strings([_host(page.url) for page in pages], "group", {}),
        has_own_ids=True,
        cleaned=[page.html for page in pages],
        problems=problems,
        others=[{"url": page.url} for page in pages] if wanted.other_fields else None,
    )
    return check(records, wanted, n_bytes)


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy everything except removed responses."""
    bounds, dropped, damage = _find_records(file.path, edits)
    edges = [edge for record in dropped for edge in (bounds[record], bounds[record + 1])]
    places = edges if file.compression is None else _member_places(file, edges)
    if places is not None:
        for number, data in _cut_at(file.stored_chunks(), places):
            if number % 2 == 0:
                output.write_stored(data)
    else:
        _copy_records(file, output, bounds, set(dropped))
    file.damage = file.damage or damage


def _copy_records(file: InputFile, output: OutputFile, bounds: list[int], dropped: set[int]) -> None:
    """Copy records that are not compressed one by one, and compress them so."""
    last = 0
    for number, data in _cut_at(file.raw_chunks(), bounds):
        if number - 1 in dropped:
            continue
        if number != last:
            output.begin_member()
            last = number
        output.write_raw(data)


def _find_records(path: str, edits: Edits) -> tuple[list[int], list[int], Exception | None]:
    """Return the bytes, after decompression, where records begin and the last one ends; which are removed; what went wrong."""
    starts: list[int] = []
    dropped: list[int] = []
    n_responses = 0
    length = "0"
    with ByteStream(path) as stream:
        readable = _ReadableStream(stream)
        try:
            for record in ArchiveIterator(readable, record_types=WarcRecordType.any_type, parse_http=False):
                if record.record_type == WarcRecordType.response:
                    n_responses += 1
                    decision = edits.at(n_responses)
                    if decision is not None and decision.drop:
                        dropped.append(len(starts))
                starts.append(record.stream_pos)
                length = record.headers.get("Content-Length") or "0"
        except READ_ERRORS as error:
            readable.error = readable.error or error
    if readable.error is None or not starts:
        return [*starts, sys.maxsize], dropped, readable.error
    # What follows the last record is not part of the archive, but is kept.
    n_bytes = int(length) if length.isdecimal() else 0
    return [*starts, _end_of_record(path, starts[-1], n_bytes)], dropped, readable.error


def _end_of_record(path: str, start: int, length: int) -> int:
    with ByteStream(path) as stream:
        place = 0
        while place < start and (data := stream.read(min(COPY_BYTES, start - place))):
            place += len(data)
        head = b""
        try:
            while b"\r\n\r\n" not in head and len(head) < _MAX_HEAD_BYTES and (data := stream.read(_MEMBER_READ_BYTES)):
                head += data
        except READ_ERRORS:
            return sys.maxsize
    return start + head.find(b"\r\n\r\n") + 4 + length + 4


def _member_places(file: InputFile, edges: list[int]) -> list[int] | None:
    """Return where in a file of gzip members given bytes of its content begin, or None if one is inside a member."""
    if file.compression != "gzip":
        return None
    places = {sys.maxsize: sys.maxsize}
    wanted = set(edges)
    with open_file(file.path) as raw:
        n_read = n_content = 0
        data = b""
        member = None
        while data := data or raw.read(_MEMBER_READ_BYTES):
            if member is None:
                member = zlib.decompressobj(_GZIP_WINDOW)
                if n_content in wanted:
                    places.setdefault(n_content, n_read)
            try:
                n_content += len(member.decompress(data))
            except zlib.error:
                break
            n_read += len(data) - len(member.unused_data)
            data = member.unused_data
            if member.eof:
                member = None
    return [places[edge] for edge in edges] if wanted <= places.keys() else None


def _cut_at(chunks: Iterable[bytes], places: list[int]) -> Iterator[tuple[int, memoryview]]:
    """Yield all bytes, cut at some places given in order, with the number of places at or before them."""
    offset = 0
    for chunk in chunks:
        view = memoryview(chunk)
        while view:
            number = bisect_right(places, offset)
            n_bytes = min(len(view), places[number] - offset) if number < len(places) else len(view)
            yield number, view[:n_bytes]
            view, offset = view[n_bytes:], offset + n_bytes
