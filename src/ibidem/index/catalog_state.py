"""What one commit leaves in the catalog, what the next one changes, and the statements behind both."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.errors import IndexSettingsError, IndexStoreError, KnownIdError
from ibidem.index.catalog_file import CHECKSUM, checksum, write_settings
from ibidem.index.folder import OpenFolder

COMMIT, IDENTITY, REMOVED_AT = "commit", "identity", "removed_at"  # rows of `state` that earlier versions did not write

_IDS_A_QUERY = 900  # SQLite before 3.32 allows 999 parameters
_IDS_SHOWN = 3
_ID_CHARS_SHOWN = 80


class Mark(NamedTuple):
    """Identifies a commit. The number alone is not enough: two copies of an index may each have their own tenth commit."""

    generation: int
    commit: str | None


@dataclass(frozen=True)
class SegmentEntry:
    """A segment file and how much is in it, removed documents included."""

    name: str
    n_documents: int
    n_sentences: int
    n_types: int
    n_bytes: int


@dataclass(frozen=True, eq=False)
class State:
    """What the index consists of after one commit. `removed` are increasing serials; `n_documents` counts those not removed.

    `identity` is the same in all copies of an index and in no other index; None if an earlier version made it. `dropped` are
    files that commits have replaced, and which may still exist.
    """

    generation: int
    segments: tuple[SegmentEntry, ...]
    removed: NDArray[np.int64]
    next_serial: int
    vocabulary: str | None
    vocabulary_version: int
    n_documents: int
    mark: Mark
    identity: str | None
    dropped: frozenset[str]

    @property
    def named(self) -> set[str]:
        """The files that the commit names."""
        return {entry.name for entry in self.segments} | ({self.vocabulary} if self.vocabulary else set())


@dataclass(frozen=True, eq=False)
class Change:
    """What one commit changes. Ids are removed before others are added, so that a document can be replaced.

    `remove_ids` turns the serials into tombstones; `settle` lists tombstones whose sentences have been purged. New segments
    come after those that remain, in the given order. None leaves a value unchanged. The first commit fixes the settings; a
    later one with other settings raises `IndexSettingsError`. With `after`, the change applies only to that commit. `commit`
    distinguishes it from other commits.
    """

    add_segments: Sequence[SegmentEntry] = ()
    drop_segments: Sequence[str] = ()
    add_documents: Sequence[tuple[str, int]] = ()
    remove_ids: Sequence[str] = ()
    settle: Sequence[int] = ()
    next_serial: int | None = None
    vocabulary: str | None = None
    vocabulary_version: int | None = None
    settings: Mapping[str, Any] | None = None
    after: Mark | None = None
    commit: str | None = None


@dataclass(frozen=True, eq=False)
class Tombstones:
    """The serials of removed documents, in increasing order, and the commit that last changed them."""

    at: str | None
    serials: NDArray[np.int64]
    total: int

    @classmethod
    def of(cls, at: str | None, serials: NDArray[np.int64]) -> Tombstones:
        """Return tombstones with their checksum."""
        serials.flags.writeable = False
        return cls(at, serials, int(serials.sum()))

    def changed(self, at: str, removed: Iterable[int], settled: Iterable[int]) -> Tombstones:
        """Return the tombstones after a commit."""
        more, fewer = (np.array(sorted({int(n) for n in numbers}), np.int64) for numbers in (removed, settled))
        if not len(more) and not len(fewer):
            return self if self.at is not None else Tombstones.of(at, self.serials)
        # Both are sorted, so a few changes cost no more than a copy of the column.
        serials = np.insert(self.serials, np.searchsorted(self.serials, more), more)
        place = np.searchsorted(serials, fewer)
        is_there = place < len(serials)
        place = place[is_there][serials[place[is_there]] == fewer[is_there]]
        return Tombstones.of(at, np.delete(serials, place))


class Rows(NamedTuple):
    """The rows of the state, and whether they are those that the last commit wrote."""

    values: dict[str, Any]
    segments: list[tuple[Any, ...]]
    tombstones: Tombstones
    is_sound: bool

    @property
    def mark(self) -> Mark:
        """The commit they belong to."""
        return Mark(int(self.values["generation"]), self.values.get(COMMIT))


def read_rows(connection: sqlite3.Connection, known: Tombstones | None) -> Rows:
    """Read the state. `known` tombstones that have not changed are not read again: there may be many."""
    values = dict(connection.execute("SELECT name, value FROM state"))
    segments = connection.execute("SELECT * FROM segments ORDER BY position").fetchall()
    at = values.get(REMOVED_AT)
    if known is not None and at is not None and known.at == at and _is_sound(values, segments, known):
        return Rows(values, segments, known, True)
    serials = [serial for (serial,) in connection.execute("SELECT serial FROM removed ORDER BY serial")]
    tombstones = Tombstones.of(at, np.array(serials, np.int64))
    return Rows(values, segments, tombstones, _is_sound(values, segments, tombstones))


def _is_sound(values: Mapping[str, Any], segments: list[tuple[Any, ...]], tombstones: Tombstones) -> bool:
    # Before the first commit there is no checksum.
    return values.get("generation") == 0 or values.get(CHECKSUM) == _checksum(values, segments, tombstones)


def _checksum(values: Mapping[str, Any], segments: list[tuple[Any, ...]], tombstones: Tombstones) -> int:
    state = sorted(((name, value) for name, value in values.items() if name != CHECKSUM), key=lambda row: str(row[0]))
    n_removed = len(tombstones.serials)
    return checksum(state, segments, (n_removed, tombstones.total if n_removed else None))


def write_state(connection: sqlite3.Connection, changed: Mapping[str, Any], tombstones: Tombstones) -> None:
    """Replace values, and the checksum over everything."""
    for name, value in changed.items():
        connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))
    values = dict(connection.execute("SELECT name, value FROM state"))
    segments = connection.execute("SELECT * FROM segments ORDER BY position").fetchall()
    connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (CHECKSUM, _checksum(values, segments, tombstones)))


def give_identity(connection: sqlite3.Connection, rows: Rows) -> str:
    """Give an index made by an earlier version an identity, and return it. It is not a commit: nothing else changes."""
    identity = new_identity()
    connection.execute("CREATE TABLE IF NOT EXISTS dropped (name TEXT PRIMARY KEY)")
    write_state(connection, {IDENTITY: identity}, rows.tombstones)
    return identity


def new_identity() -> str:
    """Return a new, unique identity for an index."""
    return secrets.token_hex(16)


def read_dropped(connection: sqlite3.Connection, values: Mapping[str, Any]) -> frozenset[str]:
    """Return the files that commits have replaced."""
    if values.get(IDENTITY) is None:
        return frozenset()
    return frozenset(str(name) for (name,) in connection.execute("SELECT name FROM dropped"))


def note_dropped(connection: sqlite3.Connection, folder: OpenFolder, names: Iterable[str]) -> None:
    """List files that this commit drops, so that a sweep may delete them; forget those already deleted."""
    there = set(os.listdir(folder.handle))
    old = [name for (name,) in connection.execute("SELECT name FROM dropped") if name not in there]
    connection.executemany("DELETE FROM dropped WHERE name = ?", ((name,) for name in old))
    connection.executemany("INSERT OR IGNORE INTO dropped VALUES (?)", ((name,) for name in names))


def fix_settings(connection: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    """Store the settings with the first commit; with a later one, check that they are the same."""
    if connection.execute("SELECT value FROM state WHERE name = 'generation'").fetchone() == (0,):
        write_settings(connection, settings)
        return
    stored = {name: json.loads(value) for name, value in connection.execute("SELECT * FROM settings") if name != CHECKSUM}
    refuse_other_settings(stored, settings)


def refuse_other_settings(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise `IndexSettingsError` if a new index has received other settings in the meantime."""
    names = sorted(name for name in {*stored, *settings} if stored.get(name) != settings.get(name))
    if names:
        message = f"the index was recreated with other settings meanwhile: {', '.join(names)}"
        raise IndexSettingsError(message, "Open it again.")


