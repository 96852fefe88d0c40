"""A page of a long trail is read as fast as one of a short trail."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from affinity_bandits_service.store.connection import connect, sql
from affinity_bandits_service.store.migrate import migrate
from checks.bench.service_setup import Bench

TELLS = 100_000
"""With as many asks. PostgreSQL's defaults compile pages from 150,000 events in a partition on."""
OTHERS = 5_000
"""Campaigns, so that no partition is empty."""
JOINED = "l.campaign = $1", "l.campaign = e.campaign"
"""With the latter, the lease of a tell is looked for in all partitions."""


async def compiles(db: Any, campaign: UUID, query: str) -> bool:
    """Return whether PostgreSQL would compile the plan of a page."""
    plan = await db.fetch(f"EXPLAIN {query}", campaign, TELLS, 20)
    return any(line["QUERY PLAN"] == "JIT:" for line in plan)


@pytest.mark.slow
def test_no_page_of_a_long_trail_is_compiled_first(empty_dsn: str) -> None:
    """Compiling takes a second or two, and a page has 20 events; the control has the defaults."""
    migrate(empty_dsn)
    bench = Bench(empty_dsn)
    campaign = bench.campaign()
    bench.copies(campaign, OTHERS)
    bench.age(campaign, TELLS, 2)
    joined_to_all = sql.events_to_export.replace(*JOINED)
    assert joined_to_all != sql.events_to_export

    async def look() -> None:
        defaults = await asyncpg.connect(empty_dsn)
        pool = await connect(empty_dsn)
        try:
            if not await defaults.fetchval("SELECT pg_jit_available()"):
                pytest.skip("this PostgreSQL compiles no plans")
            assert await compiles(defaults, campaign, joined_to_all)
            for query in (joined_to_all, sql.events_to_export, sql.stored_events):
                assert not await compiles(pool, campaign, query)
            for query in (sql.events_to_export, sql.stored_events, sql.events_to_archive):
                assert not await compiles(defaults, campaign, query)
        finally:
            await pool.close()
            await defaults.close()

    asyncio.run(look())
