"""Arrivals as they come, as Server-Sent Events. A listener that reads slowly reads the log later, and fills no memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool

from ibidem.viewer.server.answers import to_json
from ibidem.viewer.server.api_errors import ApiError
from ibidem.viewer.server.arrival_log import ArrivalLog

MOST_LISTENERS = 100
HEARTBEAT_SECONDS = 15.0
_RETRY_MILLISECONDS = 2000
_EVENTS_AT_ONCE = 100


class Streams:
    """The open streams, of which there are only so many."""

    def __init__(self, log: ArrivalLog) -> None:
        self._log = log
        self._wakers: set[Callable[[], None]] = set()
        self._n_listeners = 0
        self._is_stopped = False

    def open(self, after: int | None) -> AsyncGenerator[str, None]:
        """Return the events after that number, and all to come; without a number, those to come."""
        if self._n_listeners >= MOST_LISTENERS:
            raise ApiError(503, "busy", f"there are {MOST_LISTENERS} listeners already", "Close another page, and try again.")
        return self._events(after)

    def stop(self) -> None:
        """End all streams, and those opened later at once; may be called from any thread."""
        self._is_stopped = True
        for wake in list(self._wakers):
            wake()

    async def _events(self, after: int | None) -> AsyncGenerator[str, None]:
        loop, is_news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(is_news.set)

        # Counted here: a stream whose listener is gone before it begins never begins, and never ends.
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
                    yield ": still here\n\n"  # so that a connection that is gone is noticed
        finally:
            self._n_listeners -= 1
            self._wakers.discard(wake)
            stop_listening()


def _event(arrival: dict[str, Any]) -> str:
    return f"id: {arrival['arrival']}\ndata: {to_json(arrival)}\n\n"
