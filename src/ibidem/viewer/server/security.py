"""Who may send requests, which requests, and what browsers may do with responses. All checks run before any route.

Without a token, only this machine can connect, because of the address that the server listens on. But any web page in a browser
on this machine can send requests there. So the Host header must be a name of this machine (another name that resolves to
127.0.0.1 is refused), requests that change something must not come from other pages, and other pages cannot call the API.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ibidem.viewer.server.admission import PEER, Admission
from ibidem.viewer.server.api_errors import ApiError, as_api_error, error_answer
from ibidem.viewer.server.uploads import Incoming, Patience

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READING_METHODS = {"GET", "HEAD", "OPTIONS"}
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
# Only a name and a port: no user, path, space or trailing dot.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]*[a-z0-9_-])(?::([0-9]{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"https?://(.+)", re.ASCII)
_OWN_SITES = (None, "same-origin", "none")


@dataclass(frozen=True)
class Access:
    """What the app accepts: with a token, only clients that know it; bodies of limited size that do not arrive too slowly."""

    host: str = "127.0.0.1"
    token: str | None = None
    max_upload_bytes: int = 10_000_000
    patience: Patience = field(default_factory=Patience)


class Guard:
    """Adds security headers to every response, and answers every error, including unexpected ones."""

    def __init__(self, app: ASGIApp, access: Access, admission: Admission) -> None:
        self._app, self._access, self._admission = app, access, admission
        self._bodies = Incoming(access.max_upload_bytes, access.patience)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it is allowed."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # uvicorn should raise when the client is gone. Some versions do not, and streams would never end.
        scope["asgi"] = {**scope.get("asgi", {}), "spec_version": "2.3"}
        is_begun = False

        async def send_safely(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in SAFE_HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        body = self._bodies.body(Headers(scope=scope).get("content-length", ""))

        async def receive_some() -> Message:
            return await body.next(receive, is_begun)

        try:
            if early := self._check(scope):
                await early(scope, receive, send_safely)
                return
            self._admission.know(scope.get(PEER, scope.get("client")))
            body.check_announced()
            await self._app(scope, receive_some, send_safely)
        except ClientDisconnect:
            return  # no one is left to answer
        except Exception as problem:
            answer = error_answer(as_api_error(problem))
            if is_begun:  # too late for an error response: a truncated body must not look complete
                raise
            await answer(scope, receive, send_safely)
        finally:
            body.release()

    def _check(self, scope: Scope) -> Response | None:
        """Raise for a request that is refused; return a response if it is answered here."""
        headers, token = Headers(scope=scope), self._access.token
        if not scope.get("raw_path", b"/").startswith(b"/"):  # an absolute URL, whose host would not be checked
            raise ApiError(400, "invalid", "the request must name a path on this server")
        if token is None:
            self._check_host(headers.getlist("host"))
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
            return answer  # to remove the token from the address bar
        _check_origin(scope, headers)
        return None

    def _check_host(self, hosts: list[str]) -> None:
        if len(hosts) != 1 or name_of(hosts[0]) not in {*_LOCAL_NAMES, _as_name(self._access.host)}:
            raise ApiError(
                403,
                "forbidden",
                "this server only answers to names of this machine",
                "Open it as http://localhost with its port. For use from other machines, start ibidem serve with --token.",
            )

    @staticmethod
    def _is_known(scope: Scope, headers: Headers, token: str) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _is_same(given.strip(), token):
            return True
        # Not with the standard library, which stops at the first cookie it cannot parse; cookies of all ports arrive together.
        cookies = (each.strip().partition("=") for each in headers.get("cookie", "").split(";"))
        own = _cookie_name(scope)
        return any(name == own and _is_same(value, _cookie_value(token)) for name, _, value in cookies)

    @staticmethod
    def _let_in(scope: Scope, token: str) -> Response | None:
        """Answer a page request with ?token= by setting a cookie and redirecting to the address without it."""
        if scope["path"].startswith("/api/"):
            return None
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and _is_same(value, token) for name, value in parameters):
            return None
        rest = urlencode([(name, value) for name, value in parameters if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # never //host/…, which would lead elsewhere
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
        is_encrypted = scope.get("scheme") == "https"
        # Lax, so that links from elsewhere work; requests that change something are also checked for their origin.
        answer.set_cookie(_cookie_name(scope), _cookie_value(token), httponly=True, samesite="lax", secure=is_encrypted)
        return answer


def _is_same(given: str, token: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode("utf-8"))


def _cookie_name(scope: Scope) -> str:
    """Return a cookie name unique to this server: browsers share cookies between all ports of a host."""
    server = scope.get("server")
    return f"ibidem_{server[1] if server else ''}"


def name_of(host: str) -> str | None:
    """Return the name in a Host header, in lower case and without the port; None if it is not just name and port."""
    found = _HOST.fullmatch(host.lower())
    return found[1] if found and int(found[2] or 0) < 1 << 16 else None


def _as_name(host: str) -> str:
    """Return the address that the server listens on as it appears in a Host header."""
    host = host.strip("[]").lower()
    return f"[{host}]" if ":" in host else host


def _cookie_value(token: str) -> str:
    """Return the cookie value. It is not the token, because browsers also send it to other ports of this host."""
    return hmac.new(token.encode("utf-8"), b"ibidem cookie", hashlib.sha256).hexdigest()


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Raise for requests from other pages. Another port on this machine is also another page."""
    origins, site = headers.getlist("origin"), headers.get("sec-fetch-site")
    if scope["method"] not in _READING_METHODS:
        is_own_origin = not origins or (len(origins) == 1 and _host_of(origins[0]) in headers.getlist("host"))
        is_foreign = site not in _OWN_SITES or not is_own_origin
    else:  # links may lead here, but scripts of other pages must not call the API
        is_script = scope["path"].startswith("/api/") and headers.get("sec-fetch-mode") != "navigate"
        is_foreign = is_script and site not in _OWN_SITES
    if is_foreign:
        raise ApiError(403, "forbidden", "requests from other web pages are not allowed")


def _host_of(origin: str) -> str | None:
    found = _ORIGIN.fullmatch(origin)
    return found[1] if found and name_of(found[1]) is not None else None
