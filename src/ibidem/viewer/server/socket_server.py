"""The server: the app on a socket and its threads, until a signal stops it."""

from __future__ import annotations

import logging
import math
import socket
import threading
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

import anyio
import anyio.to_thread
import uvicorn
from anyio._backends import _asyncio
from fastapi import FastAPI

from ibidem.errors import ResourceError
from ibidem.viewer.server.addresses import MOST_WAITING
from ibidem.viewer.server.admission import Admission, limits_of_process
from ibidem.viewer.server.app import THREADS, make_app, page_files
from ibidem.viewer.server.arrivals import Streams
from ibidem.viewer.server.index_routes import CHECKS_AT_ONCE
from ibidem.viewer.server.protocol import LimitedProtocol
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import Served

_LONGEST_FAREWELL_SECONDS = 3


class Server(uvicorn.Server):
    """A server that ends its streams before shutting down: it would wait for them for ever."""

    def __init__(self, app: FastAPI, streams: Streams, admission: Admission, access: Access, verbose: bool = False) -> None:
        protocol = partial(LimitedProtocol, admission=admission, patience=access.patience)
        super().__init__(
            uvicorn.Config(
                app,
                # Input that is not HTTP is logged only when every request is.
                log_level="info" if verbose else "error",
                access_log=verbose,
                server_header=False,
                timeout_graceful_shutdown=_LONGEST_FAREWELL_SECONDS,
                backlog=admission.limits.at_once,
                http=cast(Any, protocol),
                loop="asyncio",
                ws="none",
            )
        )
        # After the configuration, which sets up logging.
        logging.getLogger("uvicorn.access").addFilter(WithoutSecrets(access.token))
        self._streams = streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the threads and begin accepting. asyncio accepts as many connections at once as may wait."""
        await start_threads(THREADS + CHECKS_AT_ONCE)
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(MOST_WAITING)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, then everything else."""
        self._streams.stop()
        await super().shutdown(sockets)


class WithoutSecrets(logging.Filter):
    """Removes tokens from log lines: everything after the question mark, and any path that contains the token."""

    def __init__(self, token: str | None) -> None:
        super().__init__()
        self._token = token

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a line and let it pass."""
        if isinstance(record.args, tuple):
            record.args = tuple(self._without(value) if isinstance(value, str) else value for value in record.args)
        return True

    def _without(self, value: str) -> str:
        path, mark, _ = value.partition("?")
        if self._token is not None and self._token in unquote(path):
            path = "/…"
        return path + ("?…" if mark else "")


def make_server(served: Served, access: Access, verbose: bool = False) -> Server:
    """Return the server; run it on a socket from `bind`."""
    page_files()  # now, not at the first request
    streams, admission = Streams(served.log), Admission(limits_of_process())
    return Server(make_app(served, access, streams, admission), streams, admission, access, verbose)


async def start_threads(count: int) -> None:
    """Start the worker threads before the first request; none ends before the server.

    A thread started when memory has run out may die before it reports, and Python then waits for it for ever. On the event
    loop, that would stop all responses.
    """
    _asyncio.WorkerThread.MAX_IDLE_TIME = math.inf  # type: ignore[assignment]
    limiter, all_there = anyio.CapacityLimiter(count), threading.Barrier(count)

    async def start() -> None:
        try:
            await anyio.to_thread.run_sync(all_there.wait, limiter=limiter)
        except RuntimeError:  # in this thread, or in another that the rest would wait for
            all_there.abort()

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(start)
    if all_there.broken:
        message = f"the system does not allow {count} threads"
        raise ResourceError(message, "Free memory, or raise the limit on processes (ulimit -u), and start it again.")
