"""The slow twin of families: every span is compared with every other one, and every passage is looked at again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[int, int, int]  # document, start, end


class Copy(NamedTuple):
    """A passage: the documents, where it is in both, and how similar the two sides are."""

    a: int
    b: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    similarity: float = 1.0

    @property
    def sides(self) -> tuple[Place, Place]:
        return (self.a, self.a_start, self.a_end), (self.b, self.b_start, self.b_end)


def shared(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return how much of the longer of two spans is in both."""
    overlap = min(one[-1], other[-1]) - max(one[-2], other[-2])
    return max(overlap, 0) / max(one[-1] - one[-2], other[-1] - other[-2])


def place_of_spans(passages: Sequence[Copy]) -> tuple[dict[Place, Place], Counter[Place]]:
    """Return the place that each span belongs to, and how many passages name each place."""
    counts = Counter(side for passage in passages for side in passage.sides)
    of_span: dict[Place, Place] = {}
    for one in sorted(counts, key=lambda span: (-counts[span], span[1] - span[2], span[1])):
        if one not in of_span:
            same = [span for span in counts if span[0] == one[0] and span not in of_span and shared(one, span) >= 0.75]
            of_span |= dict.fromkeys(same, one)
    named: Counter[Place] = Counter()
    for span, place in of_span.items():
        named[place] += counts[span]
    return of_span, named


def expected_families(
    passages: Sequence[Copy], times: Sequence[int | None], ids: Sequence[str]
) -> tuple[list[list[Place]], list[int | None]]:
    """Return the places of every family, in the order of the table, and the family of every passage."""
    of_span, named = place_of_spans(passages)

    def moment(place: Place) -> tuple[object, ...]:
        time = times[place[0]]
        return time is None, time or 0, ids[place[0]], place[1], place[2], place[0]

    base = follow(passages, of_span, sorted(named, key=moment))
    found = []
    for each in dict.fromkeys(base.values()):
        places = apart([place for place in base if base[place] == each], named)
        if len(places) > 1:
            found.append((sorted(places, key=moment), each))

    def order(family: tuple[list[Place], Place]) -> tuple[object, ...]:
        document, start, end = family[0][0]
        return -len({place[0] for place in family[0]}), start - end, ids[document], start, document

    found.sort(key=order)
    number = {each: n for n, (_, each) in enumerate(found)}

    def family_of(passage: Copy) -> int | None:
        a, b = (of_span[side] for side in passage.sides)
        numbers = [number[base[place]] for place in (a, b) if base.get(place) in number]
        return min(numbers) if numbers and a != b else None

    return [places for places, _ in found], [family_of(passage) for passage in passages]


def follow(passages: Sequence[Copy], of_span: dict[Place, Place], order: list[Place]) -> dict[Place, Place]:
    """Return the base of the family of every place; `order` has the earliest places first."""
    rank = {place: number for number, place in enumerate(order)}
    links: dict[Place, list[tuple[Place, tuple[int, ...], float]]] = {place: [] for place in order}
    for passage in passages:
        a, b = passage.sides
        if of_span[a] != of_span[b]:
            links[of_span[a]].append((of_span[b], (*a[1:], *b[1:]), passage.similarity))
            links[of_span[b]].append((of_span[a], (*b[1:], *a[1:]), passage.similarity))
    for place in order:
        links[place].sort(key=lambda link: (rank[link[0]], link[1]))
    base: dict[Place, Place] = {}
    for first in order:
        if first in base or not links[first]:
            continue
        base[first] = first
        arrived: list[tuple[Place, float, float, float]] = [(first, *map(float, first[1:]), 1.0)]  # type: ignore[list-item]
        for here, start, end, share in arrived:
            for there, (near_start, near_end, far_start, far_end), similarity in links[here]:
                part_start, part_end = max(start, near_start), min(end, near_end)
                if there in base or part_end <= part_start:
                    continue
                part = share * similarity * (part_end - part_start) / (end - start)
                scale = (far_end - far_start) / (near_end - near_start)
                copied = tuple(far_start + (at - near_start) * scale for at in (part_start, part_end))
                if here == first or (part >= 0.75 and shared(copied, there) >= 0.75):
                    base[there] = first
                    arrived.append((there, *copied, part))  # type: ignore[arg-type]
        if len(arrived) == 1:
            base[first] = base[links[first][0][0]]
    return base


def apart(places: list[Place], named: Counter[Place]) -> list[Place]:
    """Return places without those that another one overlaps by half of the shorter one."""
    kept: list[Place] = []
    for place in sorted(places):
        if kept and kept[-1][0] == place[0]:
            last = kept[-1]
            overlap, shorter = min(last[2], place[2]) - place[1], min(last[2] - last[1], place[2] - place[1])
            if 2 * overlap >= shorter:
                kept[-1] = max(last, place, key=lambda one: (named[one], one[2] - one[1], one is last))
                continue
        kept.append(place)
    return kept
