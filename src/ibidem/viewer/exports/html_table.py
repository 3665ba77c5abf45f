"""A table as plain HTML, for pages, word processors and the clipboard: no scripts, no styles to fight with."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, TextIO

from ibidem.viewer.exports.flat_tables import COLUMNS, FlatTables
from ibidem.viewer.exports.xml_writer import without_forbidden
from ibidem.viewer.side_by_side import harmless

_STYLE = "table{border-collapse:collapse}th,td{border:1px solid #999;padding:.2em .5em;text-align:left;vertical-align:top}"


def write_html_table(tables: FlatTables, file: TextIO, table: str) -> None:
    """Write one table as a page."""
    title = f"{tables.summary['title']}: {table}"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    file.write(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<table>\n<caption>{_text(title)}</caption>\n"
    )
    head = "".join(f'<th scope="col">{name.replace("_", " ")}</th>' for name in COLUMNS[table])
    file.write(f"<thead><tr>{head}</tr></thead>\n<tbody>\n")
    file.writelines(_lines(tables, table))
    file.write("</tbody>\n</table>\n</body>\n</html>\n")


def _lines(tables: FlatTables, table: str) -> Iterator[str]:
    for row in tables.rows(table):
        yield "<tr>" + "".join(f'<td dir="auto">{_text(row[name])}</td>' for name in COLUMNS[table]) + "</tr>\n"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return escape(without_forbidden(harmless(str(value)))).replace("\n", "<br>")
