"""The application: routes, their guard, and what opens and closes with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from affinity_bandits._version import __version__
from affinity_bandits.errors import CallerError
from affinity_bandits.service.problems import NeedsAttention, Problem
from affinity_bandits.service.ui.pages import router as pages
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.bulk_routes import bulk_routes
from affinity_bandits.service.web.campaign_routes import campaign_routes
from affinity_bandits.service.web.description import describe
from affinity_bandits.service.web.guard import Guard
from affinity_bandits.service.web.health_routes import health_routes
from affinity_bandits.service.web.limits import Buckets
from affinity_bandits.service.web.logs import RequestLog
from affinity_bandits.service.web.metrics import Metrics
from affinity_bandits.service.web.observing import Observer
from affinity_bandits.service.web.problem_json import answer_problem
from affinity_bandits.service.web.slot_routes import slot_routes


def create_app(
    dsn: str,
    *,
    pool_size: int = 10,
    remember_seconds: float = 10.0,
    quiet: bool = False,
    buckets: Buckets | None = None,
) -> FastAPI:
    """Return the service as an ASGI application.

    Args:
        dsn: where the database is; it need not be up.
        pool_size: connections of this process at most.
        remember_seconds: for how long a revoked key may go on working.
        quiet: log only what fails by the service's own fault.
        buckets: the tokens of each key; of this app's own if None.
    """
    metrics, log = Metrics(), RequestLog(quiet=quiet)

    def failed(error: BaseException) -> None:
        metrics.fault("unexpected")
        log.failure(error)

    def faulted(fault: NeedsAttention) -> None:
        metrics.fault(fault.kind)
        log.fault(fault)

    backend = Backend(
        dsn,
        pool_size=pool_size,
        remember_seconds=remember_seconds,
        metrics=metrics,
        failed=failed,
        faulted=faulted,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with backend.running():
            yield

    app = FastAPI(
        title="affinity-bandits",
        version=__version__,
        description="Fair comparisons on live traffic: ask which group comes next, tell its score.",
        lifespan=lifespan,
        redirect_slashes=False,
        # The pages that FastAPI offers for reading the description load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.state.backend = backend
    for router in (
        slot_routes(backend, metrics),
        bulk_routes(backend, metrics),
        campaign_routes(backend),
        health_routes(backend, metrics),
        pages,
    ):
        app.include_router(router)
    # Everything else is a fault of the service, which the observer writes down and answers.
    for kind in (Problem, CallerError, RequestValidationError, ValidationError, HTTPException):
        app.add_exception_handler(kind, answer_problem)
    # The one that is added last is the outermost.
    app.add_middleware(Guard, backend=backend, buckets=buckets or Buckets())
    app.add_middleware(Observer, log=log, metrics=metrics)

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = describe(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    return app
