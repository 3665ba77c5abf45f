"""Whole tables as CSV or JSON, sent as they are read: however large, they take no memory."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from ibidem.viewer.server.answers import GeneratedAnswer, to_json
from ibidem.viewer.server.api_errors import ApiError

Rows = Callable[[], Iterator[dict[str, Any]]]
MOST_AT_ONCE = 8
_CHUNK_CHARS = 1 << 16
# A spreadsheet takes a cell that begins so for a formula, and formulas of strangers can do harm. Some also take the wide forms.
_FORMULA_STARTS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")


def csv_chunks(rows: Iterator[dict[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """Yield a table as CSV (RFC 4180). Text that a spreadsheet would take for a formula gets an apostrophe in front."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
        if buffer.tell() >= _CHUNK_CHARS:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def json_chunks(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield a table as a JSON object with `items`, `total` and `next`, as if it were one large page."""
    parts, n_chars, total = ['{"items":['], 0, 0
    for row in rows:
        part = ("," if total else "") + to_json(row)
        parts.append(part)
        n_chars += len(part)
        total += 1
        if n_chars >= _CHUNK_CHARS:
            yield "".join(parts)
            parts, n_chars = [], 0
    yield "".join(parts) + f'],"total":{total},"next":null}}'


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        value = to_json(value)
    if not isinstance(value, str):
        return value
    cell = value.replace("\0", "\ufffd")  # no spreadsheet can read it, and Python 3.10 cannot write it
    return f"'{cell}" if is_formula(value) else cell


def is_formula(text: str) -> bool:
    """Say whether a spreadsheet may take a cell for a formula; some do so also after blanks and invisible characters."""
    if text[:1] in ("\t", "\r"):
        return True
    for letter in text:
        if letter in _FORMULA_STARTS:
            return True
        if not letter.isspace() and unicodedata.category(letter) not in ("Cc", "Cf"):
            return False
    return False


class Exports:
    """Sends tables, only so many at a time."""

    def __init__(self) -> None:
        self._n_running = 0

    def send(self, name: str, form: str, columns: Sequence[str], rows: Rows) -> GeneratedAnswer:
        """Return the response that sends a table; `form` is csv or json."""
        if self._n_running >= MOST_AT_ONCE:
            raise ApiError(503, "busy", f"{MOST_AT_ONCE} tables are being sent already", "Try again when one is through.")
        headers = {"Content-Disposition": f'attachment; filename="ibidem-{name}.{form}"'}
        media_type = "text/csv; charset=utf-8; header=present" if form == "csv" else "application/json"
        return GeneratedAnswer(self._counted(form, columns, rows), headers=headers, media_type=media_type)

    def _counted(self, form: str, columns: Sequence[str], rows: Rows) -> Generator[str, None, None]:
        self._n_running += 1
        try:
            yield from csv_chunks(rows(), columns) if form == "csv" else json_chunks(rows())
        finally:
            self._n_running -= 1
