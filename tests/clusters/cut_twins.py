"""Slow and plain twins of the cuts: documents are lists of class numbers, every window is compared with every other one."""

from __future__ import annotations

from collections.abc import Callable

MOST_LEADERS = 16
Place = tuple[int, int]  # document, row in it
Match = Callable[[Place, Place], bool]


def processing_order(rank: list[int], is_reference: list[bool]) -> list[int]:
    """Return the documents in the order in which they are decided: the reference first, then by rank, then by number."""
    return sorted(range(len(rank)), key=lambda d: (bool(is_reference) and not is_reference[d], rank[d], d))


def is_possible_source(
    a: int, u: int, b: int, v: int, order: list[int], is_reference: list[bool], same_document: bool, size: int
) -> bool:
    """Return whether the window at row u of document a may be what is kept of the window at row v of document b."""
    if is_reference:
        return is_reference[a] and not is_reference[b]
    if a == b:
        return same_document and u + size <= v
    return order.index(a) < order.index(b)


def expected_cuts(  # type: ignore[no-untyped-def]
    documents, words, rank, size, min_words, same_document, is_reference, match: Match | None = None
) -> dict[Place, Place]:
    """Return the cut rows and their sources by the definition itself: no groups, no limits on the number of places.

    A row goes if a window of `size` rows around it matches, cell by cell, an earlier window whose aligned row stays.
    """
    match = match or (lambda x, y: documents[x[0]][x[1]] == documents[y[0]][y[1]])
    order = processing_order(rank, is_reference)
    windows = [(d, v) for d in order for v in range(len(documents[d]) - size + 1) if sum(words[d][v : v + size]) >= min_words]
    pairs = [
        (a, u, b, v)
        for a, u in windows
        for b, v in windows
        if is_possible_source(a, u, b, v, order, is_reference, same_document, size)
        and all(match((a, u + t), (b, v + t)) for t in range(size))
    ]
    cuts: dict[Place, Place] = {}
    for b in order:
        for j in range(len(documents[b])):
            sources = [(a, u + j - v) for a, u, c, v in pairs if c == b and v <= j < v + size and (a, u + j - v) not in cuts]
            if sources:
                cuts[b, j] = min(sources, key=lambda place: (order.index(place[0]), place[1]))
    return cuts


def expected_near_cuts(  # type: ignore[no-untyped-def]
    documents, types, words, rank, size, min_words, same_document, is_reference, match: Match, most_leaders=MOST_LEADERS
) -> dict[Place, Place]:
    """Return the cut rows and their sources as near matching promises them.

    A row goes if the exact rule (on types) takes it, or if a window around it matches a leader whose aligned row stays.
    Leaders of a window of classes: windows with a row that stays, unless a leader matches them that stays wherever they do.
    """
    order = processing_order(rank, is_reference)
    cuts: dict[Place, Place] = {}
    done: list[Place] = []  # rows that are decided, in order
    leaders: dict[tuple[int, ...], list[Place]] = {}

    def is_window(d: int, v: int) -> bool:
        return 0 <= v <= len(documents[d]) - size and sum(words[d][v : v + size]) >= min_words

    def matched(a: int, u: int, b: int, v: int) -> bool:
        return all(match((a, u + t), (b, v + t)) for t in range(size))

    for b in order:
        may_lead = not is_reference or is_reference[b]
        may_go = not is_reference or not is_reference[b]
        nearly: dict[Place, Place] = {}
        for j in range(len(documents[b])):
            if is_window(b, j) and may_go:
                for a, u in leaders.get(tuple(documents[b][j : j + size]), []):
                    if is_possible_source(a, u, b, j, order, is_reference, same_document, size) and matched(a, u, b, j):
                        for t in range(size):
                            if (a, u + t) not in cuts:
                                nearly.setdefault((b, j + t), (a, u + t))
            for a, i in done:
                if (a, i) in cuts or (b, j) in cuts:
                    continue
                for t in range(size):
                    u, v = i - t, j - t
                    if (
                        is_window(a, u)
                        and is_window(b, v)
                        and types[a][u : u + size] == types[b][v : v + size]
                        and is_possible_source(a, u, b, v, order, is_reference, same_document, size)
                    ):
                        cuts[b, j] = (a, i)
                        break
            if (b, j) not in cuts and (b, j) in nearly:
                cuts[b, j] = nearly[b, j]
            done.append((b, j))
            v = j - size + 1
            if may_lead and is_window(b, v):
                known = leaders.setdefault(tuple(documents[b][v : v + size]), [])
                stays = {t for t in range(size) if (b, v + t) not in cuts}
                represented = any(matched(a, u, b, v) and all((a, u + t) not in cuts for t in stays) for a, u in known)
                if stays and not represented and len(known) < most_leaders:
                    known.append((b, v))
    return cuts
