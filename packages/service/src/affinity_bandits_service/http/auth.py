"""Shared parts of routes: key, scope, rate and size are checked first; then bodies and cursors."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, TypeVar, get_args, get_type_hints
from uuid import UUID

from fastapi import Query, Request, Security
from fastapi.openapi.models import HTTPBearer
from fastapi.params import Security as SecurityParam
from fastapi.routing import APIRoute
from fastapi.security.base import SecurityBase
from pydantic import BaseModel, GetPydanticSchema, ValidationError
from pydantic_core import CoreSchema, core_schema
from starlette.responses import Response
from starlette.types import Message, Receive, Scope

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_client import messages
from affinity_bandits_client.messages.base import (
    BULK_TIMES,
    IDEMPOTENCY_KEY,
    LONGEST_CURSOR,
    LONGEST_KEY,
    MOST_ITEMS,
    check_key,
    new_key,
)
from affinity_bandits_service.core.backend import Backend, Parts
from affinity_bandits_service.core.keys import KeyRing, Principal
from affinity_bandits_service.http.errors import (
    NO_KEY,
    UNKNOWN_KEY,
    TooLarge,
    invalid,
    not_allowed,
)
from affinity_bandits_service.limits import RateLimiter, remember
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import ServiceProblem, TooMany

OPEN_BODY = 65_536
"""Largest body in bytes where no key says otherwise."""
READS_AT_ONCE = 2
"""Requests other than ask and tell that a process carries out at once per tenant: they may take
long."""
LATE_SECONDS = 1.0
"""After so long a request's key is looked up once more before the request is carried out."""


@dataclass(frozen=True, slots=True)
class Call:
    """An admitted request: who sent it, and the backend and metrics that it uses."""

    principal: Principal
    backend: Backend
    metrics: Metrics
    headers: list[tuple[bytes, bytes]]
    limiter: RateLimiter
    ring: KeyRing
    admitted_at: float

    @property
    def tenant(self) -> int:
        """The tenant that the request's API key belongs to."""
        return self.principal.tenant

    @property
    def parts(self) -> Parts:
        """The parts of the core."""
        return self.backend.parts

    def key(self) -> str:
        """Return the request's idempotency key, by default a new one."""
        found = [value for name, value in self.headers if name == b"idempotency-key"]
        if not found:
            return new_key()
        key = found[0].decode("latin-1")
        if len(found) > 1:
            raise InvalidInput(IDEMPOTENCY_KEY, "sent once", key)
        check_key(key)
        return key

    async def check_again(self) -> None:
        """Check the API key again, for a request that may write long after it was admitted.

        Keys are cached, so the end of a key is noticed as soon as for new requests.

        Raises:
            ServiceProblem: the key was revoked or has expired.
            Unavailable: its database does not answer.
        """
        (sent,) = (value for name, value in self.headers if name == b"authorization")
        if await self.ring.look_again(_bearer(sent)) is None:
            raise ServiceProblem(UNKNOWN_KEY)

    async def check_if_late(self) -> None:
        """Check the API key again if the body was slow to come, or the request's turn was."""
        if monotonic() - self.admitted_at > LATE_SECONDS:
            await self.check_again()

    def pay(self, tokens: float) -> float:
        """Take tokens of the API key and return 0, or return the seconds to wait first."""
        return self.limiter.take(self.principal.actor, self.principal.requests_per_second, tokens)


def _bearer(header: bytes | None) -> str | None:
    """Return the API key in the value of an `Authorization` header, if there is one."""
    kind, _, text = ("", "", "") if header is None else header.decode("latin-1").partition(" ")
    return text.strip() if kind.lower() == "bearer" else None


class KeyScheme(SecurityBase):
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


api_key = KeyScheme()


class Gate:
    """Checks the API key, scope, rate and size of each request before its body is read.

    Args:
        backends: the databases by their names.
        keys: looks up API keys.
        limiter: limits the rate of each key.
        metrics: handed on to the routes.
    """

    def __init__(
        self,
        backends: Mapping[str, Backend],
        keys: KeyRing,
        limiter: RateLimiter,
        metrics: Metrics,
    ) -> None:
        self._backends = backends
        self._keys = keys
        self._limiter = limiter
        self._metrics = metrics
        self._turns: dict[tuple[str, int], asyncio.Semaphore] = {}

    async def admit(self, scope: Scope, needed: str | None, times: int) -> int:
        """Check a request and put its `Call` into the ASGI scope; return its largest body.

        Args:
            scope: of the request.
            needed: the scope that the API key must have; None for public routes.
            times: how many times the key's largest body may be sent.
        """
        key = length = None
        size = 0
        for name, value in scope["headers"]:
            if name == b"authorization":
                if key is not None:  # which of the two counts would be anybody's guess
                    raise ServiceProblem(NO_KEY)
                key = value
            elif name == b"content-length":
                length = value
        if length is not None:
            size = int(length) if len(length) <= 18 else 10**18
        limit = OPEN_BODY
        if needed is not None:
            client = scope.get("client")
            principal = await self._principal(key, client[0] if client else "")
            scope["principal"] = principal  # for the log
            limit = principal.largest_body * times
            wait = self._limiter.take(principal.actor, principal.requests_per_second)
            if wait > 0:
                raise TooMany(principal.requests_per_second, wait)
            if needed not in principal.scopes:
                raise not_allowed(needed)
            backend = self._backends[principal.database]
            if needed in ("ask", "tell"):
                await backend.parts.quotas.check(principal.tenant)
            rest = (scope["headers"], self._limiter, self._keys, monotonic())
            scope["call"] = Call(principal, backend, self._metrics, *rest)
        if size > limit:
            raise TooLarge(limit)
        return limit

    async def _principal(self, header: bytes | None, host: str) -> Principal:
        given = _bearer(header)
        found = await self._keys.principal(given, host)
        if found is None:
            raise ServiceProblem(NO_KEY if given is None else UNKNOWN_KEY)
        return found

    def turns(self, principal: Principal) -> asyncio.Semaphore:
        """Return the semaphore that limits the long requests of a tenant."""
        tenant = (principal.database, principal.tenant)
        known = self._turns.get(tenant)
        return remember(self._turns, tenant, known or asyncio.Semaphore(READS_AT_ONCE))


