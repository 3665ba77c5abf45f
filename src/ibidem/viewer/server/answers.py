"""How answers are written: JSON, as small and as fast as the standard library makes it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


def to_json(content: Any) -> str:
    """Return content as JSON on one line. What is not JSON (NaN, infinities) is an error rather than a surprise for readers."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class JsonAnswer(Response):
    """A response of JSON.

    Routes return it directly: the shapes in `shapes.py` are what the OpenAPI description promises, the tests compare the two,
    and no answer pays for being validated.
    """

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the bytes of the body."""
        return to_json(content).encode("utf-8")


class GeneratedAnswer(StreamingResponse):
    """A response that is sent as it is made.

    Its generator is closed when the response ends, also by a client that is gone: left to the garbage collector, what it
    occupies would be free some time later.
    """

    def __init__(self, parts: Generator[str, None, None] | AsyncGenerator[str, None], **options: Any) -> None:
        super().__init__(parts, **options)
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if isinstance(self._parts, Generator):
                self._parts.close()
            else:
                await self._parts.aclose()
