"""The application: its routes, error handlers and middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from affinity_bandits import wire
from affinity_bandits._version import __version__
from affinity_bandits.errors import CallerError
from affinity_bandits.service import tracing
from affinity_bandits.service.core.backend import Backend, Watcher
from affinity_bandits.service.core.buckets import RateLimiter
from affinity_bandits.service.http.access_log import AccessLog
from affinity_bandits.service.http.auth import Gate
from affinity_bandits.service.http.errors import refuse
from affinity_bandits.service.http.logs import log_failure, log_fault
from affinity_bandits.service.http.metrics import Metrics
from affinity_bandits.service.http.proxies import Forwarded, Proxies
from affinity_bandits.service.http.routes import bulk, campaigns, health, keys, slots, webhooks
from affinity_bandits.service.http.traced_requests import TracedRequests
from affinity_bandits.service.problems import NeedsAttention, Problem
from affinity_bandits.service.ui.pages import router as pages


class Service(FastAPI):
    """A FastAPI application that also describes messages which no route declares."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description."""
        if self.openapi_schema is None:
            _, lines = models_json_schema(
                [
                    (wire.TellLine, "validation"),
                    (wire.ToldLine, "serialization"),
                    (wire.Problem, "serialization"),
                ],
                ref_template="#/components/schemas/{model}",
            )
            super().openapi()["components"]["schemas"] |= lines["$defs"]
        assert self.openapi_schema is not None
        return self.openapi_schema


def _watcher(metrics: Metrics) -> Watcher:
    def failed(error: BaseException) -> None:
        metrics.fault("unexpected")
        log_failure(error)

    def faulted(fault: NeedsAttention) -> None:
        metrics.fault(fault.kind)
        log_fault(fault)

    return Watcher(
        failed=failed,
        faulted=faulted,
        rounds_closed=metrics.rounds.inc,
        rounds_due=metrics.due.set,
        needing_attention=metrics.attention.set,
        findings=metrics.findings,
        reached=metrics.database.set,
        notice_tried=metrics.notice_tried,
        notices=metrics.notices,
    )


def create_app(
    dsn: str,
    *,
    pool_size: int = 10,
    key_cache_ttl: float = 10.0,
    limiter: RateLimiter | None = None,
    webhooks_private: bool = False,
    keep_requests_days: float | None = None,
    trusted_proxies: Sequence[str] = (),
    secure_cookies: bool = False,
    traces: bool = False,
) -> FastAPI:
    """Return the service as an ASGI application.

    Requests are logged by the logger `affinity_bandits.service.requests`; `logs.log_config` is how
    `affinity serve` configures it.

    Args:
        dsn: where the database is; it need not be up.
        pool_size: connections of this process at most.
        key_cache_ttl: seconds for which a revoked key may go on working.
        limiter: limits the rate of each API key; a new one if None.
        webhooks_private: whether webhooks may lead to private addresses, and by plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
        trusted_proxies: addresses or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are
            believed.
        secure_cookies: whether browsers are always told to send the session by HTTPS alone; else
            they are where they came by HTTPS.
        traces: whether spans are made for OpenTelemetry.

    Raises:
        MissingExtra: spans are wanted, and OpenTelemetry is not installed.
    """
    if traces:
        tracing.begin()
    proxies = Proxies(trusted_proxies)
    metrics = Metrics()
    backend = Backend(
        dsn,
        pool_size=pool_size,
        key_cache_ttl=key_cache_ttl,
        watcher=_watcher(metrics),
        webhooks_private=webhooks_private,
        keep_requests_days=keep_requests_days,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with backend.running():
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
    app.state.backend = backend
    app.state.metrics = metrics
    app.state.secure_cookies = secure_cookies
    app.state.stopping = False
    limiter = limiter or RateLimiter()
    app.state.limiter = limiter
    app.state.gate = Gate(backend, limiter, metrics)
    for router in (
        slots.router,
        bulk.router,
        campaigns.router,
        keys.router,
        webhooks.router,
        health.router,
        pages,
    ):
        app.include_router(router)
    # Everything else is a fault of the service, which the access log turns into a 500: also
    # pydantic's ValidationError, since outside a request only our own replies raise it.
    for kind in (Problem, CallerError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, refuse)
    app.add_middleware(AccessLog, metrics=metrics)
    if proxies:
        app.add_middleware(Forwarded, proxies=proxies)
    if traces:
        app.add_middleware(TracedRequests)
    return app
