"""A campaign to try things on: two processes, a clock that stands until it is moved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID

import asyncpg

from affinity_bandits.policies import ExploreThenCommit, RoundPolicy
from affinity_bandits_client.messages import Lease
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.core.spec import CampaignRecord, CampaignSpec
from affinity_bandits_service.core.tells import AnyTell, ScoreTell, SlotTell
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED

ONE = 10**9
LEASE_SECONDS = 60.0


class OneCampaign:
    """Two groups, two pulls of each and then the better one for ever, unless told otherwise."""

    def __init__(self, pools: list[asyncpg.Pool[Any]], tenant: int) -> None:
        self.pool = pools[0]
        self.campaigns, self.other_process = (Campaigns(pool) for pool in pools)
        self.tenant = tenant
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        self.id: UUID

    async def create(self, policy: RoundPolicy, horizon: int, **more: Any) -> UUID:
        about = CampaignSpec(
            "one", ("a", "b"), policy, horizon, LEASE_SECONDS, **{"declaration": DECLARED} | more
        )
        return await self.campaigns.create(
            self.tenant, about, key=new_key(), actor="t", now=self.now
        )

    async def ask(self, count: int, key: str | None = None) -> Any:
        ask = SlotAsk(count, key or new_key(), "t")
        return (await self.campaigns.ask(self.tenant, self.id, [ask], now=self.now))[0]

    async def tell(self, lease: Lease | int, told: Any, key: str | None = None) -> Any:
        """Tell {slot: score} or {(arm, score): count}."""
        return (await self.tell_all([made(lease, told, key)]))[0]

    async def tell_all(self, tells: list[AnyTell]) -> Any:
        return await self.campaigns.tell(self.tenant, self.id, tells, now=self.now)

    async def complete_but_do_not_close(self) -> None:
        """Do as a process that dies between the last answer of a round and its end."""
        lease = await self.ask(1000)
        with patch.object(self.campaigns.closer, "close"):
            await self.tell(lease, dict(lease.slots))

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    async def look(self) -> CampaignRecord:
        return await CampaignQueries(self.pool).campaign(self.tenant, self.id)

    async def kinds(self) -> list[str]:
        """What happened so far."""
        events, _ = await CampaignQueries(self.pool).events(self.tenant, self.id, None, 1000)
        assert [one.number for one in events] == list(range(1, len(events) + 1))
        return [one.kind for one in events]

    async def blocked(self, number: int) -> None:
        """Return once so many transactions wait for a lock."""
        async with asyncio.timeout(30):
            while number != await self.pool.fetchval(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ):
                await asyncio.sleep(0.005)


def made(lease: Lease | int, told: Any, key: str | None = None) -> AnyTell:
    number = lease if isinstance(lease, int) else lease.number
    if isinstance(next(iter(told)), tuple):
        rows = [(arm, round(score * ONE) * count, count) for (arm, score), count in told.items()]
        return ScoreTell(number, key or new_key(), "t", *zip(*rows, strict=True))
    # The second arm's name stands for a score of 1, so that `dict(lease.slots)` can be told.
    scores = [float(one == "b") if isinstance(one, str) else one for one in told.values()]
    units = tuple(round(score * ONE) for score in scores)
    return SlotTell(number, key or new_key(), "t", tuple(told), units)


@asynccontextmanager
async def checked_campaign(
    dsn: str, policy: RoundPolicy | None = None, horizon: int = 100, **ends: float
) -> AsyncIterator[OneCampaign]:
    """Yield a new campaign; afterwards its state follows from its trail."""
    async with opened(dsn) as one:
        one.id = await one.create(policy or ExploreThenCommit(2), horizon, **ends)
        yield one
        assert (await verify(one.pool, one.id)).differences == ()


@asynccontextmanager
async def opened(dsn: str) -> AsyncIterator[OneCampaign]:
    pools = [await connect(dsn, largest=4) for _ in range(2)]
    try:
        yield OneCampaign(pools, await keys.create_tenant(pools[0], "one campaign"))
    finally:
        for pool in pools:
            await pool.close()
