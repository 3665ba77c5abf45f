"""The shape of every API error, and how exceptions are turned into it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ibidem.errors import (
    IbidemError,
    IndexLockedError,
    IndexSpaceError,
    IndexStoreError,
    IndexWriteError,
    InputError,
    KnownIdError,
    ResourceError,
)
from ibidem.viewer.server.answers import JsonAnswer

LOG = logging.getLogger("ibidem.web")

_CODES = {400: "invalid", 401: "unauthorised", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
# The nearest class in the hierarchy counts; anything else is not the caller's fault.
_OF_OURS: dict[type[IbidemError], tuple[int, str]] = {
    IndexLockedError: (409, "locked"),
    KnownIdError: (409, "known_id"),
    IndexSpaceError: (503, "unavailable"),
    IndexWriteError: (403, "read_only"),
    IndexStoreError: (503, "unavailable"),
    InputError: (422, "invalid"),
    ResourceError: (503, "unavailable"),
}
_NO_THREAD = "can't start new thread"  # Python's message when memory or the process limit is exhausted
_MOST_PROBLEMS = 5


class ApiError(HTTPException):
    """An error response. `code` is for programs; `message` and `next_step` are for people."""

    def __init__(
        self, status: int, code: str, message: str, next_step: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, dict(headers) if headers else None)
        self.code = code
        self.message = message
        self.next_step = next_step


def invalid(message: str, next_step: str | None = None) -> ApiError:
    """Return the error for a request with invalid values."""
    return ApiError(422, "invalid", message, next_step)


def not_found(message: str) -> ApiError:
    """Return the error for something that does not exist."""
    return ApiError(404, "not_found", message)


def error_answer(error: ApiError) -> JsonAnswer:
    """Return an error as a response."""
    content = {"status": error.status_code, "code": error.code, "message": error.message, "next_step": error.next_step}
    return JsonAnswer({"error": content}, error.status_code, error.headers)


def as_api_error(problem: BaseException) -> ApiError:
    """Return the API error for an exception. An unexpected one is logged, and its details are not shown."""
    if isinstance(problem, ApiError):
        return problem
    if isinstance(problem, RequestValidationError):
        return invalid(_in_words(problem.errors()))
    if isinstance(problem, HTTPException):
        code = _CODES.get(problem.status_code, "invalid" if problem.status_code < 500 else "unavailable")
        message = {404: "there is nothing at this address", 405: "this address does not support that method"}
        said = message.get(problem.status_code, str(problem.detail))
        return ApiError(problem.status_code, code, said, None, problem.headers)
    if isinstance(problem, IbidemError):
        for kind in type(problem).__mro__:
            if kind in _OF_OURS:
                status, code = _OF_OURS[kind]
                return ApiError(status, code, problem.message, problem.next_step or None)
    if isinstance(problem, RuntimeError) and str(problem) == _NO_THREAD:
        return ApiError(503, "busy", "the server could not start another thread", "Try again later.")
    LOG.error("a request failed", exc_info=problem)
    return ApiError(500, "internal", "internal error in ibidem", "See the log of ibidem serve.")


def handle_errors(app: FastAPI) -> None:
    """Make an app answer every exception of its routes as an API error."""

    async def answer(request: Request, problem: Exception) -> JsonAnswer:
        return error_answer(as_api_error(problem))

    for kind in (HTTPException, RequestValidationError, IbidemError):
        app.add_exception_handler(kind, answer)


def _in_words(problems: Any) -> str:
    """Describe what is wrong with the values of a request, one clause per value."""
    clauses = [_clause(problem) for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(clauses)
    return "; ".join(clauses) + (f"; and {more:,} more" if more else "")


def _clause(problem: Mapping[str, Any]) -> str:
    kind, context = str(problem["type"]), problem.get("ctx") or {}
    if kind == "json_invalid":
        return f"the body is not JSON: {str(context.get('error', 'it cannot be read')).lower()}"
    place = [str(part) for part in problem["loc"]]
    name = ".".join(place[1:])
    if not name:
        return "the body must be a JSON object, with content type application/json"
    said = {
        "missing": "is missing",
        "extra_forbidden": "is not a known parameter; see /api/v1/openapi.json",
        "string_type": "must be text",
        "int_type": "must be a whole number",
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "int_parsing_size": "is too large a number",
        "float_type": "must be a number",
        "float_parsing": "must be a number",
        "finite_number": "must be a finite number",
        "string_unicode": "contains half of a surrogate pair",
        "string_too_long": f"must have at most {context.get('max_length')} characters",
        "string_too_short": "must not be empty",
        "greater_than_equal": f"must be at least {context.get('ge')}",
        "less_than_equal": f"must be at most {context.get('le')}",
        "literal_error": f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}",
    }
    return f"{name} {said.get(kind, 'is not valid')}"
