"""Slow and plain twins of what views are made of: they count character by character, and compare everything with everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from ibidem.viewer.document_pairs import NO_TIME, PassageColumns
from tests.passages import family_twins
from tests.passages.family_twins import Copy

MICROSECONDS_A_DAY = 86_400_000_000


@dataclass(frozen=True)
class Plain:
    """A passage: documents, places, and what is said of it."""

    a: int
    b: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    n_sentences: int = 1
    similarity: float = 1.0
    kind: int = 0
    direction: int = 0

    @property
    def length(self) -> int:
        return min(self.a_end - self.a_start, self.b_end - self.b_start)

    def span(self, side: str) -> tuple[int, int]:
        return (self.a_start, self.a_end) if side == "a" else (self.b_start, self.b_end)


def columns_of(passages: Sequence[Plain]) -> PassageColumns:
    """Return passages as the columns they are worked with."""
    values = {name: [getattr(p, name) for p in passages] for name in Plain.__dataclass_fields__}
    kinds = {name: np.float64 if name == "similarity" else np.int64 for name in values}
    return PassageColumns(**{name: np.array(column, kinds[name]) for name, column in values.items()})


def characters(spans: Sequence[tuple[int, int]]) -> set[int]:
    """Return the characters that are in spans."""
    return {place for start, end in spans for place in range(start, end)}


def expected_pairs(passages: Sequence[Plain], n_chars: Sequence[int], times: Sequence[int]) -> list[dict[str, Any]]:
    """Return every pair of documents, counted character by character, with its passages in the order of a."""
    found = []
    for a, b in sorted({(p.a, p.b) for p in passages}):
        own = sorted((p for p in passages if (p.a, p.b) == (a, b)), key=lambda p: (p.a_start, p.b_start))
        covered = {side: len(characters([p.span(side) for p in own])) for side in "ab"}
        shares = {
            side: min(covered[side] / n_chars[number], 1) if n_chars[number] > 0 else None
            for side, number in (("a", a), ("b", b))
        }
        longest = max(own, key=lambda p: p.length)  # the first of equally long ones
        known = NO_TIME not in (times[a], times[b])
        found.append(
            {
                "a": a,
                "b": b,
                "n_passages": len(own),
                "shared": min(covered.values()),
                "longest": longest.length,
                "kind": longest.kind,
                "direction": longest.direction,
                "similarity": sum(p.length * p.similarity for p in own) / sum(p.length for p in own),
                "coverage_a": shares["a"],
                "coverage_b": shares["b"],
                "days": abs(times[a] - times[b]) / MICROSECONDS_A_DAY if known else None,
                "passages": own,
            }
        )
    return found


def expected_first_share(document: int, passages: Sequence[Plain], n_chars: int) -> float | None:
    """Return the share of a document that later ones have and earlier ones do not, character by character."""
    later, earlier = [], []
    for p in passages:
        for side, own, way in (("a", p.a, 1), ("b", p.b, 2)):
            if own == document and p.direction:
                (later if p.direction == way else earlier).append(p.span(side))
    if not later and not earlier:
        return None
    return len(characters(later) - characters(earlier)) / n_chars


def expected_families(
    passages: Sequence[Plain], records: Sequence[Mapping[str, Any]]
) -> tuple[list[int | None], list[list[tuple[int, int, int]]]]:
    """Return the family of every passage, and the places of every family; numbers count from 1."""
    times = [datetime.fromisoformat(record["time"]).timestamp() if record.get("time") else None for record in records]
    copies = [Copy(*(getattr(p, name) for name in Copy._fields)) for p in passages]
    places, of_passage = family_twins.expected_families(copies, times, [record["id"] for record in records])
    return [None if number is None else number + 1 for number in of_passage], places


def united(spans: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return spans, with those that share a character merged."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def expected_shades(sentences: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, int]]) -> list[dict[str, int]]:
    """Return for every sentence how many other documents contain at least half of its characters."""
    found = []
    for start, end in sentences:
        n_documents = 0
        for other in {span[2] for span in spans}:
            covered = characters([span[:2] for span in spans if span[2] == other]) & set(range(start, end))
            n_documents += 2 * len(covered) >= end - start
        if n_documents:
            found.append({"start": start, "end": end, "n_documents": n_documents})
    return found
