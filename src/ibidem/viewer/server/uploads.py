"""Limits on incoming bodies: length, speed and number at a time, whatever their headers announce."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.types import Message, Receive

from ibidem.viewer.server.api_errors import ApiError

_LEAST_WAITING_BYTES, _WAITING_UPLOADS = 64_000_000, 4


@dataclass(frozen=True)
class Patience:
    """How long the server waits for a client: for a request head, and for bytes to be sent or read.

    A transfer that takes longer than `still_seconds` must then reach `least_bytes_per_second`.
    """

    head_seconds: float = 10.0
    still_seconds: float = 30.0
    least_bytes_per_second: int = 1000


class Incoming:
    """All bodies being read or processed. Their total size is limited."""

    def __init__(self, max_upload_bytes: int, patience: Patience) -> None:
        self.max_upload_bytes, self.patience = max_upload_bytes, patience
        self.most_bytes = max(_LEAST_WAITING_BYTES, _WAITING_UPLOADS * max_upload_bytes)
        self.n_bytes = 0

    def body(self, announced: str) -> IncomingBody:
        """Return the body of a request whose Content-Length is `announced`."""
        return IncomingBody(self, announced)


class IncomingBody:
    """The body of one request."""

    def __init__(self, bodies: Incoming, announced: str) -> None:
        self._all, self._announced = bodies, announced
        self._deadline: float | None = None
        self._is_whole = False
        self._n_bytes = 0

    def check_announced(self) -> None:
        """Raise if the announced length is too large."""
        if self._announced.isdecimal() and (len(self._announced) > 18 or int(self._announced) > self._all.max_upload_bytes):
            raise self._too_large()

    async def next(self, receive: Receive, is_answered: bool) -> Message:
        """Return the next part. Once a response has begun, a body that is too long ends it without another error."""
        if self._is_whole:
            return await receive()
        now = asyncio.get_running_loop().time()
        if self._deadline is None:
            self._deadline = now + self._all.patience.still_seconds
        try:
            message = await asyncio.wait_for(receive(), None if is_answered else max(0.0, self._deadline - now))
        except asyncio.TimeoutError:
            raise self._too_slow() from None
        n_bytes = len(message.get("body", b""))
        self._n_bytes += n_bytes
        self._all.n_bytes += n_bytes
        self._deadline += n_bytes / self._all.patience.least_bytes_per_second
        self._is_whole = not message.get("more_body", False)
        is_too_large = self._n_bytes > self._all.max_upload_bytes
        if is_answered:
            return {"type": "http.disconnect"} if is_too_large else message
        if is_too_large:
            raise self._too_large()
        if self._all.n_bytes > self._all.most_bytes:
            raise ApiError(503, "busy", "too much is being uploaded at the moment", "Try again later.", _CLOSE)
        return message

    def release(self) -> None:
        """Stop counting the bytes: the request is answered."""
        self._all.n_bytes -= self._n_bytes
        self._n_bytes = 0

    def _too_large(self) -> ApiError:
        next_step = "Send a smaller text, or start ibidem serve with a larger --max-upload."
        return ApiError(413, "too_large", f"the body is larger than {self._all.max_upload_bytes / 1e6:g} MB", next_step, _CLOSE)

    def _too_slow(self) -> ApiError:
        patience = self._all.patience
        least = f"{patience.still_seconds:g} s, or at {patience.least_bytes_per_second:,} bytes per second after that"
        return ApiError(408, "timeout", f"the body did not arrive within {least}", "Send it again.", _CLOSE)


_CLOSE = {"Connection": "close"}
