"""What the tests of the web share: an app on a database, and the form of a refusal."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging.config
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.http import admin_app, create_app
from affinity_bandits_service.http.auth import ApiRoute
from affinity_bandits_service.limits import RateLimiter
from affinity_bandits_service.logs import log_config
from tests.support.databases import CACHE
from tests.support.declared import DECLARED

PROBLEM = "application/problem+json"
CAMPAIGN = {
    "name": "spring",
    "arms": ["a", "b"],
    "policy": {"name": "elimination"},
    "horizon": 1000,
    "declaration": DECLARED.to_json(),
}
TELL = '{"lease": %s, "answers": [{"slot": %s, "score": %s}]}'
"""Of a lease, a slot and a score."""
new_names = (f"tenant-{uuid4().hex}" for _ in itertools.count())


class Site:
    """An app with a database, and clients of it."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.pool = app.state.backends["main"].parts.pool

    async def key(self, tenant: str | None = None, scopes: Any = SCOPES, **more: Any) -> str:
        owner = await keys.create_tenant(self.pool, tenant or next(new_names))
        return await keys.make_key(self.pool, owner, "test", scopes, **more)

    def forgive(self, *, refills: bool = True) -> None:
        """Let the service forget how many bad keys came from the address of all these clients."""
        ring = self.app.state.keys
        ring._refusals = RateLimiter() if refills else RateLimiter(lambda: 0.0)

    def admin(self) -> httpx.AsyncClient:
        """A client of probes and metrics, for each of which nothing is kept yet."""
        transport = httpx.ASGITransport(app=admin_app(self.app.state.backends))
        return httpx.AsyncClient(transport=transport, base_url="http://test")

    async def metrics(self) -> str:
        async with self.admin() as client:
            return (await client.get("/metrics")).text

    def client(self, key: str | None = None) -> httpx.AsyncClient:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        transport = httpx.ASGITransport(app=self.app)
        return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)


class Stderr:
    """What is stderr at the moment: pytest puts another there for each phase of a test."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@asynccontextmanager
async def site(dsn: str, *, quiet: bool = False, **settings: Any) -> AsyncIterator[Site]:
    logging_as_served = log_config(quiet=quiet)
    logging_as_served["handlers"]["stderr"]["stream"] = Stderr()
    logging.config.dictConfig(logging_as_served)
    given = {"pool_size": 2, "statement_cache": CACHE} | settings
    app = create_app(dsn, **given)
    try:
        async with app.router.lifespan_context(app):
            # Under load the first attempt to connect can time out, and another one follows.
            await asyncio.wait_for(app.state.backends["main"].connected.wait(), 60)
            yield Site(app)
    finally:
        for name in logging_as_served["loggers"]:  # their stream is that of one test
            logging.getLogger(name).handlers.clear()


def on_site(dsn: str, work: Callable[[Site], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        async with site(dsn, **settings) as made:
            await work(made)

    asyncio.run(run())


async def opened(client: httpx.AsyncClient, **changes: Any) -> str:
    made = await client.post("/v1/campaigns", json=CAMPAIGN | changes)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def refused(response: httpx.Response, status: int, code: str) -> str:
    """Check a problem's form; return what it says."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    body = response.json()
    assert set(body) == {"type", "title", "status", "detail", "code", "request_id"}
    assert body["request_id"] == response.headers["x-request-id"]
    assert (body["status"], body["code"]) == (status, code)
    return str(body["detail"])


def calls() -> Iterator[tuple[str, str, str]]:
    """Every route that takes a key: method, template, scope."""
    for (method, template), scope in scopes().items():
        if scope is not None:
            yield method, template, scope


def scopes() -> dict[tuple[str, str], str | None]:
    """Every route of the API by method and template, with the scope that it takes."""
    app = create_app("postgresql://127.0.0.1:1/none")
    return {
        (method, str(route.path)): route.original_route.scope
        for route in iter_route_contexts(app.routes)
        if isinstance(route.original_route, ApiRoute)
        for method in route.methods or ()
    }


def path_of(template: str, campaign: object) -> str:
    """The path of a route: of a campaign, and of a key and a webhook that nobody has."""
    return template.format(campaign=campaign, key="0" * 16, webhook=uuid4())


def content(method: str, template: str) -> bytes:
    if template == "/v1/campaigns" and method == "POST":
        return json.dumps(CAMPAIGN).encode()
    return b'{"count": 1}' if template.endswith("/ask") else b'{"lease": 2, "answers": []}'
