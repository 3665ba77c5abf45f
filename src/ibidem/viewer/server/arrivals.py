"""New documents: added to the index, recorded in a log, and sent to listeners as events."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from ibidem.errors import InputError, KnownIdError
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.viewer.excerpts import excerpt
from ibidem.viewer.server.answers import to_json
from ibidem.viewer.server.api_errors import ApiError, invalid
from ibidem.viewer.server.text_check import covered_share

MOST_KEPT = 100_000
_TRIM_AT = MOST_KEPT // 100  # rows above the limit before trimming, so that it is rare
_ROWS_AT_ONCE = 500
_EXCERPT_CHARS = 200
_BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS arrivals (arrival INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tails (path TEXT PRIMARY KEY, file TEXT NOT NULL, offset INTEGER NOT NULL);
"""
_MOST_WAIT_SECONDS = 10.0
MOST_LISTENERS = 100
HEARTBEAT_SECONDS = 15.0
_RETRY_MILLISECONDS = 2000
_EVENTS_AT_ONCE = 100


class ArrivalLog:
    """The last hundred thousand arrivals by number, in an SQLite file beside the index.

    Any thread may use it; `listen` registers a callback for new arrivals.
    """

    def __init__(self, path: Path | None) -> None:
        """Open or create the log; without a path or a writable folder it lasts as long as the process."""
        self._mutex = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._connection = _connect(path)

    def close(self) -> None:
        """Close the log."""
        with self._mutex:
            self._connection.close()

    def append(self, arrivals: Iterable[dict[str, Any]], tail: tuple[str, str, int] | None = None) -> list[dict[str, Any]]:
        """Store arrivals together with how far a file was read: (path, file, offset). Return them with their numbers."""
        stored = []
        with self._mutex, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for arrival in arrivals:
                content = json.dumps(arrival, ensure_ascii=False)
                number = self._connection.execute("INSERT INTO arrivals (content) VALUES (?)", (content,)).lastrowid
                stored.append({"arrival": number, **arrival})
            if tail is not None:
                self._connection.execute("INSERT OR REPLACE INTO tails VALUES (?, ?, ?)", tail)
            if stored and self._count() > MOST_KEPT + _TRIM_AT:
                oldest = "SELECT arrival FROM arrivals ORDER BY arrival DESC LIMIT 1 OFFSET ?"
                self._connection.execute(f"DELETE FROM arrivals WHERE arrival <= ({oldest})", (MOST_KEPT,))
        if stored:
            for tell in list(self._listeners):
                tell()
        return stored

    def page(self, after: int | None, limit: int) -> dict[str, Any]:
        """Return arrivals after a number, oldest first; without a number, the latest ones, also oldest first."""
        with self._mutex:
            total = self._count()
            items = self._last(limit) if after is None else self._after(after, limit + 1)
        is_more = len(items) > limit
        items = items[:limit]
        return {"items": items, "total": total, "next": str(items[-1]["arrival"]) if is_more else None}

    def after(self, number: int, limit: int) -> list[dict[str, Any]]:
        """Return up to `limit` arrivals after that number."""
        with self._mutex:
            return self._after(number, limit)

    def last_number(self) -> int:
        """Return the number of the last arrival; 0 if there was none."""
        with self._mutex:
            return int(self._connection.execute("SELECT coalesce(max(arrival), 0) FROM arrivals").fetchone()[0])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all arrivals as flat rows."""
        number = 0
        while some := self.after(number, _ROWS_AT_ONCE):
            for arrival in some:
                yield {**arrival, "sources": " ".join(source["id"] for source in arrival["sources"])}
            number = some[-1]["arrival"]

    def read_until(self, path: str) -> tuple[str, int] | None:
        """Return which file was at a followed path, and how far it was read."""
        with self._mutex:
            row = self._connection.execute("SELECT file, offset FROM tails WHERE path = ?", (path,)).fetchone()
        return None if row is None else (row[0], row[1])

    def listen(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell`, from any thread, at each arrival; return a function that stops this."""
        self._listeners.append(tell)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(tell)

        return stop

    def _count(self) -> int:
        # Numbers increase by one and only the oldest rows are deleted, so no rows have to be counted.
        row = self._connection.execute("SELECT min(arrival), max(arrival) FROM arrivals").fetchone()
        return 0 if row[0] is None else int(row[1] - row[0] + 1)

    def _after(self, number: int, limit: int) -> list[dict[str, Any]]:
        statement = "SELECT arrival, content FROM arrivals WHERE arrival > ? ORDER BY arrival LIMIT ?"
        return _arrivals(self._connection.execute(statement, (number, limit)))

    def _last(self, limit: int) -> list[dict[str, Any]]:
        statement = "SELECT arrival, content FROM arrivals ORDER BY arrival DESC LIMIT ?"
        return _arrivals(self._connection.execute(statement, (limit,)))[::-1]


