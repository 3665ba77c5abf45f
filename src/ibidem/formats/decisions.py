"""What happens to records, by the place where each stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.formats.known_texts import KnownTexts


@dataclass(frozen=True)
class Decision:
    """What happens to one record. Where there is no decision, the record stays as it is.

    `drop`: the whole record goes. `cuts`: half-open spans of characters of the text as it was read that go; they rise and
    do not overlap. `marks`: values of the columns that are added when records are only marked.
    """

    drop: bool = False
    cuts: tuple[tuple[int, int], ...] = ()
    marks: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bounds = [bound for cut in self.cuts for bound in cut]
        if bounds and (bounds[0] < 0 or bounds != sorted(bounds)):
            raise ValueError(f"cuts that do not rise: {self.cuts}")

    def remaining(self, text: str) -> str:
        """Return a text without the cuts; they must lie within it."""
        return without_spans(text, self.cuts)


DROPPED = Decision(drop=True)


def without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some rising spans of it; a span beyond its end is a ValueError."""
    pieces, copied = [], 0
    for start, end in spans:
        pieces.append(text[copied:start])
        copied = end
    if copied > len(text):
        raise ValueError("a cut beyond the end of the text")
    return "".join(pieces) + text[copied:]


class SourceDecisions:
    """The decisions about the records of one source, by position, and what those records were, if that is `known`."""

    def __init__(self, dropped: NDArray[np.int64], others: Mapping[int, Decision], known: KnownTexts | None = None) -> None:
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


class Decisions:
    """Decisions by source name and position: only those records that change. Mere drops take eight bytes each."""

    def __init__(self) -> None:
        self._dropped: dict[str, list[NDArray[np.int64]]] = {}
        self._others: dict[str, dict[int, Decision]] = {}
        self._ready: dict[str, SourceDecisions] = {}

    def add(self, source: str, position: int, decision: Decision) -> None:
        """Decide about one record; a second decision about it is a ValueError, at once or at the next look."""
        self._ready.pop(source, None)
        others = self._others.setdefault(source, {})
        if position in others:
            raise ValueError(f"two decisions about {source}, {position}")
        others[position] = decision

    def drop(self, source: str, positions: Iterable[int] | NDArray[np.int64]) -> None:
        """Drop many records at once."""
        self._ready.pop(source, None)
        several = positions if isinstance(positions, np.ndarray) else list(positions)
        self._dropped.setdefault(source, []).append(np.array(several, np.int64))

    def of(self, source: str, position: int) -> Decision | None:
        """Return the decision about a record, or None if it stays as it is."""
        return self.of_source(source).at(position)

    def of_source(self, source: str) -> SourceDecisions:
        """Return all decisions about the records of one source."""
        if source not in self._ready:
            dropped = np.concatenate((*self._dropped.get(source, ()), np.empty(0, np.int64)))
            self._ready[source] = SourceDecisions(dropped, self._others.get(source, {}))
        return self._ready[source]
