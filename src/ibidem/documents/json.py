"""JSON files: an array of records, one record, or records that follow one another; read as a stream, not as a whole."""

from __future__ import annotations

import codecs
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

from ibidem.documents.fields import MAX_JOB_CHARS, RecordCollector, whole_number
from ibidem.documents.records import Job, Wanted, skip_source
from ibidem.documents.streams import READ_ERRORS, ByteStream

READ_BYTES = 1 << 20
_BETWEEN = re.compile(r"[\s,]*")


def read_json(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of records; their position is their number in the file."""
    collector = RecordCollector(source, wanted)
    n_seen = 0
    try:
        for n_seen, value in enumerate(_values(stream, wanted.config.encoding), 1):
            collector.add(value, n_seen)
            if collector.n_chars >= MAX_JOB_CHARS:
                yield collector.job(stream.take_count())
                collector = RecordCollector(source, wanted)
    except json.JSONDecodeError as error:
        yield collector.job(stream.take_count())
        reason = f"broken JSON after {n_seen} records: {error.msg}; the rest of the file is left out"
        yield functools.partial(skip_source, source, reason)
    except READ_ERRORS:
        yield collector.job(stream.take_count())
        raise
    else:
        yield collector.job(stream.take_count())


def _values(stream: ByteStream, encoding: str) -> Iterator[Any]:
    """Yield the values of the outermost array, or all values if there is none; raise JSONDecodeError at a break."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape")
    scanner = json.JSONDecoder(strict=False, parse_int=whole_number)
    chunks = stream.chunks(READ_BYTES, encoding)
    text, start, ended = "", 0, False
    in_array: bool | None = None
    n_wanted = 0
    while True:
        # A value may be much larger than a chunk: read twice as much each time, so that no text is scanned too often.
        while not ended and len(text) - start <= n_wanted:
            chunk = next(chunks, None)
            ended = chunk is None
            text, start = text[start:] + decoder.decode(chunk or b"", final=ended), 0
        start = _BETWEEN.match(text, start).end()  # type: ignore[union-attr]
        if in_array is None and start < len(text):
            in_array = text[start] == "["
            start += in_array
            continue
        if start == len(text) or (in_array and text[start] == "]"):
            if not ended and start == len(text):
                n_wanted = 0
                continue
            if in_array and start == len(text):
                raise json.JSONDecodeError("the array is not closed", "", 0)
            return
        try:
            value, end = scanner.raw_decode(text, start)
            if end == len(text) and not ended:
                n_wanted = len(text) - start
                continue
        except (json.JSONDecodeError, RecursionError) as error:
            if not ended:
                n_wanted = 2 * (len(text) - start)
                continue
            if isinstance(error, RecursionError):
                raise json.JSONDecodeError("nested too deeply", "", 0) from error
            raise
        yield value
        start, n_wanted = end, 0
