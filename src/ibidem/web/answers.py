"""How answers are written: JSON, as small and as fast as the standard library makes it."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response


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
