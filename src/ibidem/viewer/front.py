"""The front page, made once with the store: how many stories there are, where they began, and who took text from whom."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ibidem.columns.collection import NO_TIME
from ibidem.viewer.excerpts import excerpt
from ibidem.viewer.headline import headline_of
from ibidem.viewer.rows import time_of
from ibidem.viewer.stories import STORY, Flows, Numbers, Placed, described, folders_of, outlets_of, stories_of, tell

_MOST_LEADERS = 5
_MOST_SOURCES, _MOST_TARGETS = 9, 11  # of a picture; the others are added up
_MOST_TEXTS, _MOST_PLACES = 7, 16  # of a picture of texts and where they are
_MOST_CONSIDERED = 2_000
_LEAST_WIDEST_CHARS = 120
_TITLE_CHARS = 60
_ROWS_AT_ONCE = 50_000
_COUNTED = ("stories", "inside", "boilerplate", "ordered", "crossing", "edited", "unchanged")
NO_GROUP = "no group"  # what documents without a group are called, where others have one
# The front page where nothing was compared.
EMPTY_FRONT: dict[str, Any] = {
    "headline": [], "counts": dict.fromkeys(_COUNTED, 0), "n_outlets": 0, "n_without_group": 0, "n_references": 0,
    "has_groups": False, "period": None, "leaders": [], "fastest": None, "widest": None, "picture": None,
}  # fmt: skip


class FrontPage:
    """Finds the stories of a store that is being filled, and describes them.

    `times` and `groups` are those of documents, NO_TIME and -1 if not known; `edited` are the families with a changed wording,
    `text_of_family` gives the beginning of their texts; `folder` is what names of documents leave out.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        placed: Sequence[Placed],
        times: Numbers,
        groups: Numbers,
        edited: set[int],
        verb: str,
        is_against: bool,
        text_of_family: Callable[[int], str],
        folder: str = "",
    ) -> None:
        self.connection, self._text_of_family, self._folder = connection, text_of_family, folder
        self.times, self.verb, self.is_against = times, verb, is_against
        self.has_groups = bool((groups >= 0).any())
        self.n_groups = int(groups.max(initial=-1)) + 1
        self.groups = dict(connection.execute("SELECT number, name FROM groups").fetchall())
        self.placed = Placed.joined(placed)
        self.outlets = outlets_of(groups)
        self.stories, self.flows = tell(self.placed, self.outlets, times, self.n_groups)
        self.order = self.stories.in_order()
        of_place = stories_of(self.placed, self.outlets, times)
        changed = np.unique(of_place[np.isin(self.placed.family, np.array(sorted(edited), np.int64))])
        self.is_edited = np.isin(self.stories.family, changed).astype(np.int64)

    def add(self, totals: dict[str, Any]) -> None:
        """Store the order of the stories and the description of the front page."""
        stories = self.stories
        columns = [column[self.order].tolist() for column in (stories.family, stories.n_families, stories.fold, self.is_edited)]
        rows = list(zip(range(len(self.order)), *columns, strict=True))
        for begin, end in pairwise([*range(0, len(rows), _ROWS_AT_ONCE), len(rows)]):
            self.connection.executemany("INSERT INTO stories VALUES (?, ?, ?, ?, ?)", rows[begin:end])
        front = self._describe(totals)
        self.connection.execute("INSERT INTO meta VALUES ('front', ?)", (json.dumps(front),))

    def _describe(self, totals: dict[str, Any]) -> dict[str, Any]:
        stories = self.stories
        told = np.flatnonzero(stories.fold == STORY)
        dated = self.times[self.times != NO_TIME]
        n_edited = int(self.is_edited[told].sum())
        front: dict[str, Any] = {
            "counts": {**described(stories), "edited": n_edited, "unchanged": len(told) - n_edited},
            "n_outlets": len(self.groups),
            "n_without_group": len(self.outlets) - int((self.outlets < self.n_groups).sum()) if self.has_groups else 0,
            "n_references": self.connection.execute("SELECT SUM(is_reference) FROM documents").fetchone()[0] or 0,
            "has_groups": self.has_groups,
            "period": [time_of(int(dated.min())), time_of(int(dated.max()))] if len(dated) else None,
            "leaders": self._leaders(told),
            "fastest": self._fastest(told),
            "widest": self._widest(told),
            "picture": self._picture(),
        }
        front["headline"] = headline_of(front, {**totals, **self._compared()}, self.verb, self.is_against)
        return front

    def _compared(self) -> dict[str, int]:
        """Return how many documents were compared with a reference, and how many of them share text with it."""
        if not self.is_against:
            return {}
        (n_documents,) = self.connection.execute("SELECT COUNT(*) FROM documents WHERE NOT is_reference").fetchone()
        (n_reusing,) = self.connection.execute("SELECT COUNT(DISTINCT a) FROM pairs").fetchone()
        return {"documents": n_documents, "reusing_documents": n_reusing}

    def _leaders(self, told: Numbers) -> list[dict[str, Any]]:
        """Return the groups in which most stories began."""
        first = self.stories.first_outlet[told]
        first = first[(first >= 0) & (first < self.n_groups)]
        counts = np.bincount(first, minlength=self.n_groups)
        ranked = np.lexsort((np.arange(len(counts)), -counts))[:_MOST_LEADERS].tolist()
        return [{"outlet": self.groups[n], "n_stories": int(counts[n])} for n in ranked if counts[n]]

    def _fastest(self, told: Numbers) -> dict[str, Any] | None:
        rows = told[self.stories.first_outlet[told] >= 0]
        if self.has_groups:  # from one outlet to another
            rows = rows[(self.stories.first_outlet[rows] < self.n_groups) & (self.stories.follower[rows] < self.n_groups)]
        if not len(rows):
            return None
        row = rows[np.lexsort((self.stories.family[rows], self.stories.seconds[rows]))[0]]
        return {
            "family": int(self.stories.family[row]),
            "seconds": int(self.stories.seconds[row]),
            "from": self._name(int(self.stories.first_outlet[row])),
            "to": self._name(int(self.stories.follower[row])),
        }

    def _widest(self, told: Numbers) -> dict[str, Any] | None:
        """Return the story in most outlets, if possible one of some sentences; of several, the longest."""
        if not len(told):
            return None
        stories = self.stories
        is_short = stories.n_chars[told] < _LEAST_WIDEST_CHARS  # a few words are in many documents by chance
        keys = (stories.family[told], -stories.n_chars[told], -stories.n_outlets[told], is_short)
        row = told[np.lexsort(keys)[0]]
        family = int(stories.family[row])
        return {
            "family": family,
            "n_outlets": int(stories.n_outlets[row]),
            "n_documents": int(stories.n_documents[row]),
            "is_widest": bool(stories.n_outlets[row] == stories.n_outlets[told].max()),
            "last_seconds": int(stories.last_seconds[row]) if stories.last_seconds[row] >= 0 else None,
            "excerpt": self._excerpt(family),
        }

    def _picture(self) -> dict[str, Any] | None:
        """Return who took text from whom; without groups or an order, which text appears where."""
        ends = np.minimum(self.outlets, self.n_groups) if self.has_groups else self.outlets
        name = self._group_name if self.has_groups else self._name
        kind = "groups" if self.has_groups else "documents"
        if self.is_against and (picture := self._from_reference(kind, ends, name)):
            return picture
        if self.has_groups:
            flows = self.flows.between_groups(self.n_groups)
            return _drawn(kind, flows, name) if len(flows.family) else self._texts(kind, ends, name)
        if (folders := self._folders()) is not None:
            codes, names = folders
            _, flows = tell(self.placed, codes, self.times)
            if len(flows.family):
                return _drawn("folders", flows, names.__getitem__)
            found = self._texts("folders", codes, names.__getitem__)
            if found is not None and len(found["left"]) > 2:
                return found
        return self._texts(kind, ends, name)

    def _from_reference(self, kind: str, ends: Numbers, name: Callable[[int], str]) -> dict[str, Any] | None:
        """Return how much of the reference is in the documents that were compared with it, by folder if they are many."""
        rows = self.connection.execute("SELECT number, a, b, shared FROM pairs").fetchall()
        if not rows:
            return None
        pair, a, b, shared = np.array(rows, np.int64).T
        if kind == "documents" and len(np.unique(a)) > _MOST_TARGETS and (folders := self._folders()) is not None:
            kind, (ends, names) = "folders", folders
            name = names.__getitem__
        flows = Flows(pair, ends[b], ends[a], shared)
        return _drawn(kind, flows, name, is_cut=kind == "documents") | {"is_from_reference": True}

    def _folders(self) -> tuple[Numbers, list[str]] | None:
        """Return the number of the folder of each document, and the names of folders; None if ids say none."""
        folders = folders_of([name for (name,) in self.connection.execute("SELECT id FROM documents ORDER BY number")])
        if folders is None:
            return None
        names = sorted(set(folders))
        number = {name: n for n, name in enumerate(names)}
        return np.array([number[name] for name in folders], np.int64), names

    def _texts(self, kind: str, outlets: Numbers, name: Callable[[int], str]) -> dict[str, Any] | None:
        """Return the stories that are shown first among those in several outlets, and the outlets that each is in."""
        first = self.stories.family[self.order[:_MOST_CONSIDERED]][self.stories.fold[self.order[:_MOST_CONSIDERED]] == STORY]
        rows = np.flatnonzero(np.isin(self.placed.family, first))
        family, outlet = self.placed.family[rows], outlets[self.placed.document[rows]]
        several = np.unique(np.stack([family, outlet]), axis=1)[0]
        counted, n_outlets = np.unique(several, return_counts=True)
        wide = set(counted[n_outlets > 1].tolist())
        chosen = [number for number in first.tolist() if number in wide][:_MOST_TEXTS]
        if not chosen:
            return None
        keep = np.isin(family, chosen)
        at = {number: n for n, number in enumerate(chosen)}
        source = np.array([at[number] for number in family[keep].tolist()], np.int64)
        flows = Flows(family[keep], source, outlet[keep], self.placed.n_chars[rows][keep])
        return _drawn(kind, flows, name, [(number, self._excerpt(number)) for number in chosen])

    def _excerpt(self, family: int) -> str:
        return excerpt(self._text_of_family(family), _TITLE_CHARS)

    def _group_name(self, group: int) -> str:
        return str(self.groups[group]) if group < self.n_groups else NO_GROUP

    def _name(self, outlet: int) -> str:
        if outlet < self.n_groups:
            return str(self.groups[outlet])
        number = outlet - self.n_groups
        row = self.connection.execute("SELECT title, id FROM documents WHERE number = ?", (number,)).fetchone()
        return str(row[0] or row[1].removeprefix(self._folder))