def _arrivals(rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [{"arrival": number, **json.loads(content)} for number, content in rows]


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # FULL: an acknowledged arrival is on disk. Arrivals come in batches or one by one, so this costs little.
            connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_SCHEMA}")
            return connection
        except sqlite3.OperationalError:  # the folder is not writable: the log lasts as long as the process
            connection.close()
        except sqlite3.DatabaseError as problem:
            connection.close()
            raise InputError(
                f"{path} is not a log of arrivals: {problem}", "Move it away; a new one will be created."
            ) from None
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(_SCHEMA)
    return connection


def now() -> str:
    """Return the current time, as arrivals record it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Adder:
    """Adds documents to the index one at a time: each is checked against everything before it, added, and logged.

    Other callers wait for a while; then they learn that the index is locked.
    """

    def __init__(self, index: Index, log: ArrivalLog) -> None:
        self._index, self._log = index, log
        self._mutex = threading.Lock()

    def add(self, document: Document) -> dict[str, Any]:
        """Check and add a document; return the arrival. It is durable on disk when this returns."""
        if not self._mutex.acquire(timeout=_MOST_WAIT_SECONDS):
            raise ApiError(409, "locked", "other documents are being added", "Try again later.")
        try:
            if document.id in self._index:
                raise KnownIdError(f"the index already has a document with the id {document.id!r}", "Send it under another id.")
            align = self._index.config.index.texts  # as the page does when it checks a text
            (arrival,) = self._index.watch([document], html=False, main_content=False, align=align)
            if arrival.verdict is None:
                raise invalid(arrival.skipped.reason if arrival.skipped else "the document cannot be added")
            verdict, passages = arrival.verdict, arrival.passages
        finally:
            self._mutex.release()
        (stored,) = self._log.append(
            [
                {
                    "id": document.id,
                    "at": now(),
                    "duplicated": verdict.duplicated,
                    "n_sentences": verdict.n_sentences,
                    "n_known": verdict.n_known,
                    "n_passages": arrival.n_passages,
                    "covered_share": covered_share(passages, len(document.text)),
                    "sources": [source._asdict() for source in verdict.sources],
                    "excerpt": excerpt(document.text, _EXCERPT_CHARS),
                }
            ]
        )
        return stored


class Streams:
    """Arrivals as Server-Sent Events for a limited number of listeners.

    A slow listener catches up from the log and uses no memory.
    """

    def __init__(self, log: ArrivalLog) -> None:
        self._log = log
        self._wakers: set[Callable[[], None]] = set()
        self._n_listeners = 0
        self._is_stopped = False

    def open(self, after: int | None) -> AsyncGenerator[str, None]:
        """Return the events after a number and all future ones; without a number, only future ones."""
        if self._n_listeners >= MOST_LISTENERS:
            raise ApiError(503, "busy", f"there are already {MOST_LISTENERS} listeners", "Close another page and try again.")
        return self._events(after)

    def stop(self) -> None:
        """End all streams, and end later ones at once; any thread may call this."""
        self._is_stopped = True
        for wake in list(self._wakers):
            wake()

    async def _events(self, after: int | None) -> AsyncGenerator[str, None]:
        loop, is_news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(is_news.set)

        # Counted here: a stream whose listener leaves before it begins never begins, and never ends.
        self._n_listeners += 1
        stop_listening = self._log.listen(wake)
        self._wakers.add(wake)
        try:
            last = await run_in_threadpool(self._log.last_number) if after is None else after
            yield f"retry: {_RETRY_MILLISECONDS}\n\n"
            while not self._is_stopped:
                is_news.clear()
                arrivals = await run_in_threadpool(self._log.after, last, _EVENTS_AT_ONCE)
                if arrivals:
                    last = arrivals[-1]["arrival"]
                    yield "".join(map(_event, arrivals))
                    continue
                try:
                    await asyncio.wait_for(is_news.wait(), HEARTBEAT_SECONDS)
                except asyncio.TimeoutError:
                    yield ": still here\n\n"  # so that a lost connection is noticed
        finally:
            self._n_listeners -= 1
            self._wakers.discard(wake)
            stop_listening()


def _event(arrival: dict[str, Any]) -> str:
    return f"id: {arrival['arrival']}\ndata: {to_json(arrival)}\n\n"
