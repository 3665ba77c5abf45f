"""Web archives: the pages among the responses. Other content, and answers other than success, are no documents."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, READ_ERRORS, ByteStream
from ibidem.formats.expansion_limit import UnfoldedError, most_unfolded
from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.http_bodies import BodyError, decode_body
from ibidem.formats.records import Job, Outcome, Records, Wanted, check, strings, too_long, weighed
from ibidem.formats.times import from_values

with warnings.catch_warnings():
    # fastwarc 1.1 warns of its own old names when it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

MAX_JOB_BYTES = 8 << 20
PAGE_TYPES = ("text/html", "application/xhtml+xml")
PLAIN_TYPE = "text/plain"


class Page(NamedTuple):
    """One response, as it was stored."""

    position: int
    doc_id: str
    url: str
    date: str | None
    html: bool
    charset: str | None
    data: bytes
    problem: str | None


def read_warc(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of pages; their position is their number among the responses of the file."""
    file = ReadableStream(stream)
    pages: list[Page] = []
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
                yield weighed(functools.partial(_to_documents, pages, source, wanted, stream.take_count()), n_bytes)
                pages, n_bytes = [], 0
    except READ_ERRORS as error:
        file.error = file.error or OSError(f"{str(error).rstrip('.')}, after {position} records")
    if file.error is None and end > file.tell():
        file.error = EOFError(f"it ends {end - file.tell():,} bytes before its last record does")
    if file.error is not None and pages and end > file.tell():
        pages[-1] = pages[-1]._replace(data=b"", problem="cut off in the middle")
    yield weighed(functools.partial(_to_documents, pages, source, wanted, stream.take_count()), n_bytes)
    if file.error is not None:
        raise file.error


def _end(record: Any) -> int:
    """Return the byte of the archive, decompressed, where a record ends by its own account; or a little before."""
    head = sum(len(name) + len(value) + 4 for name, value in record.headers) + len("WARC/1.0\r\n\r\n")
    length = record.headers.get("Content-Length") or ""
    return int(record.stream_pos) + head + int(length if length.isdecimal() else 0)


class ReadableStream:
    """A stream as fastwarc wants it. What goes wrong while reading is kept for later: its native code would panic."""

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
        raise OSError("a stream cannot be sought in")

    def close(self) -> None:
        """Leave the stream to its owner."""


def _page(record: Any, position: int, wanted: Wanted) -> Page | None:
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
    return Page(position, doc_id, url, date, is_html, record.http_charset, data, problem)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # brackets and a few other characters, where a host should be
        return None


def _to_documents(pages: list[Page], source: str, wanted: Wanted, n_bytes: int) -> Outcome:
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
