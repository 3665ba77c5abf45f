"""The SQLite file under the catalog: how it is made and opened, transactions on it, and what its errors mean."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from ibidem.errors import (
    IndexChangedError,
    IndexDamagedError,
    IndexLockedError,
    IndexSpaceError,
    IndexStoreError,
    IndexWriteError,
    NoIndexError,
)
from ibidem.execution.durable_files import sync_folder
from ibidem.execution.operating_system import is_full
from ibidem.index.array_files import REPAIR_STEP, write_problem
from ibidem.index.folder import OpenFolder, Place, moved

CATALOG_FILE = "catalog.sqlite"
APPLICATION_ID = 0x49424944  # "IBID"
FORMAT_VERSION = 1
BUSY_SECONDS = 30.0
_JOURNAL_BYTES = 64 << 10  # of a small commit
CHECKSUM = "checksum"  # a row of `settings` over the other settings, and one of `state` over everything it names

Doing = Literal["read", "write"]

_SCHEMA = f"""
PRAGMA journal_mode = MEMORY;  -- this file is of no use to anybody until it is whole
BEGIN;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segments (
    name TEXT PRIMARY KEY,
    n_documents INTEGER NOT NULL,
    n_sentences INTEGER NOT NULL,
    n_types INTEGER NOT NULL,
    n_bytes INTEGER NOT NULL,
    position INTEGER NOT NULL
);
CREATE TABLE documents (id TEXT PRIMARY KEY, serial INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE removed (serial INTEGER PRIMARY KEY);
CREATE TABLE dropped (name TEXT PRIMARY KEY);
CREATE TABLE state (name TEXT PRIMARY KEY, value);
INSERT INTO state VALUES
    ('generation', 0), ('next_serial', 0), ('n_documents', 0), ('vocabulary', NULL), ('vocabulary_version', 0),
    ('{CHECKSUM}', NULL);
"""
# Recognised by their messages, which SQLite keeps stable: Python 3.10 does not expose the codes.
_LOCKED = ("is locked", "locking protocol")
_OUT_OF_REACH = ("readonly", "is full", "disk i/o error", "unable to open", "permission denied", "authorization denied")
_DAMAGED = ("malformed", "not a database", "no such", "has no column", "could not decode", "unsupported file format")


def put_in_place(path: Path, settings: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write an empty catalog with these settings, unless one exists by then: of two concurrent attempts, one succeeds.

    `state` is the content of its state besides being empty.
    """
    # Under a name that `sweep` deletes if this process is killed.
    temporary = path.with_name(f"catalog-{secrets.token_hex(8)}.ibi.tmp")
    try:
        with translated(path, "write"), closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.executescript(_SCHEMA)
            connection.executemany("INSERT INTO state VALUES (?, ?)", state.items())
            write_settings(connection, settings)
            connection.execute("COMMIT")
        try:
            os.link(temporary, path)
        except (FileExistsError, FileNotFoundError):
            pass  # another process was faster, and may have swept this file away
        except OSError:
            # A file system without hard links, where two simultaneous creators cannot be distinguished.
            if not os.path.exists(path):
                os.replace(temporary, path)
        sync_folder(path.parent)
        with suppress(OSError):  # the parent folder may not be ours
            sync_folder(path.parent.absolute().parent)
    except OSError as error:
        raise write_problem(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_settings(connection: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    """Replace the settings, if any, together with their checksum."""
    values = [(name, json.dumps(value)) for name, value in settings.items()]
    values.append((CHECKSUM, str(checksum(sorted(values)))))
    connection.execute("DELETE FROM settings")
    connection.executemany("INSERT INTO settings VALUES (?, ?)", values)


def checksum(*parts: object) -> int:
    """Return a checksum of rows: SQLite has none, and would return a changed number without noticing."""
    return zlib.crc32(repr(parts).encode())


def connect(path: Path, real_path: Path) -> sqlite3.Connection:
    """Open a catalog, read-only if it is not writable, and check that this version understands it.

    Messages show its `path`; the file at `real_path`, without symbolic links, is opened.
    """
    try:
        real_path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoIndexError(
            f"there is no index in {path.parent}", "Check the path, or create the index with `ibidem index add`."
        ) from error
    except OSError as error:
        raise IndexStoreError(f"{path} cannot be read: {error.strerror}", "Check permissions.") from error
    may_write = os.access(real_path.parent, os.W_OK) and os.access(real_path, os.W_OK)
    uri = f"{real_path.as_uri()}?mode={'rw' if may_write else 'ro'}"
    with translated(path, "read"):
        connection = sqlite3.connect(uri, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
        try:
            _check_format(connection, path)
            connection.execute("PRAGMA journal_mode = DELETE")
            # The removal of the journal must also be on disk before old segments are deleted: if the journal reappeared after a
            # power cut, the commit would be undone and the catalog would name deleted files.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA cell_size_check = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id == 0 and path.stat().st_size == 0:
        raise damaged(path, "it is empty")
    if application_id != APPLICATION_ID:
        raise NoIndexError(f"{path} was not made by ibidem", "Check the path, or give another folder for the index.")
    if version != FORMAT_VERSION:
        raise IndexDamagedError(
            f"{path} has format version {version}; this ibidem reads version {FORMAT_VERSION}",
            "If a newer ibidem wrote the index, update ibidem; otherwise rebuild the index.",
        )


class CatalogFile:
    """The open file of a catalog: transactions on it, as long as it stays in place.

    All threads share one connection under a lock. Queries take microseconds, and a connection per thread would stay open after
    its thread ends.

    SQLite keeps the file open, but finds its journal by path. So before each transaction the path must still lead to the folder
    and file that were opened; otherwise `IndexChangedError` is raised, and nothing is read or written.
    """

    def __init__(self, opened: OpenFolder, status: os.stat_result | None, connection: sqlite3.Connection) -> None:
        self.opened = opened
        self.folder = opened.path
        self._path = opened.path / CATALOG_FILE
        self._real_path = opened.real_path / CATALOG_FILE
        self._connection = connection
        self._mutex = threading.RLock()
        self._status = status
        self._seen = _times(status)

    def close(self) -> None:
        """Close the file and the folder. The catalog cannot be used any more."""
        with self._mutex:
            self._connection.close()
            self.opened.close()

    @contextmanager
    def _transaction(self, begin: str, doing: Doing) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction, rolled back if the block raises; inside another transaction, as a part of it."""
        with self._mutex, translated(self._path, doing):
            if self._connection.in_transaction:
                yield self._connection
                return
            self._check_in_place()
            try:
                self._connection.execute(begin)  # inside the try: if interrupted right after it, it would stay open
                yield self._connection
                if doing == "write":
                    self._check_in_place()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors roll it back themselves
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                raise
            if doing == "write":
                self._check_committed()

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN", "read")

    def _check_in_place(self) -> None:
        if not self.opened.is_in_place():
            raise moved(self.folder, "the folder was moved or replaced")
        status = status_of(self._real_path)
        if status is None or self._status is None or not os.path.samestat(status, self._status):
            raise moved(self._path, "the file was replaced")
        if self._seen != (seen := _times(status)) and not self._connection.in_transaction:
            # SQLite detects a changed file by a counter in it, and a backup copied into the file may have the same count.
            self._connection.execute("PRAGMA shrink_memory")
            self._seen = seen

    def _check_committed(self) -> None:
        """Raise if the index was moved during the commit that has just ended, and say what happened to the commit."""
        try:
            self._check_in_place()
        except IndexChangedError as error:
            # SQLite deletes its journal by path. If the folder was gone by then, it still has the journal.
            status = status_of(self.opened / CATALOG_FILE)
            is_same = status is not None and self._status is not None and os.path.samestat(status, self._status)
            if is_same and status_of(self.opened / f"{CATALOG_FILE}-journal") is None:
                step = "The change was made: do not repeat it. Open the index again; restart `ibidem serve` or `watch`."
            else:
                step = "The change was not made. Open the index again and repeat it; restart `ibidem serve` or `watch`."
            raise IndexChangedError(f"{self.folder} was moved or replaced while a change was committed", step) from error

    def is_shared(self) -> bool:
        """Return whether the file has a second name: a copy made of hard links changes with this one."""
        status = status_of(self._real_path)
        return status is not None and status.st_nlink > 1


def _times(status: os.stat_result | None) -> tuple[int, ...]:
    return () if status is None else (status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def status_of(path: Path | Place) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist or cannot be accessed."""
    with suppress(OSError):
        return Place.of(path).status(follow_symlinks=True)
    return None


def damaged(path: Path, what: str) -> IndexDamagedError:
    """Return the error for a damaged catalog."""
    return IndexDamagedError(f"{path} is damaged: {what}", REPAIR_STEP)


@contextmanager
def translated(path: Path, doing: Doing) -> Iterator[None]:
    """Turn SQLite's errors in the block into errors of the index. Wrong use of SQLite is not caught: it is a bug."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.NotSupportedError) as error:
        if "closed database" in str(error):
            raise IndexStoreError(f"the index in {path.parent} was closed", "Open it again.") from error
        raise
    except UnicodeDecodeError as error:  # from an SQLite message that quotes damaged data
        raise damaged(path, "it contains invalid text") from error
    except sqlite3.Error as error:
        raise _meaning(path, doing, error) from error


def _meaning(path: Path, doing: Doing, error: sqlite3.Error) -> IndexStoreError:
    words = str(error).lower()
    if any(part in words for part in _LOCKED):
        return IndexLockedError(
            f"another process has kept {path} busy for more than {BUSY_SECONDS:.0f} seconds",
            "Wait until it has finished, or stop it, and run this again.",
        )
    if any(part in words for part in _DAMAGED):
        return damaged(path, str(error))
    if doing == "write" and any(part in words for part in _OUT_OF_REACH):
        is_full = "is full" in words or _is_disk_full(path.parent)
        step = "Free some space there" if is_full else "Check permissions and the disk"
        kind = IndexSpaceError if is_full else IndexWriteError
        return kind(f"cannot write {path}: {error}", f"{step}, and run it again; the index is unchanged.")
    if path.with_name(f"{path.name}-journal").exists():
        step = "A commit was interrupted. Open the index once with write access to its folder: that undoes the commit."
    else:
        step = "Check permissions and the disk."
    return IndexStoreError(f"cannot {doing} {path}: {error}", step)


def _is_disk_full(folder: Path) -> bool:
    """Return whether there is no space for a journal: SQLite then only says that it could not open or write it."""
    try:
        return is_full(folder, _JOURNAL_BYTES)
    except OSError:
        return False
