"""A round is closed once, whoever does it and whoever dies before."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import asyncpg
import pytest

from affinity_bandits.policies import Elimination, ExploreThenCommit, ListedSchedule
from affinity_bandits.service import problems
from affinity_bandits.service.core import closing
from affinity_bandits.service.core.closing import close_round
from affinity_bandits.service.store.migrate import migrate
from tests.support.databases import made_database
from tests.support.one_campaign import OneCampaign, on_a_campaign


@pytest.fixture(scope="module")
def dsn(worker: str) -> Any:
    """A database of its own: close_due would close what other tests left."""
    with made_database(f"affinity_test_{worker}_{os.getpid()}_closing") as made:
        migrate(made)
        yield made


@pytest.mark.slow
def test_whoever_asks_next_closes_what_a_dead_process_left(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        assert await one.kinds() == ["create", "ask", "tell"]
        lease = await one.ask(1)
        assert (lease.round, lease.arms) == (1, (1,))
        assert await one.kinds() == ["create", "ask", "tell", "close", "ask"]
        assert await one.campaigns.close_due() == 0

    on_a_campaign(dsn, test)


def test_whoever_tells_next_closes_it_too(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        await one.tell(2, {0: 1})
        assert (await one.kinds())[-2:] == ["tell", "close"]

    on_a_campaign(dsn, test)


@pytest.mark.slow
def test_any_process_that_looks_for_work_closes_it(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        first = one.id
        one.id = await one.create(ExploreThenCommit(1), 10)
        await one.complete_but_do_not_close()
        assert await one.other_process.close_due(now=one.now) == 2
        assert await one.other_process.close_due(now=one.now) == 0
        assert (await one.look()).status == "decided"
        one.id = first
        assert (await one.look()).status == "decided"

    on_a_campaign(dsn, test)


@pytest.mark.slow
def test_a_round_that_cannot_be_closed_does_not_keep_the_others(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        good = one.id
        for _ in range(2):
            one.id = await one.create(ExploreThenCommit(1), 10)
            await one.complete_but_do_not_close()
            await one.pool.execute(
                "UPDATE affinity.campaigns SET saved = '{}' WHERE id = $1", one.id
            )
        one.id = good
        await one.complete_but_do_not_close()  # last, so that the others are in its way
        assert await one.campaigns.close_due(now=one.now) == 1
        assert (await one.look()).status == "decided"
        assert await one.pool.fetchval("SELECT count(*) FROM affinity.faults") == 2
        for table in ("due", "faults"):
            await one.pool.execute(f"DELETE FROM affinity.{table}")

    on_a_campaign(dsn, test)


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


def test_of_two_that_close_at_once_one_does(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        assert await close_while_another_closes(one, lambda db: db) is False
        assert await one.kinds() == ["create", "ask", "tell", "close"]

    on_a_campaign(dsn, test)


def test_without_its_lock_the_second_goes_on_with_what_it_saw_before(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        # Only the gapless numbers of the trail stop it.
        with pytest.raises(asyncpg.UniqueViolationError, match="events"):
            await close_while_another_closes(one, Unlocked)

    on_a_campaign(dsn, test, Elimination(ListedSchedule([(2, 9.0)])))


def test_who_told_the_last_answer_and_who_looks_for_work_do_not_block_each_other(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        async with one.pool.acquire() as db:
            other = db.transaction()
            await other.start()
            await db.execute("SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE", one.id)
            told = asyncio.create_task(one.campaigns.close(one.id, now=one.now))
            await one.blocked(1)
            looks = asyncio.create_task(one.other_process.close_due(now=one.now))
            # It leaves alone what is being closed, or waits behind it.
            waits = asyncio.create_task(one.blocked(2))
            await asyncio.wait([looks, waits], return_when=asyncio.FIRST_COMPLETED)
            waits.cancel()
            await other.commit()
        assert await asyncio.gather(told, looks) == [True, 0]

    on_a_campaign(dsn, test)


def test_a_campaign_that_is_not_there_is_not_closed(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        assert not await one.campaigns.close(one.id)  # there, but not complete
        one.id = type(one.id)(int=1)
        assert not await one.campaigns.close(one.id)
        with pytest.raises(problems.NoSuchCampaign):
            await one.ask(1)
        one.id = await one.create(ExploreThenCommit(1), 10)

    on_a_campaign(dsn, test)


@pytest.mark.slow
def test_the_end_of_a_round_of_a_long_policy_does_not_hold_the_others(dsn: str) -> None:
    async def work(one: OneCampaign) -> None:
        # Longer than the web lets anybody make them now; there may be some from before.
        policy = Elimination(ListedSchedule([(1, 1.0)] * 40_000), discard_first=False)
        one.id = await one.create(policy, 10**6)
        lease = await one.ask(2)
        threads: dict[str, int] = {}

        def noted(name: str) -> Callable[..., Any]:
            work = getattr(closing, name)

            def wrapper(*args: Any) -> Any:
                threads[name] = threading.get_ident()
                return work(*args)

            return wrapper

        # All that takes longer the longer the policy is: .4 s of the processor for this one.
        long = ("policy_of", "state_of", "advance")
        with patch.multiple(closing, **{name: noted(name) for name in long}):
            await one.tell(lease, {0: 1.0, 1: 1.0})
        assert (await one.ask(2)).round == 1
        assert set(threads) == set(long)
        assert threading.get_ident() not in threads.values()

    on_a_campaign(dsn, work)
