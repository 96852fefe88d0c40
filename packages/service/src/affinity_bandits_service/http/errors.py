"""Errors of the HTTP layer, and responses to all errors as problems (RFC 9457)."""

from __future__ import annotations

import re
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from affinity_bandits.base.errors import CallerError
from affinity_bandits_client import messages
from affinity_bandits_client.errors import InvalidInput
from affinity_bandits_client.messages.base import broken_rule
from affinity_bandits_service.problems import (
    KEY_REUSED,
    TOO_MANY,
    UNAVAILABLE,
    NeedsAttention,
    ProblemType,
    ServiceProblem,
)

CAUSED = (CallerError, InvalidInput)
"""Errors that a request itself caused: of the library, and of its messages."""
MOST_ERRORS = 1000
"""Broken rules of a body, beyond which none of them is named."""
REALM = 'Bearer realm="affinity"'
_SECRET = re.compile(r"(ab_[0-9a-f]{16})_[0-9a-f]+")


NO_SUCH_PATH = ProblemType(
    *("no_such_path", 404, "No such path"),
    "there is nothing at this path; /openapi.json lists what there is",
)
WRONG_METHOD = ProblemType("wrong_method", 405, "Wrong method", "method must be one of {}")
NO_KEY = ProblemType(
    *("no_key", 401, "API key missing or not in use"),
    "the request must have one header Authorization: Bearer <API key>",
    {"www-authenticate": REALM},
)
UNKNOWN_KEY = NO_KEY._replace(
    detail="the API key is unknown, revoked or expired",
    headers={"www-authenticate": f'{REALM}, error="invalid_token"'},
)
NOT_ALLOWED = ProblemType(
    "not_allowed", 403, "Scope missing", "this requires an API key with the scope {!r}"
)
TOO_LARGE = ProblemType("too_large", 413, "Body too large", "{} must be of at most {:,} bytes")
HEAD_TOO_LARGE = ProblemType(
    *("head_too_large", 431, "Head too large"),
    "the path and all headers must be of at most {:,} bytes together",
    {"connection": "close"},
)
INVALID = ProblemType("invalid", 422, "Invalid request")
NOT_READY = ProblemType("not_ready", 503, "Not ready", headers={"retry-after": "1"})
UNEXPECTED = ProblemType(
    *("unexpected", 500, "Unexpected error"),
    "the service made a mistake; its log has the place under X-Request-ID",
)


class TooLarge(ServiceProblem):
    """The body, or a line of it, is larger than allowed."""

    def __init__(self, limit: int, what: str = "the body") -> None:
        super().__init__(TOO_LARGE, what, limit)


def not_allowed(scope: str) -> ServiceProblem:
    """Return the problem of an API key without a scope that the route requires."""
    error = f'{REALM}, error="insufficient_scope", scope="{scope}"'
    return ServiceProblem(NOT_ALLOWED, scope, headers={"www-authenticate": error})


def detail_of(problem: ServiceProblem) -> str:
    """Return a problem's detail, with the secrets of API keys in it masked."""
    # Lone surrogates cannot be sent at all.
    words = str(problem).encode("utf-8", "backslashreplace").decode()
    return _SECRET.sub(r"\1_...", words)


def problem_response(problem: ServiceProblem, request_id: str | None = None) -> Response:
    """Return the response that reports a problem."""
    body = messages.Problem(
        title=problem.title,
        status=problem.status,
        detail=detail_of(problem),
        code=problem.code,
        request_id=request_id,
    )
    return Response(body.encoded(), problem.status, problem.headers, messages.PROBLEM_JSON)


def invalid(error: RequestValidationError | ValidationError) -> ServiceProblem:
    """Return the problem to report for a request that failed validation."""
    # To list them all takes longer than anything else that a request can do.
    if isinstance(error, ValidationError) and error.error_count() > MOST_ERRORS:
        rule = f"body must be what the route describes, got {error.error_count():,} errors"
        return ServiceProblem(INVALID, rule)
    return ServiceProblem(INVALID, broken_rule(error.errors()))


def as_problem(error: Exception) -> ServiceProblem:
    """Return the problem to report for an error that a route raised.

    A `ValidationError` is a defect here: invalid requests become problems where they are read.
    """
    match error:
        case ServiceProblem():
            return error
        case RequestValidationError():
            return invalid(error)
        case CallerError() | InvalidInput():
            return ServiceProblem(INVALID, str(error))
        case HTTPException(status_code=404):
            return ServiceProblem(NO_SUCH_PATH)
        case HTTPException():
            return ServiceProblem(INVALID, error.detail)
    return ServiceProblem(UNEXPECTED)


async def refuse(request: Request, error: Exception) -> Response:
    """Return the response to a problem, or to an error that the request caused."""
    request_id = request.scope.get("request_id")
    if isinstance(error, NeedsAttention):
        request.scope["fault"] = error
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = ", ".join(_methods(request))
        problem = ServiceProblem(WRONG_METHOD, allowed, headers={"allow": allowed})
        return problem_response(problem, request_id)
    return problem_response(as_problem(error), request_id)


def _methods(request: Request) -> list[str]:
    """Return the methods that are allowed on a request's path."""
    contexts = iter_route_contexts(request.app.routes)
    path = request.scope["path"]
    found = [one.methods or set() for one in contexts if one.path_regex.fullmatch(path)]
    return sorted(set().union(*found) - {"HEAD"})


STATUSES = {
    401: NO_KEY.title,
    403: f"{NOT_ALLOWED.title}, or the lease is another key's",
    404: "No such campaign, lease or webhook",
    409: f"{KEY_REUSED.title}, who judges is settled or not asked, or there are too many",
    413: TOO_LARGE.title,
    422: INVALID.title,
    429: f"{TOO_MANY.title}, or the tenant's quota is used up",
    500: f"{UNEXPECTED.title}, or the campaign needs attention",
    503: UNAVAILABLE.title,
}
"""What statuses mean, for the description of routes."""
ALWAYS = (401, 403, 413, 422, 429, 500, 503)
"""What every route that takes a key may be refused with."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI `responses` of a route that may be refused with these statuses."""
    schema = {"$ref": f"#/components/schemas/{messages.Problem.__name__}"}
    content = {messages.PROBLEM_JSON: {"schema": schema}}
    return {one: {"description": STATUSES[one], "content": content} for one in statuses}
