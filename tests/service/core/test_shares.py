"""Campaigns that share a transaction: none waits for the lock of another, or fails by it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits.service.core import keys
from affinity_bandits.service.core.batching import Batcher
from affinity_bandits.service.core.campaigns import SlotAsk
from affinity_bandits.service.core.tells import AnyTell, Share, SlotTell, without_repeats
from affinity_bandits.service.problems import NeedsAttention, NoSuchCampaign, Unavailable
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire import Lease, Told
from affinity_bandits.wire.base import new_key
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


def on_several(dsn: str, test: Callable[[Several], Awaitable[None]]) -> None:
    """Run a test on three campaigns; afterwards the state of each follows from its trail."""

    async def run() -> None:
        async with opened(dsn) as one:
            one.__class__ = Several
            assert isinstance(one, Several)
            other = await keys.create_tenant(one.pool, "another tenant")
            one.tenants = [one.tenant, one.tenant, other]
            one.ids = []
            for tenant in one.tenants:
                one.tenant = tenant
                one.ids.append(await one.create(ExploreThenCommit(2), 100))
            await test(one)
            for id_ in one.ids:
                assert (await verify(one.pool, id_)).differences == ()

    asyncio.run(run())


@pytest.mark.parametrize("first", [0, 1])
def test_nobody_gets_what_another_tenant_asked_of_its_campaign(dsn: str, first: int) -> None:
    async def test(at: Several) -> None:
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

    on_several(dsn, test)


def test_campaigns_of_several_tenants_are_served_together(dsn: str) -> None:
    async def test(several: Several) -> None:
        for _ in range(3):
            leases = await several.leases()
            told = await several.campaigns.tell_shared(several.tells(leases), now=several.now)
            assert [one and one.results for one in told] == [
                [Told(counted=1, late=0, duplicate=0)]
            ] * 3
        told = await several.campaigns.tell_shared(
            several.tells(await several.leases()), now=several.now
        )
        assert [one and one.complete for one in told] == [True] * 3
        for id_ in several.ids:
            await several.campaigns.closer.close_told(id_, now=several.now)

    on_several(dsn, test)


def test_a_campaign_that_is_locked_is_left_out_and_nobody_waits(dsn: str) -> None:
    async def test(several: Several) -> None:
        async with several.pool.acquire() as db, db.transaction():
            await db.execute(
                "SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE", several.ids[1]
            )
            async with asyncio.timeout(20):
                found = await several.campaigns.ask_shared(several.asks(), now=several.now)
        assert [one is None for one in found] == [False, True, False]
        assert await several.pool.fetchval("SELECT count(*) FROM affinity.leases") >= 2

    on_several(dsn, test)


@pytest.mark.slow
def test_campaigns_that_stay_locked_are_given_up(dsn: str) -> None:
    """As many as the pool has connections; the lock is held until the other tenant is served."""

    async def test(several: Several) -> None:
        several.tenant = several.tenants[0]
        more = [await several.create(ExploreThenCommit(2), 100) for _ in range(2)]
        locked = several.ids[:2] + more
        assert several.pool.get_max_size() == len(locked)
        batcher = Batcher(several.campaigns)
        lease = (await several.leases())[0]
        holder = several.other_process._pool
        async with asyncio.timeout(20), holder.acquire() as db, db.transaction():
            lock = "SELECT FROM affinity.heads WHERE campaign = ANY ($1) FOR UPDATE"
            await db.execute(lock, locked)
            kept = [
                asyncio.create_task(batcher.ask(several.tenant, id_, SlotAsk(1, new_key(), "t")))
                for id_ in locked[1:]
            ]
            tell = made(lease, {slot: 0.5 for slot, _ in lease.slots})
            told = asyncio.create_task(batcher.tell(several.tenant, locked[0], tell))
            await several.blocked(1)  # one at a time, and half of the connections at most
            other = await batcher.ask(
                several.tenants[2], several.ids[2], SlotAsk(1, new_key(), "t")
            )
            assert isinstance(other, Lease)
            ends = await asyncio.gather(*kept, told, return_exceptions=True)
            assert [type(one) for one in ends] == [Unavailable] * len(locked)
        again = await batcher.tell(several.tenant, locked[0], tell)
        assert again == Told(counted=1, late=0, duplicate=0)

    on_several(dsn, test)


@pytest.mark.slow
def test_an_error_of_one_campaign_fails_no_other(dsn: str) -> None:
    """One of which a row is there already: all are sent alone, and it alone is marked."""

    async def test(several: Several) -> None:
        broken = several.ids[1]
        await several.pool.execute(
            "INSERT INTO affinity.leases SELECT $1, h.events + 1, 0, '{[0,1)}', now(), false, 'x'"
            " FROM affinity.heads AS h WHERE h.campaign = $1",
            broken,
        )
        shares = several.asks()
        found = await several.campaigns.ask_shared(shares, now=several.now)
        assert found == [None] * 3
        batcher = Batcher(several.campaigns)
        results = await asyncio.gather(
            *(batcher.ask(one.tenant, one.campaign, one.items[0]) for one in shares),
            return_exceptions=True,
        )
        assert [type(one) for one in results] == [Lease, NeedsAttention, Lease]
        several.ids.remove(broken)

    on_several(dsn, test)


def test_repeats_in_a_batch_are_the_same_request(dsn: str) -> None:
    async def test(several: Several) -> None:
        ask = SlotAsk(1, "same", "t")
        id_, tenant = several.ids[0], several.tenants[0]
        first, again, other = await several.campaigns.ask(
            tenant, id_, [ask, ask, SlotAsk(1, "other", "t")], now=several.now
        )
        assert first == again != other
        assert isinstance(first, Lease)
        tell = SlotTell(first.number, "told", "t", (0,), (ONE,))
        told = await several.campaigns.tell(tenant, id_, [tell, tell], now=several.now)
        assert told == [Told(counted=1, late=0, duplicate=0)] * 2
        shares = [Share(tenant, id_, [ask, ask]), Share(tenant, several.ids[1], [ask])]
        found = await several.campaigns.ask_shared(shares, now=several.now)
        assert [one is None for one in found] == [True, False]

    on_several(dsn, test)


def test_requests_are_cut_where_one_comes_again() -> None:
    one, two, other = SlotAsk(1, "a", "t"), SlotAsk(1, "b", "t"), SlotAsk(1, "a", "x")
    assert list(without_repeats([one, two, other])) == [[one, two, other]]
    assert list(without_repeats([one, two, one, two, two])) == [[one, two], [one, two], [two]]
