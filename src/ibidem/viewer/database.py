"""`view.sqlite`, the file behind the views: its tables, and connections to it and to the verdicts beside it."""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from ibidem.errors import ResourceError

# A file with another number has an unknown format and is made again.
SCHEMA = 9
# The format of the answers that pages and programs receive.
ANSWER_SCHEMA = 1

# Compact, as there may be many millions of pairs: shares are counted in billionths (see `rows.py`), what other columns imply is
# not stored, and an order has an index only if pages begin with it. Others take one pass over the table.
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE documents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL, is_reference INTEGER NOT NULL, time INTEGER, "group" INTEGER, title TEXT,
  n_chars INTEGER, n_sentences INTEGER, reused_share REAL, first_share REAL, cluster INTEGER,
  n_pairs INTEGER NOT NULL DEFAULT 0, name INTEGER NOT NULL DEFAULT 0, block INTEGER, first INTEGER, last INTEGER,
  earliest_share REAL
);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, n_bytes INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE pieces (document INTEGER NOT NULL, start INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE pairs (
  number INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, n_passages INTEGER NOT NULL, shared INTEGER NOT NULL,
  longest INTEGER NOT NULL, distance INTEGER NOT NULL, covered_a INTEGER, covered_b INTEGER,
  kind INTEGER NOT NULL, direction INTEGER NOT NULL, interest INTEGER NOT NULL, a_group INTEGER, b_group INTEGER, year INTEGER
);
CREATE TABLE passages (
  pair INTEGER NOT NULL, number INTEGER NOT NULL, a_start INTEGER NOT NULL, a_length INTEGER NOT NULL,
  b_start INTEGER NOT NULL, b_longer INTEGER NOT NULL, n_sentences INTEGER NOT NULL, distance INTEGER NOT NULL,
  kind INTEGER NOT NULL, direction INTEGER NOT NULL, family INTEGER, PRIMARY KEY (pair, number)
) WITHOUT ROWID;
CREATE TABLE families (
  number INTEGER PRIMARY KEY, n_documents INTEGER NOT NULL, n_places INTEGER NOT NULL, n_chars INTEGER NOT NULL,
  first_time INTEGER, last_time INTEGER, n_groups INTEGER NOT NULL, is_repeat INTEGER NOT NULL,
  document INTEGER, start INTEGER, "end" INTEGER, text TEXT
);
CREATE TABLE places (
  family INTEGER NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  PRIMARY KEY (family, document, start, "end")
) WITHOUT ROWID;
CREATE TABLE repeats (
  document INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, family INTEGER NOT NULL,
  PRIMARY KEY (document, start, "end", family)
) WITHOUT ROWID;
CREATE TABLE stories (
  number INTEGER PRIMARY KEY, family INTEGER NOT NULL, n_families INTEGER NOT NULL, fold INTEGER NOT NULL,
  is_edited INTEGER NOT NULL
);
CREATE TABLE ignored (grams BLOB NOT NULL, short BLOB NOT NULL, seed TEXT NOT NULL);
CREATE TABLE skipped (number INTEGER PRIMARY KEY, source TEXT, position INTEGER, reason TEXT, id TEXT);
CREATE VIRTUAL TABLE names USING fts5(id, title, name, content='', tokenize='trigram', detail='none', columnsize=0);
CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='trigram', detail='none', columnsize=0);
"""

# Made after the rows, which is several times as fast. Every entry ends with the number of its row.
INDICES = """
CREATE INDEX documents_by_id ON documents (id);
CREATE INDEX pieces_by_document ON pieces (document, start);
CREATE INDEX pairs_by_a ON pairs (a);
CREATE INDEX pairs_by_b ON pairs (b);
CREATE INDEX pairs_by_interest ON pairs (interest);
ANALYZE;
VACUUM;
"""
_VERDICTS = """
  CREATE TABLE IF NOT EXISTS {}.verdicts (
    first_id TEXT NOT NULL, second_id TEXT NOT NULL, a_id TEXT NOT NULL, b_id TEXT NOT NULL, verdict TEXT, note TEXT NOT NULL,
    changed TEXT NOT NULL, PRIMARY KEY (first_id, second_id)
  ) WITHOUT ROWID
