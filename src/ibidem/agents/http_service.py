"""The tools over HTTP: the app of the SDK behind a token, on a socket that is already open."""

from __future__ import annotations

import hmac
import socket
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
_MOST_BYTES_A_CHAR = 6  # of JSON: a control character, or half an emoji, as \u0000
_OVERHEAD_BYTES = 10_000


class _WithToken:
    """Lets requests through that have the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode("utf-8", "replace")
            if not hmac.compare_digest(given, self._wanted):
                headers = {"WWW-Authenticate": "Bearer"}
                answer = JSONResponse({"error": "a token is needed"}, 401, headers)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


def http_service(server: MCPServer[None], host: str, token: str | None, max_chars: int) -> uvicorn.Server:
    """Return a service that answers at `/mcp`; run it on a socket. On this machine, it answers only under local names."""
    n_bytes = 2 * _MOST_BYTES_A_CHAR * max_chars + _OVERHEAD_BYTES  # two texts may be compared
    app: Any = server.streamable_http_app(
        streamable_http_path=PATH, host=host, json_response=True, max_request_body_size=n_bytes
    )
    if token is not None:
        app = _WithToken(app, token)
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5))


def run_on(service: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until a signal ends it."""
    service.run([listening])
