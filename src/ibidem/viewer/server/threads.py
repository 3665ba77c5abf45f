"""The threads that requests are worked on in. All are started before the first request, and none ends before the server.

A thread that starts when memory has run out may die before it has reported: Python then waits for it for ever. On the event
loop that would be the end of all answers.
"""

from __future__ import annotations

import math
import threading

import anyio
import anyio.to_thread
from anyio._backends import _asyncio

from ibidem.errors import ResourceError


async def start_threads(count: int) -> None:
    """Start so many threads of the event loop, and keep them; anyio itself ends those that were idle for ten seconds."""
    _asyncio.WorkerThread.MAX_IDLE_TIME = math.inf  # type: ignore[assignment]
    limiter, all_there = anyio.CapacityLimiter(count), threading.Barrier(count)

    async def start() -> None:
        try:
            await anyio.to_thread.run_sync(all_there.wait, limiter=limiter)
        except RuntimeError:  # of this thread, or of another, for which the rest would wait
            all_there.abort()

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(start)
    if all_there.broken:
        message = f"the system does not let this server start {count} threads"
        raise ResourceError(message, "Free memory, or raise the limit on processes (ulimit -u), and start it again.")
