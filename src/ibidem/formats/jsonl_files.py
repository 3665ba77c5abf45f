"""JSON lines.

Read: whole blocks become columns at once (`json_columns`); a block with something unusual in it is read line by line instead.
All ways give the same documents (tested). Copied: runs of unchanged lines are copied in one piece; in a changed line, only the
text changes.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.errors import InputError
from ibidem.formats.byte_streams import READ_ERRORS, STDIN, ByteStream, standard_input
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.field_paths import names_of_all
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.json_columns import FieldTypes, n_breaks, read_columns
from ibidem.formats.json_fields import cut_object, mark_value, names_of
from ibidem.formats.line_streams import Chunks, LongLine, arriving_lines, line_blocks
from ibidem.formats.python_records import documents_of, kind_of, whole_number
from ibidem.formats.records import Records, Wanted, check, missing_text, too_long
from ibidem.formats.sources import FileSource
from ibidem.model import Skipped

_NEWLINE = b"\n"[0]


def read(stream: Chunks, source: FileSource, wanted: Wanted, first_line: int = 1) -> Iterator[Job]:
    """Yield a job for each block of lines, the first being number `first_line` of the file."""
    types = FieldTypes(wanted)
    line = first_line
    is_begun = False  # a line that is too long
    for block in line_blocks(stream, wanted.config.encoding):
        if isinstance(block, LongLine):
            if not is_begun:
                skipped = [Skipped(source.name, line, too_long("line"))]
                yield functools.partial(Outcome, skipped=skipped, n_bytes=stream.take_count())
            is_begun = not block.endswith(b"\n")
            line += not is_begun
            continue
        if line == first_line:
            _learn_first(types, block)
        job = functools.partial(_parse_block, block, line, source.name, wanted, types, stream.take_count())
        yield weighed(job, len(block))
        line += n_breaks(block)


def parse_lines(block: bytes, first_line: int, source: str, wanted: Wanted) -> Outcome:
    """Return the documents of a block of whole lines, the first being number `first_line` of its source."""
    types = FieldTypes(wanted)
    _learn_first(types, block)
    return _parse_block(block, first_line, source, wanted, types, len(block))


def arriving_records(
    descriptor: int, stopped: threading.Event, source: str = "stdin"
) -> Iterator[tuple[int, dict[str, Any] | Skipped]]:
    """Yield the number of each non-empty line as soon as it arrives, and its record or why there is none.

    Ends with the stream, or soon after `stopped` is set; a line that was not whole by then is left out.
    """
    for number, line in enumerate(arriving_lines(descriptor, stopped), 1):
        if line.strip():
            record = parse_line(line)
            yield number, Skipped(source, number, record) if isinstance(record, str) else record


def ranked_records(path: str) -> Iterator[tuple[int, bytes, dict[str, Any] | str]]:
    """Yield the number of each line that is not empty, the line, and its record or why there is none.

    Lines of standard input (`-`) come as soon as they arrive, those of a file may be compressed. InputError if the file cannot
    be read.
    """
    for number, line in enumerate(_lines_of(path), 1):
        line = line.removesuffix(b"\r")
        if line.strip():
            yield number, line, parse_line(line)


def _lines_of(path: str) -> Iterator[bytes]:
    if path == STDIN:
        yield from arriving_lines(standard_input().fileno(), threading.Event())
        return
    try:
        with ByteStream(path) as stream:
            for block in line_blocks(stream, "utf-8"):
                yield from block.split(b"\n")[: None if not block.endswith(b"\n") else -1]
    except READ_ERRORS as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {path}: {reason}", "Check the spelling and the permissions.") from error


def _learn_first(types: FieldTypes, block: bytes) -> None:
    """Learn the types of the first line of a block, if it is a record."""
    first = parse_line(block[: block.find(b"\n") + 1 or len(block)])
    if isinstance(first, dict):
        types.learn(first)


def _parse_block(block: bytes, first_line: int, source: str, wanted: Wanted, types: FieldTypes, n_bytes: int) -> Outcome:
    records = None if wanted.other_fields or wanted.has_paths else _parse_fast(block, first_line, source, wanted, types)
    if records is not None:
        return check(records, wanted, n_bytes)
    return _parse_lines(block, first_line, source, wanted, types, n_bytes)


def _parse_fast(block: bytes, first_line: int, source: str, wanted: Wanted, types: FieldTypes) -> Records | None:
    """Return the records of a block, or None if it has to be read line by line."""
    found = read_columns(block, wanted, types)
    if found is None:
        return None
    text, doc_id, time, group = found.values
    problems = {}
    for row in np.flatnonzero(text.is_null().to_numpy(zero_copy_only=False)).tolist() if text.null_count else ():
        start = int(found.starts[row])
        end = block.find(b"\n", start)
        record = parse_line(block[start : end if end >= 0 else len(block)])
        problems[row] = missing_text(wanted, record if isinstance(record, dict) else ())
    lines = found.lines + first_line
    return Records(text, lines, source, doc_id, time, group, html=wanted.config.html, problems=problems, is_valid=True)


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
    return documents_of(found, positions, skipped, source, wanted, n_bytes, invalid_bytes)


def parse_line(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or the reason why there is none."""
    try:
        # Bytes that are not UTF-8 do no harm in an unused field.
        record = json.loads(line.decode("utf-8", "surrogateescape"), strict=False, parse_int=whole_number)
    except json.JSONDecodeError as error:
        return f"broken JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        return "broken JSON: nested too deeply"
    except ValueError as error:
        return f"broken JSON: {error}"
    return record if isinstance(record, dict) else f"not a JSON object but {kind_of(record)}"


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all lines except removed ones. An unchanged line keeps every byte."""
    line = 1
    output.write_mark()
    for block in line_blocks(file, file.encoding):
        if isinstance(block, LongLine) or edits.past_last(line):
            output.write(block)
            line += block.count(b"\n")
        else:
            pieces, n_breaks = _remaining(block, line, edits)
            for piece in pieces:
                output.write(piece)
            line += n_breaks


def field_names(file: InputFile, of_all: bool = False) -> list[str]:
    """Return the names of the fields of the first line, as far as it is an object; or those of all objects."""
    if of_all:
        blocks = (block for block in line_blocks(file, file.encoding) if not isinstance(block, LongLine))
        records = (parse_line(line) for block in blocks for line in block.split(b"\n"))
        return names_of_all(record for record in records if not isinstance(record, str))
    first = next(line_blocks(file, file.encoding), b"").split(b"\n", 1)[0]
    return names_of(first.decode("utf-8", "surrogateescape"))


def change_lines(lines: pa.ChunkedArray, first_line: int, edits: Edits) -> pa.LargeBinaryArray:
    """Return what remains of a column of lines, without their line breaks, the first being number `first_line`."""
    block = b"".join((b"" if line is None else line) + b"\n" for line in lines.to_pylist())
    return pa.array(b"".join(_remaining(block, first_line, edits)[0]).split(b"\n")[:-1], pa.large_binary())


def _remaining(block: bytes, first_line: int, edits: Edits) -> tuple[list[bytes | memoryview], int]:
    """Return what remains of a block of lines, in pieces, and how many line breaks the block has."""
    if edits.marks is not None:
        return _marked(block, first_line, edits)
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
    found = edits.between(first_line, first_line + len(breaks) + (not block.endswith(b"\n")))
    ends = np.append(breaks + 1, len(block)).tolist() if found else []
    view = memoryview(block)
    pieces: list[bytes | memoryview] = []
    copied = 0
    for position, decision in found:
        row = position - first_line
        start, end = ends[row - 1] if row else 0, ends[row]
        pieces.append(view[copied:start])
        if decision.drop:
            _meet(edits, position, block[start:end])
        else:
            source = block[start:end].decode("utf-8", "surrogateescape")
            pieces.append(cut_object(source, position, decision, edits).encode("utf-8", "surrogateescape"))
        copied = end
    pieces.append(view[copied:])
    return pieces, len(breaks)


def _marked(block: bytes, first_line: int, edits: Edits) -> tuple[list[bytes | memoryview], int]:
    lines = block.split(b"\n")
    decided = [position - first_line for position, _ in edits.decisions.between(first_line, first_line + len(lines))]
    for row in decided:
        if lines[row].strip():
            _meet(edits, first_line + row, lines[row])
    dropped: list[int] = []
    for row, line in enumerate(lines):
        # The piece behind the last break is the first line of the next block, unless there is something in it.
        if line.strip():
            decision = edits.at(first_line + row)
            if decision is not None and decision.drop:
                dropped.append(row)
                continue
            source = line.decode("utf-8", "surrogateescape")
            lines[row] = mark_value(source, decision, edits).encode("utf-8", "surrogateescape")
    n_breaks = len(lines) - 1
    for row in reversed(dropped):  # the last line of a file may have no break: then the one before it keeps its own
        if row == n_breaks:
            lines[row] = b""
        else:
            del lines[row]
    return [b"\n".join(lines)], n_breaks


def _meet(edits: Edits, position: int, line: bytes) -> None:
    edits.meet(position, line.rstrip(b"\r\n"), _lines_again)


def _lines_again(lines: list[bytes], source: str, wanted: Wanted) -> Outcome:
    return parse_lines(b"\n".join(lines), 0, source, wanted)
