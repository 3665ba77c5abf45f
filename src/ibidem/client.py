"""A client for the API of `ibidem serve`: typed answers, and nothing but the standard library.

>>> from ibidem.client import Client
>>> client = Client("http://127.0.0.1:8765", token="a-long-secret")  # doctest: +SKIP
>>> client.check("A text to look up.").verdict.duplicated  # doctest: +SKIP
False
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlencode, urlsplit

from ibidem.errors import IbidemError

Shape = TypeVar("Shape")
_MOST_ERROR_BYTES = 1 << 16
_PAGE_ROWS = 500


class ClientError(IbidemError):
    """A request that did not succeed. `status` is 0 if there was no answer; `code` is the word for it, such as `not_found`."""

    def __init__(self, message: str, next_step: str = "", status: int = 0, code: str = "unreachable") -> None:
        super().__init__(message, next_step)
        self.status, self.code = status, code


@dataclass(frozen=True)
class Side:
    """One document of a pair."""

    document: int
    id: str
    time: str | None
    group: str | None
    title: str | None
    n_chars: int | None


@dataclass(frozen=True)
class Pair:
    """Two documents that share text; `a_to_b`: a is earlier."""

    pair: int
    a: Side
    b: Side
    n_passages: int
    shared: int
    longest: int
    similarity: float
    coverage_a: float | None
    coverage_b: float | None
    kind: str
    direction: str
    year: int | None
    days: float | None
    verdict: str | None
    note: str | None


@dataclass(frozen=True)
class ServedPassage:
    """A passage of a pair. The changes are words that differ, as places from the beginning of each text."""

    number: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    n_sentences: int
    similarity: float
    kind: str
    direction: str
    family: int | None
    a_changes: list[tuple[int, int]]
    b_changes: list[tuple[int, int]]


@dataclass(frozen=True)
class Segment:
    """A stretch of a text."""

    start: int
    text: str


@dataclass(frozen=True)
class ServedText:
    """A document's text, whole or in segments."""

    id: str
    title: str | None
    n_chars: int | None
    segments: list[Segment]
    is_complete: bool


@dataclass(frozen=True)
class PairDetail:
    """A pair with its passages and both texts; `n_passages` also counts passages that are not listed."""

    pair: Pair
    passages: list[ServedPassage]
    n_passages: int
    a: ServedText
    b: ServedText


@dataclass(frozen=True)
class ServedDocument:
    """A document of the results."""

    document: int
    id: str
    time: str | None
    group: str | None
    title: str | None
    is_reference: bool
    n_chars: int | None
    n_sentences: int | None
    reused_share: float | None
    first_share: float | None
    cluster: int | None
    n_pairs: int


@dataclass(frozen=True)
class Family:
    """A passage and how far it travelled."""

    family: int
    n_documents: int
    n_places: int
    n_chars: int
    first_time: str | None
    last_time: str | None
    n_groups: int
    excerpt: str
    is_repeat: bool


@dataclass(frozen=True)
class CheckVerdict:
    """Whether a text is duplicated: enough of its sentences are in the index."""

    id: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_common: int
    is_own_id_known: bool


@dataclass(frozen=True)
class CheckPassage:
    """A passage of the checked text (a) and its place in a source (b); `source` is a position in `Check.sources`."""

    number: int
    a_start: int
    a_end: int
    source: int
    b_start: int
    b_end: int
    n_sentences: int
    similarity: float
    kind: str
    direction: str
    b_text: str | None
    a_changes: list[tuple[int, int]]
    b_changes: list[tuple[int, int]]


@dataclass(frozen=True)
class CheckSource:
    """A document of the index, and how much of the checked text it contains."""

    id: str
    document: int | None
    title: str | None
    group: str | None
    time: str | None
    n_sentences: int
    n_passages: int
    n_chars: int
    coverage: float


@dataclass(frozen=True)
class Check:
    """What a text shares with the index; the counts include what is not listed."""

    verdict: CheckVerdict
    passages: list[CheckPassage]
    n_passages: int
    sources: list[CheckSource]
    n_sources: int
    covered_share: float


@dataclass(frozen=True)
class ArrivalSource:
    """A document that was in the index before, and how many sentences of the arrival it contains."""

    id: str
    n_sentences: int


@dataclass(frozen=True)
class Arrival:
    """A document that was checked and added."""

    arrival: int
    id: str
    at: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_passages: int
    covered_share: float | None
    sources: list[ArrivalSource]
    excerpt: str


@dataclass(frozen=True)
class IndexInfo:
    """The size of an index, and whether documents may be added to it."""

    n_documents: int
    n_sentences: int
    may_add: bool


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

    def documents(self, **filters: str | float | bool) -> Iterator[ServedDocument]:
        """Yield the documents, page by page."""
        return self._pages("documents", ServedDocument, filters)

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
