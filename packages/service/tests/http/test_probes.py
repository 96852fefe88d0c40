"""Probes and metrics: at an address of their own, in time, and cheap however many come."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from affinity_bandits_service.http import probes
from tests.support.served import served, until
from tests.support.web_site import Site, on_site


@pytest.mark.slow
def test_probes_and_metrics_are_at_an_address_of_their_own(dsn: str) -> None:
    with served(dsn) as server:
        until("ready", server.is_ready)
        for path in ("/healthz", "/readyz", "/metrics"):
            assert server.probe(path).status_code == 200
            assert httpx.get(f"{server.url}{path}").status_code == 404
        assert server.probe("/v1/campaigns").status_code == 404
        assert server.probe("/ui").status_code == 404


@pytest.mark.site(quiet=True)
async def test_probes_ask_the_database_once_a_second_however_many_come(
    at: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    backend = at.app.state.backends["main"]
    schema, text = backend.schema_problem, backend.metrics.text

    async def counted() -> str | None:
        asked.append("schema")
        return await schema()

    def written() -> bytes:
        asked.append("metrics")
        return text()

    monkeypatch.setattr(backend, "schema_problem", counted)
    monkeypatch.setattr(backend.metrics, "text", written)
    async with at.admin() as admin:
        for path in ("/readyz", "/metrics"):
            replies = await asyncio.gather(*(admin.get(path) for _ in range(100)))
            assert {one.status_code for one in replies} == {200}
    assert sorted(asked) == ["metrics", "schema"]


def test_a_database_that_hangs_makes_the_service_not_ready_in_time(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PATIENCE", 0.05)

    async def work(at: Site) -> None:
        monkeypatch.setattr(at.app.state.backends["main"], "schema_problem", asyncio.Event().wait)
        async with at.admin() as admin:
            answer = await admin.get("/readyz")
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")

    on_site(dsn, work, quiet=True)
