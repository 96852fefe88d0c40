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
    """A request that may pass: who sent it, and what it works with."""

    principal: Principal
    backend: Backend
    metrics: Metrics
    headers: list[tuple[bytes, bytes]]

    @property
    def tenant(self) -> int:
        """The tenant whose campaigns there are."""
        return self.principal.tenant

    @property
    def parts(self) -> Parts:
        """The core."""
        return self.backend.parts

    def key(self) -> str:
        """Return the request's idempotency key, a new one if it has none."""
        found = [value for name, value in self.headers if name == b"idempotency-key"]
        if not found:
            return new_key()
        key = found[0].decode("latin-1")
        if len(found) > 1:
            raise InvalidInput(IDEMPOTENCY_KEY, "sent once", key)
        check_key(key)
        return key


class ApiKey(SecurityBase):
    """The dependency by which a route says which scope it takes: `Security(api_key, scopes=...)`.

    `ApiRoute` has looked at the key by then; without it there is no call to return.
    """

    def __init__(self) -> None:
        self.model = HTTPBearer(description="An API key; each route says which scope it takes.")
        self.scheme_name = "key"

    async def __call__(self, request: Request) -> Call:
        """Return the call that was let in."""
        call: Call = request.scope["call"]
        return call


api_key = ApiKey()


class RateLimiter:
    """A bucket of tokens for each key: one a request, filled at the key's rate.

    A bucket holds one second's worth, so a key may catch up on a pause of a second and no more.
    Each process counts on its own.

    Args:
        clock: seconds, from anywhere.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key_id: str, rate: float) -> float:
        """Take a token; return 0, or the seconds until there is one to take."""
        now = self._clock()
        most = max(1.0, rate)
        left, at = self._buckets.get(key_id, (most, now))
        tokens = min(most, left + (now - at) * rate)
        enough = tokens >= 1.0
        remember(self._buckets, key_id, (tokens - 1.0 if enough else tokens, now))
        return 0.0 if enough else (1.0 - tokens) / rate


class Gate:
    """Lets requests in.

    Args:
        backend: knows the keys.
        limiter: how often each key may come.
        metrics: for the routes.
    """

    def __init__(self, backend: Backend, limiter: RateLimiter, metrics: Metrics) -> None:
        self._backend = backend
        self._limiter = limiter
        self._metrics = metrics

    async def admit(self, scope: Scope, needed: str | None, times: int) -> int:
        """Put the call into a request's scope; return how long its body may be.

        Args:
            scope: of the request.
            needed: what the key must be allowed to do; None where no key is needed.
            times: how often the key's largest body may be sent.
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
    """A route that lets a request in before FastAPI reads its body.

    FastAPI reads the body first and then asks dependencies, `Security` among them. So the route
    looks at the key itself, for the scope that its `Security` names.
    """

    body_times = 1

    @property
    def scope(self) -> str | None:
        """The scope that the route takes; None where it takes no key."""
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
        """Return what handles a request."""
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
    """Return a receiver that stops at a body longer than the limit, however it is sent."""
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
    """A route that FastAPI describes and that is served without its solver of dependencies.

    The solver takes two fifths of what an ask costs the process (`docs/decisions.md`). The
    route's function takes `campaign`, `call` and `body`, and returns a response.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
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
    """A route whose body is read line by line, and may be so much longer."""

    body_times = BULK_TIMES
