"""Who may pass: no route is reached without its key, its scope and its limits."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from affinity_bandits.service.keys import Principal
from affinity_bandits.service.problems import Problem
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.limits import Buckets, limited
from affinity_bandits.service.web.problem_json import (
    NoKey,
    NoSuchPath,
    NotAllowed,
    TooLarge,
    TooMany,
    WrongMethod,
    problem_response,
)
from affinity_bandits.service.web.scopes import BULK, OPEN, SCOPES, UI, methods_of

OPEN_BODY = 65_536
"""Largest body where no key says otherwise."""
BULK_TIMES = 64
"""So many times a key's largest body may be sent as lines."""


class Guard:
    """Lets a request through to the routes, or answers it.

    It decides by the same table that the routes are checked against, and a path that the table
    does not have ends here: what the router may make of it does not matter.

    Args:
        app: the routes.
        backend: knows the keys.
        buckets: the tokens of each key.
    """

    def __init__(self, app: ASGIApp, backend: Backend, buckets: Buckets) -> None:
        self._app = app
        self._backend = backend
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            limit = await self._admit(scope)
        except Problem as problem:
            await problem_response(problem)(scope, receive, send)
            return
        await self._app(scope, limited(receive, limit), send)

    async def _admit(self, scope: Scope) -> int:
        """Return how long the request's body may be."""
        template = scope["template"]
        if template is None:
            raise NoSuchPath
        needed = OPEN if template == UI else SCOPES.get((scope["method"], template))
        if needed is None:
            raise WrongMethod(methods_of(template))
        key = length = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                if key is not None:  # which of the two counts would be anybody's guess
                    raise NoKey(given=False)
                key = value
            elif name == b"content-length":
                length = value
        limit = OPEN_BODY
        if needed != OPEN:
            principal = await self._principal(key)
            wait = self._buckets.take(principal.key_id, principal.requests_per_second)
            scope["principal"] = principal
            if wait > 0:
                raise TooMany(principal.requests_per_second, wait)
            if needed not in principal.scopes:
                raise NotAllowed(needed)
            limit = principal.largest_body * (BULK_TIMES if template == BULK else 1)
        if length is not None and (len(length) > 18 or int(length) > limit):
            raise TooLarge(limit)
        return limit

    async def _principal(self, header: bytes | None) -> Principal:
        if header is None:
            raise NoKey(given=False)
        kind, _, text = header.decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            raise NoKey(given=False)
        found = await self._backend.parts.keys.principal(text.strip())
        if found is None:
            raise NoKey(given=True)
        return found
