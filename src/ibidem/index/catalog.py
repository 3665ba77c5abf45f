"""The catalog of an index: which files and documents belong to it. Only whole commits change it.

It is one SQLite file with a rollback journal. A commit names files that are already on disk, so readers of the catalog find all
of a commit or none of it, even after a crash. `sweep.py` says which other files may be deleted.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ibidem.errors import IndexChangedError, IndexDamagedError, IndexStoreError, NoIndexError
from ibidem.execution.durable_files import make_folder
from ibidem.index.array_files import write_problem
from ibidem.index.catalog_file import (
    CATALOG_FILE,
    CHECKSUM,
    CatalogFile,
    checksum,
    connect,
    damaged,
    put_in_place,
    status_of,
    translated,
)
from ibidem.index.catalog_state import (
    COMMIT,
    IDENTITY,
    REMOVED_AT,
    Change,
    Mark,
    Rows,
    SegmentEntry,
    State,
    Tombstones,
    change_segments,
    fix_settings,
    give_identity,
    new_identity,
    note_dropped,
    read_dropped,
    read_rows,
    refuse_known_ids,
    serials_of,
    write_state,
)
from ibidem.index.folder import LOCK_FILE, OpenFolder

_IDS_A_PAGE = 10_000
# Errors that even a sound file can have, each with a query that finds it.
_CONTRADICTIONS = {
    "the number of documents is wrong": (
        "SELECT (SELECT value FROM state WHERE name = 'n_documents') IS NOT (SELECT COUNT(*) FROM documents)"
    ),
    "two documents share a serial": "SELECT COUNT(*) > COUNT(DISTINCT serial) FROM documents",
    "a document is both present and removed": "SELECT EXISTS (SELECT 1 FROM documents JOIN removed USING (serial))",
    "a serial is too high": (
        "SELECT EXISTS (SELECT 1 FROM (SELECT serial FROM documents UNION ALL SELECT serial FROM removed) "
        "WHERE serial >= (SELECT value FROM state WHERE name = 'next_serial'))"
    ),
}


class Catalog(CatalogFile):
    """The catalog of the index in `folder`, made by `create` or `open`, for any thread."""

    def __init__(self, opened: OpenFolder, status: os.stat_result | None, connection: sqlite3.Connection) -> None:
        super().__init__(opened, status, connection)
        self._tombstones: Tombstones | None = None
        self.settings: dict[str, Any] = self._read_settings()

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> Catalog:
        """Create an empty index with these settings and open it; if one already exists, open that."""
        path = folder / CATALOG_FILE
        try:
            make_folder(folder)
            others = [name for name in os.listdir(folder) if name != LOCK_FILE and not name.endswith(".ibi.tmp")]
        except (FileExistsError, NotADirectoryError) as error:
            raise IndexStoreError(f"{folder} is not a folder", "Give another path for the index.") from error
        except OSError as error:
            raise write_problem(folder, error) from error
        # Checked after listing: another process may have created the index in the meantime.
        if not os.path.exists(path):
            if others:
                message = f"{folder} is not empty and contains no index (it contains {min(others)})"
                raise IndexStoreError(message, "Give a new or empty folder for the index.")
            put_in_place(path, settings, {IDENTITY: new_identity()})
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Catalog:
        """Open the index in a folder, read-only if it is not writable."""
        try:
            opened = OpenFolder(folder)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoIndexError(
                f"there is no index in {folder}", "Check the path, or create the index with `ibidem index add`."
            ) from error
        except OSError as error:
            raise IndexStoreError(f"{folder} cannot be read: {error.strerror}", "Check that you may read it.") from error
        try:
            status = status_of(opened.real_path / CATALOG_FILE)  # before opening, so that a replaced file is noticed
            connection = connect(folder / CATALOG_FILE, opened.real_path / CATALOG_FILE)
            try:
                return cls(opened, status, connection)
            except BaseException:
                connection.close()
                raise
        except BaseException:
            opened.close()
            raise

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def generation(self) -> int:
        """Return the number of commits so far."""
        return self.mark().generation

    def mark(self) -> Mark:
        """Return the last commit. It costs a few microseconds: ask before every query."""
        with self._mutex, translated(self._path, "read"):
            self._check_in_place()
            return self._mark(self._connection)

    def _mark(self, connection: sqlite3.Connection) -> Mark:
        # All of it, as `state` reads it: in a damaged table, a lookup may differ from a scan.
        values = dict(connection.execute("SELECT name, value FROM state"))
        if not isinstance(values.get("generation"), int):
            raise damaged(self._path, "its state is incomplete")
        return Mark(values["generation"], values.get(COMMIT))

    def state(self) -> State:
        """Return what the index consists of, as of one commit."""
        with self._reading() as connection:
            rows = self._rows(connection)
            dropped = read_dropped(connection, rows.values)
        values = rows.values
        try:
            return State(
                int(values["generation"]),
                tuple(SegmentEntry(str(name), *map(int, counts)) for name, *counts, _ in rows.segments),
                rows.tombstones.serials,
                int(values["next_serial"]),
                None if values["vocabulary"] is None else str(values["vocabulary"]),
                int(values["vocabulary_version"]),
                int(values["n_documents"]),
                rows.mark,
                values.get(IDENTITY),
                dropped,
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise damaged(self._path, f"its state makes no sense ({error})") from error

    def _rows(self, connection: sqlite3.Connection) -> Rows:
        """Read the state and check that it is what the last commit wrote. Tombstones are read only if they have changed."""
        try:
            rows = read_rows(connection, self._tombstones)
        except (TypeError, ValueError, OverflowError) as error:
            raise damaged(self._path, f"its state makes no sense ({error})") from error
        if not rows.is_sound:
            raise damaged(self._path, "its checksum differs")
        self._tombstones = rows.tombstones
        return rows

    def serials_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the serials of the given documents that are in the index."""
        with self._reading() as connection:
            return serials_of(connection, ids)

    def mark_and_serials(self, ids: Sequence[str]) -> tuple[Mark, dict[str, int]]:
        """Return the last commit, and the serials of the given documents that are in the index as of that commit."""
        with self._reading() as connection:
            return self._mark(connection), serials_of(connection, ids)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all documents in the order of their code points.

        They are read a page at a time, so that writers are not blocked; a commit in between may be visible in part.
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

    def adopt(self) -> str:
        """Return the identity of the index; one made by an earlier version gets its identity now."""
        with self._transaction("BEGIN IMMEDIATE", "write") as connection:
            rows = self._rows(connection)
            identity = rows.values.get(IDENTITY)
            if identity is None:
                identity = give_identity(connection, rows)
            return str(identity)

    def commit(self, change: Change, check: Callable[[], None] | None = None) -> None:
        """Make a change atomically. It is durable when this returns; if it raises, nothing has changed.

        Adding a known id raises `KnownIdError`. Unknown ids to remove are ignored. `check` is called when no one else can
        commit any more, and may raise.
        """
        name = change.commit or secrets.token_hex(8)
        with self._transaction("BEGIN IMMEDIATE", "write") as connection:
            rows = self._rows(connection)
            if change.after is not None and change.after != rows.mark:
                message = f"another process changed the index in {self.folder} while this one was writing to it"
                raise IndexChangedError(message, "Nothing was changed here. Run it again.")
            if check is not None:
                check()
            if change.settings is not None:
                fix_settings(connection, change.settings)
            removed = serials_of(connection, change.remove_ids)
            connection.executemany("INSERT INTO removed VALUES (?)", ((serial,) for serial in sorted(removed.values())))
            connection.executemany("DELETE FROM documents WHERE id = ?", ((doc_id,) for doc_id in sorted(removed)))
            # In the order of the table, which then grows page by page; serials may be NumPy numbers, which SQLite does not
            # know.
            added = sorted((doc_id, int(serial)) for doc_id, serial in change.add_documents)
            refuse_known_ids(connection, [doc_id for doc_id, _ in added])
            connection.executemany("INSERT INTO documents VALUES (?, ?)", added)
            settled = [int(serial) for serial in change.settle]
            connection.executemany("DELETE FROM removed WHERE serial = ?", ((serial,) for serial in settled))
            change_segments(connection, change)
            old = rows.values
            dropped = [*change.drop_segments, *([old["vocabulary"]] if change.vocabulary and old["vocabulary"] else [])]
            if dropped and old.get(IDENTITY) is not None:
                note_dropped(connection, self.opened, dropped)
            tombstones = rows.tombstones.changed(name, removed.values(), settled)
            changed: dict[str, Any] = {
                "next_serial": None if change.next_serial is None else int(change.next_serial),
                "vocabulary": change.vocabulary,
                "vocabulary_version": None if change.vocabulary_version is None else int(change.vocabulary_version),
                "n_documents": old["n_documents"] + len(added) - len(removed),
                "generation": old["generation"] + 1,
                COMMIT: name,
                REMOVED_AT: tombstones.at,
            }
            write_state(connection, {key: value for key, value in changed.items() if value is not None}, tombstones)
        self._tombstones = tombstones

    @contextmanager
    def nobody_commits(self) -> Iterator[State]:
        """Prevent all commits during a block, without writing anything; yield what the index consists of."""
        with self._transaction("BEGIN IMMEDIATE", "write"):
            yield self.state()

    def check_integrity(self) -> list[str]:
        """Read the whole catalog and describe what is wrong with it; an empty list if nothing is."""
        try:
            with self._reading() as connection:
                found = [str(problem) for (problem,) in connection.execute("PRAGMA integrity_check")]
                if found != ["ok"]:
                    return [f"{CATALOG_FILE}: {problem}" for problem in found]
                pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
                (n_bytes,) = connection.execute(pages).fetchone()
                if (n_there := os.stat(self._real_path).st_size) != n_bytes:
                    return [f"{CATALOG_FILE}: it has {n_there:,} bytes and should have {n_bytes:,}"]
                contradictions = [
                    f"{CATALOG_FILE}: {what}"
                    for what, query in _CONTRADICTIONS.items()
                    if connection.execute(query).fetchone()[0]
                ]
            self._tombstones = None  # otherwise they would not be read
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
