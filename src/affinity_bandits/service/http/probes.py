"""The application at the admin address: probes and metrics, which need no API key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from affinity_bandits import wire
from affinity_bandits.service.core.backend import Backend
from affinity_bandits.service.http.errors import NotReady, problem_response
from affinity_bandits.service.problems import ServiceProblem, Unavailable

FRESH_SECONDS = 1.0
"""For so long a reply is given again, however many ask for it."""
PATIENCE = 2.0
"""Seconds in which the database must answer a probe."""
Look = Callable[[], Awaitable[Response]]


def admin_app(backend: Backend) -> Starlette:
    """Return the application that reports on a server process."""

    async def up() -> Response:
        return _status("up")

    async def ready() -> Response:
        """Report whether the database is there and has a schema that this version works with."""
        try:
            async with asyncio.timeout(PATIENCE):
                found = await backend.schema_problem()
        except TimeoutError:
            return problem_response(Unavailable())
        except ServiceProblem as problem:
            return problem_response(problem)
        return _status("ready") if found is None else problem_response(NotReady(found))

    async def metrics() -> Response:
        try:
            pool = backend.parts.pool
            connections = (pool.get_size() - pool.get_idle_size(), pool.get_max_size())
        except Unavailable:
            connections = (0, 0)
        return Response(backend.metrics.text(*connections), media_type=CONTENT_TYPE_LATEST)

    looks = {"/healthz": up, "/readyz": ready, "/metrics": metrics}
    return Starlette(routes=[Route(path, _cached(look)) for path, look in looks.items()])


def _cached(look: Look) -> Callable[[Request], Awaitable[Response]]:
    kept, until, turn = Response(), 0.0, asyncio.Lock()

    async def reply(_: Request) -> Response:
        nonlocal kept, until
        async with turn:  # who asks meanwhile is told the same
            if until <= monotonic():
                kept = await look()
                until = monotonic() + FRESH_SECONDS
            return kept

    return reply


def _status(word: str) -> Response:
    return Response(wire.Status(status=word).encoded(), media_type=wire.JSON)
