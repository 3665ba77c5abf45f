"""Web archives: whole records go, all other bytes stay; records are not taken apart.

Records are found by the parser of the reader in a first pass over the file; the second one copies. Where an archive is
compressed record by record, as it should be, what stays is copied as it is.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ibidem.formats.byte_streams import READ_ERRORS, ByteStream
from ibidem.formats.copy_files import COPY_BYTES, InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.warc_files import ReadableStream

with warnings.catch_warnings():
    # fastwarc 1.1 warns of its own old names when it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType

_MAX_HEAD_BYTES = 1 << 20
_MEMBER_READ_BYTES = 1 << 15
_GZIP_WINDOW = 16 + zlib.MAX_WBITS


def rewrite_warc(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy everything but the responses that go."""
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
    """Return the bytes, after decompression, where records begin and the last one ends; which go; what went wrong."""
    starts: list[int] = []
    dropped: list[int] = []
    n_responses = 0
    length = "0"
    with ByteStream(path) as stream:
        readable = ReadableStream(stream)
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
    # What follows the last record is no archive, but it stays.
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
    with open(file.path, "rb") as raw:
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
    """Yield all bytes, cut at some rising places, with the number of places that lie at or before them."""
    offset = 0
    for chunk in chunks:
        view = memoryview(chunk)
        while view:
            number = bisect_right(places, offset)
            n_bytes = min(len(view), places[number] - offset) if number < len(places) else len(view)
            yield number, view[:n_bytes]
            view, offset = view[n_bytes:], offset + n_bytes
