"""A database that is full, cut off or locked means "try again", and marks no campaign."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

import asyncpg
import pytest

from affinity_bandits_service.store import connection
from affinity_bandits_service.store.connection import connect, connected, sql
from tests.support.databases import forget_due, run_sql
from tests.support.web_site import Site, on_site, opened, refused

FULL = """
CREATE FUNCTION affinity.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE disk_full; END $$;
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON affinity.{} FOR EACH STATEMENT
  EXECUTE FUNCTION affinity.full_disk();
"""
EMPTIED = "DROP FUNCTION IF EXISTS affinity.full_disk() CASCADE"
ONE_ROUND = {"name": "explore-then-commit", "pulls_per_arm": 1}


@asynccontextmanager
async def full(at: Site, table: str) -> AsyncIterator[None]:
    await at.pool.execute(FULL.format(table))
    try:
        yield
    finally:
        await at.pool.execute(EMPTIED)


@asynccontextmanager
async def cut(at: Site, _: str) -> AsyncIterator[None]:
    async def fetch(*_: Any, **__: Any) -> Any:
        raise asyncpg.InternalClientError("got result for unknown protocol state 3")

    with patch.object(asyncpg.Connection, "fetch", fetch):
        yield


@pytest.mark.slow
@pytest.mark.as_owner
@pytest.mark.parametrize("failing", [full, cut])
def test_a_full_or_cut_off_database_is_a_503_and_no_mark(
    dsn: str, failing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_due(dsn)
    monkeypatch.setattr(connection, "EVERY_SECONDS", 0.05)

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            campaign = await opened(client, policy=ONE_ROUND)
            path = f"/v1/campaigns/{campaign}"
            async with failing(at, "leases"):
                reply = await client.post(f"{path}/ask", json={"count": 2})
                refused(reply, 503, "unavailable")
                assert reply.headers["retry-after"] == "1"
            lease = (await client.post(f"{path}/ask", json={"count": 2})).json()["lease"]
            answers = [{"slot": slot, "score": slot} for slot in range(2)]
            async with failing(at, "rounds"):  # the round cannot be closed
                told = await client.post(f"{path}/tell", json={"lease": lease, "answers": answers})
                assert told.status_code == (503 if failing is cut else 200)
                await asyncio.sleep(0.3)
                due = "SELECT kind FROM affinity.due WHERE campaign = $1"
                async with connected(dsn) as db:
                    assert await db.fetchval(due, UUID(campaign)) is None
            told = await client.post(
                f"{path}/tell",
                json={"lease": lease, "answers": answers},
            )
            async with asyncio.timeout(30):
                while (await client.get(path)).json()["round"]["number"] == 0:
                    await asyncio.sleep(0.05)
            assert (await client.get(path)).json()["attention"] is None

    try:
        on_site(dsn, work)
    finally:
        run_sql(dsn, EMPTIED)


async def hold(dsn: str, campaign: UUID) -> asyncpg.Pool:
    """Lock a campaign as a process does that closes its round, and is then heard of no more."""
    pool = await connect(dsn, largest=1)
    db = await pool.acquire()
    await db.execute("BEGIN")
    await db.fetchrow(sql.head_to_close, campaign)
    return pool


@pytest.mark.slow
@pytest.mark.parametrize("limited", [True, False])
def test_a_process_that_is_cut_off_gives_its_campaign_back(
    dsn: str, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the time that is set; the control has no limit."""
    name = "idle_in_transaction_session_timeout"
    monkeypatch.setitem(connection.SESSION, name, "1s" if limited else "0")

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            campaign = await opened(client)
            held = await hold(dsn, UUID(campaign))
            path = f"/v1/campaigns/{campaign}/ask"
            statuses = [(await client.post(path, json={})).status_code for _ in range(2)]
            assert statuses[-1] == (200 if limited else 503)
            held.terminate()

    on_site(dsn, work)


def test_sessions_have_limits_that_free_a_campaign_in_half_a_minute(dsn: str) -> None:
    async def read() -> dict[str, str]:
        pool = await connect(dsn, largest=1)
        try:
            wanted = connection.SESSION | connection.KEEPALIVES
            return {name: await pool.fetchval(f"SHOW {name}") for name in wanted}
        finally:
            await pool.close()

    assert asyncio.run(read()) == connection.SESSION | connection.KEEPALIVES
    seconds = [int(one) for one in connection.KEEPALIVES.values()]
    assert seconds[0] + seconds[1] * seconds[2] <= 30
    assert connection.SESSION["idle_in_transaction_session_timeout"] == "20s"
