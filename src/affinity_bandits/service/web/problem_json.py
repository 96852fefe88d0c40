"""What goes wrong, as application/problem+json (RFC 9457)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from affinity_bandits.errors import CallerError, shown
from affinity_bandits.service.problems import NeedsAttention, Problem, Unavailable

MEDIA_TYPE = "application/problem+json"
_SECRET = re.compile(r"(ab_[0-9a-f]{16})_[0-9a-f]+")


class HttpProblem(Problem):
    """A request that never reached the core.

    Attributes:
        headers: what the response says besides.
    """

    headers: Mapping[str, str] = {}


class NoSuchPath(HttpProblem):
    """Nothing answers at this path."""

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


def body_of(problem: Problem) -> dict[str, Any]:
    """Return the members of a problem's JSON."""
    return {
        "type": "about:blank",
        "title": problem.title,
        "status": problem.status,
        "detail": detail_of(problem),
        "code": problem.code,
    }


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
    return Response(orjson.dumps(body_of(problem)), problem.status, headers, MEDIA_TYPE)


def as_problem(error: Exception) -> Problem:
    """Return the problem that an error of a route is; what the caller did not cause is ours."""
    match error:
        case Problem():
            return error
        case ValidationError():
            return Invalid(_words(error.errors(include_url=False, include_context=False)))
        case RequestValidationError():
            return Invalid(_words(error.errors()))
        case CallerError():
            return Invalid(str(error))
        case HTTPException(status_code=404):
            return NoSuchPath()
        case HTTPException(status_code=405):
            return WrongMethod((error.headers or {}).get("Allow", "GET").split(", "))
    return Unexpected()


async def answer_problem(request: Request, error: Exception) -> Response:
    """Answer an error that a route raised on purpose."""
    if isinstance(error, NeedsAttention):
        request.scope["fault"] = error
    if isinstance(error, HTTPException) and error.status_code not in {404, 405}:
        words = HTTPStatus(error.status_code).phrase
        code = words.lower().replace(" ", "_")
        body = {"type": "about:blank", "title": words, "status": error.status_code}
        body |= {"detail": words, "code": code}
        return Response(orjson.dumps(body), error.status_code, error.headers, MEDIA_TYPE)
    return problem_response(as_problem(error))


def _words(errors: Sequence[Any]) -> str:
    """Return the first broken rule: parameter, rule, value."""
    first = errors[0]
    place = [part for part in first["loc"] if part not in {"path", "query", "header", "body"}]
    name = ""
    for part in place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    name = shown(name)[1:-1] or "body"
    rule = str(first["msg"]).removeprefix("Value error, ")
    match first["type"]:
        case "missing":
            return f"{name} must be given"
        case "extra_forbidden":
            return f"{name} must be left out: there is no such member"
        case "json_invalid":
            return f"body must be JSON: {rule.removeprefix('Invalid JSON: ')}"
        case "value_error":
            return rule
    rule = rule.removeprefix("Input should be ").removeprefix("Value should be ")
    return f"{name} must be {rule[0].lower()}{rule[1:]}, got {shown(first.get('input'))}"
