"""What goes wrong, as application/problem+json (RFC 9457)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from affinity_bandits import wire
from affinity_bandits.errors import CallerError
from affinity_bandits.service.problems import NeedsAttention, Problem, Unavailable
from affinity_bandits.wire.values import broken_rule

_SECRET = re.compile(r"(ab_[0-9a-f]{16})_[0-9a-f]+")


class HttpProblem(Problem):
    """A request that never reached the core.

    Attributes:
        headers: what the response says besides.
    """

    headers: Mapping[str, str] = {}


class NoSuchPath(HttpProblem):
    """There is nothing at this path."""

    code, status, title = "no_such_path", 404, "No such path"

    def __init__(self) -> None:
        super().__init__("there is nothing at this path; /openapi.json lists what there is")


class WrongMethod(HttpProblem):
    """The path is known, the method is not."""

    code, status, title = "wrong_method", 405, "Wrong method"

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"method must be one of {', '.join(allowed)}")
        self.headers = {"allow": ", ".join(allowed)}


class NoKey(HttpProblem):
    """The request came without an API key, or with one that is not in use."""

    code, status, title = "no_key", 401, "API key missing or not in use"

    def __init__(self, *, given: bool) -> None:
        super().__init__(
            "the API key is unknown, revoked or expired"
            if given
            else "the request must have one header Authorization: Bearer <API key>"
        )
        error = ', error="invalid_token"' if given else ""
        self.headers = {"www-authenticate": f'Bearer realm="affinity"{error}'}


class NotAllowed(HttpProblem):
    """The key has not the scope that the route takes."""

    code, status, title = "not_allowed", 403, "Scope missing"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this takes an API key with the scope {scope!r}")
        self.headers = {
            "www-authenticate": f'Bearer realm="affinity", error="insufficient_scope", '
            f'scope="{scope}"'
        }


class TooMany(HttpProblem):
    """The key's requests come faster than it may make them."""

    code, status, title = "too_many", 429, "Too many requests"

    def __init__(self, rate: float, seconds: float) -> None:
        super().__init__(f"this API key may make {rate:g} requests a second")
        self.headers = {"retry-after": str(max(1, math.ceil(seconds)))}


class TooLarge(HttpProblem):
    """The body is larger than the key may send."""

    code, status, title = "too_large", 413, "Body too large"

    def __init__(self, limit: int, what: str = "the body") -> None:
        super().__init__(f"{what} must be of at most {limit:,} bytes")


class Invalid(HttpProblem):
    """A value breaks a rule."""

    code, status, title = "invalid", 422, "Invalid request"


class NotReady(HttpProblem):
    """The database is there, and not what this version of the service needs."""

    code, status, title = "not_ready", 503, "Not ready"
    headers: Mapping[str, str] = {"retry-after": "1"}


class Unexpected(HttpProblem):
    """A defect of the service; the log knows more."""

    code, status, title = "unexpected", 500, "Unexpected error"

    def __init__(self) -> None:
        super().__init__("the service made a mistake; its log has the place under X-Request-ID")


def detail_of(problem: Problem) -> str:
    """Return what a problem says; a key that came in the wrong place is not sent back."""
    # Lone surrogates cannot be sent at all.
    words = str(problem).encode("utf-8", "backslashreplace").decode()
    return _SECRET.sub(r"\1_...", words)


def problem_response(problem: Problem) -> Response:
    """Return a problem as a response."""
    headers = dict(problem.headers) if isinstance(problem, HttpProblem) else {}
    if isinstance(problem, Unavailable):
        headers["retry-after"] = "1"
    return _response(problem.status, problem.title, problem.code, detail_of(problem), headers)


def as_problem(error: Exception) -> Problem:
    """Return the problem that an error of a route is; what the caller did not cause is ours."""
    match error:
        case Problem():
            return error
        case RequestValidationError() | ValidationError():
            return Invalid(broken_rule(error.errors()))
        case CallerError():
            return Invalid(str(error))
        case HTTPException(status_code=404):
            return NoSuchPath()
    return Unexpected()


async def refuse(request: Request, error: Exception) -> Response:
    """Return the response to an error that a route raised on purpose."""
    if isinstance(error, NeedsAttention):
        request.scope["fault"] = error
    if isinstance(error, HTTPException) and error.status_code == 405:
        return problem_response(WrongMethod(_methods(request)))
    if isinstance(error, HTTPException) and error.status_code != 404:
        words = HTTPStatus(error.status_code).phrase
        code = words.lower().replace(" ", "_")
        return _response(error.status_code, words, code, words, error.headers)
    return problem_response(as_problem(error))


def _methods(request: Request) -> list[str]:
    """Return the methods that there are at a request's path."""
    contexts = iter_route_contexts(request.app.routes)
    found = [one.methods or set() for one in contexts if _matches(one.path_regex, request)]
    return sorted(set().union(*found) - {"HEAD"})


def _matches(path: re.Pattern[str], request: Request) -> bool:
    return path.fullmatch(request.scope["path"]) is not None


def _response(
    status: int, title: str, code: str, detail: str, headers: Mapping[str, str] | None
) -> Response:
    problem = wire.Problem(type="about:blank", title=title, status=status, detail=detail, code=code)
    return Response(problem.encoded(), status, headers, wire.PROBLEM_JSON)


STATUSES = {
    401: NoKey.title,
    403: NotAllowed.title,
    404: "No such campaign, or no such lease",
    409: "Idempotency key used before",
    413: TooLarge.title,
    422: Invalid.title,
    429: TooMany.title,
    500: f"{Unexpected.title}, or the campaign needs attention",
    503: "Try again",
}
"""What statuses mean, for the description of routes."""
ALWAYS = (401, 403, 413, 422, 429, 500, 503)
"""What every route that takes a key may be refused with."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how routes say, in `responses`, what they may be refused with."""
    schema = {"$ref": f"#/components/schemas/{wire.Problem.__name__}"}
    content = {wire.PROBLEM_JSON: {"schema": schema}}
    return {one: {"description": STATUSES[one], "content": content} for one in statuses}
