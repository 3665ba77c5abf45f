"""The workbook, as openpyxl reads it."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.viewer.exports import workbook
from ibidem.viewer.exports.flat_tables import COLUMNS, FlatTables
from ibidem.viewer.exports.workbook import MOST_CELL_CHARS, write_xlsx
from ibidem.viewer.exports.xml_writer import without_forbidden
from ibidem.viewer.store import ViewStore

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("xlsxwriter")


def cells(sheet: Any) -> list[list[Any]]:
    return [list(row) for row in sheet.iter_rows()]


def test_every_cell_is_what_it_should_be(tables: FlatTables, tmp_path: Path) -> None:
    assert write_xlsx(tables, tmp_path / "t.xlsx") == []
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["About", *(name.capitalize() for name in COLUMNS)]
    texts = set()
    for table, columns in COLUMNS.items():
        head, *rows = cells(book[table.capitalize()])
        assert tuple(cell.value for cell in head) == columns
        wanted = list(tables.rows(table))
        assert len(rows) == len(wanted)
        for row, record in zip(rows, wanted, strict=True):
            for cell, name in zip(row, columns, strict=True):
                assert cell.data_type != "f", "a formula"
                assert _plain(cell.value, record[name]) == _wanted(record[name]), (table, name)
                texts.add(cell.value)
    assert {"Über die Brücke", "=cmd|' /C calc'!A0", "新聞 [快報](1) \\ ]"} <= texts
    assert book["About"]["A1"].value == "title"


def _wanted(value: Any) -> Any:
    if isinstance(value, str):
        return without_forbidden(value).replace("\r\n", "\n")
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


def _plain(found: Any, wanted: Any) -> Any:
    """Return a cell as the value it stands for: links are text, and Excel has dates of its own."""
    if isinstance(found, datetime):
        return found.replace(tzinfo=timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(found, str) and isinstance(wanted, int):
        return int(found)
    return found.replace("\r\n", "\n") if isinstance(found, str) else found


def test_dates_are_dates_where_excel_has_them(tables: FlatTables, tmp_path: Path) -> None:
    write_xlsx(tables, tmp_path / "t.xlsx")
    times = {row[0].value: row[1].value for row in cells(openpyxl.load_workbook(tmp_path / "t.xlsx")["Documents"])}
    assert times["=1+2"] == "1848-03-18T06:30:00Z"
    assert times["日報/1"] == datetime(2031, 1, 1, 10, 0)


def test_links_lead_to_the_rows_that_they_name(store: ViewStore, tmp_path: Path) -> None:
    write_xlsx(FlatTables(store), tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    n_links = 0
    for table, columns in COLUMNS.items():
        for row in cells(book[table.capitalize()])[1:]:
            record = {name: cell.value for name, cell in zip(columns, row, strict=True)}
            for cell in row:
                if cell.hyperlink is None:
                    continue
                n_links += 1
                place = re.fullmatch(r"'(\w+)'!A(\d+)", cell.hyperlink.location)
                assert place is not None
                sheet, at = place[1], int(place[2])
                target = {n: c.value for n, c in zip(COLUMNS[sheet.lower()], book[sheet][at], strict=True)}
                if sheet == "Documents":
                    assert target["id"] == cell.value
                elif sheet == "Passages":  # the first of them
                    assert (int(target["pair"]), int(target["number"])) == (int(record["pair"]), 1)
                elif sheet == "Pairs":
                    assert int(target["pair"]) == int(cell.value)
                else:
                    assert int(target["family"]) == int(record["family"])
                    assert (
                        sheet != "Places" or int(book[sheet][at - 1][0].value or 0) != int(record["family"]) if at > 2 else True
                    )
    assert n_links > 500


def test_what_has_no_room_is_said(store: ViewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 5)
    tables = FlatTables(store)
    remarks = write_xlsx(tables, tmp_path / "t.xlsx")
    n_passages = tables.count("passages")
    assert f"passages: a sheet has room for 5 of {n_passages:,} rows; csv has room for all" in remarks
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert len(cells(book["Passages"])) == 6
    for row in book["Pairs"].iter_rows():  # no link leads beyond the last row
        for cell in row:
            assert cell.hyperlink is None or int(cell.hyperlink.location.rpartition("!A")[2]) <= 6


def test_more_links_than_a_sheet_may_have(store: ViewStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_MOST_LINKS", 7)
    write_xlsx(FlatTables(store), tmp_path / "t.xlsx")
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    links = [cell for row in book["Pairs"].iter_rows() for cell in row if cell.hyperlink is not None]
    assert len(links) == 7
    assert all(row[1].value for row in book["Pairs"].iter_rows())


@given(st.text(max_size=8), st.integers(0, 12))
def test_a_cell_has_room_for_as_much_as_excel_counts(piece: str, n_doublings: int) -> None:
    text = piece * (1 << n_doublings)
    short = workbook._short(text)
    assert len(short.encode("utf-16-le", "surrogatepass")) // 2 <= MOST_CELL_CHARS
    if len(text.encode("utf-16-le", "surrogatepass")) // 2 <= MOST_CELL_CHARS:
        assert short == without_forbidden(text)
    else:
        assert short.endswith(" […]")
        assert without_forbidden(text).startswith(short.removesuffix(" […]"))
