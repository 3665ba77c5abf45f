"""Responses: JSON, whole or streamed, compressed for clients that accept it."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncGenerator, Generator
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LEAST_PACKED_BYTES = 2000
_LEAST_THREAD_BYTES = 1 << 14  # less is compressed before a thread would start
_LEVEL, _AS_GZIP = 2, 31
_STREAM_OF_EVENTS = "text/event-stream"  # compression would delay events


def to_json(content: Any) -> str:
    """Return content as JSON on one line. What is not JSON (NaN, infinities) is an error."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class JsonAnswer(Response):
    """A JSON response.

    Routes return it directly: the shapes in `shapes.py` are what the OpenAPI description promises, the tests compare the two,
    and no answer is slowed down by validation.
    """

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the bytes of the body."""
        return to_json(content).encode("utf-8")


class GeneratedAnswer(StreamingResponse):
    """A response that is streamed as it is generated.

    Its generator is closed as soon as the response ends, even if the client is gone, and does not wait for the garbage
    collector.
    """

    def __init__(self, pieces: Generator[str, None, None] | AsyncGenerator[str, None], **options: Any) -> None:
        super().__init__(pieces, **options)
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._pieces, Generator):
                self._pieces.close()
            else:
                await self._pieces.aclose()


class Packing:
    """Compresses long responses with gzip for clients that accept it, unless they are already compressed.

    It works in threads: ten megabytes take a tenth of a second, which would block all other requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and compress its response."""
        if scope["type"] != "http" or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Packed(send).send)


class _Packed:
    """One response. Its headers wait for the first part of the body, which decides whether to compress."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._head: Message | None = None
        self._packer: zlib._Compress | None = None

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        if self._head is not None:
            self._begin(self._head, len(body), is_last)
            if self._packer is not None and is_last:
                body = await self._pack(body, True)
                MutableHeaders(raw=self._head["headers"])["Content-Length"] = str(len(body))
                self._packer = None
            head, self._head = self._head, None
            await self._send(head)
        if self._packer is not None:
            body = await self._pack(body, is_last)
            if not body and not is_last:
                return
        await self._send({**message, "body": body})

    def _begin(self, head: Message, n_bytes: int, is_last: bool) -> None:
        head["headers"] = list(head.get("headers", []))
        headers = MutableHeaders(raw=head["headers"])
        is_short = is_last and n_bytes < _LEAST_PACKED_BYTES
        if is_short or "content-encoding" in headers or headers.get("content-type", "").startswith(_STREAM_OF_EVENTS):
            return
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _AS_GZIP)
        headers["Content-Encoding"] = "gzip"
        headers.add_vary_header("Accept-Encoding")
        del headers["Content-Length"]

    async def _pack(self, body: bytes, is_last: bool) -> bytes:
        packer = self._packer
        assert packer is not None

        def pack() -> bytes:
            packed = packer.compress(body)
            return packed + packer.flush() if is_last else packed

        return pack() if len(body) < _LEAST_THREAD_BYTES else await run_in_threadpool(pack)
