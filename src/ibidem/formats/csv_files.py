"""CSV and TSV with a header row.

Python's own parser, not Arrow's: it knows the line of every record even where quoted fields contain line breaks, continues
after a broken row, and has no limit on the length of a row. In copies, kept records are unchanged; in a changed record, one
cell is rewritten.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from ibidem.errors import InputError
from ibidem.formats.byte_streams import ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.jobs import Job
from ibidem.formats.line_streams import LongLine, line_blocks
from ibidem.formats.python_records import Unusable, record_jobs
from ibidem.formats.records import Wanted, missing_column, too_long
from ibidem.formats.registry import CSV, TSV
from ibidem.formats.sources import FileSource

_DELIMITERS = {CSV: ",", TSV: "\t"}
MAX_FIELD_CHARS = 2**31 - 1
# A row of thousands of lines that is longer has an unclosed quotation mark.
MAX_ROW_CHARS = 128 << 20
# Every unclosed quotation means reading to the end and coming back.
MAX_UNCLOSED = 100
UNCLOSED = "an unclosed quotation mark"
_LINES_BETWEEN_LOOKS = 1 << 12
_WRITE_CHARS = 1 << 20
_COPY_LINES = 10_000


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of rows; the position of a record is the line it starts in."""
    table = _Table(stream, wanted.config.encoding, source.format)
    yield from record_jobs(_records(table, source.name, wanted), source.name, wanted, stream.take_count)


