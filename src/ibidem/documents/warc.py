"""Web archives: the pages among the responses. Other content, and answers other than success, are no documents."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ibidem.documents.html import decode_html, extract_text
from ibidem.documents.records import Job, Outcome, Records, Wanted, check, strings
from ibidem.documents.streams import READ_ERRORS, ByteStream
from ibidem.documents.times import from_values

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


def read_warc(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of pages; their position is their number among the responses of the file."""
    file = ReadableStream(stream)
    pages: list[Page] = []
    n_bytes = 0
    try:
        responses = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True, auto_decode="all")
        for position, record in enumerate(responses, 1):
            page = _page(record, position, wanted)
            if page is None:
                continue
            pages.append(page)
            n_bytes += len(page.data)
            if n_bytes >= MAX_JOB_BYTES:
                yield functools.partial(_to_documents, pages, source, wanted, stream.take_count())
                pages, n_bytes = [], 0
    except READ_ERRORS as error:
        file.error = file.error or error
    yield functools.partial(_to_documents, pages, source, wanted, stream.take_count())
    if file.error is not None:
        raise file.error


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
    data = record.reader.read()
    return Page(position, doc_id, url, record.headers.get("WARC-Date"), kind != PLAIN_TYPE, record.http_charset, data)


def _to_documents(pages: list[Page], source: str, wanted: Wanted, n_bytes: int) -> Outcome:
    problems: dict[int, str] = {}
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
        strings([urlsplit(page.url).hostname for page in pages], "group", {}),
        cleaned=[page.html for page in pages],
        problems=problems,
        others=[{"url": page.url} for page in pages] if wanted.other_fields else None,
    )
    return check(records, wanted, n_bytes)
