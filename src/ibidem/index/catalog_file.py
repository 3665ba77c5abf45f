"""The SQLite file under the catalog: how it comes into being, how it is opened, and what its errors mean."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from ibidem.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexSpaceError,
    IndexStoreError,
    IndexWriteError,
    NoIndexError,
)
from ibidem.execution.durable_files import sync_folder
from ibidem.index.array_files import REPAIR_STEP, write_problem

CATALOG_FILE = "catalog.sqlite"
APPLICATION_ID = 0x49424944  # "IBID"
FORMAT_VERSION = 1
BUSY_SECONDS = 30.0
_JOURNAL_BYTES = 64 << 10  # of a small commit
CHECKSUM = "checksum"  # a row of `settings` over the other settings, and one of `state` over all that it names

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
# Told apart by their words, which SQLite keeps: Python 3.10 does not give their numbers.
_LOCKED = ("is locked", "locking protocol")
_OUT_OF_REACH = ("readonly", "is full", "disk i/o error", "unable to open", "permission denied", "authorization denied")
_DAMAGED = ("malformed", "not a database", "no such", "has no column", "could not decode", "unsupported file format")


def put_in_place(path: Path, settings: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Write an empty catalog with these settings, unless one is there by then: of two who try it at once, one succeeds.

    `state` is what its state says besides being empty.
    """
    # A name that `sweep` deletes if this process is killed.
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
            pass  # another one was quicker, and may have swept this file away
        except OSError:
            # A file system without links, where two creators within a blink are not told apart.
            if not os.path.exists(path):
                os.replace(temporary, path)
        sync_folder(path.parent)
        with suppress(OSError):  # above the index we need not be at home
            sync_folder(path.parent.absolute().parent)
    except OSError as error:
        raise write_problem(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_settings(connection: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    """Put settings into the place of those that are there, if any, with their checksum."""
    values = [(name, json.dumps(value)) for name, value in settings.items()]
    values.append((CHECKSUM, str(checksum(sorted(values)))))
    connection.execute("DELETE FROM settings")
    connection.executemany("INSERT INTO settings VALUES (?, ?)", values)


def checksum(*parts: object) -> int:
    """Return a checksum of rows: SQLite keeps none, and would hand out a changed number as if nothing had happened."""
    return zlib.crc32(repr(parts).encode())


def connect(path: Path, real_path: Path) -> sqlite3.Connection:
    """Open a catalog, read-only where nothing may be written, and see that it is one that this version understands.

    Messages give its `path`; what is opened is the file at `real_path`, without links on the way.
    """
    try:
        real_path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoIndexError(f"there is no index in {path.parent}", "Check the path, or make an index there first.") from error
    except OSError as error:
        raise IndexStoreError(f"{path} cannot be read: {error.strerror}", "See that you may read it.") from error
    may_write = os.access(real_path.parent, os.W_OK) and os.access(real_path, os.W_OK)
    uri = f"{real_path.as_uri()}?mode={'rw' if may_write else 'ro'}"
    with translated(path, "read"):
        connection = sqlite3.connect(uri, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
        try:
            _check_format(connection, path)
            connection.execute("PRAGMA journal_mode = DELETE")
            # The end of the journal, too, has to be on disk before old segments are deleted: if the journal came back after
            # a power cut, the commit would be undone and the catalog would name files that are gone.
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
            "If a newer ibidem wrote the index, update ibidem; else build the index anew.",
        )


def damaged(path: Path, what: str) -> IndexDamagedError:
    """Say that a catalog is damaged, and in what way."""
    return IndexDamagedError(f"{path} is damaged: {what}", REPAIR_STEP)


@contextmanager
def translated(path: Path, doing: Doing) -> Iterator[None]:
    """Turn what SQLite raises in the block into errors of the index. Wrong use of SQLite is let through: it is a bug."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.NotSupportedError) as error:
        if "closed database" in str(error):
            raise IndexStoreError(f"the index in {path.parent} was closed", "Open it again.") from error
        raise
    except UnicodeDecodeError as error:  # from a message of SQLite that quotes what is damaged
        raise damaged(path, "it holds text that is none") from error
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
        step = "Free some space there" if is_full else "See that you may write there and that the disk is in order"
        kind = IndexSpaceError if is_full else IndexWriteError
        return kind(f"cannot write {path}: {error}", f"{step}, and run it again; the index is as it was before.")
    if path.with_name(f"{path.name}-journal").exists():
        step = "A commit was broken off. Open the index once where you may write to its folder: that undoes the commit."
    else:
        step = "See that you may read it and that the disk is in order."
    return IndexStoreError(f"cannot {doing} {path}: {error}", step)


def _is_disk_full(folder: Path) -> bool:
    """Tell whether there is no space for a journal: then SQLite says only that it could not open or write it."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _JOURNAL_BYTES or (disk.f_files > 0 and disk.f_favail == 0)