def _records(table: _Table, source: str, wanted: Wanted) -> Iterator[tuple[Any, int, int | None]]:
    header: list[str] | None = None
    for row in table:
        if row.problem is not None:
            yield Unusable(row.problem), row.line, None
        elif not row.cells:
            continue
        elif header is None:
            header = row.cells
            if wanted.config.text_field not in header:
                raise missing_column(source, header, wanted)
        elif len(row.cells) != len(header):
            yield (
                Unusable(f"{len(row.cells)} column{'s' * (len(row.cells) > 1)}, but the header has {len(header)}"),
                row.line,
                None,
            )
        else:
            record: dict[str, str | None] = dict(zip(header, row.cells, strict=True))
            # In CSV, an empty cell means "no group".
            if not record.get(wanted.config.group_field):
                record[wanted.config.group_field] = None
            yield record, row.line, sum(map(len, row.cells)) if wanted.other_fields else None
    if header is None:
        yield Unusable("an empty file, without a header"), 0, None


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Copy all records except removed ones; blank lines and rows that the reader cannot use are kept.

    Marks are added to every row, also to those of a wrong length: they would have the right one otherwise; but not to lines
    with an unclosed quotation mark, which is closed: marks of other rows may contain quotation marks.
    """
    table = _Table(file, file.encoding, file.format)
    style = _Style(table.delimiter, file.codec, edits.source)
    pieces: list[str] = []
    n_chars = 0
    column: int | None = None
    output.write_mark()
    n_columns = 0
    for position, written, row, problem in table:
        source = "".join(written)
        if problem == UNCLOSED and edits.marks is not None:
            source = style.closed(source, n_columns + len(edits.marks.names))
        elif column is None and row:
            column, n_columns = _last_index(row, edits.text_field, edits), len(row)
            if edits.marks is not None:
                source = style.extend(source, edits.marks.names)
        elif row:
            decision = edits.at(position)
            if decision is not None and column is not None:
                if len(row) <= column:
                    raise edits.changed(position)
                edits.meet(position, row[column])
            if decision is not None and decision.drop:
                source = ""
            elif edits.marks is not None:
                source = style.extend(source, edits.marks.as_cells(decision))
            elif decision is not None and column is not None:
                source = style.replace(source, row, column, edits.remaining(row[column], decision))
        pieces.append(source)
        n_chars += len(source)
        if n_chars >= _WRITE_CHARS:
            output.write_text("".join(pieces))
            pieces, n_chars = [], 0
        if edits.past_last(position + 1):
            break
    output.write_text("".join(pieces))
    rest = table.rest()
    while lines := list(islice(rest, _COPY_LINES)):
        output.write_text("".join(lines))


def field_names(file: InputFile, of_all: bool = False) -> list[str]:
    """Return the names of the columns, none if there is no row."""
    return next((row.cells for row in _Table(file, file.encoding, file.format) if row.cells), [])


def _last_index(header: Sequence[str], name: str, edits: Edits) -> int:
    """Return the column of the text: the last one of that name, as for the reader."""
    if name not in header:
        raise edits.changed()
    return len(header) - 1 - header[::-1].index(name)


class _Row(NamedTuple):
    """A record as it is written: the line it begins in, its lines, and its cells or why there are none."""

    line: int
    written: list[str]
    cells: list[str]
    problem: str | None = None


class _LongText(str):
    """A part of a line that is too long to be a record."""


class _RowTooLongError(Exception):
    """A row does not end."""


class _Table:
    """Iterates over all records of a file. If a quotation is not closed, only the line it begins in is lost."""

    def __init__(self, stream: ByteStream, encoding: str, kind: str | None) -> None:
        # The limit belongs to the whole process; it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_FIELD_CHARS))
        lines = _lines(stream, encoding)
        first_line = next(lines, "")
        self._lines: Iterator[str] = chain([first_line], lines)
        self.delimiter = _DELIMITERS[kind or CSV]
        if self.delimiter == "," and "," not in first_line and ";" in first_line:
            self.delimiter = ";"  # what spreadsheets write if the comma is the decimal separator
        self._taken: list[str] = []
        self._ended = False

    def __iter__(self) -> Iterator[_Row]:
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
            yield _Row(line, list(self._taken), cells, problem)
            line += len(self._taken) - is_within_long
            self._taken.clear()

    def rest(self) -> Iterator[str]:
        """Yield the lines that were not walked over."""
        return self._lines

    def _tapped(self) -> Iterator[str]:
        taken, keep, n_chars = self._taken, self._taken.append, 0
        for line in self._lines:
            keep(line)
            # Checked only now and then: this runs for every line.
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


class _Style:
    """How cells are written."""

    def __init__(self, delimiter: str, codec: str, source: str) -> None:
        self._delimiter = delimiter
        self._codec = codec
        self._source = source
        sign = re.escape(delimiter)
        # In quotation marks, doubled ones count as one; what follows the closing one belongs to the cell too.
        self._cell = re.compile(rf'"[^"]*(?:""[^"]*)*"[^{sign}\r\n]*|[^{sign}\r\n]*')
        self._special = re.compile(rf'[{sign}"\r\n]')

    def replace(self, source: str, row: Sequence[str], column: int, value: str) -> str:
        """Return a record with another value in one cell."""
        spans: list[tuple[int, int]] = []
        place = 0
        while len(spans) < len(row) and (found := self._cell.match(source, place)):
            spans.append(found.span())
            place = found.end() + 1
        end = spans[-1][1]
        if len(spans) < len(row) or source[end:].strip("\r\n"):
            # Not closed at the end of the file, for instance: then the whole record is written again.
            return self._join([*row[:column], value, *row[column + 1 :]]) + _line_end(source)
        start, end = spans[column]
        # Not more quotation marks than needed: they could close a quotation of an earlier line that is not closed.
        quoted = source[start : start + 1] == '"' or (len(row) == 1 and not value)
        return source[:start] + self._write_cell(value, quoted) + source[end:]

    def extend(self, source: str, values: Sequence[str]) -> str:
        """Return a record with more cells at its end."""
        for value in values:
            self._check(value)
        end = _line_end(source)
        begin = source[: len(source) - len(end)]
        return self._delimiter.join([begin, *(self._write_cell(value, False) for value in values)]) + end

    def closed(self, source: str, n_columns: int) -> str:
        """Return a record with its last quotation closed, which still does not fit a table of `n_columns` columns."""
        cells = next(csv.reader(io.StringIO(source, newline=""), delimiter=self._delimiter))
        cells[-1] = cells[-1].rstrip("\r\n")
        return self._join([*cells, ""] if len(cells) == n_columns else cells) + _line_end(source)

    def _join(self, row: Sequence[str]) -> str:
        return self._delimiter.join(self._write_cell(value, len(row) == 1) for value in row)

    def _write_cell(self, value: str, quoted: bool) -> str:
        return '"' + value.replace('"', '""') + '"' if quoted or self._special.search(value) else value

    def _check(self, value: str) -> None:
        if self._codec == "utf-8":
            return
        try:
            value.encode(self._codec)
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self._source}: the mark '{value}' cannot be written in {self._codec}", "Convert the file to UTF-8."
            ) from error


def _line_end(source: str) -> str:
    return source[len(source.rstrip("\r\n")) :]
