"""Routes for operation: whether the process is up, whether it is ready, and its metrics."""

from __future__ import annotations

import asyncio
from functools import cache

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from affinity_bandits import wire
from affinity_bandits.service.core.backend import Backend
from affinity_bandits.service.http.auth import ApiRoute
from affinity_bandits.service.http.errors import NotReady, refusals
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.migrate import newest_revision

needed_revision = cache(newest_revision)
router = APIRouter(tags=["operation"], route_class=ApiRoute, responses=refusals(500))


@router.get("/healthz")
async def healthz() -> wire.Status:
    """Report whether the process is up."""
    return wire.Status(status="up")


@router.get("/readyz", responses=refusals(503))
async def readyz(request: Request) -> wire.Status:
    """Report whether the service takes requests: its database is there, and it does not stop."""
    if request.app.state.stopping:
        raise NotReady("the service is about to stop")
    backend: Backend = request.app.state.backend
    found = await backend.schema()
    needed = await asyncio.to_thread(needed_revision)
    if found != needed:
        raise NotReady(
            f"the database's schema must be {needed}, got {found}; run 'affinity serve migrate'"
        )
    return wire.Status(status="ready")


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Return the metrics of all processes, for Prometheus."""
    try:
        pool = request.app.state.backend.parts.pool
        connections = (pool.get_size() - pool.get_idle_size(), pool.get_max_size())
    except Unavailable:
        connections = (0, 0)
    text = request.app.state.metrics.text(*connections)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
