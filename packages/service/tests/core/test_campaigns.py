"""The rules of a campaign, one at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from affinity_bandits.base.declaration import Declaration
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages import Finished, Told, Wait
from affinity_bandits_client.messages.base import LARGEST_NUMBER, new_key
from affinity_bandits_service import problems
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.spec import CampaignSpec, PlannedTime
from tests.support.declared import DECLARED
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign, made
from tests.support.refusals import code_of, refusal

# Handing out.


async def test_whoever_finds_nothing_is_told_when_to_come_back(one: OneCampaign) -> None:
    lease = await one.ask(4)
    one.wait(20)
    assert await one.ask(1) == Wait(status="wait", outstanding=4, retry_after=LEASE_SECONDS - 20)
    await one.tell(lease, {0: 1})
    assert await one.ask(1) == Wait(status="wait", outstanding=3, retry_after=LEASE_SECONDS - 20)


async def patiently(one: OneCampaign, count: int) -> list[int]:
    """Ask, and again when that is worth it; return the slots."""
    found = await one.ask(count)
    if isinstance(found, Wait):
        assert found.retry_after <= 2 * LEASE_SECONDS
        one.wait(found.retry_after)
        found = await one.ask(count)
    return [slot for slot, _ in found.slots]


@pytest.mark.parametrize("back", [30.0, 90.0, 86_400.0])
async def test_after_a_clock_is_put_back_nobody_waits_longer_than_two_leases(
    one: OneCampaign, back: float
) -> None:
    ahead = await one.ask(4)
    one.wait(-back)
    assert await patiently(one, 3) == [0, 1, 2]
    one.wait(-back)  # while slots are offered for the second time
    assert set(await patiently(one, 4)) >= {3}
    assert (await one.tell(ahead, {0: 1.0, 1: 0.0})).counted == 2


async def test_leases_last_by_the_clock_of_the_database(one: OneCampaign) -> None:
    clock = "SELECT clock_timestamp()"
    before = await one.pool.fetchval(clock)
    (lease,) = await one.campaigns.ask(one.tenant, one.id, [SlotAsk(1, new_key(), "t")])
    given = lease.expires_at - timedelta(seconds=LEASE_SECONDS)
    assert before <= given <= await one.pool.fetchval(clock)


# Idempotency keys.


async def test_another_request_with_the_same_key_is_refused(one: OneCampaign) -> None:
    lease = await one.ask(2, "ask")
    await one.tell(lease, {0: 1}, "tell")
    for found in (
        await one.ask(3, "ask"),
        await one.ask(2, "tell"),
        await one.tell(lease, {0: 0.5}, "tell"),
        await one.tell(lease, {(0, 1): 1}, "tell"),
        await one.tell(lease, {1: 1}, "ask"),
    ):
        assert code_of(found) == problems.KEY_REUSED.code
    with refusal(problems.KEY_REUSED):
        await one.campaigns.stop(one.tenant, one.id, actor="t", key="ask")


async def test_a_campaign_is_created_once_a_key(one: OneCampaign) -> None:
    def create(horizon: int) -> Any:
        about = CampaignSpec(
            "twice", ("a", "b"), ExploreThenCommit(2), horizon, declaration=DECLARED
        )
        return one.campaigns.create(one.tenant, about, key="twice", actor="t")

    ids = await asyncio.gather(*(create(50) for _ in range(4)))
    assert len(set(ids)) == 1
    with refusal(problems.KEY_REUSED):
        await create(51)


async def test_what_was_declared_is_kept_and_in_the_trail(one: OneCampaign) -> None:
    declared = Declaration("sources", "head of recruiting", "where to look next year")

    one.id = await one.create(ExploreThenCommit(2), 100, declaration=declared)
    assert (await one.look()).declaration == declared


async def test_what_a_plan_said_of_the_time_is_kept(one: OneCampaign) -> None:
    assert (await one.look()).planned is None
    one.id = await one.create(ExploreThenCommit(2), 100, planned=PlannedTime(50, 4.5))
    assert (await one.look()).planned == PlannedTime(50, 4.5)


# Telling.


async def test_what_is_refused_leaves_no_trace_and_spares_the_rest_of_its_batch(
    one: OneCampaign,
) -> None:
    mine, other = await one.ask(2), await one.ask(1)
    refused: list[tuple[Any, problems.ProblemType]] = [
        (made(99, {0: 1}), problems.NO_SUCH_LEASE),
        (made(1, {0: 1}), problems.NO_SUCH_LEASE),  # an event, but not an ask
        (made(mine, {2: 1}), problems.NOT_LEASED),  # the other's
        (made(mine, {3: 1}), problems.NOT_LEASED),  # nobody's yet
        (made(mine, {2**62: 1}), problems.NOT_LEASED),
        (made(mine, {LARGEST_NUMBER: 1}), problems.NOT_LEASED),
        (made(mine, {(0, 1): 2}), problems.NOT_LEASED),
        (made(mine, {(7, 1): 1}), problems.NOT_LEASED),
        (made(mine, {(LARGEST_NUMBER, 1): 1}), problems.NOT_LEASED),
        (made(mine, {0: 1.000000001}), problems.SCORE_OUT_OF_RANGE),
        (made(mine, {0: -0.000000001}), problems.SCORE_OUT_OF_RANGE),
        (made(mine, {(0, 1.1): 1}), problems.SCORE_OUT_OF_RANGE),
    ]
    good = [made(mine, {0: 1}), made(other, {2: 1})]
    tells = [good[0], *(tell for tell, _ in refused), good[1]]
    first, *rest, last = await one.tell_all(tells)
    assert [code_of(found) for found in rest] == [problem.code for _, problem in refused]
    assert first == last == Told(counted=1, late=0, duplicate=0)
    assert await one.kinds() == ["create", "ask", "ask", "tell", "tell"]


# Ends.


@pytest.mark.slow
@pytest.mark.campaign(horizon=5)
async def test_one_arm_that_is_left_is_served_for_ever(one: OneCampaign) -> None:
    await one.tell(await one.ask(4), {0: 0, 1: 1, 2: 0, 3: 1})
    look = await one.look()
    assert (look.status, look.recommended, look.active) == ("decided", "b", ("b",))
    for first in range(0, 50, 10):  # far beyond the horizon
        lease = await one.ask(10)
        assert (lease.runs, lease.arms) == (((first, 10),), ("b",))


@pytest.mark.campaign(horizon=3)
async def test_a_round_that_the_horizon_cuts_short_decides_nothing(one: OneCampaign) -> None:
    lease = await one.ask(9)
    assert lease.runs == ((0, 3),)
    await one.tell(lease, {0: 0, 1: 1, 2: 0})
    assert await one.ask(1) == Finished(status="exhausted")
    look = await one.look()
    assert (look.status, look.recommended, look.active) == ("exhausted", None, ("a", "b"))
    assert await one.kinds() == ["create", "ask", "tell", "close"]


async def test_a_stopped_campaign_hands_out_nothing_and_takes_what_it_is_owed(
    one: OneCampaign,
) -> None:
    lease = await one.ask(4)
    for key in ("stop", "stop", "stop-again"):
        await one.campaigns.stop(one.tenant, one.id, actor="t", key=key, now=one.now)
    assert await one.ask(1) == Finished(status="stopped")
    assert await one.tell(lease, {0: 1, 1: 0, 2: 1, 3: 0}) == Told(counted=4, late=0, duplicate=0)
    look = await one.look()
    assert (look.status, look.recommended) == ("stopped", "a")
    assert await one.ask(1) == Finished(status="stopped")
    assert await one.kinds() == ["create", "ask", "stop", "tell", "close"]


# Tenants, and the trail.


async def test_a_tenant_does_not_see_the_campaigns_of_another(one: OneCampaign) -> None:
    lease = await one.ask(1)
    one.tenant = await keys.create_tenant(one.pool, "another")
    calls = (
        lambda: one.ask(1),
        lambda: one.tell(lease, {0: 1}),
        one.look,
        one.kinds,
        lambda: one.campaigns.stop(one.tenant, one.id, actor="t", key="k"),
    )
    for call in calls:
        with pytest.raises(problems.NoSuchCampaign):
            await call()
    one.tenant = await keys.create_tenant(one.pool, "one campaign")
    assert await one.kinds() == ["create", "ask"]


@pytest.mark.as_owner
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE affinity.events SET actor = 'nobody'",
        "DELETE FROM affinity.events",
        "DELETE FROM affinity.events WHERE false",
        "TRUNCATE affinity.events",
    ],
)
async def test_the_trail_can_only_grow(one: OneCampaign, change: str) -> None:
    with pytest.raises(asyncpg.RaiseError, match="append-only"):
        await one.pool.execute(change)
