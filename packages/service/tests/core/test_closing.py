"""A round is closed once, whoever does it and whoever dies before."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from affinity_bandits.policies import Elimination, ExploreThenCommit, ListedSchedule
from affinity_bandits_service import problems
from affinity_bandits_service.core.closing import close_round
from tests.support.databases import forget_due
from tests.support.one_campaign import OneCampaign


@pytest.fixture(autouse=True)
def _nothing_due(dsn: str) -> None:
    forget_due(dsn)


@pytest.mark.slow
async def test_whoever_asks_next_closes_what_a_dead_process_left(one: OneCampaign) -> None:
    await one.complete_but_do_not_close()
    assert await one.kinds() == ["create", "ask", "tell"]
    lease = await one.ask(1)
    assert (lease.round, lease.arms) == (1, ("b",))
    assert await one.kinds() == ["create", "ask", "tell", "close", "ask"]
    assert await one.campaigns.closer.close_due() == 0


@pytest.mark.slow
async def test_any_process_that_looks_for_work_closes_it(one: OneCampaign) -> None:
    await one.complete_but_do_not_close()
    first = one.id
    one.id = await one.create(ExploreThenCommit(1), 10)
    await one.complete_but_do_not_close()
    assert await one.other_process.closer.close_due(now=one.now) == 2
    assert await one.other_process.closer.close_due(now=one.now) == 0
    assert (await one.look()).status == "decided"
    one.id = first
    assert (await one.look()).status == "decided"


class Unlocked:
    """A connection that leaves out row locks."""

    def __init__(self, db: Any) -> None:
        self._db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def fetchrow(self, query: str, *arguments: Any) -> Any:
        assert " FOR UPDATE" in query or not query.startswith("SELECT status")
        return await self._db.fetchrow(query.replace(" FOR UPDATE", ""), *arguments)


async def close_while_another_closes(one: OneCampaign, connection: Any) -> Any:
    """Begin to close, let a second one begin, then let the first one commit."""
    await one.complete_but_do_not_close()

    async def second() -> bool:
        async with one.pool.acquire() as db, db.transaction():
            return await close_round(connection(db), one.id, now=one.now)

    async with one.pool.acquire() as db:
        first = db.transaction()
        await first.start()
        assert await close_round(db, one.id, now=one.now)
        task = asyncio.create_task(second())
        await one.blocked(1)
        await first.commit()
    return await task


async def test_of_two_that_close_at_once_one_does(one: OneCampaign) -> None:
    assert await close_while_another_closes(one, lambda db: db) is False
    assert await one.kinds() == ["create", "ask", "tell", "close"]


@pytest.mark.campaign(Elimination(ListedSchedule([(2, 9.0)])))
async def test_without_its_lock_the_second_goes_on_with_what_it_saw_before(
    one: OneCampaign,
) -> None:
    # Only the gapless numbers of the trail stop it.
    with pytest.raises(asyncpg.UniqueViolationError, match="events"):
        await close_while_another_closes(one, Unlocked)


async def test_who_told_the_last_answer_and_who_looks_for_work_do_not_block_each_other(
    one: OneCampaign,
) -> None:
    await one.complete_but_do_not_close()
    async with one.pool.acquire() as db:
        other = db.transaction()
        await other.start()
        await db.execute("SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE", one.id)
        told = asyncio.create_task(one.campaigns.closer.close(one.id, now=one.now))
        await one.blocked(1)
        looks = asyncio.create_task(one.other_process.closer.close_due(now=one.now))
        # It leaves alone what is being closed, or waits behind it.
        waits = asyncio.create_task(one.blocked(2))
        await asyncio.wait([looks, waits], return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        await other.commit()
    assert await asyncio.gather(told, looks) == [True, 0]


async def test_a_campaign_that_is_not_there_is_not_closed(one: OneCampaign) -> None:
    assert not await one.campaigns.closer.close(one.id)  # there, but not complete
    one.id = type(one.id)(int=1)
    assert not await one.campaigns.closer.close(one.id)
    with pytest.raises(problems.NoSuchCampaign):
        await one.ask(1)
    one.id = await one.create(ExploreThenCommit(1), 10)