def serials_of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    """Return the serials of those of the documents that are in the index."""
    serials: dict[str, int] = {}
    # In the order of the table: neighbours are on one page. What UTF-8 cannot encode is not an id.
    ordered = sorted(name for name in ids if name.isascii() or name.encode("utf-8", "ignore").decode() == name)
    for start in range(0, len(ordered), _IDS_A_QUERY):
        part = ordered[start : start + _IDS_A_QUERY]
        places = ",".join("?" * len(part))
        serials.update(connection.execute(f"SELECT id, serial FROM documents WHERE id IN ({places})", part))
    return serials


def refuse_known_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Raise `KnownIdError` if an id of this sorted list is in the catalog or twice in the list."""
    known = sorted({*serials_of(connection, ids), *(a for a, b in pairwise(ids) if a == b)})
    if known:
        shown = ", ".join(
            repr(doc_id if len(doc_id) <= _ID_CHARS_SHOWN else doc_id[:_ID_CHARS_SHOWN] + "…") for doc_id in known[:_IDS_SHOWN]
        )
        if len(known) == 1:
            message = f"the index already contains a document with the id {shown}"
        else:
            more = ", …" if len(known) > _IDS_SHOWN else ""
            message = f"the index already contains documents with {len(known):,} of these ids: {shown}{more}"
        raise KnownIdError(message, "Leave them out, give them other ids, or replace the old ones.")


def change_segments(connection: sqlite3.Connection, change: Change) -> None:
    """Drop segments and add others after the remaining ones."""
    for name in change.drop_segments:
        if connection.execute("DELETE FROM segments WHERE name = ?", (name,)).rowcount != 1:
            # Continuing would put the same sentences into the index twice.
            message = f"the segment {name} is no longer in the index, which has changed since it was read"
            raise IndexStoreError(message, "Run it again.")
    (position,) = connection.execute("SELECT COALESCE(MAX(position) + 1, 0) FROM segments").fetchone()
    connection.executemany(
        "INSERT INTO segments (name, n_documents, n_sentences, n_types, n_bytes, position) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (entry.name, int(entry.n_documents), int(entry.n_sentences), int(entry.n_types), int(entry.n_bytes), number)
            for number, entry in enumerate(change.add_segments, position)
        ),
    )
