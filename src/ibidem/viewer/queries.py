"""Queries of views and their SQL: filters, orders, and pages that continue where the last one ended."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

from ibidem.model import KINDS
from ibidem.viewer.database import Connections
from ibidem.viewer.family_texts import FEWEST_INDEXED_CHARS, trigrams
from ibidem.viewer.rows import COVERAGE, DAYS, JUDGED_PAIRS, UNIT

VERDICTS = ("confirmed", "rejected", "unsure")
MOST_ROWS = 500
_MOST_TERMS = 16
_ROUNDING = 0.5  # a limit of 0.9 includes what is 0.9 as far as it is stored

Condition = tuple[str, list[Any]]
_ESCAPE = "ESCAPE '\\'"
_NAMED = (
    f'd.id LIKE ? {_ESCAPE} OR d.title LIKE ? {_ESCAPE} OR d."group" IN (SELECT number FROM groups WHERE name LIKE ? {_ESCAPE})'
)
_INDEXED = (
    "d.number IN (SELECT rowid FROM names WHERE names MATCH ?) AND (contains(d.id, ?) OR contains(d.title, ?) "
    'OR d."group" IN (SELECT number FROM groups WHERE contains(name, ?)))'
)
_FAMILIES = "SELECT value FROM json_each(families_with(?))"


@dataclass(frozen=True)
class Query:
    """The requested page: its order and its first row. An invalid value raises ValueError."""

    search: str | None = None
    sort: str | None = None
    order: str | None = None
    cursor: str | None = None
    limit: int = 50

    SORTS: ClassVar[dict[str, str]] = {}
    ASCENDING: ClassVar[tuple[str, ...]] = ()
    MISSING: ClassVar[tuple[str, ...]] = ()  # columns that may lack a value

    def __post_init__(self) -> None:
        if self.sort is not None and self.sort not in self.SORTS:
            raise ValueError(f"sort must be one of {', '.join(self.SORTS)}, not {self.sort!r}")
        if self.order not in (None, "asc", "desc"):
            raise ValueError(f"order must be asc or desc, not {self.order!r}")
        check_limit(self.limit)
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{field.name} is not a number")
            if isinstance(value, int) and not is_storable(value):
                raise ValueError(f"{field.name} is too large")

    @property
    def column(self) -> str:
        """The column that rows are sorted by."""
        return self.SORTS[self.sort or next(iter(self.SORTS))]

    @property
    def is_rising(self) -> bool:
        """Whether the smallest comes first."""
        return self.order == "asc" if self.order else (self.sort or "") in self.ASCENDING

    @property
    def order_by(self) -> str:
        """The order; rows without a value come last, equal ones by number. Indices provide it in both directions."""
        if not self.is_rising:
            return f"{self.column} DESC, {self.NUMBER} DESC"
        last = f"({self.column} IS NULL), " if self._may_be_missing else ""
        return f"{last}{self.column}, {self.NUMBER}"

    @property
    def _may_be_missing(self) -> bool:
        return self.column in self.MISSING

    NUMBER: ClassVar[str] = "number"

    @property
    def sorted_with(self) -> str:
        """The joins that the order needs."""
        return ""

    def after_cursor(self) -> Condition | None:
        """Return the condition for the rows after the cursor."""
        if self.cursor is None:
            return None
        value, number = read_cursor(self.cursor)
        sign = ">" if self.is_rising else "<"
        if value is None:
            return f"({self.column} IS NULL AND {self.NUMBER} {sign} ?)", [number]
        or_missing = f" OR {self.column} IS NULL" if self._may_be_missing else ""
        return f"(({self.column}, {self.NUMBER}) {sign} (?, ?){or_missing})", [value, number]

    def conditions(self) -> list[Condition]:
        """Return the conditions for every row."""
        raise NotImplementedError


@dataclass(frozen=True)
class PairQuery(Query):
    """Pairs of documents."""

    min_similarity: float | None = None
    min_coverage: float | None = None
    min_longest: float | None = None
    group: str | None = None
    kind: str | None = None
    year: int | None = None
    verdict: str | None = None
    document: int | None = None
    across: bool | None = None

    SORTS: ClassVar[dict[str, str]] = {
        **{name: f"p.{name}" for name in ("interest", "shared", "longest", "n_passages")},
        "similarity": "-p.distance",
        "coverage": COVERAGE,
        "days": DAYS,
        "a": "a.name",
        "b": "b.name",
    }
    ASCENDING: ClassVar[tuple[str, ...]] = ("a", "b")
    MISSING: ClassVar[tuple[str, ...]] = (DAYS,)
    NUMBER: ClassVar[str] = "p.number"

    @property
    def sorted_with(self) -> str:
        """The joins that the order needs."""
        sides = [side for side in "ab" if f"{side}." in self.column]
        return " ".join(f"JOIN documents {side} ON {side}.number = p.{side}" for side in sides)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind is not None and self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.verdict is not None and self.verdict not in (*VERDICTS, "none"):
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)} or none, not {self.verdict!r}")

    def conditions(self) -> list[Condition]:
        """Return the conditions for every pair."""
        found: list[Condition] = []
        if self.min_similarity is not None:
            found.append(("p.distance <= ?", [math.floor((1 - self.min_similarity) * UNIT + _ROUNDING)]))
        if self.min_coverage is not None:
            found.append((f"{COVERAGE} >= ?", [math.ceil(self.min_coverage * UNIT - _ROUNDING)]))
        if self.min_longest is not None:
            found.append(("p.longest >= ?", [self.min_longest]))
        if self.group is not None:
            numbers = "(SELECT number FROM groups WHERE name = ? COLLATE NOCASE)"
            found.append((f"(p.a_group IN {numbers} OR p.b_group IN {numbers})", [self.group] * 2))
        if self.kind is not None:
            found.append(("p.kind = ?", [KINDS.index(self.kind)]))
        if self.across:
            found.append(("p.a_group IS NOT p.b_group", []))
        if self.year is not None:
            found.append(("p.year = ?", [self.year]))
        if self.document is not None:
            found.append(("(p.a = ? OR p.b = ?)", [self.document] * 2))
        if self.verdict is not None:
            judged = f"SELECT number FROM ({JUDGED_PAIRS}) WHERE verdict IS NOT NULL"
            if self.verdict == "none":
                found.append((f"p.number NOT IN ({judged})", []))
            else:
                found.append((f"p.number IN ({judged} AND verdict = ?)", [self.verdict]))
        for term in terms_of(self.search):
            named, values = _named(term)
            listed = f"SELECT number FROM documents d WHERE {named}"
            sides = f"p.a IN ({listed}) OR p.b IN ({listed})"
            if len(term) < FEWEST_INDEXED_CHARS and term.isascii():  # they occur in every text; in Chinese they are a word
                found.append((f"({sides})", values * 2))
            else:
                held = f"p.number IN (SELECT pair FROM passages WHERE family IN ({_FAMILIES}))"
                found.append((f"({sides} OR {held})", [*values * 2, term]))
        return found


@dataclass(frozen=True)
class DocumentQuery(Query):
    """Documents."""

    group: str | None = None

    SORTS: ClassVar[dict[str, str]] = {
        **{name: f"d.{name}" for name in ("reused_share", "n_pairs", "n_chars", "time")},
        "id": "d.name",
    }
    ASCENDING: ClassVar[tuple[str, ...]] = ("id", "time")
    MISSING: ClassVar[tuple[str, ...]] = ("d.reused_share", "d.n_chars", "d.time")
    NUMBER: ClassVar[str] = "d.number"

    def conditions(self) -> list[Condition]:
        """Return the conditions for every document."""
        found: list[Condition] = []
        if self.group is not None:
            found.append(('d."group" IN (SELECT number FROM groups WHERE name = ? COLLATE NOCASE)', [self.group]))
        for term in terms_of(self.search):
            named, values = _named(term)
            found.append((f"({named})", values))
        return found


@dataclass(frozen=True)
class FamilyQuery(Query):
    """Passage families."""

    SORTS: ClassVar[dict[str, str]] = {
        "spread": "f.n_documents * f.n_chars",
        **{name: f"f.{name}" for name in ("n_documents", "n_chars", "first_time")},
    }
    ASCENDING: ClassVar[tuple[str, ...]] = ("first_time",)
    MISSING: ClassVar[tuple[str, ...]] = ("f.first_time",)
    NUMBER: ClassVar[str] = "f.number"

    def conditions(self) -> list[Condition]:
        """Return the conditions for every family."""
        return [(f"f.number IN ({_FAMILIES})", [term]) for term in terms_of(self.search)]


class Pages:
    """Reads a page at a time; counts are cached, because people look at many pages of one list."""

    def __init__(self, connections: Connections) -> None:
        self._rows = connections.rows
        self.count = lru_cache(maxsize=512)(self._count_rows)

    def page(self, query: Query, table: str, select: str, tell: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the rows of a query, their total number, and the cursor of the next page."""
        conditions = query.conditions()
        after = query.after_cursor()
        where, values = where_of([*conditions, *([after] if after else [])])
        # First only the numbers: what belongs to a row is not looked up for those on other pages.
        keys = f"SELECT {query.column} AS cursor_value, {query.NUMBER} FROM {table} {query.sorted_with}"
        rows = self._rows(f"{keys} {where} ORDER BY {query.order_by} LIMIT ?", [*values, query.limit + 1])
        last = rows[query.limit - 1] if len(rows) > query.limit else None
        numbers = [row["number"] for row in rows[: query.limit]]
        listed = f"{select} WHERE {query.NUMBER} IN ({', '.join('?' * len(numbers))})"
        found = {row["number"]: row for row in (self._rows(listed, numbers) if numbers else ())}
        return {
            "items": [tell(found[number]) for number in numbers],
            "total": self.total(query, table),
            "next": None if last is None else write_cursor(last["cursor_value"], last["number"]),
        }

    def total(self, query: Query, table: str) -> int:
        """Return how many rows a query has on all its pages."""
        conditions = query.conditions()
        where, values = where_of(conditions)
        if "judged" in where:  # verdicts change while people look
            return self._count_rows(table, where, tuple(values))
        return self.count(table, where, tuple(values))

    def _count_rows(self, table: str, where: str, values: tuple[Any, ...]) -> int:
        (count,) = self._rows(f"SELECT COUNT(*) FROM {table} {where}", list(values))[0]
        return int(count)


