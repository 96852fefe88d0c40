"""Authentication: key, scope, rate and size are checked before a route reads the body."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints
from uuid import UUID

from fastapi import Request
from fastapi.openapi.models import HTTPBearer
from fastapi.params import Security
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Message, Receive, Scope

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.backend import Backend, Parts
from affinity_bandits.service.core.keys import Principal
from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.http.errors import (
    NoKey,
    NotAllowed,
    TooLarge,
    TooMany,
    UnknownKey,
    invalid,
)
from affinity_bandits.service.http.metrics import Metrics
from affinity_bandits.wire.limits import BULK_TIMES, IDEMPOTENCY_KEY
from affinity_bandits.wire.values import check_key, new_key

OPEN_BODY = 65_536
"""Largest body where no key says otherwise."""


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request: who sent it, and the backend and metrics that it uses."""

    principal: Principal
    backend: Backend
    metrics: Metrics
    headers: list[tuple[bytes, bytes]]

    @property
    def tenant(self) -> int:
        """The tenant that the request's API key belongs to."""
        return self.principal.tenant

    @property
    def parts(self) -> Parts:
        """The parts of the core."""
        return self.backend.parts

    def key(self) -> str:
        """Return the request's idempotency key, or a new one if it has none."""
        found = [value for name, value in self.headers if name == b"idempotency-key"]
        if not found:
            return new_key()
        key = found[0].decode("latin-1")
        if len(found) > 1:
            raise InvalidInput(IDEMPOTENCY_KEY, "sent once", key)
        check_key(key)
        return key


class ApiKey(SecurityBase):
    """The dependency with which a route declares its scope: `Security(api_key, scopes=...)`.

    By then `ApiRoute` has checked the key and put the call into the request's scope.
    """

    def __init__(self) -> None:
        self.model = HTTPBearer(description="An API key; each route says which scope it requires.")
        self.scheme_name = "key"

    async def __call__(self, request: Request) -> Call:
        """Return the admitted call."""
        call: Call = request.scope["call"]
        return call


api_key = ApiKey()


class RateLimiter:
    """A token bucket for each API key: a request takes a token, and tokens come at the key's rate.

    A bucket holds one second's worth, so a key may catch up on a pause of a second and no more.
    Each process counts on its own.

    Args:
        clock: returns seconds; only differences matter.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key_id: str, rate: float) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now = self._clock()
        most = max(1.0, rate)
        left, at = self._buckets.get(key_id, (most, now))
        tokens = min(most, left + (now - at) * rate)
        enough = tokens >= 1.0
        remember(self._buckets, key_id, (tokens - 1.0 if enough else tokens, now))
        return 0.0 if enough else (1.0 - tokens) / rate


class Gate:
    """Checks the API key, scope, rate and size of each request before its body is read.

    Args:
        backend: looks up API keys.
        limiter: limits the rate of each key.
        metrics: handed on to the routes.
    """

    def __init__(self, backend: Backend, limiter: RateLimiter, metrics: Metrics) -> None:
        self._backend = backend
        self._limiter = limiter
        self._metrics = metrics

    async def admit(self, scope: Scope, needed: str | None, times: int) -> int:
        """Check a request and put its `Call` into the ASGI scope; return its largest body.

        Args:
            scope: of the request.
            needed: the scope that the API key must have; None if no key is needed.
            times: how many times the key's largest body may be sent.
        """
        key = length = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                if key is not None:  # which of the two counts would be anybody's guess
                    raise NoKey
                key = value
            elif name == b"content-length":
                length = value
        limit = OPEN_BODY
        if needed is not None:
            principal = await self._principal(key)
            scope["principal"] = principal  # for the log
            wait = self._limiter.take(principal.key_id, principal.requests_per_second)
            if wait > 0:
                raise TooMany(principal.requests_per_second, wait)
            if needed not in principal.scopes:
                raise NotAllowed(needed)
            scope["call"] = Call(principal, self._backend, self._metrics, scope["headers"])
            limit = principal.largest_body * times
        if length is not None and (len(length) > 18 or int(length) > limit):
            raise TooLarge(limit)
        return limit

    async def _principal(self, header: bytes | None) -> Principal:
        if header is None:
            raise NoKey
        kind, _, text = header.decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            raise NoKey
        found = await self._backend.parts.keys.principal(text.strip())
        if found is None:
            raise UnknownKey
        return found


class ApiRoute(APIRoute):
    """A route that checks the API key before FastAPI reads the body.

    FastAPI reads the body first and then asks dependencies, `Security` among them. So the route
    looks at the key itself, for the scope that its `Security` names.
    """

    body_times = 1

    @property
    def scope(self) -> str | None:
        """The scope that the route requires; None if it needs no API key."""
        for hint in get_type_hints(self.endpoint, include_extras=True).values():
            for part in get_args(hint):
                if isinstance(part, Security) and part.dependency is api_key:
                    return next(iter(part.scopes or ()))
        return None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # To a regular expression, "$" is also before a line end.
        if scope["path"].endswith("\n"):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks a request before it passes it to FastAPI's."""
        handler = super().get_route_handler()
        needed, times = self.scope, self.body_times
        reads_json = self.body_field is not None

        async def handle(request: Request) -> Response:
            scope = request.scope
            limit = await scope["app"].state.gate.admit(scope, needed, times)
            admitted = Request(scope, limited(request.receive, limit))
            if reads_json:
                # Read here, since FastAPI would say 400 to whatever goes wrong on the way; and
                # JSON whatever it is called: without the header FastAPI hands the bytes over.
                await admitted.body()
                scope["headers"] = [one for one in scope["headers"] if one[0] != b"content-type"]
            return await handler(admitted)

        return handle


def limited(receive: Receive, limit: int) -> Receive:
    """Return a `receive` that raises `TooLarge` once the body exceeds the limit, chunked or not."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > limit:
                raise TooLarge(limit)
        return message

    return counting


class _Path(BaseModel):
    campaign: UUID


class HotRoute(ApiRoute):
    """A route that FastAPI describes but does not serve: it bypasses the dependency solver.

    The solver takes two fifths of what an ask costs the process (`docs/decisions.md`). The
    route's function takes `campaign`, `call` and `body`, and returns a response.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks and reads a request and calls the endpoint itself."""
        needed, endpoint = self.scope, self.endpoint
        read = get_type_hints(endpoint)["body"].model_validate_json

        async def handle(request: Request) -> Response:
            scope = request.scope
            limit = await scope["app"].state.gate.admit(scope, needed, 1)
            try:  # around the request alone: what the endpoint raises is not the caller's mistake
                campaign = _Path.model_validate(scope["path_params"]).campaign
                body = read(await Request(scope, limited(request.receive, limit)).body())
            except ValidationError as error:
                raise invalid(error) from None
            response: Response = await endpoint(campaign=campaign, call=scope["call"], body=body)
            return response

        return handle


class BulkRoute(ApiRoute):
    """A route whose body is read line by line, and may be `BULK_TIMES` times as large."""

    body_times = BULK_TIMES
