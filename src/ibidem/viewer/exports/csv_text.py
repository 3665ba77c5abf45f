"""Tables as CSV that spreadsheets open as it is meant: text stays text, whatever it begins with."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

_CHUNK_CHARS = 1 << 16
# Spreadsheets treat cells that begin like this as formulas, which can do harm. Some also accept the full-width forms.
_FORMULA_STARTS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")


def csv_chunks(rows: Iterator[dict[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """Yield a table as CSV (RFC 4180). Text that a spreadsheet might treat as a formula gets a leading apostrophe."""
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


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, str):
        return value
    cell = value.replace("\0", "\ufffd")  # spreadsheets cannot read it, and Python 3.10 cannot write it
    return f"'{cell}" if is_formula(value) else cell


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may treat a cell as a formula; some skip leading spaces and invisible characters."""
    if text[:1] in ("\t", "\r"):
        return True
    for letter in text:
        if letter in _FORMULA_STARTS:
            return True
        if not letter.isspace() and unicodedata.category(letter) not in ("Cc", "Cf"):
            return False
    return False