class ApiRoute(APIRoute):
    """A route that checks the API key before FastAPI reads the body.

    FastAPI reads the body first and then asks dependencies, `Security` among them. So the route
    looks at the key itself, for the scope that its `Security` names.
    """

    body_times = 1

    @property
    def scope(self) -> str | None:
        """The scope that the route requires; None for public routes."""
        for hint in get_type_hints(self.endpoint, include_extras=True).values():
            for part in get_args(hint):
                if isinstance(part, SecurityParam) and part.dependency is api_key:
                    return next(iter(part.scopes or ()))
        return None

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that checks a request before it passes it to FastAPI's."""
        handler = super().get_route_handler()
        needed, times = self.scope, self.body_times
        reads_json = self.body_field is not None

        async def handle(request: Request) -> Response:
            scope = request.scope
            gate: Gate = scope["app"].state.gate
            limit = await gate.admit(scope, needed, times)
            admitted = Request(scope, limit_body(request.receive, limit))
            if reads_json:
                # Read here, since FastAPI would say 400 to whatever goes wrong on the way; and
                # JSON whatever it is called: without the header FastAPI hands the bytes over.
                await admitted.body()
                scope["headers"] = [one for one in scope["headers"] if one[0] != b"content-type"]
            if needed is None or times > 1:
                return await handler(admitted)
            async with gate.turns(scope["principal"]):
                await scope["call"].check_if_late()
                return await handler(admitted)

        return handle


def limit_body(receive: Receive, limit: int) -> Receive:
    """Return a `receive` that raises `TooLarge` once the body, also a chunked one, is too long."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge(limit)
        return message

    return counting


class _Path(BaseModel):
    campaign: UUID


class HotRoute(ApiRoute):
    """A route that FastAPI describes, but that bypasses its dependency solver.

    The solver takes two fifths of the process's time for an ask
    (`docs/development/decisions/service.md`). The route's function takes `campaign`, `call` and
    `body`, and returns a response.
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
                body = read(await Request(scope, limit_body(request.receive, limit)).body())
            except ValidationError as error:
                raise invalid(error) from None
            call: Call = scope["call"]
            await call.check_if_late()
            response: Response = await endpoint(campaign=campaign, call=call, body=body)
            return response

        return handle


class BulkRoute(ApiRoute):
    """A route whose body is read line by line, and may be `BULK_TIMES` times as large."""

    body_times = BULK_TIMES


Asking = Annotated[Call, Security(api_key, scopes=["ask"])]
Telling = Annotated[Call, Security(api_key, scopes=["tell"])]
Reading = Annotated[Call, Security(api_key, scopes=["read"])]
Managing = Annotated[Call, Security(api_key, scopes=["admin"])]

Cursor = Annotated[
    str | None, Query(max_length=LONGEST_CURSOR, description="The 'next' of another page.")
]
Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS)]

M = TypeVar("M")


def _from_json(kind: Any, handler: Any) -> CoreSchema:
    """Return a schema that parses JSON into a model in one pass; FastAPI alone needs two."""
    return core_schema.no_info_before_validator_function(kind.model_validate_json, handler(kind))


Body = Annotated[M, GetPydanticSchema(_from_json)]
"""A JSON body, of whatever content type."""

KEYED: dict[str, Any] = {
    "parameters": [
        {
            "name": IDEMPOTENCY_KEY,
            "in": "header",
            "required": False,
            "description": "A repeat with the same key has the same effect and reply as the first.",
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_KEY,
                "pattern": "^[!-~]+$",
            },
        }
    ]
}
"""What a route that writes says of its idempotency key. Read by `Call.key`: as a header of
FastAPI's it would cost the hot path as much as the key and the scope together."""


def reply(
    message: messages.Message, key: str, headers: dict[str, str] | None = None, status: int = 200
) -> Response:
    """Return the response to a request that writes, with its idempotency key.

    Encoded here: FastAPI would validate it once more, for a tenth of the time that the process
    has for a request.
    """
    sent = {IDEMPOTENCY_KEY.lower(): key} | (headers or {})
    return Response(message.encoded(), status, sent, messages.JSON)


def to_cursor(position: int | None) -> str | None:
    """Return the position where a page begins as an opaque cursor.

    >>> to_cursor(17)
    'AAAAAAAAABE'
    """
    if position is None:
        return None
    return base64.urlsafe_b64encode(position.to_bytes(8, "big")).decode().rstrip("=")


def from_cursor(cursor: str | None) -> int | None:
    """Return the position that a cursor stands for.

    >>> from_cursor("AAAAAAAAABE")
    17
    """
    if cursor is None:
        return None
    try:
        data = base64.b64decode(cursor + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    position = int.from_bytes(data, "big")
    if len(data) != 8 or position >= 2**63:
        raise InvalidInput("cursor", "one that this service gave as 'next'", cursor)
    return position