def where_of(conditions: list[Condition]) -> tuple[str, list[Any]]:
    """Return conditions as an SQL clause and its values."""
    sql = " AND ".join(condition for condition, _ in conditions)
    return (f"WHERE {sql}" if sql else ""), [value for _, values in conditions for value in values]


def check_limit(limit: int) -> None:
    """Raise ValueError for a page size that is too large or not positive."""
    if not 1 <= limit <= MOST_ROWS:
        raise ValueError(f"limit must be a number from 1 to {MOST_ROWS}")


def write_cursor(value: Any, number: int) -> str:
    """Return a cursor for the last row of a page."""
    return base64.urlsafe_b64encode(json.dumps([value, number]).encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[Any, int]:
    """Return the arguments of `write_cursor`; raise ValueError for anything it did not write."""
    try:
        value, number = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(number, int) or not isinstance(value, (int, float, str, type(None))):
            raise ValueError
        if not is_storable(number) or (isinstance(value, int) and not is_storable(value)):
            raise ValueError
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError("cursor does not come from this address") from error
    return value, number


def is_storable(number: int) -> bool:
    """Return whether SQLite can store a number."""
    return -(1 << 63) <= number < 1 << 63


def terms_of(search: str | None) -> list[str]:
    """Return the search terms; words in quotation marks form one term."""
    parts = (search or "").replace("\0", " ").split('"')
    terms = [term for k, part in enumerate(parts) for term in ([part.strip()] if k % 2 else part.split()) if term]
    terms = list(dict.fromkeys(terms))
    if len(terms) > _MOST_TERMS:
        raise ValueError(f"search for at most {_MOST_TERMS} words; put a longer text in quotation marks")
    return terms


def _like(term: str) -> str:
    for sign in "\\%_":
        term = term.replace(sign, f"\\{sign}")
    return f"%{term}%"


def _named(term: str) -> Condition:
    """Return the condition that the id, title or group of a document contains a term."""
    if len(term) < FEWEST_INDEXED_CHARS:
        return _NAMED, [_like(term)] * 3
    return _INDEXED, [trigrams(term), term, term, term]
