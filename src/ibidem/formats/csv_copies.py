"""CSV and TSV: records that stay are copied as they are written; of a record that changes, one cell is written anew."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice

from ibidem.errors import InputError
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.csv_files import UNCLOSED, Table
from ibidem.formats.edits import Edits

_WRITE_CHARS = 1 << 20
_COPY_LINES = 10_000


def rewrite_csv(file: InputFile, output: OutputFile, edits: Edits, delimiter: str) -> None:
    """Copy all records but those that go; blank lines and rows that the reader cannot use stay.

    Marks are added to every row, also to those of a wrong length: they would have the right one otherwise; but not to lines
    with a quotation that is not closed, which is closed: marks of other rows may hold quotation marks.
    """
    table = Table(file, file.encoding, delimiter)
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
            if edits.marks is not None:
                source = style.extend(source, edits.marks.as_cells(decision))
            elif decision is not None and decision.drop:
                source = ""
            elif decision is not None and column is not None:
                source = style.replace(source, row, column, edits.remaining(row[column], decision))
        pieces.append(source)
        n_chars += len(source)
        if n_chars >= _WRITE_CHARS:
            _write(output, pieces)
            pieces, n_chars = [], 0
        if edits.past_last(position + 1):
            break
    _write(output, pieces)
    rest = table.rest()
    while lines := list(islice(rest, _COPY_LINES)):
        _write(output, lines)


def header_of(file: InputFile, delimiter: str) -> list[str]:
    """Return the names of the columns, none if there is no row."""
    return next((row.cells for row in Table(file, file.encoding, delimiter) if row.cells), [])


def _write(output: OutputFile, pieces: Sequence[str]) -> None:
    output.write("".join(pieces).encode("utf-8", "surrogateescape"))


def _last_index(header: Sequence[str], name: str, edits: Edits) -> int:
    """Return the column of the text: the last one of that name, as for the reader."""
    if name not in header:
        raise edits.changed()
    return len(header) - 1 - header[::-1].index(name)


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
            # Not closed at the end of the file, for instance: then the whole record is written anew.
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
        """Return a record with its last quotation closed, which still is none of a table of so many columns."""
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
                f"{self._source}: the mark '{value}' cannot be written in {self._codec}", "Give the file in UTF-8."
            ) from error


def _line_end(source: str) -> str:
    return source[len(source.rstrip("\r\n")) :]
