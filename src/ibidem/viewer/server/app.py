"""The app: its routes, the page, and the middleware that every request passes."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from ibidem.version import __version__
from ibidem.viewer.page import app_page, assets
from ibidem.viewer.server import shapes
from ibidem.viewer.server.admission import Admission
from ibidem.viewer.server.answers import Packing
from ibidem.viewer.server.api_errors import handle_errors, not_found
from ibidem.viewer.server.arrivals import Streams
from ibidem.viewer.server.export_routes import export_routes
from ibidem.viewer.server.index_routes import index_routes
from ibidem.viewer.server.result_routes import result_routes
from ibidem.viewer.server.security import Access, Guard
from ibidem.viewer.server.served import Served

API = "/api/v1"
# Enough that short requests do not wait behind a few long ones, and few enough not to compete for Python's lock.
THREADS = 8
_DESCRIPTION = """What `ibidem serve` answers: the passages that documents share, and what a new text shares with an index.

Times are ISO 8601 in UTC, offsets count characters (code points) of a text, half open, shares are between 0 and 1, and missing
values are null. Collections come in pages: `next` of a page is the `cursor` of the following one. Whole tables are at the same
addresses with `.csv` or `.json`. Every error has the shape `Error`."""
_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": shapes.Error, "description": "What went wrong."}}
_LEAST_PACKED_BYTES = 1000


def make_app(served: Served, access: Access, streams: Streams | None = None, admission: Admission | None = None) -> FastAPI:
    """Return the app. Streams end when `streams` is stopped, at the latest with the app.

    `admission` learns which connections send allowed requests.
    """
    streams = streams or Streams(served.log)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        yield
        streams.stop()

    app = FastAPI(
        title="ibidem",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        # FastAPI's own pages for the description load third-party scripts.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    api = APIRouter(prefix=API, responses=_ERRORS)
    for routes in (export_routes(served), result_routes(served), index_routes(served, streams)):
        api.include_router(routes)
    app.include_router(api)
    app.include_router(page_routes(served))
    handle_errors(app)
    app.add_middleware(Packing)
    # The last middleware added runs first.
    app.add_middleware(Guard, access=access, admission=Admission() if admission is None else admission)
    return app


@dataclass(frozen=True)
class _File:
    """A file of the page. It is built once; browsers revalidate it."""

    media_type: str
    content: bytes
    packed: bytes
    etag: str


@lru_cache(maxsize=1)
def page_files() -> Mapping[str, _File]:
    """Return the files of the page by name, ready to send. The first call takes a second."""
    return {name: _file(media_type, content) for name, (media_type, content) in assets().items()}


def page_routes(served: Served) -> APIRouter:
    """Return the routes of the page and its files."""
    routes = APIRouter(include_in_schema=False)

    @lru_cache(maxsize=1)
    def page() -> _File:
        return _file("text/html", app_page(served.summary()["title"]))

    # Not in threads: files that are ready must not wait behind slow requests.
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
