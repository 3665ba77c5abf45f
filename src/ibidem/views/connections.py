"""Connections to `view.sqlite`, with the verdicts beside it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

from ibidem.errors import ResourceError

_VERDICTS = """
  CREATE TABLE IF NOT EXISTS judged.verdicts (
    first_id TEXT NOT NULL, second_id TEXT NOT NULL, a_id TEXT NOT NULL, b_id TEXT NOT NULL, verdict TEXT, note TEXT NOT NULL,
    changed TEXT NOT NULL, PRIMARY KEY (first_id, second_id)
  ) WITHOUT ROWID
"""
_MAPPED_BYTES = 256 << 20


class Connections:
    """Reads rows; any thread may ask. The file is never changed: SQLite is told so, and takes no locks.

    `judged` is the file of verdicts, or nothing that lasts where there is none (`verdicts` None). Connections are kept for
    the next one who asks, so that there are never more than asked at once.
    """

    def __init__(self, path: Path, verdicts: Path | None, may_judge: bool) -> None:
        self._path = path
        self._may_judge = may_judge
        self._verdicts = verdicts
        self._idle: list[sqlite3.Connection] = []
        self._is_closed = False
        self._mutex = threading.Lock()

    def close(self) -> None:
        """Close all connections; those that are in use, when they are given back."""
        with self._mutex:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def rows(self, query: str, values: list[Any] | None = None) -> list[Any]:
        """Return all rows of a query."""
        with self._mutex:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self.connect()
        try:
            return connection.execute(query, values or []).fetchall()
        finally:
            with self._mutex:
                if not self._is_closed:
                    self._idle.append(connection)
            if self._is_closed:
                connection.close()

    def one(self, query: str, values: list[Any]) -> sqlite3.Row | None:
        """Return the first row of a query, if there is one."""
        try:
            rows = self.rows(query, values)
        except OverflowError:  # a number that no row can have
            return None
        return rows[0] if rows else None

    def connect(self) -> sqlite3.Connection:
        """Return a new connection, for the caller to close."""
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
        judged = ":memory:"
        if self._verdicts is not None:
            judged = f"{self._verdicts.absolute().as_uri()}?mode={'rwc' if self._may_judge else 'ro'}"
        try:
            connection.execute("ATTACH ? AS judged", [judged])
            connection.execute(_VERDICTS)
        except sqlite3.Error as error:
            connection.close()
            next_step = "Move the file away, or put a sound copy in its place."
            raise ResourceError(f"{self._verdicts} cannot be read: {error}", next_step) from error
        return connection
