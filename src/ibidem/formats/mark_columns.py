"""Columns that say what would go, in the notation of each format."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import date, time
from typing import Any

import pyarrow as pa

from ibidem.errors import InputError
from ibidem.formats.decisions import Decision


class Marks:
    """The columns to add; where nothing was decided, or a value is missing, they are null."""

    def __init__(self, columns: pa.Schema) -> None:
        self.fields = [field.with_nullable(True) for field in columns]
        self.names: list[str] = [field.name for field in self.fields]
        self._no_json = {ascii_only: self._json(None, ascii_only) for ascii_only in (True, False)}

    def check(self, names: Collection[str], source: str) -> None:
        """Raise InputError if a record has one of the columns already."""
        taken = [name for name in self.names if name in names]
        if taken:
            raise InputError(
                f"{source} has a column '{taken[0]}' already", "Rename the column; marks of that name are to be added."
            )

    def as_json(self, decision: Decision | None, ascii_only: bool) -> str:
        """Return the fields as they stand inside a JSON object."""
        return self._no_json[ascii_only] if decision is None else self._json(decision, ascii_only)

    def as_cells(self, decision: Decision | None) -> list[str]:
        """Return the cells of CSV."""
        return [""] * len(self.names) if decision is None else [_cell(value) for value in self.values(decision)]

    def as_arrays(self, decisions: Sequence[Decision | None]) -> list[Any]:
        """Return typed Arrow columns."""
        marks = [{} if decision is None else decision.marks for decision in decisions]
        return [pa.array([values.get(field.name) for values in marks], field.type) for field in self.fields]

    def values(self, decision: Decision | None) -> list[Any]:
        """Return Python values of the types that the columns have."""
        marks = {} if decision is None else decision.marks
        return [pa.scalar(marks.get(field.name), field.type).as_py() for field in self.fields]

    def _json(self, decision: Decision | None, ascii_only: bool) -> str:
        values = zip(self.names, self.values(decision), strict=True)
        return ", ".join(f"{to_json(name, ascii_only)}: {to_json(value, ascii_only)}" for name, value in values)


def to_json(value: Any, ascii_only: bool = False) -> str:
    """Return a value as JSON; times as ISO 8601 says."""
    return json.dumps(value, ensure_ascii=ascii_only, default=_plain)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return to_json(value) if isinstance(value, (bool, list, dict)) else str(_plain(value))