def _drawn(
    kind: str,
    flows: Flows,
    name: Callable[[int], str],
    texts: Sequence[tuple[int, str]] | None = None,
    is_cut: bool = False,
) -> dict[str, Any]:
    """Return a picture of what flows from left to right, largest ends first; small ends are added up as others.

    With `texts`, families and their words, these are the left side, and the picture has no direction. With `is_cut`, small ends
    are left out instead, where all others together would hide the few that are drawn.
    """
    (source, target), of_pair = np.unique(np.stack([flows.source, flows.target]), axis=1, return_inverse=True)
    of_pair = of_pair.reshape(-1)
    n_chars = np.bincount(of_pair, flows.n_chars, len(source)).astype(np.int64)
    n_stories = np.bincount(np.unique(np.stack([of_pair, flows.family]), axis=1)[0], minlength=len(source))
    left = _ranked(source, n_chars, _MOST_SOURCES)
    drawn = np.isin(source, left) if is_cut else np.ones(len(source), np.bool_)
    right = (
        _ranked(target[drawn], n_chars[drawn], _MOST_TARGETS)
        if texts is None
        else _in_turn(source, target, n_chars, _MOST_PLACES)
    )
    n_other = len(np.unique(target)) - len(right)
    n_other_left = len(np.unique(source)) - len(left)
    is_cut = (is_cut or texts is not None) and n_other > 0
    at_left, at_right = ({end: n for n, end in enumerate(ends)} for ends in (left, right))
    links: dict[tuple[int, int], list[int]] = {}
    for a, b, size, count in zip(*(column.tolist() for column in (source, target, n_chars, n_stories)), strict=True):
        if is_cut and (b not in at_right or a not in at_left):
            continue
        link = links.setdefault((at_left.get(a, len(left)), at_right.get(b, len(right))), [0, 0])
        link[0] += size
        link[1] += count
    return {
        "of": kind,
        "is_directed": texts is None,
        "is_from_reference": False,
        "left": [
            {"name": name(n), "family": None} if texts is None else {"name": texts[n][1], "family": texts[n][0]} for n in left
        ],
        "right": [{"name": name(n), "family": None} for n in right],
        "n_other_left": 0 if is_cut else n_other_left,
        "n_other_right": 0 if is_cut else n_other,
        "n_left_out": n_other if is_cut else 0,
        "links": [{"from": a, "to": b, "n_chars": size, "n_stories": count} for (a, b), (size, count) in sorted(links.items())],
    }


def _ranked(ends: Numbers, n_chars: Numbers, most: int) -> list[int]:
    """Return the ends with most characters, largest first."""
    found, at = np.unique(ends, return_inverse=True)
    order: list[int] = found[np.lexsort((found, -np.bincount(at, n_chars, len(found))))].tolist()
    return order if len(order) <= most + 1 else order[:most]  # one end more instead of "one other"


def _in_turn(source: Numbers, target: Numbers, n_chars: Numbers, most: int) -> list[int]:
    """Return ends on the right such that every one on the left has some, ordered by where they come from."""
    rows = np.lexsort((target, -n_chars, source))
    first = np.searchsorted(source[rows], source[rows])
    turn = np.arange(len(rows)) - first
    chosen: dict[int, int] = {}
    for row in rows[np.argsort(turn, kind="stable")].tolist():
        if len(chosen) < most:
            chosen.setdefault(int(target[row]), int(source[row]))
    return sorted(chosen, key=lambda end: (chosen[end], end))
