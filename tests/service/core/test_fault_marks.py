"""Marks of campaigns that cannot go on: made, kept, tried again after a pause, taken away."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock, patch
from uuid import UUID

import asyncpg
import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits.policies.phased_elimination import PhasedElimination
from affinity_bandits.service import problems
from affinity_bandits.service.core import closer, faults
from affinity_bandits.service.core.campaigns import Campaigns
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.store.migrate import migrate
from affinity_bandits.service.store.named import sql
from tests.support.databases import made_database
from tests.support.one_campaign import OneCampaign, on_a_campaign


@pytest.fixture(scope="module")
def dsn(worker: str) -> Iterator[str]:
    """A database of its own: close_due would close what other tests left."""
    with made_database(f"affinity_test_{worker}_{os.getpid()}_marks") as made:
        migrate(made)
        yield made


class Failing:
    """A policy that counts how often it is given sums, and fails until it is mended."""

    def __init__(self, error: Exception | None = None) -> None:
        self.tries = 0
        self.error = error or RuntimeError("a defect")
        self._patch = patch.object(PhasedElimination, "absorb", staticmethod(self))

    def __call__(self, *_: Any) -> None:
        self.tries += 1
        raise self.error

    def __enter__(self) -> Failing:
        self._patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


async def mark_of(one: OneCampaign) -> Any:
    return await one.pool.fetchrow("SELECT * FROM affinity.faults WHERE campaign = $1", one.id)


@pytest.mark.slow
def test_pauses_double_up_to_the_longest_and_nobody_tries_in_between(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        begun = one.now
        with Failing() as policy:
            for number in range(1, 11):
                assert await one.campaigns.close_due(now=one.now) == 0
                mark = await mark_of(one)
                assert (policy.tries, mark["tries"], mark["since"]) == (number, number, begun)
                pause = (mark["retry_at"] - one.now).total_seconds()
                assert pause == min(2.0 ** (number - 1), faults.LONGEST_PAUSE)
                one.now = mark["retry_at"] - timedelta(milliseconds=1)
                # Neither this process nor another, whoever asks, tells or looks.
                assert await one.other_process.close_due(now=one.now) == 0
                assert isinstance(await one.ask(1), problems.NeedsAttention)
                await one.tell(2, {0: 1})
                assert policy.tries == number
                one.now = mark["retry_at"]
        assert await one.other_process.close_due(now=one.now) == 1
        assert await mark_of(one) is None
        assert (await one.look()).status == "decided"

    on_a_campaign(dsn, test)


def test_without_the_pause_every_ask_is_a_try(dsn: str) -> None:
    """The control of the above."""

    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        with Failing() as policy, patch.object(faults, "held", AsyncMock(return_value=None)):
            for _ in range(5):
                await one.ask(1)
            assert policy.tries == 5
        await one.campaigns.close_due(at_once=True)

    on_a_campaign(dsn, test)


def test_a_process_that_starts_tries_at_once(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        with Failing() as policy:
            await one.campaigns.close_due(now=one.now)
            assert await one.other_process.close_due(now=one.now, at_once=True) == 0
            assert policy.tries == 2  # once, not again and again
        assert await one.other_process.close_due(now=one.now, at_once=True) == 1

    on_a_campaign(dsn, test)


@pytest.mark.slow
def test_those_that_failed_before_come_last_and_not_all_at_once(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        healthy, failing = one.id, []
        for _ in range(closer.MOST_FAILURES + 5):
            one.id = await one.create(ExploreThenCommit(1), 10)
            await one.complete_but_do_not_close()
            failing.append(one.id)
        order: list[UUID] = []
        honest = closer.close_round

        async def seen(db: Any, campaign: UUID, **more: Any) -> bool:
            order.append(campaign)
            return await honest(db, campaign, **more)

        with Failing(), patch.object(closer, "close_round", seen):
            await one.campaigns.close_due(now=one.now)
            assert sorted(order) == sorted(failing)
            one.wait(2 * faults.FIRST_PAUSE)
            order.clear()
            one.id = healthy
            with patch.object(PhasedElimination, "absorb", staticmethod(lambda *_: None)):
                await one.complete_but_do_not_close()
            await one.campaigns.close_due(now=one.now)
            assert order[0] == healthy
            assert len(set(order[1:])) == len(order) - 1 == closer.MOST_FAILURES
        one.wait(2 * faults.LONGEST_PAUSE)
        # Those that can go on again do not count as failures: all of them recover at once.
        assert await one.campaigns.close_due(now=one.now) == len(failing) + 1
        assert await one.pool.fetchval("SELECT count(*) FROM affinity.faults") == 0

    on_a_campaign(dsn, test)


def test_readers_mark_what_they_find_and_do_not_put_off_the_next_try(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        said: list[problems.NeedsAttention] = []
        reading = CampaignQueries(one.pool, Campaigns(one.pool, said.append).note)
        with patch.object(ExploreThenCommit, "version", 2):
            found = await reading.campaign(one.tenant, one.id)
            assert found.attention is not None
            assert (found.attention.kind, found.active) == ("state", (0, 1))
            assert found.attention.reason == (
                "the state of its policy was saved by version 1 of the policy, and this server"
                " has version 2"
            )
            first = await mark_of(one)
            for _ in range(3):
                await reading.campaign(one.tenant, one.id)
            assert await mark_of(one) == first
            assert len(said) == 1
            one.now = first["retry_at"]
            await one.campaigns.close_due(now=one.now)
            second = await mark_of(one)
            assert (second["tries"], second["since"]) == (1, first["since"])
        # Mended, but nobody has tried yet: every process still shows the mark.
        seen = await CampaignQueries(one.pool).campaign(one.tenant, one.id)
        assert seen.attention is not None
        assert await one.other_process.close_due(now=second["retry_at"]) == 0
        assert (await reading.campaign(one.tenant, one.id)).attention is None

    on_a_campaign(dsn, test)


def test_a_reader_and_whoever_closes_a_round_mark_at_once(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        fault = faults.fault_of(one.id, "record")
        async with one.pool.acquire() as db, db.transaction():
            await db.execute(sql.lock_head, one.id)
            noted = asyncio.create_task(faults.note(one.pool, [fault]))
            await one.blocked(1)
            await faults.mark(db, fault, None)
        assert await noted == set()
        assert (await mark_of(one))["tries"] == 1
        # One that is marked already is not waited for.
        async with asyncio.timeout(20), one.pool.acquire() as db, db.transaction():
            await db.execute(sql.lock_head, one.id)
            assert await faults.note(one.pool, [fault]) == set()

    on_a_campaign(dsn, test)


def test_what_the_pages_cannot_say_keeps_no_round_from_closing(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.campaigns.note([faults.fault_of(one.id, "page", RuntimeError())])
        assert (await mark_of(one))["kind"] == "page"
        first, second = await one.ask(2), await one.ask(2)
        await one.tell(first, dict(first.slots))
        with patch.object(one.campaigns, "close"):  # and not by whoever told the last answer either
            await one.tell(second, dict(second.slots))
        assert await one.campaigns.close_due() == 1
        assert (await one.look()).status == "decided"
        assert await mark_of(one) is None

    on_a_campaign(dsn, test)


def test_a_worse_fault_takes_the_place_of_one_that_passes_and_not_the_other_way(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        for kind, kept in (("page", "page"), ("state", "state"), ("unexpected", "state")):
            await one.campaigns.note([faults.fault_of(one.id, kind)])
            assert (await mark_of(one))["kind"] == kept
        await one.campaigns.close_due(at_once=True)
        assert await mark_of(one) is None

    on_a_campaign(dsn, test)


@pytest.mark.parametrize("error", [OSError("a file"), TimeoutError(), ValueError()])
def test_an_error_of_a_policy_is_never_taken_for_a_database_that_is_away(
    dsn: str, error: Exception
) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        with Failing(error), pytest.raises(problems.NeedsAttention) as caught:
            await one.campaigns.close(one.id, now=one.now)
        assert caught.value.__cause__ is error
        await one.campaigns.close_due(at_once=True)

    on_a_campaign(dsn, test)


def test_a_database_that_is_away_is_no_fault_of_a_campaign(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        away = AsyncMock(side_effect=asyncpg.CannotConnectNowError())
        with patch.object(closer, "close_round", away), pytest.raises(problems.Unavailable):
            await one.campaigns.close(one.id, now=one.now)
        assert await mark_of(one) is None
        await one.campaigns.close_due(now=one.now)

    on_a_campaign(dsn, test)


@pytest.mark.parametrize("error", [RuntimeError(), problems.Unavailable(), asyncpg.DataError()])
def test_answers_that_are_committed_are_acknowledged_whatever_becomes_of_the_round(
    dsn: str, error: Exception
) -> None:
    async def test(one: OneCampaign) -> None:
        lease = await one.ask(4)
        with patch.object(one.campaigns, "close", AsyncMock(side_effect=error)):
            assert (await one.tell(lease, dict(lease.slots))).counted == 4
        assert await one.campaigns.close_due(now=one.now) == 1

    on_a_campaign(dsn, test)


def test_a_fault_that_cannot_be_written_down_is_still_told(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        said: list[problems.NeedsAttention] = []
        core = Campaigns(one.pool, said.append)
        with patch.object(faults, "note", AsyncMock(side_effect=asyncpg.UndefinedTableError())):
            await core.note([faults.fault_of(one.id, "state")])
        assert [found.kind for found in said] == ["state"]

    on_a_campaign(dsn, test)


def test_a_campaign_that_is_over_needs_nobodys_attention(dsn: str) -> None:
    """It asks nothing more of its policy."""

    async def test(one: OneCampaign) -> None:
        lease = await one.ask(4)
        await one.tell(lease, dict(lease.slots))
        with patch.object(ExploreThenCommit, "version", 2):
            found = await one.look()
        assert (found.status, found.active, found.attention) == ("decided", (1,), None)

    on_a_campaign(dsn, test)


@pytest.mark.parametrize("arms", [[], [0, 0], [2], [-1]])
def test_a_plan_that_cannot_be_is_not_written_down(dsn: str, arms: list[int]) -> None:
    honest = PhasedElimination.plan

    async def test(one: OneCampaign) -> None:
        await one.complete_but_do_not_close()
        lying = staticmethod(lambda state: honest(state)._replace(arms=arms, repetitions=3))
        with (
            patch.object(PhasedElimination, "plan", lying),
            pytest.raises(problems.NeedsAttention) as caught,
        ):
            await one.campaigns.close(one.id, now=one.now)
        assert caught.value.kind == "decision"
        assert (await one.kinds())[-1] == "tell"
        await one.campaigns.close_due(at_once=True)

    on_a_campaign(dsn, test)
