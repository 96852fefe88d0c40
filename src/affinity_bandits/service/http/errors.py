"""Errors of the HTTP layer, and responses to all errors as problems (RFC 9457)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.errors import CallerError
from affinity_bandits.service.problems import (
    KeyReused,
    NeedsAttention,
    ServiceProblem,
    TooMany,
    Unavailable,
)
from affinity_bandits.wire.base import broken_rule

MOST_ERRORS = 1000
"""Broken rules of a body, beyond which none of them is named."""
REALM = 'Bearer realm="affinity"'
_SECRET = re.compile(r"(ab_[0-9a-f]{16})_[0-9a-f]+")


class NoSuchPath(ServiceProblem):
    """The path is unknown."""

    code, status, title = "no_such_path", 404, "No such path"
    detail = "there is nothing at this path; /openapi.json lists what there is"


class WrongMethod(ServiceProblem):
    """The path exists, but only with other methods."""

    code, status, title = "wrong_method", 405, "Wrong method"
    detail = "method must be one of {}"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(", ".join(allowed))
        self.headers = {"allow": ", ".join(allowed)}


class NoKey(ServiceProblem):
    """The request has no API key, or more than one."""

    code, status, title = "no_key", 401, "API key missing or not in use"
    detail = "the request must have one header Authorization: Bearer <API key>"
    headers: Mapping[str, str] = {"www-authenticate": REALM}


class UnknownKey(NoKey):
    """The API key is unknown, revoked or expired."""

    detail = "the API key is unknown, revoked or expired"
    headers: Mapping[str, str] = {"www-authenticate": f'{REALM}, error="invalid_token"'}


class NotAllowed(ServiceProblem):
    """The API key lacks the scope that the route requires."""

    code, status, title = "not_allowed", 403, "Scope missing"
    detail = "this requires an API key with the scope {!r}"

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        error = f'error="insufficient_scope", scope="{scope}"'
        self.headers = {"www-authenticate": f"{REALM}, {error}"}


class TooLarge(ServiceProblem):
    """The body, or a line of it, is larger than allowed."""

    code, status, title = "too_large", 413, "Body too large"
    detail = "{1} must be of at most {0:,} bytes"

    def __init__(self, limit: int, what: str = "the body") -> None:
        super().__init__(limit, what)


class HeadTooLarge(ServiceProblem):
    """The request line and headers are larger than allowed."""

    code, status, title = "head_too_large", 431, "Head too large"
    detail = "the path and all headers must be of at most {:,} bytes together"
    headers: Mapping[str, str] = {"connection": "close"}


class Invalid(ServiceProblem):
    """A value in the request breaks a rule."""

    code, status, title = "invalid", 422, "Invalid request"


class NotReady(ServiceProblem):
    """The service stops, or the database's schema is not the one that this version needs."""

    code, status, title = "not_ready", 503, "Not ready"
    headers: Mapping[str, str] = {"retry-after": "1"}


class Unexpected(ServiceProblem):
    """A defect of the service; only the log has the details."""

    code, status, title = "unexpected", 500, "Unexpected error"
    detail = "the service made a mistake; its log has the place under X-Request-ID"


def detail_of(problem: ServiceProblem) -> str:
    """Return a problem's detail, with the secrets of API keys in it masked."""
    # Lone surrogates cannot be sent at all.
    words = str(problem).encode("utf-8", "backslashreplace").decode()
    return _SECRET.sub(r"\1_...", words)


def problem_response(problem: ServiceProblem, request_id: str | None = None) -> Response:
    """Return the response that reports a problem."""
    body = wire.Problem(
        title=problem.title,
        status=problem.status,
        detail=detail_of(problem),
        code=problem.code,
        request_id=request_id,
    )
    return Response(body.encoded(), problem.status, problem.headers, wire.PROBLEM_JSON)


def invalid(error: RequestValidationError | ValidationError) -> Invalid:
    """Return the problem to report for a request that failed validation."""
    # To list them all takes longer than anything else that a request can do.
    if isinstance(error, ValidationError) and error.error_count() > MOST_ERRORS:
        return Invalid(f"body must be what the route describes, got {error.error_count():,} errors")
    return Invalid(broken_rule(error.errors()))


def as_problem(error: Exception) -> ServiceProblem:
    """Return the problem to report for an error that a route raised.

    A `ValidationError` is a defect here: invalid requests become `Invalid` where they are read.
    """
    match error:
        case ServiceProblem():
            return error
        case RequestValidationError():
            return invalid(error)
        case CallerError():
            return Invalid(str(error))
        case HTTPException(status_code=404):
            return NoSuchPath()
        case HTTPException():
            return Invalid(error.detail)
    return Unexpected()


async def refuse(request: Request, error: Exception) -> Response:
    """Return the response to a problem, or to an error that the request caused."""
    request_id = request.scope.get("request_id")
    if isinstance(error, NeedsAttention):
        request.scope["fault"] = error
    if isinstance(error, HTTPException) and error.status_code == 405:
        return problem_response(WrongMethod(_methods(request)), request_id)
    return problem_response(as_problem(error), request_id)


def _methods(request: Request) -> list[str]:
    """Return the methods that are allowed on a request's path."""
    contexts = iter_route_contexts(request.app.routes)
    path = request.scope["path"]
    found = [one.methods or set() for one in contexts if one.path_regex.fullmatch(path)]
    return sorted(set().union(*found) - {"HEAD"})


STATUSES = {
    401: NoKey.title,
    403: f"{NotAllowed.title}, or the lease is another key's",
    404: "No such campaign, lease or webhook",
    409: f"{KeyReused.title}, who judges is settled or not asked, or there are too many",
    413: TooLarge.title,
    422: Invalid.title,
    429: f"{TooMany.title}, or the tenant's quota is used up",
    500: f"{Unexpected.title}, or the campaign needs attention",
    503: Unavailable.title,
}
"""What statuses mean, for the description of routes."""
ALWAYS = (401, 403, 413, 422, 429, 500, 503)
"""What every route that takes a key may be refused with."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI `responses` of a route that may be refused with these statuses."""
    schema = {"$ref": f"#/components/schemas/{wire.Problem.__name__}"}
    content = {wire.PROBLEM_JSON: {"schema": schema}}
    return {one: {"description": STATUSES[one], "content": content} for one in statuses}
