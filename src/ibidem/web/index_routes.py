"""The routes over an index: what it holds, checking a text against it, and documents that arrive. Under /api/v1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import StreamingResponse

from ibidem.documents.html import decode_html, extract_text
from ibidem.documents.times import parse_time
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.web import shapes
from ibidem.web.answers import JsonAnswer
from ibidem.web.checking import check_text
from ibidem.web.errors import ApiError, invalid
from ibidem.web.parameters import ArrivalParameters, UploadParameters
from ibidem.web.served import Served
from ibidem.web.streaming import Streams

# A check is nothing but work: more at a time than there are cores would only make everybody wait.
_CHECKS_AT_ONCE = 2
_CHECK_BODIES = {
    "required": True,
    "content": {
        "application/json": {"schema": shapes.CheckBody.model_json_schema()},
        "text/plain": {"schema": {"type": "string"}},
        "text/html": {"schema": {"type": "string"}},
    },
}


def index_routes(served: Served, streams: Streams) -> APIRouter:
    """Return the routes that look texts up, and those of arrivals."""
    routes = APIRouter(tags=["index"])
    at_once: list[anyio.CapacityLimiter] = []

    async def run(work: Callable[[], Any]) -> Any:
        if not at_once:  # made here: it belongs to the running loop
            at_once.append(anyio.CapacityLimiter(_CHECKS_AT_ONCE))
        return await anyio.to_thread.run_sync(work, limiter=at_once[0])

    @routes.get("/index", response_model=shapes.IndexInfo)
    def info() -> JsonAnswer:
        """Say what the index is made of."""
        about = _index_of(served).info()
        about.pop("path")
        counts = {"n_documents": about.pop("documents"), "n_sentences": about.pop("sentences")}
        return JsonAnswer({**counts, "may_add": served.adder is not None, **about})

    @routes.post("/check", response_model=shapes.Check, openapi_extra={"requestBody": _CHECK_BODIES})
    async def check(request: Request, parameters: Annotated[UploadParameters, Query()]) -> JsonAnswer:
        """Check a text against the index: what of it is known, and where it stands. Nothing is written.

        The text comes as JSON, or as it is (text/plain, text/html; `name` is the name of the file then). Of HTML the text is
        taken out, and offsets count in that.
        """
        index = _index_of(served)
        body = await _read_check(request, index.config.documents.main_content, run)
        _check_fields(body)
        name = parameters.name or None
        sides_of = served.views.sides_by_id
        return JsonAnswer(await run(partial(check_text, index, body.text, body.id, name, body.time, body.group, sides_of)))

    @routes.post("/arrivals", response_model=shapes.Arrival)
    async def add(body: shapes.ArrivalBody) -> JsonAnswer:
        """Check a document and add it to the index. An id that is there already is a conflict (409)."""
        _index_of(served)
        if served.adder is None:
            raise ApiError(
                403,
                "read_only",
                "documents cannot be added here",
                "Start ibidem serve without --read-only, as a user who may write to the index.",
            )
        _check_fields(body)
        document = Document(body.id, body.text, body.time, body.group)
        return JsonAnswer(await run(partial(served.adder.add, document)))

    @routes.get("/arrivals", response_model=shapes.ArrivalPage)
    def arrivals(parameters: Annotated[ArrivalParameters, Query()]) -> JsonAnswer:
        """List arrivals from older to newer: the last ones, or those after a number. `next` is the next `after`."""
        return JsonAnswer(served.log.page(parameters.after, parameters.limit))

    @routes.get(
        "/arrivals/stream",
        response_class=StreamingResponse,
        responses={200: {"description": "One event for each arrival.", "content": {"text/event-stream": {}}}},
    )
    async def stream(
        after: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> StreamingResponse:
        """Send arrivals as they come, as Server-Sent Events whose data is an Arrival. Last-Event-ID wins over `after`."""
        if last_event_id and last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 19:
            after = int(last_event_id)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(streams.open(after), media_type="text/event-stream", headers=headers)

    return routes


def _index_of(served: Served) -> Index:
    if served.index is None:
        raise ApiError(404, "unavailable", "no index is served here", "Start ibidem serve with --index DIR.")
    return served.index


async def _read_check(
    request: Request, main_content: bool, run: Callable[[Callable[[], Any]], Awaitable[Any]]
) -> shapes.CheckBody:
    """Return the body of a request as a text to check."""
    content_type = request.headers.get("content-type", "")
    media_type, _, options = content_type.partition(";")
    media_type = media_type.strip().lower()
    if media_type not in ("application/json", "text/plain", "text/html"):
        raise ApiError(
            415, "invalid", "the body must be JSON, plain text or HTML", "Send it as application/json, text/plain or text/html."
        )
    data = await request.body()
    if media_type == "application/json":
        return _from_json(data)
    charset = _charset(options)
    if media_type == "text/html":
        text = await run(lambda: extract_text(decode_html(data, charset), main_content))
    else:
        text = _decode(data, charset or "utf-8")
    return shapes.CheckBody.model_construct(text=text, id=None, time=None, group=None)


def _from_json(data: bytes) -> shapes.CheckBody:
    try:
        return shapes.CheckBody.model_validate_json(data)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        raise RequestValidationError([{**error, "loc": ("body", *error["loc"])} for error in errors]) from None


def _charset(options: str) -> str | None:
    for option in options.split(";"):
        name, _, value = option.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'")
            try:
                "".encode(charset)
            except (LookupError, ValueError):
                raise invalid(f"the charset {charset!r} is not known") from None
            return charset
    return None


def _decode(data: bytes, charset: str) -> str:
    try:
        text = data.decode(charset).removeprefix("\ufeff")
        text.encode("utf-8")  # some encodings can say half a character
        return text
    except UnicodeError:
        next_step = (
            "Save it as UTF-8 text; PDF and Word files cannot be read. Programs name another encoding in the header: "
            "Content-Type: text/plain; charset=latin-1."
        )
        raise invalid(f"this is no text in {charset.upper()}", next_step) from None


def _check_fields(body: shapes.CheckBody) -> None:
    """Raise for values that an index would silently do without."""
    if not body.text.strip():
        raise invalid("the text is empty")
    if body.time is not None and parse_time(body.time) is None:
        raise invalid("time is not understood", "Give it in ISO 8601, as 2031-09-13T04:00:00Z.")
