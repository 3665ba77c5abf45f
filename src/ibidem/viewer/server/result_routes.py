"""The routes of a result under /api/v1: summary, pairs, documents, families, flow, verdicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as PathParameter
from starlette.concurrency import run_in_threadpool

from ibidem.viewer.queries import DocumentQuery, FamilyQuery, PairQuery
from ibidem.viewer.server import shapes, story_shapes
from ibidem.viewer.server.answers import JsonAnswer
from ibidem.viewer.server.api_errors import ApiError, invalid, not_found
from ibidem.viewer.server.bodies import described, object_of, read_body
from ibidem.viewer.server.parameters import (
    DocumentParameters,
    FamilyParameters,
    FlowParameters,
    Paging,
    PairFilters,
    PairParameters,
    StoryParameters,
)
from ibidem.viewer.server.served import Served

Number = Annotated[int, PathParameter(ge=0, le=2**63 - 1)]


def answer(ask: Callable[[], Any]) -> JsonAnswer:
    """Answer with what `ask` returns; a ValueError, for example a broken cursor, is the caller's mistake."""
    try:
        return JsonAnswer(ask())
    except (OverflowError, RecursionError, UnicodeError) as problem:
        raise invalid("a value is out of range") from problem
    except ValueError as problem:
        raise invalid(str(problem)) from problem


def found(what: str, number: int, content: dict[str, Any] | None) -> JsonAnswer:
    """Answer with the content, or 404 if there is none."""
    if content is None:
        raise not_found(f"there is no {what} {number}")
    return JsonAnswer(content)


def result_routes(served: Served) -> APIRouter:
    """Return the routes that read the views, and the one that stores a verdict."""
    routes, views = APIRouter(tags=["result"]), served.views

    @routes.get("/summary", response_model=shapes.Summary)
    def summary() -> JsonAnswer:
        """Describe what is served: counts, settings, facets, what was left out, and what is allowed."""
        return JsonAnswer(served.summary())

    @routes.get("/front", response_model=story_shapes.Front)
    def front() -> JsonAnswer:
        """Tell what happened: a headline, facts, and who took text from whom."""
        return JsonAnswer(views.front())

    @routes.get("/stories", response_model=story_shapes.StoryPage)
    def stories(parameters: Annotated[StoryParameters, Query()]) -> JsonAnswer:
        """List stories, a page at a time: each text in all its places, in order, with its changes."""
        return answer(lambda: views.story_page(parameters.cursor, parameters.limit, parameters.folded))

    @routes.get("/distributions", response_model=shapes.Distributions)
    def distributions(parameters: Annotated[PairFilters, Query()]) -> JsonAnswer:
        """Count pairs by similarity, by the larger coverage, and by the characters of their longest passage.

        Each distribution counts the pairs that match the filters, whatever its own cut-off.
        """
        given = {name: value for name, value in parameters.given().items() if value is not None}
        if not given:
            return JsonAnswer(views.distributions())
        return answer(lambda: views.distributions_of(PairQuery(**given)))

    @routes.get("/pairs", response_model=shapes.PairPage)
    def pairs(parameters: Annotated[PairParameters, Query()]) -> JsonAnswer:
        """List pairs of documents, a page at a time."""
        return answer(lambda: views.pairs(PairQuery(**parameters.given())))

    @routes.get("/pairs/{pair}", response_model=shapes.PairDetail)
    def pair(pair: Number) -> JsonAnswer:
        """Show a pair: its passages, and both texts as far as they are available."""
        return found("pair", pair, views.pair(pair))

    @routes.put("/pairs/{pair}/verdict", response_model=shapes.Pair, openapi_extra=described(shapes.VerdictBody))
    async def verdict(pair: Number, request: Request) -> JsonAnswer:
        """Store a verdict on a pair; null removes it."""
        sent = await read_body(request)

        def work() -> JsonAnswer:
            body = object_of(shapes.VerdictBody, sent)
            if not served.may_write and views.pair(pair) is not None:
                next_step = "Start ibidem serve without --read-only, on a writable folder."
                raise ApiError(403, "read_only", "verdicts cannot be saved here", next_step)
            return found("pair", pair, views.set_verdict(pair, body.verdict, body.note))

        return await run_in_threadpool(work)

    @routes.get("/documents", response_model=shapes.DocumentPage)
    def documents(parameters: Annotated[DocumentParameters, Query()]) -> JsonAnswer:
        """List documents, a page at a time."""
        return answer(lambda: views.documents(DocumentQuery(**parameters.given())))

    @routes.get("/documents/{document}", response_model=shapes.DocumentDetail)
    def document(document: Number) -> JsonAnswer:
        """Show a document: its text, how many other documents contain each part, and its pairs."""
        return found("document", document, views.document(document))

    @routes.get("/families", response_model=shapes.FamilyPage)
    def families(parameters: Annotated[FamilyParameters, Query()]) -> JsonAnswer:
        """List families of passages, a page at a time."""
        return answer(lambda: views.families(FamilyQuery(**parameters.given())))

    @routes.get("/families/{family}", response_model=shapes.FamilyDetail)
    def family(family: Number) -> JsonAnswer:
        """Show a family: its variants and where they appear."""
        return found("family", family, views.family(family))

    @routes.get("/flow", response_model=shapes.Flow)
    def flow(parameters: Annotated[FlowParameters, Query()]) -> JsonAnswer:
        """List the pairs that share most, for the view over time and the network."""
        given = parameters.given()
        most = given.pop("limit")
        return answer(lambda: views.flow(PairQuery(**given), most))

    @routes.get("/skipped", response_model=shapes.SkippedPage)
    def skipped(parameters: Annotated[Paging, Query()]) -> JsonAnswer:
        """List the records that were left out, and why."""
        return answer(lambda: views.skipped(parameters.cursor, parameters.limit))

    @routes.get("/verdicts", response_model=shapes.VerdictPage)
    def verdicts(parameters: Annotated[Paging, Query()]) -> JsonAnswer:
        """List the verdicts on pairs."""
        return answer(lambda: views.verdicts(parameters.cursor, parameters.limit))

    return routes
