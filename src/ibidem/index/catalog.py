"""The catalog of an index: which files and documents belong to it, changed by whole commits only.

It is one SQLite file with a rollback journal. A commit names files that are on disk already, so whoever reads the catalog
finds either all of a commit or nothing of it, also after a crash. Files that no commit names are left over and can go.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.errors import IndexDamagedError, IndexSettingsError, IndexStoreError, KnownIdError
from ibidem.index.catalog_file import (
    CATALOG_FILE,
    CHECKSUM,
    Doing,
    checksum,
    connect,
    damaged,
    put_in_place,
    translated,
    write_settings,
)
from ibidem.index.files import write_problem
from ibidem.index.locking import LOCK_FILE

_IDS_A_QUERY = 900  # SQLite before 3.32 takes 999 parameters
_IDS_A_PAGE = 10_000
_IDS_SHOWN = 3
_ID_CHARS_SHOWN = 80
# What a sound file can still get wrong, each with a query that says so.
_CONTRADICTIONS = {
    "the number of documents is wrong": (
        "SELECT (SELECT value FROM state WHERE name = 'n_documents') IS NOT (SELECT COUNT(*) FROM documents)"
    ),
    "two documents share a serial": "SELECT COUNT(*) > COUNT(DISTINCT serial) FROM documents",
    "a document is both there and removed": "SELECT EXISTS (SELECT 1 FROM documents JOIN removed USING (serial))",
    "a serial is too high": (
        "SELECT EXISTS (SELECT 1 FROM (SELECT serial FROM documents UNION ALL SELECT serial FROM removed) "
        "WHERE serial >= (SELECT value FROM state WHERE name = 'next_serial'))"
    ),
}


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
    """What the index consists of after one commit. `removed` are rising serials; `n_documents` counts those not removed."""

    generation: int
    segments: tuple[SegmentEntry, ...]
    removed: NDArray[np.int64]
    next_serial: int
    vocabulary: str | None
    vocabulary_version: int
    n_documents: int


@dataclass(frozen=True, eq=False)
class Change:
    """What one commit changes. Ids are removed before others are added, so that a document can be replaced.

    `remove_ids` makes tombstones of the serials; `settle` lists tombstones whose sentences are gone for good.
    New segments come after those that stay, in the order given. None leaves a value as it is. The first commit fixes the
    settings; a later one that gives others is an `IndexSettingsError`.
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


