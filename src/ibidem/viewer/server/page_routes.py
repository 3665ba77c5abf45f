"""The page and its scripts and styles. They are made once, and browsers ask only whether they are still the same."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fastapi import APIRouter, Request
from starlette.responses import Response

from ibidem.viewer.page import app_page, assets
from ibidem.viewer.server.api_errors import not_found
from ibidem.viewer.server.served import Served

_LEAST_PACKED_BYTES = 1000


@dataclass(frozen=True)
class _File:
    media_type: str
    content: bytes
    packed: bytes
    etag: str


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, _File]:
    """Return the files of the page by name, ready to be sent. The first call takes a second."""
    return {name: _file(media_type, content) for name, (media_type, content) in assets().items()}


def page_routes(served: Served) -> APIRouter:
    """Return the routes of the page and its files."""
    routes = APIRouter(include_in_schema=False)

    @lru_cache(maxsize=1)
    def page() -> _File:
        return _file("text/html", app_page(served.summary()["title"]))

    # Not in threads: what is ready does not wait behind those who read.
    @routes.get("/")
    async def show(request: Request) -> Response:
        return _send(page(), request)

    @routes.get("/assets/{name}")
    async def asset(name: str, request: Request) -> Response:
        if name not in page_files():
            raise not_found("there is no such file")
        return _send(page_files()[name], request)

    return routes


def _file(media_type: str, content: str) -> _File:
    data = content.encode("utf-8")
    etag = f'W/"{hashlib.sha256(data).hexdigest()[:32]}"'
    return _File(f"{media_type}; charset=utf-8", data, gzip.compress(data, 6, mtime=0), etag)


def _send(file: _File, request: Request) -> Response:
    headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if file.etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", "") and len(file.content) >= _LEAST_PACKED_BYTES:
        return Response(file.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)
