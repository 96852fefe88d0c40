"""The application at the admin address: probes and metrics, which need no API key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from affinity_bandits_client import messages
from affinity_bandits_service.core.backend import Backend
from affinity_bandits_service.http.errors import NOT_READY, problem_response
from affinity_bandits_service.problems import ServiceProblem, Unavailable

FRESH_SECONDS = 1.0
"""For so long a reply is given again, however many ask for it."""
PATIENCE = 2.0
"""Seconds in which the database must answer a probe."""
Look = Callable[[], Awaitable[Response]]


def admin_app(backends: Mapping[str, Backend]) -> Starlette:
    """Return the application that reports on a server process and its databases."""

    async def up() -> Response:
        return _status("up")

    async def ready() -> Response:
        """Report which databases are there and have a schema that this version works with.

        One that can be used is enough: its tenants must not suffer for others.
        """
        found = await asyncio.gather(*map(_problem, backends.values()))
        problems = {name: one for name, one in zip(backends, found, strict=True) if one}
        if len(problems) < len(backends):
            return _status("ready", {name: str(one) for name, one in problems.items()})
        return problem_response(next(iter(problems.values())))

    async def metrics() -> Response:
        for one in backends.values():
            one.count_connections()
        return Response(one.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    looks = {"/healthz": up, "/readyz": ready, "/metrics": metrics}
    return Starlette(routes=[Route(path, _cached(look)) for path, look in looks.items()])


async def _problem(backend: Backend) -> ServiceProblem | None:
    """Return why a database cannot be used now, if so."""
    try:
        async with asyncio.timeout(PATIENCE):
            found = await backend.schema_problem()
    except TimeoutError:
        return Unavailable()
    except ServiceProblem as problem:
        return problem
    return None if found is None else ServiceProblem(NOT_READY, found)


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


def _status(word: str, away: dict[str, str] | None = None) -> Response:
    return Response(
        messages.Status(status=word, away=away or None).encoded(), media_type=messages.JSON
    )