class Catalog:
    """The catalog of the index in `folder`, to be had from `create` or `open`; any thread may use it.

    All threads share one connection under a lock. Queries take microseconds, and a connection for each thread would be
    left open when its thread ends.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._path = folder / CATALOG_FILE
        self._connection = connection
        self._mutex = threading.RLock()
        self.settings: dict[str, Any] = self._read_settings()

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> Catalog:
        """Make an empty index with these settings and open it; if there is one already, open that one as it is."""
        path = folder / CATALOG_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            others = [name for name in os.listdir(folder) if name != LOCK_FILE and not name.endswith(".ibi.tmp")]
        except (FileExistsError, NotADirectoryError) as error:
            raise IndexStoreError(f"{folder} is not a folder", "Give another path for the index.") from error
        except OSError as error:
            raise write_problem(folder, error) from error
        # Asked after the listing: another creator may have come first and written more by now.
        if not os.path.exists(path):
            if others:
                message = f"{folder} is not empty and holds no index: there is {min(others)} in it"
                raise IndexStoreError(message, "Give a new or an empty folder for the index.")
            put_in_place(path, settings)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Catalog:
        """Open the index in a folder, read-only where nothing may be written."""
        connection = connect(folder / CATALOG_FILE)
        try:
            return cls(folder, connection)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Close the file. The catalog cannot be used any more."""
        with self._mutex:
            self._connection.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def generation(self) -> int:
        """Return the number of commits so far. It costs some microseconds: ask before every query."""
        with self._mutex, translated(self._path, "read"):
            row = self._connection.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()
        if row is None or not isinstance(row[0], int):
            raise damaged(self._path, "its state is incomplete")
        return row[0]

    def state(self) -> State:
        """Return what the index consists of, as some one commit left it."""
        with self._reading() as connection:
            values = dict(connection.execute("SELECT name, value FROM state"))
            fields = "name, n_documents, n_sentences, n_types, n_bytes"
            segments = connection.execute(f"SELECT {fields} FROM segments ORDER BY position").fetchall()
            serials = [serial for (serial,) in connection.execute("SELECT serial FROM removed ORDER BY serial")]
            # None: no commit yet.
            if values.get("generation") != 0 and values.get(CHECKSUM) != _checksum_of_state(connection):
                raise damaged(self._path, "its checksum differs")
        try:
            removed = np.array(serials, np.int64)
            removed.flags.writeable = False
            return State(
                int(values["generation"]),
                tuple(SegmentEntry(str(name), *map(int, counts)) for name, *counts in segments),
                removed,
                int(values["next_serial"]),
                None if values["vocabulary"] is None else str(values["vocabulary"]),
                int(values["vocabulary_version"]),
                int(values["n_documents"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise damaged(self._path, f"its state makes no sense ({error})") from error

    def serials_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the serials of those of the documents that are in the index."""
        with self._reading() as connection:
            return _serials_of(connection, ids)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents in the order of their code points.

        They are read a page at a time, so that nobody is kept from writing meanwhile; a commit in between may show in part.
        """
        query = "SELECT id FROM documents ORDER BY id LIMIT ?"
        parameters: tuple[Any, ...] = (_IDS_A_PAGE,)
        while True:
            with self._reading() as connection:
                page = [doc_id for (doc_id,) in connection.execute(query, parameters)]
            yield from page
            if len(page) < _IDS_A_PAGE:
                return
            query = "SELECT id FROM documents WHERE id > ? ORDER BY id LIMIT ?"
            parameters = (page[-1], _IDS_A_PAGE)

    def commit(self, change: Change) -> None:
        """Make a change as a whole, on disk for good when this returns; when it raises, nothing has changed.

        Adding an id that is there raises `KnownIdError`. Ids to be removed that are not there are passed over.
        """
        with self._transaction("BEGIN IMMEDIATE", "write") as connection:
            if change.settings is not None:
                _fix_settings(connection, change.settings)
            removed = _serials_of(connection, change.remove_ids)
            connection.executemany("INSERT INTO removed VALUES (?)", ((serial,) for serial in sorted(removed.values())))
            connection.executemany("DELETE FROM documents WHERE id = ?", ((doc_id,) for doc_id in sorted(removed)))
            # In the order of the table, which then grows page by page; serials may come from NumPy, unknown to SQLite.
            added = sorted((doc_id, int(serial)) for doc_id, serial in change.add_documents)
            _refuse_known_ids(connection, [doc_id for doc_id, _ in added])
            connection.executemany("INSERT INTO documents VALUES (?, ?)", added)
            connection.executemany("DELETE FROM removed WHERE serial = ?", ((int(serial),) for serial in change.settle))
            _change_segments(connection, change)
            for name, value in (
                ("next_serial", None if change.next_serial is None else int(change.next_serial)),
                ("vocabulary", change.vocabulary),
                ("vocabulary_version", None if change.vocabulary_version is None else int(change.vocabulary_version)),
            ):
                if value is not None:
                    connection.execute("UPDATE state SET value = ? WHERE name = ?", (value, name))
            difference = len(added) - len(removed)
            connection.execute("UPDATE state SET value = value + ? WHERE name = 'n_documents'", (difference,))
            connection.execute("UPDATE state SET value = value + 1 WHERE name = 'generation'")
            connection.execute("UPDATE state SET value = ? WHERE name = ?", (_checksum_of_state(connection), CHECKSUM))

    def check_integrity(self) -> list[str]:
        """Read the whole catalog and return what is wrong with it, in words; an empty list if nothing is."""
        try:
            with self._reading() as connection:
                found = [str(problem) for (problem,) in connection.execute("PRAGMA integrity_check")]
                if found != ["ok"]:
                    return [f"{CATALOG_FILE}: {problem}" for problem in found]
                contradictions = [
                    f"{CATALOG_FILE}: {what}"
                    for what, query in _CONTRADICTIONS.items()
                    if connection.execute(query).fetchone()[0]
                ]
            self.state()
        except IndexDamagedError as error:
            return [error.message]
        return contradictions

    def reread_settings(self) -> dict[str, Any]:
        """Read the settings again: the first commit may have changed them."""
        self.settings = self._read_settings()
        return self.settings

    def _read_settings(self) -> dict[str, Any]:
        try:
            with self._reading() as connection:
                rows = dict(connection.execute("SELECT * FROM settings"))
            if rows.pop(CHECKSUM, None) != str(checksum(sorted(rows.items()))):
                raise damaged(self._path, "the checksum of its settings differs")
            return {name: json.loads(value) for name, value in rows.items()}
        except (TypeError, ValueError, RecursionError) as error:
            raise damaged(self._path, f"its settings make no sense ({error})") from error

    @contextmanager
    def _transaction(self, begin: str, doing: Doing) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction, undone if the block raises whatever it may be."""
        with self._mutex, translated(self._path, doing):
            try:
                self._connection.execute(begin)  # inside: interrupted right after it, the transaction would stay open
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors undo it by themselves
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                raise

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN", "read")


def _fix_settings(connection: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    if connection.execute("SELECT value FROM state WHERE name = 'generation'").fetchone() == (0,):
        write_settings(connection, settings)
        return
    stored = {name: json.loads(value) for name, value in connection.execute("SELECT * FROM settings") if name != CHECKSUM}
    refuse_other_settings(stored, settings)


def refuse_other_settings(stored: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise `IndexSettingsError` if an index that was new has got other settings since."""
    names = sorted(name for name in {*stored, *settings} if stored.get(name) != settings.get(name))
    if names:
        message = f"the index was made with other settings meanwhile: {', '.join(names)}"
        raise IndexSettingsError(message, "Open it again.")


def _checksum_of_state(connection: sqlite3.Connection) -> int:
    values = connection.execute("SELECT name, value FROM state WHERE name != ? ORDER BY name", (CHECKSUM,)).fetchall()
    segments = connection.execute("SELECT * FROM segments ORDER BY position").fetchall()
    return checksum(values, segments, connection.execute("SELECT COUNT(*), SUM(serial) FROM removed").fetchone())


def _serials_of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    serials: dict[str, int] = {}
    # In the order of the table: neighbours lie on one page. What UTF-8 cannot write is no id of any document.
    ordered = sorted(name for name in ids if name.isascii() or name.encode("utf-8", "ignore").decode() == name)
    for start in range(0, len(ordered), _IDS_A_QUERY):
        part = ordered[start : start + _IDS_A_QUERY]
        places = ",".join("?" * len(part))
        serials.update(connection.execute(f"SELECT id, serial FROM documents WHERE id IN ({places})", part))
    return serials


def _refuse_known_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Raise `KnownIdError` if an id of this sorted list is in the catalog or twice in the list."""
    known = sorted({*_serials_of(connection, ids), *(a for a, b in pairwise(ids) if a == b)})
    if known:
        shown = ", ".join(
            repr(doc_id if len(doc_id) <= _ID_CHARS_SHOWN else doc_id[:_ID_CHARS_SHOWN] + "…") for doc_id in known[:_IDS_SHOWN]
        )
        if len(known) == 1:
            message = f"a document of the id {shown} is in the index already"
        else:
            more = ", …" if len(known) > _IDS_SHOWN else ""
            message = f"documents of {len(known):,} ids are in the index already: {shown}{more}"
        raise KnownIdError(message, "Leave them out, give them other ids, or ask for them to be replaced.")


def _change_segments(connection: sqlite3.Connection, change: Change) -> None:
    for name in change.drop_segments:
        if connection.execute("DELETE FROM segments WHERE name = ?", (name,)).rowcount != 1:
            # To go on would put the same sentences into the index twice.
            message = f"the segment {name} is not in the index any more: it has changed since it was read"
            raise IndexStoreError(message, "Run it again.")
    (position,) = connection.execute("SELECT COALESCE(MAX(position) + 1, 0) FROM segments").fetchone()
    connection.executemany(
        "INSERT INTO segments (name, n_documents, n_sentences, n_types, n_bytes, position) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (entry.name, int(entry.n_documents), int(entry.n_sentences), int(entry.n_types), int(entry.n_bytes), number)
            for number, entry in enumerate(change.add_segments, position)
        ),
    )
