"""Who may ask, what may be asked, and what browsers may do with the answers. All of it happens before any route runs.

Without a token only this machine may ask, which the address that the server listens on ensures; but any web page in a browser
of this machine may send requests there. So the Host header has to be a name of this machine (a foreign name that resolves to
127.0.0.1 is refused), requests that change something must not come from other pages, and other pages may not make API calls.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ibidem.web.errors import ApiError, as_api_error, error_answer

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING_METHODS = {"GET", "HEAD", "OPTIONS"}
_LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class Access:
    """What the app lets through: with a token, only who knows it; bodies of so many bytes."""

    host: str = "127.0.0.1"
    token: str | None = None
    max_upload_bytes: int = 10_000_000


def is_local(host: str) -> bool:
    """Tell whether a server that listens on this host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Sends the headers of safety with everything, and answers what goes wrong on the way, an error of our own included."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, if it may pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_begun = False

        async def send_safely(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            if early := self._check(scope):
                await early(scope, receive, send_safely)
            else:
                await self._app(scope, _limited(scope, receive, self._access.max_upload_bytes), send_safely)
        except Exception as problem:
            answer = error_answer(as_api_error(problem))
            if is_begun:  # too late for an error: a body that breaks off must not look like a whole one
                raise
            await answer(scope, receive, send_safely)

    def _check(self, scope: Scope) -> Response | None:
        """Raise for a request that is refused; return the answer to one that is answered here."""
        headers, token = Headers(scope=scope), self._access.token
        if token is None:
            self._check_host(headers.get("host", ""))
        elif not self._is_known(scope, headers, token):
            if scope["method"] == "GET" and (answer := self._let_in(scope, token)):
                return answer
            raise ApiError(
                401,
                "unauthorised",
                "this needs the token that ibidem serve was started with",
                "Open the address that ibidem serve printed, or send the header Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": "Bearer"},
            )
        elif scope["method"] == "GET" and not scope["path"].startswith("/api/") and (answer := self._let_in(scope, token)):
            return answer  # the token does not stay in the address bar
        _check_origin(scope, headers)
        return None

    def _check_host(self, host: str) -> None:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            name = None
        if name not in _LOCAL_NAMES and name != self._access.host.strip("[]").lower():
            raise ApiError(
                403,
                "forbidden",
                "this server answers under the names of this machine only, and was asked under another",
                "Open it as http://localhost with its port. For use from other machines, start ibidem serve with --token.",
            )

    @staticmethod
    def _is_known(scope: Scope, headers: Headers, token: str) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _is_same(given.strip(), token):
            return True
        # Not by the standard library, which gives up at the first cookie it cannot read: those of all ports come together.
        cookies = (each.strip().partition("=") for each in headers.get("cookie", "").split(";"))
        own = _cookie_name(scope)
        return any(name == own and _is_same(unquote(value), token) for name, _, value in cookies)

    @staticmethod
    def _let_in(scope: Scope, token: str) -> Response | None:
        """Answer a page that is asked for with ?token= by a cookie and the same address without it."""
        if scope["path"].startswith("/api/"):
            return None
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and _is_same(value, token) for name, value in parameters):
            return None
        rest = urlencode([(name, value) for name, value in parameters if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # never //host/…, which would lead elsewhere
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        is_encrypted = scope.get("scheme") == "https"
        # Lax, so that a link from elsewhere lets in; what changes something is asked for its origin besides.
        answer.set_cookie(_cookie_name(scope), quote(token, safe=""), httponly=True, samesite="lax", secure=is_encrypted)
        return answer


def _is_same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode("utf-8"))


def _cookie_name(scope: Scope) -> str:
    """Return a name of this server's own: browsers share cookies between all ports of a host."""
    server = scope.get("server")
    return f"ibidem_{server[1] if server else ''}"


def _check_origin(scope: Scope, headers: Mapping[str, str]) -> None:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    is_reading = scope["method"] in _READING_METHODS
    if not is_reading:
        is_foreign = site == "cross-site" or (origin is not None and origin.partition("://")[2] != headers.get("host", ""))
    else:  # a link may lead here; a script of another page has no business with the API
        is_foreign = site == "cross-site" and scope["path"].startswith("/api/") and headers.get("sec-fetch-mode") != "navigate"
    if is_foreign:
        raise ApiError(403, "forbidden", "this request comes from another web page, which may not make it")


def _limited(scope: Scope, receive: Receive, max_bytes: int) -> Receive:
    """Return a `receive` that raises once more than `max_bytes` of a body have come, whatever was announced."""
    megabytes = f"{max_bytes / 1e6:g} MB"
    next_step = "Send a smaller text, or start ibidem serve with a larger --max-upload."
    too_large = ApiError(413, "too_large", f"the body is larger than {megabytes}", next_step, {"Connection": "close"})
    announced = Headers(scope=scope).get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise too_large
    n_bytes = 0

    async def receive_some() -> Message:
        nonlocal n_bytes
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if n_bytes > max_bytes:
            raise too_large
        return message

    return receive_some
