"""JSON lines. Whole blocks go through Arrow's parser; a block that it refuses is read line by line instead.

Both ways give the same documents (tested): Arrow is asked only where its answer is known to be that of `json.loads`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, ByteStream
from ibidem.formats.fields import check_found, kind_of, whole_number
from ibidem.formats.records import Job, Outcome, Records, Wanted, check, too_long, weighed
from ibidem.model import Skipped

# Small enough to stay near the cache: blocks of 16 MB parse at two thirds of the speed.
BLOCK_BYTES = 4 << 20
# Arrow's parser counts in 32 bits.
MAX_FAST_BYTES = 1 << 30
_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"


class FieldTypes:
    """Arrow types to ask for, learnt from the records that came by; a wrong guess costs time, never a result."""

    def __init__(self, wanted: Wanted) -> None:
        text, doc_id, time, group = wanted.names
        self._wanted = wanted
        self._types: dict[str, Any] = dict.fromkeys((group, time, doc_id, text), pa.large_string())

    def learn(self, record: dict[str, Any]) -> None:
        """Take the types of one record."""
        text, doc_id, time, group = self._wanted.names
        for name in (group, time, doc_id):
            value = record.get(name)
            if name == text or value is None or isinstance(value, bool):
                continue
            if isinstance(value, str):
                self._types[name] = pa.large_string()
            elif isinstance(value, (int, float)):
                self._types[name] = pa.float64() if name == time and name not in (doc_id, group) else pa.int64()

    def schema(self) -> Any:
        """Return the schema to parse with."""
        return pa.schema(list(self._types.items()))


class LongLine(bytes):
    """A part of a line that is too long to be a record; only its last part ends with a line break."""


def read_jsonl(stream: ByteStream, source: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each block of lines."""
    types = FieldTypes(wanted)
    line = 1
    is_begun = False  # a line that is too long
    for block in line_blocks(stream, wanted.config.encoding):
        if isinstance(block, LongLine):
            if not is_begun:
                skipped = [Skipped(source, line, too_long("line"))]
                yield functools.partial(Outcome, skipped=skipped, n_bytes=stream.take_count())
            is_begun = not block.endswith(b"\n")
            line += not is_begun
            continue
        if line == 1:
            first = parse_line(block[: block.find(b"\n") + 1 or len(block)])
            if isinstance(first, dict):
                types.learn(first)
        job = functools.partial(_parse_block, block, line, source, wanted, types, stream.take_count())
        yield weighed(job, len(block))
        line += block.count(b"\n")


def line_blocks(stream: ByteStream, encoding: str) -> Iterator[bytes]:
    """Yield what the stream holds in blocks of whole lines; a line longer than a block is a block of its own.

    Lines that are longer than a record may be come in parts, as LongLine.
    """
    parts: list[Any] = []
    n_bytes = 0
    is_long = False
    for chunk in stream.chunks(BLOCK_BYTES, encoding):
        if is_long:
            end = chunk.find(b"\n") + 1
            yield LongLine(chunk[:end] if end else chunk)
            is_long = not end
            chunk = chunk[end:] if end else b""
        cut = chunk.rfind(b"\n") + 1
        if cut:
            parts.append(memoryview(chunk)[:cut])
            yield b"".join(parts)
            parts, n_bytes = [], 0
        parts.append(chunk[cut:])
        n_bytes += len(chunk) - cut
        if n_bytes > MAX_RECORD_BYTES:
            yield from map(LongLine, parts)
            parts, n_bytes, is_long = [], 0, True
    if rest := b"".join(parts):
        yield rest


def parse_lines(block: bytes, first_line: int, source: str, wanted: Wanted) -> Outcome:
    """Return the documents of a block of whole lines, the first being number `first_line` of its source."""
    types = FieldTypes(wanted)
    first = parse_line(block[: block.find(b"\n") + 1 or len(block)])
    if isinstance(first, dict):
        types.learn(first)
    return _parse_block(block, first_line, source, wanted, types, len(block))


def _parse_block(block: bytes, first_line: int, source: str, wanted: Wanted, types: FieldTypes, n_bytes: int) -> Outcome:
    records = None if wanted.other_fields else _parse_fast(block, first_line, source, wanted, types)
    if records is not None:
        return check(records, wanted, n_bytes)
    return _parse_lines(block, first_line, source, wanted, types, n_bytes)


def _parse_fast(block: bytes, first_line: int, source: str, wanted: Wanted, types: FieldTypes) -> Records | None:
    """Return the records of a block, or None if it has to be read line by line.

    Arrow does not care for lines: it takes objects that follow one another, and a leading `null` makes it crash
    (seen in pyarrow 26). If every line starts with { and ends with }, and there are as many rows as lines, then each
    line is one object: inside an object, a { can only follow a colon, comma or bracket.
    """
    if not 0 < len(block) <= MAX_FAST_BYTES:
        return None
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    if not len(ends) or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate(([0], ends[:-1] + 1))
    ends = ends - ((ends > starts) & (data[ends - 1] == _RETURN))
    lines = np.flatnonzero(ends > starts)
    starts, ends = starts[lines], ends[lines]
    if not len(lines) or (data[starts] != _OPEN).any() or (data[ends - 1] != _CLOSE).any():
        return None
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(block) + 64),
            parse_options=pj.ParseOptions(explicit_schema=types.schema(), unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)
    except pa.ArrowException:
        return None
    if table.num_rows != len(lines):
        return None
    text, doc_id, time, group = (table[name].combine_chunks() for name in wanted.names)
    return Records(text, lines + first_line, source, doc_id, time, group, html=wanted.config.html)


def _parse_lines(block: bytes, first_line: int, source: str, wanted: Wanted, types: FieldTypes, n_bytes: int) -> Outcome:
    found: list[Mapping[str, Any]] = []
    positions: list[int] = []
    skipped: list[Skipped] = []
    invalid_bytes: dict[int, int] = {}
    for position, line in enumerate(block.split(b"\n"), first_line):
        if not line.strip():
            continue
        record = parse_line(line)
        if isinstance(record, str):
            skipped.append(Skipped(source, position, record))
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            invalid_bytes[len(found)] = error.start + 1
        found.append(record)
        positions.append(position)
        types.learn(record)
    return check_found(found, positions, skipped, source, wanted, n_bytes, invalid_bytes)


def parse_line(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or the reason why there is none."""
    try:
        # Bytes that are no UTF-8 do no harm in a field that nobody asked for.
        record = json.loads(line.decode("utf-8", "surrogateescape"), strict=False, parse_int=whole_number)
    except json.JSONDecodeError as error:
        return f"broken JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        return "broken JSON: nested too deeply"
    except ValueError as error:
        return f"broken JSON: {error}"
    return record if isinstance(record, dict) else f"no JSON object but {kind_of(record)}"
