"""JSON lines: runs of lines that stay are copied as one piece; a line that changes is changed where its text stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.json_fields import names_of
from ibidem.formats.jsonl_files import LongLine, line_blocks


def rewrite_jsonl(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all lines but those that go. A line that stays as it is keeps every byte."""
    line = 1
    output.write_mark()
    for block in line_blocks(file, file.encoding):
        if isinstance(block, LongLine) or edits.past_last(line):
            output.write(block)
            line += block.count(b"\n")
        elif edits.marks is None:
            line += _write_block(block, line, output, edits)
        else:
            line += _write_marked(block, line, output, edits)


class _Lines:
    """What stays of lines, kept in memory."""

    def __init__(self) -> None:
        self.pieces: list[Any] = []
        self.write = self.pieces.append


def change_lines(lines: pa.ChunkedArray, first_line: int, edits: Edits) -> pa.LargeBinaryArray:
    """Return what stays of a column of lines, without their line breaks, the first being number `first_line`."""
    ended = [b"" if line is None else line for line in lines.to_pylist()]
    kept = _Lines()
    change = _write_block if edits.marks is None else _write_marked
    change(b"".join(line + b"\n" for line in ended), first_line, kept, edits)
    return pa.array(b"".join(kept.pieces).split(b"\n")[:-1], pa.large_binary())


def _write_block(block: bytes, first_line: int, output: OutputFile | _Lines, edits: Edits) -> int:
    """Write what stays of a block of lines; return how many line breaks it has."""
    breaks = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    found = edits.between(first_line, first_line + len(breaks) + (not block.endswith(b"\n")))
    if not found:
        output.write(block)
        return len(breaks)
    ends = np.append(breaks + 1, len(block)).tolist()
    view = memoryview(block)
    copied = 0
    for position, decision in found:
        row = position - first_line
        start, end = ends[row - 1] if row else 0, ends[row]
        output.write(view[copied:start])
        if decision.drop:
            edits.meet_line(position, block[start:end])
        else:
            source = block[start:end].decode("utf-8", "surrogateescape")
            output.write(edits.cut_met_object(position, source, decision).encode("utf-8", "surrogateescape"))
        copied = end
    output.write(view[copied:])
    return len(breaks)


def _write_marked(block: bytes, first_line: int, output: OutputFile | _Lines, edits: Edits) -> int:
    lines = block.split(b"\n")
    decided = [position - first_line for position, _ in edits.decisions.between(first_line, first_line + len(lines))]
    for row in decided:
        if lines[row].strip():
            edits.meet_line(first_line + row, lines[row])
    for row, line in enumerate(lines):
        # The piece behind the last break is the first line of the next block, unless there is something in it.
        if line.strip():
            source = line.decode("utf-8", "surrogateescape")
            marked = edits.mark_value(source, edits.at(first_line + row))
            lines[row] = marked.encode("utf-8", "surrogateescape")
    output.write(b"\n".join(lines))
    return len(lines) - 1


def first_names(file: InputFile) -> set[str]:
    """Return the names of the fields of the first line, as far as it is an object."""
    first = next(line_blocks(file, file.encoding), b"").split(b"\n", 1)[0]
    return names_of(first.decode("utf-8", "surrogateescape"))
