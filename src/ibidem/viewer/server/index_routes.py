"""The routes of an index under /api/v1: information, checking a text, adding documents, and arrivals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import StreamingResponse

from ibidem.formats.html_text import decode_html, extract_text
from ibidem.formats.times import parse_time
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.viewer.server import index_shapes
from ibidem.viewer.server.answers import GeneratedAnswer, JsonAnswer
from ibidem.viewer.server.api_errors import ApiError, invalid
from ibidem.viewer.server.arrivals import Streams
from ibidem.viewer.server.bodies import Body, accepted_codec, described, object_of, read_body, text_of
from ibidem.viewer.server.parameters import ArrivalParameters, UploadParameters
from ibidem.viewer.server.served import Served, shown_info
from ibidem.viewer.server.text_check import check_text
from ibidem.viewer.server.uploaded_files import text_of_file

# Checks are pure computation: running more than there are cores would only slow all of them down.
CHECKS_AT_ONCE = 2
_MOST_WAITING = 32


def index_routes(served: Served, streams: Streams) -> APIRouter:
    """Return the routes for checking texts and for arrivals."""
    routes = APIRouter(tags=["index"])
    at_once: list[anyio.CapacityLimiter] = []

    async def run(work: Callable[[], JsonAnswer]) -> JsonAnswer:
        """Run in a thread, including the encoding of the response: a second's work must not block others."""
        if not at_once:  # created here: it belongs to the running loop
            at_once.append(anyio.CapacityLimiter(CHECKS_AT_ONCE))
        if at_once[0].statistics().tasks_waiting >= _MOST_WAITING:
            raise ApiError(503, "busy", f"{_MOST_WAITING} texts are already waiting", "Try again later.")
        return await anyio.to_thread.run_sync(work, limiter=at_once[0])

    @routes.get("/index", response_model=index_shapes.IndexInfo)
    def info() -> JsonAnswer:
        """Describe the index."""
        about = shown_info(_index_of(served))
        counts = {"n_documents": about.pop("documents"), "n_sentences": about.pop("sentences")}
        return JsonAnswer({**counts, "may_add": served.adder is not None, **about})

    @routes.post(
        "/check",
        response_model=index_shapes.Check,
        openapi_extra=described(index_shapes.CheckBody, "text/plain", "text/html", "application/octet-stream"),
    )
    async def check(request: Request, parameters: Annotated[UploadParameters, Query()]) -> JsonAnswer:
        """Check a text against the index: which parts are known, and where they appear. Nothing is stored.

        Send the text as JSON, or directly as text/plain or text/html; `name` is then the file name. Any other file that is one
        document, such as PDF or Word, goes as application/octet-stream with its `name`, which says how to read it. Offsets
        refer to the extracted text. With `align`, edited copies are found too, if the index keeps its texts.
        """
        index, sides_of = _index_of(served), served.views.sides_by_id
        sent = await read_body(request)

        def work() -> JsonAnswer:
            body = _check_of(sent, parameters.name, index.config.documents.main_content)
            _check_fields(body)
            document = Document(body.id or "", body.text, body.time, body.group)
            return JsonAnswer(check_text(index, document, parameters.name or None, sides_of, parameters.align))

        return await run(work)

    @routes.post("/arrivals", response_model=index_shapes.Arrival, openapi_extra=described(index_shapes.ArrivalBody))
    async def add(request: Request) -> JsonAnswer:
        """Check a document and add it to the index. An id that already exists is a conflict (409)."""
        sent = await read_body(request)

        def work() -> JsonAnswer:
            body = object_of(index_shapes.ArrivalBody, sent)
            _index_of(served)
            if served.adder is None:
                raise ApiError(
                    403,
                    "read_only",
                    "documents cannot be added here",
                    "Start ibidem serve without --read-only, as a user who may write to the index.",
                )
            _check_fields(body)
            return JsonAnswer(served.adder.add(Document(body.id, body.text, body.time, body.group)))

        return await run(work)

    @routes.get("/arrivals", response_model=index_shapes.ArrivalPage)
    def arrivals(parameters: Annotated[ArrivalParameters, Query()]) -> JsonAnswer:
        """List arrivals from oldest to newest: the latest ones, or those after a number. `next` is the next `after`."""
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
        """Stream arrivals as Server-Sent Events whose data is an Arrival. Last-Event-ID overrides `after`."""
        if last_event_id and last_event_id.isascii() and last_event_id.isdecimal() and len(last_event_id) < 19:
            after = int(last_event_id)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return GeneratedAnswer(streams.open(after), media_type="text/event-stream", headers=headers)

    return routes


def _index_of(served: Served) -> Index:
    if served.index is None:
        raise ApiError(404, "unavailable", "no index is served here", "Start ibidem serve with --index DIR.")
    return served.index


def _check_of(body: Body, name: str | None, main_content: bool) -> index_shapes.CheckBody:
    """Return a body as a text to check."""
    if body.media_type == "application/json":
        return object_of(index_shapes.CheckBody, body)
    if body.media_type == "text/html":
        text = extract_text(decode_html(body.data, accepted_codec(body.charset)), main_content)
    elif body.media_type == "text/plain":
        text = text_of(body)
    elif body.media_type == "application/octet-stream" and name:
        text = text_of_file(body.data, name, main_content)
    else:
        next_step = "Send it as application/json, text/plain or text/html, or a file with its name as application/octet-stream."
        raise ApiError(415, "invalid", "the body must be JSON, plain text, HTML or a named file", next_step)
    return index_shapes.CheckBody.model_construct(text=text, id=None, time=None, group=None)


def _check_fields(body: index_shapes.CheckBody) -> None:
    """Raise for values that an index would silently ignore."""
    if not body.text.strip():
        raise invalid("the text is empty")
    if body.time is not None and parse_time(body.time) is None:
        raise invalid("time cannot be parsed", "Use ISO 8601, for example 2031-09-13T04:00:00Z.")
