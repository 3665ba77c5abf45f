"""Results as an Excel workbook: one sheet per table, with links between them.

Rows are written one by one to temporary files, so that a large workbook needs little memory. Everything that comes from a
document is written as text: no cell of it can be a formula.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ibidem.errors import ResourceError
from ibidem.viewer.exports.flat_tables import COLUMNS, LARGEST_FIRST, STRONGEST_FIRST, TIMES, FlatTables
from ibidem.viewer.exports.xml_writer import without_forbidden

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

MOST_ROWS = 1_048_575  # below the header
MOST_CELL_CHARS = 32_767
_MOST_LINKS = 65_530  # of one sheet
_CUT_MARK = " […]"
# The calendar of Excel begins in 1900, and its first two months are a day off.
_FIRST_DAY = "1900-03-01"
_SHEETS = {name: name.capitalize() for name in COLUMNS}
_WIDTHS = {"text": 60, "a_text": 60, "b_text": 60, "a_title": 30, "b_title": 30, "title": 30, "id": 24, "a_id": 24, "b_id": 24}
_NARROW, _OF_TIMES = 12, 17
_SHARES = frozenset({"similarity", "coverage_a", "coverage_b", "reused_share", "first_share"})


def write_xlsx(tables: FlatTables, path: Path) -> list[str]:
    """Write the workbook; return a line for each thing that it has no room for."""
    try:
        import xlsxwriter
        from xlsxwriter.exceptions import FileCreateError
    except ModuleNotFoundError as problem:
        raise ResourceError(
            f"exports to xlsx need {problem.name}, which is not installed", "Install it with: pip install 'ibidem[export]'"
        ) from None
    # Temporary files go where the workbook goes: there is room for it.
    book = xlsxwriter.Workbook(os.fspath(path), {"constant_memory": True, "tmpdir": os.fspath(path.parent.absolute())})
    try:
        return _Book(tables, book).write()
    finally:
        try:
            book.close()
        except FileCreateError as error:
            raise OSError(str(error)) from error


class _Book:
    """Writes the sheets; each knows the rows of the others that it links to."""

    def __init__(self, tables: FlatTables, book: Workbook) -> None:
        self._tables, self._book = tables, book
        self._head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
        self._link = book.get_default_url_format()
        self._time = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        self._share = book.add_format({"num_format": "0.000"})
        self._remarks: list[str] = []
        self._n_links = 0
        store = tables.store
        # By number of a pair or family: the row of it, and the row of its first passage or place.
        self._pair_rows, self._first_passages = _rows_of(
            (
                (row["number"], row["n_passages"])
                for row in store.stream(f"SELECT p.number, p.n_passages FROM pairs p {STRONGEST_FIRST}")
            ),
            tables.count("pairs"),
        )
        self._family_rows, self._first_places = _rows_of(
            (
                (row["number"], row["n_places"])
                for row in store.stream(f"SELECT f.number, f.n_places FROM families f {LARGEST_FIRST}")
            ),
            tables.count("families"),
        )

    def write(self) -> list[str]:
        """Write all sheets."""
        sheets = {name: self._book.add_worksheet(name) for name in ("About", *_SHEETS.values())}
        self._about(sheets["About"])
        for table, name in _SHEETS.items():
            self._sheet(sheets[name], table)
        return self._remarks

    def _about(self, sheet: Worksheet) -> None:
        summary = self._tables.summary
        sheet.set_column(0, 0, 24)
        sheet.set_column(1, 1, 60)
        lines: list[tuple[str, Any]] = [
            *(("command" if name == "verb" else name, summary[name]) for name in ("title", "verb", "made", "version")),
            *((f"number of {name.replace('_', ' ')}", n) for name, n in summary["totals"].items() if n is not None),
            *((f"left out: {entry['what']}", entry["why"]) for entry in summary["left_out"]),
        ]  # fmt: skip
        for row, (name, value) in enumerate(lines):
            sheet.write_string(row, 0, name, self._head)
            self._cell(sheet, row, 1, "", value)

    def _sheet(self, sheet: Worksheet, table: str) -> None:
        columns = COLUMNS[table]
        for column, name in enumerate(columns):
            sheet.set_column(column, column, _WIDTHS.get(name, _OF_TIMES if name in TIMES else _NARROW))
            sheet.write_string(0, column, name, self._head)
        sheet.freeze_panes(1, 1)
        n_rows = self._tables.count(table)
        sheet.autofilter(0, 0, min(n_rows, MOST_ROWS), len(columns) - 1)
        if n_rows > MOST_ROWS:
            self._remarks.append(f"{table}: a sheet has room for {MOST_ROWS:,} of {n_rows:,} rows; csv has room for all")
        self._n_links = 0
        for row, record in zip(range(1, MOST_ROWS + 1), self._tables.rows(table), strict=False):
            targets = self._targets(table, record)
            for column, name in enumerate(columns):
                value = record[name]
                if name in targets and value is not None and targets[name][1] <= MOST_ROWS + 1 and self._n_links < _MOST_LINKS:
                    self._n_links += 1
                    sheet.write_url(row, column, "internal:'{}'!A{}".format(*targets[name]), self._link, _short(str(value)))
                else:
                    self._cell(sheet, row, column, name, value)

    def _targets(self, table: str, record: dict[str, Any]) -> dict[str, tuple[str, int]]:
        """Return where the cells of a row lead to: a sheet, and a row of it as people count."""
        targets: dict[str, tuple[str, int]] = {}
        if table == "pairs":
            targets = {f"{side}_id": ("Documents", record[f"{side}_document"] + 2) for side in "ab"}
            if record["n_passages"]:
                targets["n_passages"] = ("Passages", self._first_passages[record["pair"]])
        elif table == "passages":
            targets["pair"] = ("Pairs", self._pair_rows[record["pair"]])
        elif table == "families":
            targets["n_places"] = ("Places", self._first_places[record["family"]])
        elif table == "places":
            targets["id"] = ("Documents", record["document"] + 2)
        if table in ("passages", "places") and record["family"] is not None:
            targets["family"] = ("Families", self._family_rows[record["family"]])
        return targets

    def _cell(self, sheet: Worksheet, row: int, column: int, name: str, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, (int, float)):
            sheet.write_number(row, column, value, self._share if name in _SHARES else None)
        elif name in TIMES and str(value) >= _FIRST_DAY:
            moment = datetime.fromisoformat(str(value).replace("Z", "+00:00")).replace(tzinfo=None)
            sheet.write_datetime(row, column, moment, self._time)
        else:
            sheet.write_string(row, column, _short(str(value)))


def _rows_of(sizes: Iterator[tuple[int, int]], n_sizes: int) -> tuple[array[int], array[int]]:
    """Return, by number, the row of everything in a list, and the row of its first member in the list of all members."""
    rows, firsts = (array("q", bytes(8 * (n_sizes + 1))) for _ in range(2))  # numbers count from 0 or from 1
    first = 2
    for row, (number, n_members) in enumerate(sizes, 2):
        rows[number], firsts[number] = row, first
        first += n_members
    return rows, firsts


def _short(text: str) -> str:
    """Return a text that fits into a cell, whose characters Excel counts as UTF-16 does."""
    text = without_forbidden(text)
    if 2 * len(text) <= MOST_CELL_CHARS or len(units := text.encode("utf-16-le")) <= 2 * MOST_CELL_CHARS:
        return text
    return units[: 2 * (MOST_CELL_CHARS - len(_CUT_MARK))].decode("utf-16-le", "ignore") + _CUT_MARK
