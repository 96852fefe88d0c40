"""Locked campaigns of one tenant hold up neither another tenant nor the probes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import httpx
import pytest

from affinity_bandits_service.core import campaigns
from affinity_bandits_service.limits import Turns
from affinity_bandits_service.store.connection import connected
from tests.support.databases import forget_due
from tests.support.web_site import Site, on_site, opened

LOCKED, ASKS, POOL = 40, 60, 10
FAST = {"requests_per_second": 1e5}


@asynccontextmanager
async def locked(dsn: str, ids: list[str]) -> AsyncIterator[None]:
    """Hold the heads of campaigns, as a session does that somebody forgot."""
    async with connected(dsn) as db, db.transaction():
        rows = [UUID(one) for one in ids]
        query = "SELECT FROM affinity.heads WHERE campaign = ANY ($1) FOR UPDATE"
        assert len(await db.fetch(query, rows)) == len(ids)
        yield


async def waited_for(dsn: str, number: int) -> None:
    """Return once so many connections wait for locks."""
    query = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with connected(dsn) as db, asyncio.timeout(30):
        while await db.fetchval(query) < number:
            await asyncio.sleep(0.01)


async def seconds(client: httpx.AsyncClient, method: str, path: str) -> float:
    began = time.perf_counter()
    reply = await client.request(method, path, json={} if method == "POST" else None)
    assert reply.status_code == 200, reply.text
    return time.perf_counter() - began


async def times(
    at: Site, client: httpx.AsyncClient, campaign: str, number: int
) -> tuple[float, float]:
    """The longest of two asks, or the second longest of more, and the longest of some probes."""
    path = f"/v1/campaigns/{campaign}/ask"
    asks, probes = [], []
    for place in range(number):
        asks.append(await seconds(client, "POST", path))
        if place % 6 == 0:
            async with at.admin() as admin:
                probes.append(await seconds(admin, "GET", "/readyz"))
        await asyncio.sleep(0.02)
    return sorted(asks)[-1 if number == 2 else -2], max(probes)


async def crowd(client: httpx.AsyncClient, ids: list[str], over: asyncio.Event) -> list[int]:
    """Ask every campaign again and again; return the statuses."""

    async def one(campaign: str) -> list[int]:
        found = []
        while not over.is_set():
            reply = await client.post(f"/v1/campaigns/{campaign}/ask", json={})
            found.append(reply.status_code)
        return found

    return [status for own in await asyncio.gather(*map(one, ids)) for status in own]


@pytest.mark.slow
@pytest.mark.parametrize("bounded", [True, False])
def test_a_tenant_whose_campaigns_are_locked_holds_up_no_other(
    dsn: str, bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the control, all may wait for locks at once, on every connection that there is."""
    forget_due(dsn)
    if not bounded:
        monkeypatch.setattr(campaigns, "Turns", lambda _: Turns(1000))

    async def work(at: Site) -> None:
        keys = [await at.key(**FAST), await at.key(**FAST)]
        async with at.client(keys[0]) as a, at.client(keys[1]) as b:
            stuck = [await opened(a) for _ in range(LOCKED)]
            mine = await opened(b)
            await times(at, b, mine, ASKS)
            normal, _ = await times(at, b, mine, ASKS)
            over = asyncio.Event()
            async with locked(dsn, stuck):
                crowding = asyncio.create_task(crowd(a, stuck, over))
                await waited_for(dsn, 1 if bounded else POOL)
                await asyncio.sleep(0.3)
                held_up, probe = await times(at, b, mine, ASKS if bounded else 2)
                over.set()
                statuses = await crowding
            assert set(statuses) == {503}
            print(f"\n{normal * 1e3:.1f} ms, then {held_up * 1e3:.1f} ms, probe {probe * 1e3:.1f}")
            # Twice the normal time, and what a busy machine adds.
            assert (held_up <= 2 * normal + 0.25) is bounded
            assert probe < 1.0

    on_site(dsn, work, pool_size=POOL)
