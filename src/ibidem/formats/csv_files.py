"""CSV and TSV with a header row.

Python's own parser, not Arrow's: it knows the line of every record even where quoted fields hold line breaks, goes on
after a broken row, and has no limit on the length of a row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ibidem.formats.byte_streams import READ_ERRORS, ByteStream
from ibidem.formats.fields import MAX_JOB_CHARS, RecordCollector
from ibidem.formats.jsonl_files import LongLine, line_blocks
from ibidem.formats.records import Job, Wanted, missing_column, too_long

MAX_FIELD_CHARS = 2**31 - 1
# A row of thousands of lines that is longer has a quotation that is not closed.
MAX_ROW_CHARS = 128 << 20
# Every quotation that is not closed means to read on to the end, and to come back.
MAX_UNCLOSED = 100
UNCLOSED = "a quotation that is not closed"
_LINES_BETWEEN_LOOKS = 1 << 12


class Row(NamedTuple):
    """A record as it stands in the file: the line it begins in, its lines, and its cells or why there are none."""

    line: int
    written: list[str]
    cells: list[str]
    problem: str | None = None


class _LongText(str):
    """A part of a line that is too long to be a record."""


class _RowTooLongError(Exception):
    """A row goes on and on."""


class Table:
    """Walks over all records of a file. Where a quotation is not closed, only the line that it begins in is given up."""

    def __init__(self, stream: ByteStream, encoding: str, delimiter: str) -> None:
        # The limit belongs to the whole process; it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD_CHARS))
        lines = _lines(stream, encoding)
        first_line = next(lines, "")
        self._lines: Iterator[str] = chain([first_line], lines)
        if delimiter == "," and "," not in first_line and ";" in first_line:
            delimiter = ";"  # what spreadsheets write where the comma is the decimal sign
        self.delimiter = delimiter
        self._taken: list[str] = []
        self._ended = False

    def __iter__(self) -> Iterator[Row]:
        """Yield the records in order; those that cannot be used have no cells, and most of them a problem."""
        line, n_unclosed, is_within_long = 1, 0, False
        rows: Iterator[list[str]] | None = None
        while True:
            rows = rows or csv.reader(self._tapped(), delimiter=self.delimiter)
            cells: list[str] | None = []
            problem = None
            try:
                cells = next(rows, None)
            except csv.Error as error:
                problem = f"broken row: {error}"
            except _RowTooLongError:
                rows = None
                if len(self._taken) == 1:
                    problem = None if is_within_long else too_long("line")
                    is_within_long = not self._taken[0].endswith("\n")
            if cells is None:
                return
            if self._ended or (rows is None and len(self._taken) > 1):
                # A record whose lines end in the middle of a quotation makes the parser ask for more.
                cells, problem = [], UNCLOSED
                if n_unclosed < MAX_UNCLOSED and len(self._taken) > 1:
                    n_unclosed += 1
                    self._lines = chain(self._taken[1:], self._lines)
                    del self._taken[1:]
                    self._ended, rows = False, None
            yield Row(line, list(self._taken), cells, problem)
            line += len(self._taken) - is_within_long
            self._taken.clear()

    def rest(self) -> Iterator[str]:
        """Yield the lines that were not walked over."""
        return self._lines

    def _tapped(self) -> Iterator[str]:
        taken, keep, n_chars = self._taken, self._taken.append, 0
        for line in self._lines:
            keep(line)
            # Looked at now and then only: this is done for every line.
            if line.__class__ is not str:
                raise _RowTooLongError
            if not len(taken) % _LINES_BETWEEN_LOOKS:
                n_chars = sum(map(len, taken[-_LINES_BETWEEN_LOOKS:])) + (n_chars if len(taken) > _LINES_BETWEEN_LOOKS else 0)
                if n_chars > MAX_ROW_CHARS:
                    raise _RowTooLongError
            yield line
        self._ended = True


def _lines(stream: ByteStream, encoding: str) -> Iterator[str]:
    for block in line_blocks(stream, encoding):
        text = block.decode("utf-8", "surrogateescape")
        if isinstance(block, LongLine):
            yield _LongText(text)
        else:
            yield from io.StringIO(text, newline="")


def read_csv(stream: ByteStream, source: str, delimiter: str, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of rows; the position of a record is the line it starts in."""
    collector = RecordCollector(source, wanted)
    header: list[str] | None = None
    try:
        for row in Table(stream, wanted.config.encoding, delimiter):
            if row.problem is not None:
                collector.skip(row.line, row.problem)
            elif not row.cells:
                continue
            elif header is None:
                header = row.cells
                if wanted.config.text_field not in header:
                    raise missing_column(source, header, wanted)
            elif len(row.cells) != len(header):
                collector.skip(row.line, f"{len(row.cells)} columns where the header has {len(header)}")
            else:
                record: dict[str, str | None] = dict(zip(header, row.cells, strict=True))
                # An empty cell is all that CSV has for "no group".
                if not record.get(wanted.config.group_field):
                    record[wanted.config.group_field] = None
                collector.add(record, row.line, sum(map(len, row.cells)) if wanted.other_fields else None)
            if collector.n_chars >= MAX_JOB_CHARS:
                yield collector.job(stream.take_count())
                collector = RecordCollector(source, wanted)
    except READ_ERRORS:
        yield collector.job(stream.take_count())
        raise
    if header is None:
        collector.skip(0, "an empty file, without names of columns")
    yield collector.job(stream.take_count())
