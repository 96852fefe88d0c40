"""Whether the process is up, whether it can work, and its numbers."""

from __future__ import annotations

import asyncio
from functools import cache

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.migrate import newest_revision
from affinity_bandits.service.web.answers import StatusForm
from affinity_bandits.service.web.backend import Backend
from affinity_bandits.service.web.forms import json_response
from affinity_bandits.service.web.metrics import Metrics
from affinity_bandits.service.web.problem_json import NotReady

needed_revision = cache(newest_revision)


def health_routes(backend: Backend, metrics: Metrics) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["operation"])

    @router.get("/healthz", response_model=StatusForm)
    async def healthz() -> Response:
        """Whether the process is up."""
        return json_response({"status": "up"})

    @router.get("/readyz", response_model=StatusForm)
    async def readyz() -> Response:
        """Whether the database answers and has the newest schema."""
        found = await backend.schema()
        needed = await asyncio.to_thread(needed_revision)
        if found != needed:
            raise NotReady(
                f"the database's schema must be {needed}, got {found}; run 'affinity serve migrate'"
            )
        return json_response({"status": "ready"})

    @router.get("/metrics", response_class=Response)
    async def numbers() -> Response:
        """The numbers of all processes, for Prometheus."""
        try:
            pool = backend.parts.pool
            in_use = pool.get_size() - pool.get_idle_size()
        except Unavailable:
            in_use = 0
        return Response(metrics.text(in_use), media_type=CONTENT_TYPE_LATEST)

    return router
