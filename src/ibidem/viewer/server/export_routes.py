"""Every table as .csv and .json at the address of its pages, whole, with the same filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from ibidem.viewer.queries import DocumentQuery, FamilyQuery, PairQuery
from ibidem.viewer.server import shapes
from ibidem.viewer.server.api_errors import invalid
from ibidem.viewer.server.parameters import DocumentFilters, FamilyFilters, PairFilters, Parameters
from ibidem.viewer.server.served import Served
from ibidem.viewer.server.table_export import Exports

Form = Literal["csv", "json"]
# What the rows hold, in the order of the columns; a table without rows has its head, too.
COLUMNS: dict[str, tuple[str, ...]] = {
    "pairs": (
        "pair", "a_id", "a_time", "a_group", "a_title", "a_n_chars", "b_id", "b_time", "b_group", "b_title", "b_n_chars",
        "n_passages", "shared", "longest", "similarity", "coverage_a", "coverage_b", "kind", "direction", "days", "year",
        "verdict", "note",
    ),
    "passages": (
        "pair", "number", "a_id", "a_start", "a_end", "b_id", "b_start", "b_end", "n_sentences", "similarity", "kind",
        "direction", "family",
    ),
    "documents": tuple(shapes.Document.model_fields),
    "families": tuple(shapes.Family.model_fields),
    "skipped": tuple(shapes.Skipped.model_fields),
    "verdicts": tuple(shapes.StoredVerdict.model_fields),
    "arrivals": tuple(shapes.Arrival.model_fields),
}  # fmt: skip
_DESCRIPTION = """The whole table with these filters, row by row, without paging.

In CSV, text that a spreadsheet would take for a formula (that begins with = + - @, also after blanks or
characters that are not seen, or with a tab or a carriage return) has an apostrophe put in front. In JSON it is as it is."""
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": shapes.Rows, "content": {"text/csv": {"schema": {"type": "string"}}}}
}


def export_routes(served: Served) -> APIRouter:
    """Return the routes that send whole tables."""
    routes, exports = APIRouter(tags=["tables"]), Exports()

    def add(name: str, filters: type[Parameters], query_of: type[Any] | None) -> None:
        def send(form: Form, parameters: Parameters) -> StreamingResponse:
            try:
                query = None if query_of is None else query_of(**parameters.given())
            except ValueError as problem:
                raise invalid(str(problem)) from problem
            return exports.send(name, form, COLUMNS[name], lambda: rows_of(query))

        def rows_of(query: Any) -> Iterator[dict[str, Any]]:
            return served.log.rows() if name == "arrivals" else served.views.rows(name, query)

        # FastAPI reads the annotations; the filters differ from table to table.
        send.__annotations__ = {"form": Form, "parameters": Annotated[filters, Query()], "return": StreamingResponse}
        routes.add_api_route(
            f"/{name}.{{form}}",
            send,
            name=f"{name}_table",
            summary=f"All {name} as CSV or JSON",
            description=_DESCRIPTION,
            response_class=StreamingResponse,
            responses=_RESPONSES,
        )

    add("pairs", PairFilters, PairQuery)
    add("passages", PairFilters, PairQuery)
    add("documents", DocumentFilters, DocumentQuery)
    add("families", FamilyFilters, FamilyQuery)
    add("skipped", Parameters, None)
    add("verdicts", Parameters, None)
    add("arrivals", Parameters, None)
    return routes
