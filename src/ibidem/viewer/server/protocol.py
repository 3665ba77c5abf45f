"""HTTP with limits: connections that send or read too slowly are closed, and tiny chunks cannot keep the server busy.

It always uses uvicorn's h11 protocol: the other one accepts headers of any length.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ibidem.viewer.server.admission import PEER, Admission
from ibidem.viewer.server.api_errors import ApiError, error_answer
from ibidem.viewer.server.security import SAFE_HEADERS
from ibidem.viewer.server.uploads import Patience

_READ_BYTES = 1 << 14  # per read, which is parsed in a few milliseconds however small its chunks
_FREE_PARTS = 500
_LEAST_PART_BYTES = 64  # on average


class _Parts(h11.Connection):
    """Refuses bodies in very many tiny chunks: parsing one takes as long as thousands of bytes of a large one."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._n_parts = self._n_bytes = 0

    def next_event(self) -> Any:
        """Return the next event, as h11 does."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._n_parts = self._n_bytes = 0
        elif isinstance(event, h11.Data):
            self._n_parts += 1
            self._n_bytes += len(event.data)
            if self._n_parts > _FREE_PARTS + self._n_bytes // _LEAST_PART_BYTES:
                raise h11.RemoteProtocolError("the parts of the body are too small")
        return event


class LimitedProtocol(H11Protocol):
    """A connection that is admitted, watched once in a while, and closed when its client makes no progress."""

    def __init__(self, *arguments: Any, admission: Admission, patience: Patience, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.app = self._naming_the_peer(self.app)
        most_head_bytes = self.config.h11_max_incomplete_event_size
        self.conn = _Parts(h11.SERVER, *(() if most_head_bytes is None else (most_head_bytes,)))
        self._admission, self._patience = admission, patience
        self._every_seconds = min(1.0, patience.head_seconds / 4, patience.still_seconds / 4)
        self._watching: asyncio.TimerHandle | None = None
        self._head_since: float | None = None  # when the incomplete request head began
        self._rest_since: float | None = None  # when a response was complete although its request is not
        self._unread: tuple[float, int] | None = None  # when the client last read something, and what was left then

    def _naming_the_peer(self, app: Any) -> Any:
        """Return the app with the connected peer in every scope, whatever a proxy says about the client."""

        async def named(scope: Any, receive: Any, send: Any) -> None:
            scope[PEER] = self.client
            await app(scope, receive, send)

        return named

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit a connection, or refuse it."""
        transport.max_size = _READ_BYTES  # type: ignore[attr-defined]
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._watching = self.loop.call_later(self._every_seconds, self._watch)
        if self.client is None:  # closed already
            self.drop()
        elif not self._admission.admit(self.client, self):
            busy = "this server has no connections left"
            self._refuse(ApiError(503, "busy", busy, "Close other pages and try again later."))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._watching is not None:
            self._watching.cancel()
        if self.client is not None:
            self._admission.release(self.client)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        before = self.cycle
        super().data_received(data)
        self._note_head(self.cycle is not before)

    def on_response_complete(self) -> None:
        """Continue with the next request, which may have arrived in part."""
        super().on_response_complete()
        self._note_head(is_another=True)

    def resume_writing(self) -> None:
        """Continue sending: the client has read."""
        self._unread = None
        super().resume_writing()

    def drop(self) -> None:
        """Close at once, and send nothing more."""
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP; a response that has begun is cut off."""
        self._refuse(ApiError(400, "invalid", "this server cannot read the request", "Send HTTP/1.1."))

    def _note_head(self, is_another: bool) -> None:
        is_within_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not is_within_head:
            self._head_since = None
        elif self._head_since is None or is_another:
            self._head_since = self.loop.time()

    def _refuse(self, error: ApiError) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # discard whatever the app still sends
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.drop()
                return
        if not self.transport.is_closing():
            self.transport.write(_as_bytes(error))
            self.transport.close()

    def _watch(self) -> None:
        now = self.loop.time()
        self._watching = self.loop.call_later(self._every_seconds, self._watch)
        cycle = self.cycle
        if self._head_since is not None and now - self._head_since > self._patience.head_seconds:
            self._head_since = None
            seconds = f"{self._patience.head_seconds:g} s"
            self._refuse(ApiError(408, "timeout", f"the head of the request did not arrive within {seconds}", "Send it again."))
        is_rest_awaited = cycle is not None and cycle.response_complete and self.conn.their_state is h11.SEND_BODY
        if not is_rest_awaited:
            self._rest_since = None
        elif self._rest_since is None:
            self._rest_since = now
        elif now - self._rest_since > self._patience.head_seconds:
            self.drop()
        if self._is_stalled(now):
            self.drop()

    def _is_stalled(self, now: float) -> bool:
        """Return whether the client reads the response too slowly."""
        n_left = self.transport.get_write_buffer_size()
        if not n_left:
            self._unread = None
            return False
        if self._unread is None:
            self._unread = now, n_left
        since, n_before = self._unread
        if n_before - n_left >= self._patience.least_bytes_per_second * self._patience.still_seconds:
            self._unread = now, n_left
            return False
        return now - since > self._patience.still_seconds


def _as_bytes(error: ApiError) -> bytes:
    """Return a complete response, for use where the app cannot answer."""
    answer = error_answer(error)
    head = [b"HTTP/1.1 %d %s" % (error.status_code, error.code.encode("ascii"))]
    head += [b"connection: close", b"cache-control: no-store"]
    head += [f"{name}: {value}".encode("ascii") for name, value in SAFE_HEADERS.items()]
    head += [b"%s: %s" % pair for pair in answer.raw_headers]
    return b"\r\n".join([*head, b"", cast(bytes, answer.body)])
