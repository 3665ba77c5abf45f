"""Every table as .csv and .json at the address of its pages: complete, with the same filters, streamed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from ibidem.viewer.exports.csv_text import csv_chunks
from ibidem.viewer.queries import DocumentQuery, FamilyQuery, PairQuery
from ibidem.viewer.server import index_shapes, shapes
from ibidem.viewer.server.answers import GeneratedAnswer, to_json
from ibidem.viewer.server.api_errors import ApiError, invalid
from ibidem.viewer.server.parameters import DocumentFilters, FamilyFilters, PairFilters, Parameters
from ibidem.viewer.server.served import Served

Form = Literal["csv", "json"]
Rows = Callable[[], Iterator[dict[str, Any]]]
MOST_AT_ONCE = 8
_CHUNK_CHARS = 1 << 16
# The columns in order: a table without rows also gets its header.
COLUMNS: dict[str, tuple[str, ...]] = {
    "pairs": (
        "pair", "a_id", "a_time", "a_group", "a_title", "a_n_chars", "b_id", "b_time", "b_group", "b_title", "b_n_chars",
        "n_passages", "shared", "longest", "similarity", "coverage_a", "coverage_b", "kind", "direction", "days", "year",
        "verdict", "note",
    ),
    "passages": (
        "pair", "number", "a_id", "a_start", "a_end", "a_page", "b_id", "b_start", "b_end", "b_page", "n_sentences",
        "similarity", "kind", "direction", "family",
    ),
    "documents": tuple(shapes.Document.model_fields),
    "families": tuple(shapes.Family.model_fields),
    "skipped": tuple(shapes.Skipped.model_fields),
    "verdicts": tuple(shapes.StoredVerdict.model_fields),
    "arrivals": tuple(index_shapes.Arrival.model_fields),
}  # fmt: skip
_DESCRIPTION = """The whole table with these filters, row by row, without paging.

In CSV, text that a spreadsheet might treat as a formula (that begins with = + - @, even after spaces or invisible characters,
or with a tab or a carriage return) gets a leading apostrophe. JSON has the text unchanged."""
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": shapes.Rows, "content": {"text/csv": {"schema": {"type": "string"}}}}
}


def json_chunks(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield a table as a JSON object with `items`, `total` and `next`, as if it were one large page."""
    written, n_chars, total = ['{"items":['], 0, 0
    for row in rows:
        item = ("," if total else "") + to_json(row)
        written.append(item)
        n_chars += len(item)
        total += 1
        if n_chars >= _CHUNK_CHARS:
            yield "".join(written)
            written, n_chars = [], 0
    yield "".join(written) + f'],"total":{total},"next":null}}'


class Exports:
    """Sends tables, a limited number at a time."""

    def __init__(self) -> None:
        self._n_running = 0

    def send(self, name: str, form: str, columns: Sequence[str], rows: Rows) -> GeneratedAnswer:
        """Return the response that sends a table; `form` is csv or json."""
        if self._n_running >= MOST_AT_ONCE:
            raise ApiError(503, "busy", f"{MOST_AT_ONCE} tables are already being sent", "Try again when one has finished.")
        headers = {"Content-Disposition": f'attachment; filename="ibidem-{name}.{form}"'}
        media_type = "text/csv; charset=utf-8; header=present" if form == "csv" else "application/json"
        return GeneratedAnswer(self._counted(form, columns, rows), headers=headers, media_type=media_type)

    def _counted(self, form: str, columns: Sequence[str], rows: Rows) -> Generator[str, None, None]:
        self._n_running += 1
        try:
            yield from csv_chunks(rows(), columns) if form == "csv" else json_chunks(rows())
        finally:
            self._n_running -= 1


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
