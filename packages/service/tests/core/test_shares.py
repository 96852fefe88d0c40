"""Campaigns that share a transaction: none waits for the lock of another, or fails by it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages import Lease, Told
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.batching import Batcher
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.tells import AnyTell, Share, SlotTell
from affinity_bandits_service.problems import NeedsAttention, NoSuchCampaign, Unavailable
from affinity_bandits_service.trail.verify import verify
from packages.service.tests.conftest import opened_in
from tests.support.one_campaign import ONE, OneCampaign, made, opened


class Several(OneCampaign):
    """Three campaigns, the last of them another tenant's."""

    ids: list[UUID]
    tenants: list[int]

    def asks(self, count: int = 1) -> list[Share[SlotAsk]]:
        return [
            Share(tenant, id_, [SlotAsk(count, new_key(), "t")])
            for tenant, id_ in zip(self.tenants, self.ids, strict=True)
        ]

    async def leases(self, count: int = 1) -> list[Lease]:
        found = await self.campaigns.ask_shared(self.asks(count), now=self.now)
        leases = [one.results[0] for one in found if one is not None]
        assert len(leases) == len(self.ids)
        return [one for one in leases if isinstance(one, Lease)]

    def tells(self, leases: list[Lease]) -> list[Share[AnyTell]]:
        return [
            Share(tenant, id_, [made(lease, {slot: 0.5 for slot, _ in lease.slots})])
            for tenant, id_, lease in zip(self.tenants, self.ids, leases, strict=True)
        ]


@asynccontextmanager
async def several(dsn: str) -> AsyncIterator[Several]:
    """Yield three campaigns; afterwards the state of each follows from its trail."""
    async with opened(dsn) as one:
        one.__class__ = Several
        assert isinstance(one, Several)
        other = await keys.create_tenant(one.pool, "another tenant")
        one.tenants = [one.tenant, one.tenant, other]
        one.ids = []
        for tenant in one.tenants:
            one.tenant = tenant
            one.ids.append(await one.create(ExploreThenCommit(2), 100))
        yield one
        for id_ in one.ids:
            assert (await verify(one.pool, id_)).differences == ()


@pytest.fixture
def at(dsn: str, request: pytest.FixtureRequest) -> Iterator[Several]:
    with opened_in(request.node, several(dsn)) as found:
        yield found


@pytest.mark.parametrize("first", [0, 1])
async def test_nobody_gets_what_another_tenant_asked_of_its_campaign(
    at: Several, first: int
) -> None:
    own, others = at.tenants[0], at.tenants[2]
    tenants = [own, others] if first == 0 else [others, own]
    shares = [Share(one, at.ids[0], [SlotAsk(1, new_key(), "t")]) for one in tenants]
    found = await at.campaigns.ask_shared(shares, now=at.now)
    # Sent alone it would be no such campaign; one of the two may be asked to be.
    assert found[tenants.index(others)] is None
    batcher = Batcher(at.campaigns)
    asks = [batcher.ask(one, at.ids[0], SlotAsk(1, new_key(), "t")) for one in tenants]
    results = await asyncio.gather(*asks, return_exceptions=True)
    assert isinstance(results[tenants.index(own)], Lease)
    assert isinstance(results[tenants.index(others)], NoSuchCampaign)


async def test_campaigns_of_several_tenants_are_served_together(at: Several) -> None:
    for _ in range(3):
        leases = await at.leases()
        told = await at.campaigns.tell_shared(at.tells(leases), now=at.now)
        assert [one and one.results for one in told] == [[Told(counted=1, late=0, duplicate=0)]] * 3
    told = await at.campaigns.tell_shared(at.tells(await at.leases()), now=at.now)
    assert [one and one.complete for one in told] == [True] * 3
    for id_ in at.ids:
        await at.campaigns.closer.close_told(id_, now=at.now)


async def test_a_campaign_that_is_locked_is_left_out_and_nobody_waits(at: Several) -> None:
    async with at.pool.acquire() as db, db.transaction():
        await db.execute("SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE", at.ids[1])
        async with asyncio.timeout(20):
            found = await at.campaigns.ask_shared(at.asks(), now=at.now)
    assert [one is None for one in found] == [False, True, False]
    assert await at.pool.fetchval("SELECT count(*) FROM affinity.leases") >= 2


@pytest.mark.slow
async def test_campaigns_that_stay_locked_are_given_up(at: Several) -> None:
    """As many as the pool has connections; the lock is held until the other tenant is served."""

    at.tenant = at.tenants[0]
    more = [await at.create(ExploreThenCommit(2), 100) for _ in range(2)]
    locked = at.ids[:2] + more
    assert at.pool.get_max_size() == len(locked)
    batcher = Batcher(at.campaigns)
    lease = (await at.leases())[0]
    holder = at.other_process._pool
    async with asyncio.timeout(20), holder.acquire() as db, db.transaction():
        lock = "SELECT FROM affinity.heads WHERE campaign = ANY ($1) FOR UPDATE"
        await db.execute(lock, locked)
        kept = [
            asyncio.create_task(batcher.ask(at.tenant, id_, SlotAsk(1, new_key(), "t")))
            for id_ in locked[1:]
        ]
        tell = made(lease, {slot: 0.5 for slot, _ in lease.slots})
        told = asyncio.create_task(batcher.tell(at.tenant, locked[0], tell))
        await at.blocked(1)  # one at a time, and half of the connections at most
        other = await batcher.ask(at.tenants[2], at.ids[2], SlotAsk(1, new_key(), "t"))
        assert isinstance(other, Lease)
        ends = await asyncio.gather(*kept, told, return_exceptions=True)
        assert [type(one) for one in ends] == [Unavailable] * len(locked)
    again = await batcher.tell(at.tenant, locked[0], tell)
    assert again == Told(counted=1, late=0, duplicate=0)


@pytest.mark.slow
async def test_an_error_of_one_campaign_fails_no_other(at: Several) -> None:
    """One of which a row is there already: all are sent alone, and it alone is marked."""

    broken = at.ids[1]
    await at.pool.execute(
        "INSERT INTO affinity.leases SELECT $1, h.events + 1, 0, '{[0,1)}', now(), false, 'x'"
        " FROM affinity.heads AS h WHERE h.campaign = $1",
        broken,
    )
    shares = at.asks()
    found = await at.campaigns.ask_shared(shares, now=at.now)
    assert found == [None] * 3
    batcher = Batcher(at.campaigns)
    results = await asyncio.gather(
        *(batcher.ask(one.tenant, one.campaign, one.items[0]) for one in shares),
        return_exceptions=True,
    )
    assert [type(one) for one in results] == [Lease, NeedsAttention, Lease]
    at.ids.remove(broken)


async def test_repeats_in_a_batch_are_the_same_request(at: Several) -> None:
    ask = SlotAsk(1, "same", "t")
    id_, tenant = at.ids[0], at.tenants[0]
    first, again, other = await at.campaigns.ask(
        tenant, id_, [ask, ask, SlotAsk(1, "other", "t")], now=at.now
    )
    assert first == again != other
    assert isinstance(first, Lease)
    tell = SlotTell(first.number, "told", "t", (0,), (ONE,))
    told = await at.campaigns.tell(tenant, id_, [tell, tell], now=at.now)
    assert told == [Told(counted=1, late=0, duplicate=0)] * 2
    shares = [Share(tenant, id_, [ask, ask]), Share(tenant, at.ids[1], [ask])]
    found = await at.campaigns.ask_shared(shares, now=at.now)
    assert [one is None for one in found] == [True, False]