"""
_MAPPED_BYTES = 256 << 20
MOST_SECONDS = 5.0  # of the processor, for one query of somebody who waits
_STEPS_BETWEEN_LOOKS = 20_000


def create(path: Path) -> sqlite3.Connection:
    """Make the file, without indices. A crash while it is being filled may damage it; it is then discarded."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;")
        connection.executescript(TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


class Connections:
    """Read-only connections for any thread. The file never changes, so SQLite takes no locks.

    `judged` is the file of verdicts, created with the first verdict. Connections are reused, so there are never more than
    concurrent callers. A query that takes more than `most_seconds` of processor time is stopped; without it, none is.
    """

    def __init__(self, path: Path, verdicts: Path | None, most_seconds: float | None = None) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}  # that queries may use, by name
        self._path = path
        self._most_seconds = math.inf if most_seconds is None else most_seconds
        self._verdicts = verdicts
        self._idle: list[sqlite3.Connection] = []
        self._mutex = threading.Lock()
        self._generation = 0  # connections of an earlier generation are not reused
        self._identity = self._identify()
        with closing(self.connect()) as connection:  # to fail early if something is wrong
            self._made_of = self._key(connection)

    def close(self) -> None:
        """Close all connections; those in use are closed when they are returned."""
        with self._mutex:
            self._generation += 1
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def rows(self, query: str, values: list[Any] | None = None) -> list[Any]:
        """Return all rows of a query."""
        self._check_unchanged()
        with self._mutex:
            since, connection = self._generation, self._idle.pop() if self._idle else None
        connection = connection or self.connect()
        deadline = time.thread_time() + self._most_seconds  # waiting for the processor does not count
        connection.set_progress_handler(lambda: time.thread_time() > deadline, _STEPS_BETWEEN_LOOKS)
        try:
            return connection.execute(query, values or []).fetchall()
        except sqlite3.OperationalError as error:
            if time.thread_time() <= deadline:
                raise
            raise ResourceError("that takes too long to look up", "Ask for something more precise.") from error
        finally:
            connection.set_progress_handler(None, 0)
            with self._mutex:
                is_current = since == self._generation
                if is_current:
                    self._idle.append(connection)
            if not is_current:
                connection.close()

    def one(self, query: str, values: list[Any]) -> sqlite3.Row | None:
        """Return the first row of a query, if there is one."""
        try:
            rows = self.rows(query, values)
        except OverflowError:  # too large for any row number
            return None
        return rows[0] if rows else None

    def judge(self, change: str, values: list[Any]) -> None:
        """Change the verdicts; raise sqlite3.Error if that fails."""
        assert self._verdicts is not None
        connection = sqlite3.connect(self._verdicts, isolation_level=None)
        try:
            # The removal of the journal must reach the disk, too: if it reappeared after a power cut, the verdict would be
            # undone.
            connection.execute("PRAGMA synchronous = EXTRA")
            is_new = _is_empty(connection, "main")
            connection.execute(_VERDICTS.format("main"))
            connection.execute(change, values)
        finally:
            connection.close()
        if is_new:
            self.close()  # open connections have not attached the file

    def _check_unchanged(self) -> None:
        """Raise if the file now belongs to other results: pair numbers would mean other pairs than those shown."""
        now = self._identify()
        if now == self._identity:
            return
        try:
            connection = self.connect()
            try:
                key = self._key(connection)
            finally:
                connection.close()
        except sqlite3.Error:
            key = None
        if now is None or key is None or key != self._made_of:
            raise ResourceError("the results have changed since they were opened", "Start ibidem serve again.")
        self._identity = now  # made again from the same results
        self.close()

    def _key(self, connection: sqlite3.Connection) -> str | None:
        row = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
        return None if row is None else str(row[0])

    def _identify(self) -> tuple[int, int, int] | None:
        try:
            state = os.stat(self._path)
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    def connect(self) -> sqlite3.Connection:
        """Return a new connection, for the caller to close."""
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        try:
            connection.row_factory = sqlite3.Row
            connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
            self._attach_verdicts(connection)
            for name, function in self.functions.items():
                connection.create_function(name, -1, function, deterministic=True)
        except BaseException:
            connection.close()
            raise
        return connection

    def _attach_verdicts(self, connection: sqlite3.Connection) -> None:
        try:
            if self._verdicts is not None and self._verdicts.exists():
                _finish_rollback(self._verdicts)
                connection.execute("ATTACH ? AS judged", [f"{self._verdicts.absolute().as_uri()}?mode=ro"])
                if not _is_empty(connection, "judged"):
                    connection.execute("SELECT first_id, verdict FROM judged.verdicts LIMIT 1").fetchone()
                    return
                connection.execute("DETACH judged")
            connection.execute("ATTACH ':memory:' AS judged")
            connection.execute(_VERDICTS.format("judged"))
        except sqlite3.Error as error:
            next_step = "Move the file away, or put a sound copy in its place."
            raise ResourceError(f"{self._verdicts} cannot be read: {error}", next_step) from error


def _is_empty(connection: sqlite3.Connection, schema: str) -> bool:
    """Return whether a database has no tables: its process was stopped before the first verdict was saved."""
    row: tuple[int] = connection.execute(f"SELECT COUNT(*) FROM {schema}.sqlite_master").fetchone()
    return row[0] == 0


def _finish_rollback(verdicts: Path) -> None:
    """Roll back a change interrupted by a crash, if the folder is writable: SQLite cannot do so for a read-only connection."""
    journal = verdicts.with_name(f"{verdicts.name}-journal")
    if journal.exists() and os.access(verdicts, os.W_OK) and os.access(verdicts.parent, os.W_OK):
        with closing(sqlite3.connect(verdicts, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
