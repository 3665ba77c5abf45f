"""Story cards: one family in all its places, in order, with the words themselves and how they changed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from ibidem.alignment.differences import word_differences, word_places
from ibidem.alignment.moves import moved_words
from ibidem.viewer.database import Connections
from ibidem.viewer.excerpts import excerpt, prose_start
from ibidem.viewer.family_texts import FamilyTexts
from ibidem.viewer.queries import check_limit, read_cursor, write_cursor
from ibidem.viewer.rows import family_of, time_of
from ibidem.viewer.stored_texts import MOST_EXCERPT_CHARS, StoredTexts
from ibidem.viewer.stories import STORY

_MOST_PLACES = 400  # looked at for one card
_MOST_STEPS = 12  # outlets shown on one card
_MOST_VARIANTS = 6  # compared with the first wording
_TITLE_CHARS = 80
_SHOWN_CHARS = 460
_BEFORE_CHARS = 160  # shown before the first change
_PLACES = """
  SELECT p.document, p.start, p."end", d.id, d.time, d.title, d.is_reference, g.name AS "group" FROM places p
  JOIN documents d ON d.number = p.document LEFT JOIN groups g ON g.number = d."group"
  WHERE p.family = ? ORDER BY {} LIMIT ?
"""
_PAIRS_OF = "SELECT number, a, b FROM pairs WHERE (a = ? AND b IN ({0})) OR (b = ? AND a IN ({0}))"
_RULE = re.compile(r"([^\w\s]|_)\1{4,}")
_IN_BOTH = ("same", "moved_away", "moved_here")
Words = list[tuple[str, str]]


def place_order(is_against: bool) -> str:
    """Return the order of the places of a text, the one that others are compared with first.

    That is the earliest; where documents were compared with a reference, it is in the reference, whenever that was.
    """
    return f"{'d.is_reference DESC, ' if is_against else ''}d.time IS NULL, d.time, p.document, p.start"


class StoryCards:
    """Reads story cards, for any thread. With `has_groups`, documents without a group are one step, and no outlet."""

    def __init__(
        self,
        connections: Connections,
        texts: StoredTexts,
        family_texts: FamilyTexts,
        has_groups: bool,
        is_against: bool,
    ) -> None:
        self._rows, self._one, self._texts, self._family_texts = connections.rows, connections.one, texts, family_texts
        self._has_groups, self._is_against = has_groups, is_against
        self._places = _PLACES.format(place_order(is_against))

    def page(self, cursor: str | None, limit: int, is_folded: bool = False) -> dict[str, Any]:
        """Return a page of cards in the order in which they are shown; or of those that are folded away."""
        check_limit(limit)
        after = -1 if cursor is None else read_cursor(cursor)[1]
        folded = f"fold {'<>' if is_folded else '='} {STORY}"
        rows = self._rows(f"SELECT * FROM stories WHERE {folded} AND number > ? ORDER BY number LIMIT ?", [after, limit + 1])
        (total,) = self._rows(f"SELECT COUNT(*) FROM stories WHERE {folded}")[0]
        items = [self._card(row) for row in rows[:limit]]
        following = write_cursor(None, rows[limit - 1]["number"]) if len(rows) > limit else None
        return {"items": [item for item in items if item is not None], "total": total, "next": following}

    def _card(self, story: sqlite3.Row) -> dict[str, Any] | None:
        number = story["family"]
        family = self._one("SELECT * FROM families WHERE number = ?", [number])
        places = self._rows(self._places, [number, _MOST_PLACES])
        if family is None or not places:
            return None
        steps = self._steps(places)
        excerpts, _ = self._texts.excerpts((p["document"], p["start"], p["end"]) for p in places[: 4 * _MOST_STEPS])
        base = excerpts[0] or self._family_texts.text(family, MOST_EXCERPT_CHARS)
        words, n_changed, n_moved, is_compared = _told(base, excerpts[1:])
        is_compared &= len(excerpts) == family["n_places"] and family["n_chars"] <= MOST_EXCERPT_CHARS
        pairs = self._pairs(places[0]["document"], [step["document"] for step in steps[1:]])
        for step in steps:
            step["pair"] = pairs.get(step["document"])
        if all(step["pair"] is None for step in steps):  # all in one outlet: any other document of the family
            others = [p["document"] for p in places if p["document"] != places[0]["document"]][:_MOST_STEPS]
            found = self._pairs(places[0]["document"], others)
            steps[-1]["pair"] = next(iter(found.values()), None)
        return {
            "story": family_of(family, self._family_texts.text(family, MOST_EXCERPT_CHARS)),
            "n_families": story["n_families"],
            "is_edited": bool(story["is_edited"]) or n_changed + n_moved > 0,
            "title": places[0]["title"] or excerpt(base, _TITLE_CHARS) or places[0]["id"],
            "steps": steps[:_MOST_STEPS],
            "n_steps": len(steps),
            "n_outlets": sum(step["group"] is not None for step in steps) if self._has_groups else len(steps),
            "is_ordered": _is_ordered(places),
            "last_seconds": _last_seconds(places),
            "words": [{"is": kind, "text": text} for kind, text in words],
            "n_changed": n_changed,
            "n_moved": n_moved,
            "is_compared": is_compared,
        }

    def _steps(self, places: Sequence[sqlite3.Row]) -> list[dict[str, Any]]:
        """Return the first place of each outlet, in order; `seconds` is the time since the first place of all."""
        steps: dict[Any, dict[str, Any]] = {}
        first = places[0]["time"]
        for place in places:
            outlet = (place["is_reference"] if self._is_against else 0, place["group"])
            step = steps.get(outlet if self._has_groups else place["document"])
            if step is not None:
                step["n_places"] += 1
                continue
            known = place["time"] is not None and first is not None
            steps[outlet if self._has_groups else place["document"]] = {
                "document": place["document"], "id": place["id"], "title": place["title"], "group": place["group"],
                "is_reference": bool(place["is_reference"]),
                "time": time_of(place["time"]), "seconds": (place["time"] - first) // 1_000_000 if known else None,
                "n_chars": place["end"] - place["start"], "n_places": 1, "pair": None,
                **self._texts.located(place["document"], place["start"], place["end"]),
            }  # fmt: skip
        return list(steps.values())

    def _pairs(self, document: int, others: Sequence[int]) -> dict[int, int]:
        """Return the pairs of a document with others, by the other document."""
        some = list(dict.fromkeys(others))[:_MOST_STEPS]
        if not some:
            return {}
        rows = self._rows(_PAIRS_OF.format(", ".join("?" * len(some))), [document, *some, document, *some])
        return {(row["b"] if row["a"] == document else row["a"]): row["number"] for row in rows}


def _is_ordered(places: Sequence[sqlite3.Row]) -> bool:
    """Return whether one outlet is known to be the first: others with the same time leave that open."""
    first = places[0]["time"]
    times = [place["time"] for place in places if place["time"] is not None]
    if first is None or max(times) == first or min(times) < first:
        return False
    return len({place["group"] or place["document"] for place in places if place["time"] == first}) == 1


def _last_seconds(places: Sequence[sqlite3.Row]) -> int | None:
    times = [place["time"] for place in places if place["time"] is not None]
    return (max(times) - min(times)) // 1_000_000 if len(times) > 1 else None


def _told(base: str, others: Sequence[str]) -> tuple[Words, int, int, bool]:
    """Return the words of the first wording with the changes of the most edited one, how many words that one changed and how
    many parts it moved, and whether all wordings were compared.
    """
    seen: dict[tuple[str, ...], str] = {_key(base): base}
    for text in others:
        if text:
            seen.setdefault(_key(text), text)
    best: tuple[int, int, Words] = (0, 0, [("same", base)])
    for text in list(seen.values())[1 : 1 + _MOST_VARIANTS]:
        words = changed_words(base, text)
        counts = count_changed(words), sum(kind == "moved_here" for kind, _ in words)
        if counts > best[:2]:
            best = *counts, words
    return _cut(best[2]), best[0], best[1], all(others) and len(seen) <= 1 + _MOST_VARIANTS


def changed_words(base: str, other: str) -> Words:
    """Return one text with its changes to another: pieces that are the same, removed, added, or moved away and moved here.

    Where only one of the two goes on at the beginning or the end, that is where the passage was cut, not a change.
    """
    pieces: Words = []
    differences = word_differences(base, other)
    moves = moved_words(differences, base, other)
    for difference in differences:
        if difference.operation == "equal":
            pieces.append(("same", base[difference.a_start : difference.a_end]))
        else:
            pieces += _pieces(base, difference.a_start, difference.a_end, [move[:2] for move in moves], "removed", "moved_away")
            pieces += _pieces(
                other, difference.b_start, difference.b_end, sorted(move[2:] for move in moves), "added", "moved_here"
            )
    same = [n for n, (kind, _) in enumerate(pieces) if kind in _IN_BOTH]
    if not same:
        return [("same", base)]
    head, inner, tail = pieces[: same[0]], pieces[same[0] : same[-1] + 1], pieces[same[-1] + 1 :]
    return [*_cut_or_changed(head), *inner, *_cut_or_changed(tail)]


def _pieces(
    text: str, start: int, end: int, moved: Sequence[tuple[int, ...]], changed_kind: str, moved_kind: str
) -> Iterator[tuple[str, str]]:
    """Yield what only one text has at a place, with the words that the other has elsewhere."""
    for move_start, move_end in moved:
        if start <= move_start and move_end <= end:
            if move_start > start:
                yield changed_kind, text[start:move_start]
            after = move_end + len(text[move_end:end]) - len(text[move_end:end].lstrip())
            yield moved_kind, text[move_start:after]
            start = after
    if start < end:
        yield changed_kind, text[start:end]


def _cut_or_changed(pieces: Words) -> Words:
    """Return what precedes or follows the words in common: changed if both texts have words there, otherwise cut."""
    if len(pieces) > 1:
        return pieces
    return [("same", text) for kind, text in pieces if kind == "removed"]


def count_changed(words: Words) -> int:
    """Return how many words changed: removed and added ones at one place count once."""
    n_changed, removed, added = 0, 0, 0
    for kind, text in [*words, ("same", "")]:
        if kind in _IN_BOTH:
            n_changed += max(removed, added)
            removed = added = 0
        elif kind == "removed":
            removed += len(word_places(text))
        else:
            added += len(word_places(text))
    return n_changed


def _cut(words: Words) -> Words:
    """Return the part of a text that a card shows: from its first prose on, or from shortly before the first change."""
    first = next((n for n, (kind, _) in enumerate(words) if kind != "same"), None)
    shown: Words = []
    room = _SHOWN_CHARS
    for n, (kind, text) in enumerate(words):
        text = _on_one_line(text[prose_start(text) :] if n == 0 and kind == "same" else text)
        if n == 0 and first is not None and len(text) > _BEFORE_CHARS + _SHOWN_CHARS // 2:
            last = text[-_BEFORE_CHARS:]
            text = "…" + last[last.find(" ", 0, _BEFORE_CHARS // 2) + 1 :]
        if len(text) > room:
            cut = text[:room]
            space = cut.rfind(" ")
            shown.append((kind, (cut[:space] if space > room // 2 else cut) + "…"))
            break
        shown.append((kind, text))
        room -= len(text)
        if room <= 0:
            break
    return shown


def _on_one_line(text: str) -> str:
    """Return a text on one line, with a space where it begins or ends with one, and with rules and borders shortened."""
    words = _RULE.sub(r"\1\1\1", " ".join(text.split()))
    return f"{' ' if text[:1].isspace() else ''}{words}{' ' if words and text[-1:].isspace() else ''}"


def _key(text: str) -> tuple[str, ...]:
    return tuple(text[start:end].casefold() for start, end in word_places(text))
