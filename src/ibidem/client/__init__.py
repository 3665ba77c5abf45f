"""A client for the API of `ibidem serve`: typed answers, and nothing but the standard library.

The answers are in `ibidem.client.shapes`.

>>> from ibidem.client import Client
>>> client = Client("http://127.0.0.1:8765", token="a-long-secret")  # doctest: +SKIP
>>> client.check("A text to look up.").verdict.duplicated  # doctest: +SKIP
False
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlencode, urlsplit

from ibidem.client.shapes import Arrival, Check, Document, Family, IndexInfo, Pair, PairDetail
from ibidem.errors import IbidemError

__all__ = ["Arrival", "Check", "Client", "ClientError", "Document", "Family", "IndexInfo", "Pair", "PairDetail"]

Shape = TypeVar("Shape")
_MOST_ERROR_BYTES = 1 << 16
_PAGE_ROWS = 500


class ClientError(IbidemError):
    """A request that did not succeed. `status` is 0 if there was no answer; `code` is the word for it, such as `not_found`."""

    def __init__(self, message: str, next_step: str = "", status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message, next_step)
        self.status, self.code = status, code


class Client:
    """Asks a server that `ibidem serve` started. It may be used by several threads: each request has its own connection."""

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(url if "//" in url else f"//{url}", scheme="http")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ClientError(f"{url} is not the address of a server", "Give one such as http://127.0.0.1:8765.")
        self._is_secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = f"{parts.path.rstrip('/')}/api/v1"
        self._headers = {"Accept": "application/json"} | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self._timeout = timeout

    def check(
        self, text: str, *, id: str | None = None, time: str | None = None, group: str | None = None, align: bool = False
    ) -> Check:
        """Check a text against the index; nothing is stored. It is not compared with a document of the same id.

        With `align`, edited copies are found, too.
        """
        body = {"text": text, "id": id, "time": time, "group": group}
        return self._ask("POST", "check", Check, {"align": "true"} if align else {}, body)

    def add(self, id: str, text: str, *, time: str | None = None, group: str | None = None) -> Arrival:
        """Check a document and add it to the index; an id that is already there is a `ClientError` with status 409."""
        return self._ask("POST", "arrivals", Arrival, {}, {"id": id, "text": text, "time": time, "group": group})

    def index(self) -> IndexInfo:
        """Return the size of the index."""
        return self._ask("GET", "index", IndexInfo)

    def summary(self) -> dict[str, Any]:
        """Return what is served: counts, settings, what was left out."""
        return self._ask("GET", "summary", dict[str, Any])

    def pairs(self, **filters: str | float | bool) -> Iterator[Pair]:
        """Yield the pairs, the strongest first, page by page; filters are those of the API, such as `min_similarity=0.9`."""
        return self._pages("pairs", Pair, filters)

    def pair(self, number: int) -> PairDetail:
        """Return a pair with its passages and texts."""
        return self._ask("GET", f"pairs/{number}", PairDetail)

    def documents(self, **filters: str | float | bool) -> Iterator[Document]:
        """Yield the documents, page by page."""
        return self._pages("documents", Document, filters)

    def families(self, **filters: str | float | bool) -> Iterator[Family]:
        """Yield the families of passages, page by page."""
        return self._pages("families", Family, filters)

    def judge(self, number: int, verdict: str | None, note: str = "") -> Pair:
        """Store a verdict on a pair: confirmed, rejected or unsure; None removes it."""
        return self._ask("PUT", f"pairs/{number}/verdict", Pair, {}, {"verdict": verdict, "note": note})

    def _pages(self, name: str, shape: type[Shape], filters: Mapping[str, Any]) -> Iterator[Shape]:
        asked = {"limit": _PAGE_ROWS, **filters}
        while True:
            page = self._ask("GET", name, dict[str, Any], asked)
            yield from (_shaped(shape, item) for item in page["items"])
            if page["next"] is None:
                return
            asked["cursor"] = page["next"]

    def _ask(
        self, method: str, name: str, shape: type[Shape], query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Shape:
        written = {key: str(value).lower() if isinstance(value, bool) else value for key, value in (query or {}).items()}
        target = f"{self._path}/{quote(name)}" + (f"?{urlencode(written)}" if written else "")
        content = (
            None if body is None else json.dumps({k: v for k, v in body.items() if v is not None or k == "verdict"}).encode()
        )
        headers = self._headers | ({} if content is None else {"Content-Type": "application/json"})
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout)
        try:
            connection.request(method, target, content, headers)
            with connection.getresponse() as answer:
                if answer.status >= 400:
                    raise _problem(answer.status, answer.read(_MOST_ERROR_BYTES))
                found: Shape = _shaped(shape, json.loads(answer.read()))
                return found
        except (OSError, http.client.HTTPException, ValueError) as problem:
            where = f"{self._host}:{self._port}" if self._port else self._host
            raise ClientError(
                f"no answer from {where}: {problem or type(problem).__name__}", "Is the server running?"
            ) from problem
        finally:
            connection.close()


def _problem(status: int, content: bytes) -> ClientError:
    try:
        error = json.loads(content)["error"]
        return ClientError(error["message"], error.get("next_step") or "", status, error["code"])
    except (ValueError, KeyError, TypeError):
        return ClientError(f"the server answered with status {status}", "", status, "unknown")


def _shaped(shape: Any, value: Any) -> Any:
    """Return JSON as an object of a shape; what the shape does not know is left out, so that servers may know more."""
    origin = get_origin(shape)
    if origin in (Union, UnionType):
        return None if value is None else _shaped(next(each for each in get_args(shape) if each is not NoneType), value)
    if origin is list:
        return [_shaped(get_args(shape)[0], item) for item in value]
    if origin is tuple:
        return tuple(value)
    if is_dataclass(shape):
        try:
            return shape(**{field.name: _shaped(_hints(shape)[field.name], value[field.name]) for field in fields(shape)})  # type: ignore[operator]
        except (KeyError, TypeError) as problem:
            raise ClientError(
                f"the server's answer is not a {shape}: {problem}", "Use the same version on both sides."
            ) from problem
    return value


_known_hints: dict[Any, dict[str, Any]] = {}


def _hints(shape: Any) -> dict[str, Any]:
    if shape not in _known_hints:
        _known_hints[shape] = get_type_hints(shape)
    return _known_hints[shape]
