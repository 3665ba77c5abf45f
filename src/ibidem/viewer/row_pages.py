"""Pages of rows, and how many rows there are in all."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ibidem.viewer.connections import Connections
from ibidem.viewer.queries import Condition, Query, write_cursor


class Pages:
    """Reads a page at a time; counts are remembered, for people look at many pages of one list."""

    def __init__(self, connections: Connections) -> None:
        self._rows = connections.rows
        self.count = lru_cache(maxsize=512)(self._count_rows)

    def page(self, query: Query, table: str, select: str, tell: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the rows that a query asks for, how many there are in all, and where to go on."""
        conditions = query.conditions()
        after = query.after_cursor()
        where, values = where_of([*conditions, *([after] if after else [])])
        marked = select.replace("SELECT ", f"SELECT {query.column} AS cursor_value, ", 1)
        rows = self._rows(f"{marked} {where} ORDER BY {query.order_by} LIMIT ?", [*values, query.limit + 1])
        last = rows[query.limit - 1] if len(rows) > query.limit else None
        return {
            "items": [tell(row) for row in rows[: query.limit]],
            "total": self.total(query, table),
            "next": None if last is None else write_cursor(last["cursor_value"], last["number"]),
        }

    def total(self, query: Query, table: str) -> int:
        """Return how many rows a query asks for, on all its pages."""
        conditions = query.conditions()
        where, values = where_of(conditions)
        if "judged" in where:  # it changes while we look
            return self._count_rows(table, where, tuple(values))
        return self.count(table, where, tuple(values))

    def _count_rows(self, table: str, where: str, values: tuple[Any, ...]) -> int:
        (count,) = self._rows(f"SELECT COUNT(*) FROM {table} {where}", list(values))[0]
        return int(count)


def where_of(conditions: list[Condition]) -> tuple[str, list[Any]]:
    """Return conditions as a clause of SQL, and its values."""
    sql = " AND ".join(condition for condition, _ in conditions)
    return (f"WHERE {sql}" if sql else ""), [value for _, values in conditions for value in values]
