"""The application: its routes, error handlers and middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from affinity_bandits._version import __version__
from affinity_bandits_client import messages
from affinity_bandits_service import tracing
from affinity_bandits_service.core.backend import Backend
from affinity_bandits_service.core.keys import KeyRing
from affinity_bandits_service.databases import Databases, databases_of
from affinity_bandits_service.http import bulk, routes
from affinity_bandits_service.http.access_log import AccessLog
from affinity_bandits_service.http.auth import Gate
from affinity_bandits_service.http.errors import CAUSED, refuse
from affinity_bandits_service.limits import RateLimiter
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import ServiceProblem
from affinity_bandits_service.store.connection import STATEMENT_CACHE
from affinity_bandits_service.ui.pages import router as pages

STARTING_SECONDS = 1.0
"""How long a starting process waits for its databases before it takes requests."""


class Service(FastAPI):
    """A FastAPI application that also describes messages outside its routes' declarations."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description."""
        if self.openapi_schema is None:
            _, lines = models_json_schema(
                [
                    (messages.TellLine, "validation"),
                    (messages.ToldLine, "serialization"),
                    (messages.Problem, "serialization"),
                ],
                ref_template="#/components/schemas/{model}",
            )
            super().openapi()["components"]["schemas"] |= lines["$defs"]
        assert self.openapi_schema is not None
        return self.openapi_schema


def create_app(
    databases: str | Databases,
    *,
    pool_size: int = 10,
    statement_cache: int = STATEMENT_CACHE,
    key_cache_ttl: float = 10.0,
    limiter: RateLimiter | None = None,
    webhooks_private: bool = False,
    keep_requests_days: float | None = None,
    traces: bool = False,
) -> FastAPI:
    """Return the service as an ASGI application.

    Requests are logged by the logger `affinity_bandits_service.requests`; `logs.log_config` is how
    `affinity serve` configures it.

    Args:
        databases: the only database, or several by name; they need not be up.
        pool_size: database connections at most.
        statement_cache: see `serving.serve`.
        key_cache_ttl: seconds for which another process may accept a revoked key.
        limiter: limits the rate of each API key; a new one if None.
        webhooks_private: see `serving.serve`, also for the arguments below.
        keep_requests_days: same.
        traces: same.

    Raises:
        MissingExtra: spans are wanted, and OpenTelemetry is not installed.
    """
    if traces:
        tracing.begin()
    named = databases_of(databases)
    metrics = Metrics(named)
    backends = {
        name: Backend(
            name,
            database,
            pool_size=pool_size,
            statement_cache=statement_cache,
            metrics=metrics,
            webhooks_private=webhooks_private,
            keep_requests_days=keep_requests_days,
        )
        for name, database in named.items()
    }
    keys = KeyRing({name: one.probes for name, one in backends.items()}, key_cache_ttl)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in backends.values():
                await stack.enter_async_context(one.running())
            # A database that answers is there before the first request; one that does not is no
            # reason to stay away.
            with suppress(TimeoutError):
                async with asyncio.timeout(STARTING_SECONDS):
                    for one in backends.values():
                        await one.connected.wait()
            yield
        tracing.end()

    app = Service(
        title="affinity-bandits",
        version=__version__,
        description="Fair comparisons on live traffic: ask which group comes next, tell its score.",
        lifespan=lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        # The pages that FastAPI offers for reading the description load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.state.backends = backends
    app.state.keys = keys
    app.state.metrics = metrics
    limiter = limiter or RateLimiter()
    app.state.limiter = limiter
    app.state.gate = Gate(backends, keys, limiter, metrics)
    for router in (
        routes.slot_routes,
        bulk.bulk_routes,
        routes.campaign_routes,
        routes.webhook_routes,
        pages,
    ):
        app.include_router(router)
    # Everything else is a fault of the service, which the access log turns into a 500: also
    # pydantic's ValidationError, since outside a request only our own replies raise it.
    for kind in (ServiceProblem, *CAUSED, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refuse)
    app.add_middleware(AccessLog, metrics=metrics)
    return app
