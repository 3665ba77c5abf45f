"""The description of the API: kept in the repository, current, and true."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from ibidem.viewer.server.openapi import description

KEPT = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_the_kept_description_is_current() -> None:
    assert KEPT.read_text("utf-8") == description(), "run: python -m ibidem.viewer.server.openapi docs/openapi.json"


def test_the_app_gives_the_same_description(reader: httpx.Client) -> None:
    assert reader.get("/api/v1/openapi.json").json() == json.loads(KEPT.read_text("utf-8"))


def test_every_route_says_what_comes_back() -> None:
    paths = json.loads(KEPT.read_text("utf-8"))["paths"]
    assert len(paths) >= 20
    operations = [operation for path in paths.values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
        assert operation["responses"]["200"]["content"]
        (schema,) = [content["schema"] for content in operation["responses"]["default"]["content"].values()]
        assert schema == {"$ref": "#/components/schemas/Error"}


def test_the_description_promises_no_other_error() -> None:
    assert "HTTPValidationError" not in KEPT.read_text("utf-8")
