"""The app: its routes, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI

from ibidem.version import __version__
from ibidem.viewer.server import shapes
from ibidem.viewer.server.admission import Admission
from ibidem.viewer.server.api_errors import handle_errors
from ibidem.viewer.server.event_stream import Streams
from ibidem.viewer.server.export_routes import export_routes
from ibidem.viewer.server.gzip_answers import Packing
from ibidem.viewer.server.index_routes import index_routes
from ibidem.viewer.server.page_routes import page_routes
from ibidem.viewer.server.result_routes import result_routes
from ibidem.viewer.server.security import Access, Guard
from ibidem.viewer.server.served import Served

API = "/api/v1"
# Enough for short requests not to wait behind a few long ones, and few enough not to fight for Python's lock.
THREADS = 8
_DESCRIPTION = """What `ibidem serve` answers: the passages that documents share, and what a new text shares with an index.

Times are ISO 8601 in UTC, offsets count characters (code points) of a text, half open, shares lie between 0 and 1, and what is
missing is null. Collections come in pages: `next` of a page is the `cursor` of the following one. Whole tables are at the same
addresses with `.csv` or `.json`. Every error has the shape `Error`."""
_ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": shapes.Error, "description": "What went wrong."}}


def make_app(served: Served, access: Access, streams: Streams | None = None, admission: Admission | None = None) -> FastAPI:
    """Return the app over what is served. Streams end when `streams` is stopped, at the latest with the app.

    `admission` learns which connections send requests that may pass.
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
        # The pages that FastAPI has for the description load scripts from elsewhere.
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
    # The last one added is the first to be asked.
    app.add_middleware(Guard, access=access, admission=Admission() if admission is None else admission)
    return app
