"""What tests expect of answers."""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel

from ibidem.viewer.server import shapes
from ibidem.viewer.server.security import CONTENT_SECURITY_POLICY


def expect_safe(response: httpx.Response) -> None:
    """Every answer carries the headers of safety."""
    headers = response.headers
    assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] in ("no-store", "no-cache")
    assert "access-control-allow-origin" not in headers


def expect(shape: type[BaseModel], response: httpx.Response) -> Any:
    """Return the content of a success that has the promised shape, no field more and none less."""
    assert response.status_code == 200, response.text
    expect_safe(response)
    content = response.json()
    told = shape.model_validate(content).model_dump(mode="json", by_alias=True)
    assert set(told) == set(content)
    return content


def expect_error(status: int, code: str, response: httpx.Response) -> dict[str, Any]:
    """Return the content of an error of the one shape."""
    assert response.status_code == status, response.text
    expect_safe(response)
    assert response.headers["content-type"] == "application/json"
    error = shapes.Error.model_validate_json(response.content).error
    assert (error.status, error.code) == (status, code), error
    assert error.message
    assert "Traceback" not in response.text
    return error.model_dump()
