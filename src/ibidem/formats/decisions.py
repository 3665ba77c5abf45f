"""What happens to records, by the position of each in its source: dropped, cut or marked; and what their texts were."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.errors import InputError

Positions = NDArray[np.int64]
Checks = NDArray[np.uint64]  # two numbers per text


@dataclass(frozen=True)
class Decision:
    """What happens to one record. Without a decision, a record is unchanged.

    `drop`: the whole record is removed. `cuts`: half-open spans of characters removed from the text as read, in order and
    without overlap. `marks`: values of the columns that are added when records are only marked.
    """

    drop: bool = False
    cuts: tuple[tuple[int, int], ...] = ()
    marks: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bounds = [bound for cut in self.cuts for bound in cut]
        if bounds and (bounds[0] < 0 or bounds != sorted(bounds)):
            raise ValueError(f"cuts are not in ascending order: {self.cuts}")

    def remaining(self, text: str) -> str:
        """Return a text without the cuts; they must be within it."""
        return without_spans(text, self.cuts)


DROPPED = Decision(drop=True)


def without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some spans, given in order; a span beyond its end raises ValueError."""
    pieces, copied = [], 0
    for start, end in spans:
        pieces.append(text[copied:start])
        copied = end
    if copied > len(text):
        raise ValueError("a cut beyond the end of the text")
    return "".join(pieces) + text[copied:]


def _ignore(positions: Positions, texts: pa.LargeStringArray) -> None:
    """Do nothing with texts: no checks are wanted."""


@dataclass(frozen=True)
class KnownTexts:
    """The checks of records' texts at the time of the decision, by position; `check` computes checks.

    `see` gets the texts as they come again, with their positions.
    """

    check: Callable[[pa.LargeStringArray], Checks]
    positions: Positions
    checks: Checks
    see: Callable[[Positions, pa.LargeStringArray], None] = _ignore

    @classmethod
    def of(
        cls, check: Callable[[pa.LargeStringArray], Checks], positions: Positions, checks: Checks,
        see: Callable[[Positions, pa.LargeStringArray], None] = _ignore,
    ) -> KnownTexts:  # fmt: skip
        """Return them in order; a position may come more than once."""
        different, rows = np.unique(positions, return_index=True)
        return cls(check, different, checks[rows], see)

    def first_unlike(self, positions: Positions, texts: pa.LargeStringArray) -> int | None:
        """Return the position of the first text that has changed, or None; all positions are known."""
        places = np.searchsorted(self.positions, positions)
        unlike = (self.checks[places] != self.check(texts)).any(axis=1)
        return int(positions[np.argmax(unlike)]) if unlike.any() else None


class SourceDecisions:
    """The decisions about the records of one source, by position, and the checks of those records, if `known`."""

    def __init__(self, dropped: Positions, others: Mapping[int, Decision], known: KnownTexts | None = None) -> None:
        self.known = known
        self._dropped = np.sort(dropped)
        self._others = others
        self._positions = np.sort(np.concatenate((dropped, np.fromiter(others, np.int64, len(others)))))
        if (self._positions[1:] == self._positions[:-1]).any():
            raise ValueError("two decisions about one record")

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def last(self) -> int:
        """The greatest position that a decision is about, or -1."""
        return int(self._positions[-1]) if len(self._positions) else -1

    @property
    def has_drops(self) -> bool:
        """Whether any record is removed."""
        return len(self._dropped) > 0

    @property
    def has_cuts(self) -> bool:
        """Whether anything is cut out of a text that stays."""
        return any(decision.cuts and not decision.drop for decision in self._others.values())

    def at(self, position: int) -> Decision | None:
        """Return the decision about the record at a position."""
        decision = self._others.get(position)
        if decision is None and len(self._dropped):
            place = int(np.searchsorted(self._dropped, position))
            if place < len(self._dropped) and self._dropped[place] == position:
                return DROPPED
        return decision

    def all(self) -> list[tuple[int, Decision]]:
        """Return all positions and decisions, rising."""
        return self.between(0, self.last + 1)

    def between(self, first: int, end: int) -> list[tuple[int, Decision]]:
        """Return positions from `first` up to before `end` and the decisions about them, rising."""
        low, high = np.searchsorted(self._positions, (first, end))
        found: list[int] = self._positions[low:high].tolist()
        return [(position, self._others.get(position, DROPPED)) for position in found]


class Decisions(Protocol):
    """Decisions about the records of many sources: only about those that change."""

    def of_source(self, source: str) -> SourceDecisions:
        """Return all decisions about the records of one source."""
        ...


class Marks:
    """The columns that are added to records, in the notation of each format.

    Where nothing was decided, or a value is missing, they have the value that is `usual`, or are null.
    """

    def __init__(self, columns: pa.Schema, usual: Mapping[str, Any] | None = None) -> None:
        self.fields = [field.with_nullable(True) for field in columns]
        self._usual = usual or {}
        self.names: list[str] = [field.name for field in self.fields]
        self._no_json = {ascii_only: self._json(None, ascii_only) for ascii_only in (True, False)}

    def check(self, names: Collection[str], source: str) -> None:
        """Raise InputError if a record has one of the columns already."""
        taken = [name for name in self.names if name in names]
        if taken:
            raise InputError(f"{source} already has a column '{taken[0]}'", "Rename it: ibidem adds a column of that name.")

    def as_json(self, decision: Decision | None, ascii_only: bool) -> str:
        """Return the fields as they are written inside a JSON object."""
        return self._no_json[ascii_only] if decision is None else self._json(decision, ascii_only)

    def as_cells(self, decision: Decision | None) -> list[str]:
        """Return the cells of CSV."""
        return [_cell(value) for value in self.values(decision)]

    def as_arrays(self, decisions: Sequence[Decision | None]) -> list[Any]:
        """Return typed Arrow columns."""
        marks = [self._usual if decision is None else {**self._usual, **decision.marks} for decision in decisions]
        return [pa.array([values.get(field.name) for values in marks], field.type) for field in self.fields]

    def values(self, decision: Decision | None) -> list[Any]:
        """Return Python values of the types that the columns have."""
        marks = self._usual if decision is None else {**self._usual, **decision.marks}
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
