"""Looks at campaigns: what they read, what they find, what they keep, and whose turn it is."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages import Finding
from affinity_bandits_service.core import health_checks
from affinity_bandits_service.core.health_checks import HealthChecks, runs_by_place
from affinity_bandits_service.problems import Unavailable
from tests.support.databases import forget_due
from tests.support.one_campaign import LEASE_SECONDS, OneCampaign

LONG = ExploreThenCommit(300)


@pytest.fixture(autouse=True)
def _nothing_due(dsn: str) -> None:
    forget_due(dsn)


async def found(one: OneCampaign) -> dict[str, Finding]:
    await HealthChecks(one.pool).check(one.id, now=one.now)
    health = (await one.look()).health
    assert health is not None
    assert health.checked_at == one.now
    return {finding.kind: finding for finding in health.findings}


async def lapses(one: OneCampaign) -> list[tuple[int, int]]:
    rows = await one.pool.fetch(
        "SELECT place, slots FROM affinity.lapses WHERE campaign = $1", one.id
    )
    return sorted((row["place"], row["slots"]) for row in rows)


@pytest.mark.slow
async def test_a_slot_lapses_once_however_it_is_answered(one: OneCampaign) -> None:
    first = await one.ask(3)  # slots 0, 1, 2: a, b, a
    second = await one.ask(1)  # slot 3: b
    await one.tell(first, {0: 1.0})  # in time
    one.wait(LEASE_SECONDS)
    await one.tell(second, {3: 1.0})  # late, and counted: b
    assert await lapses(one) == [(1, 1)]
    again = await one.ask(5)  # slots 1 and 2 once more: b and a
    assert [slot for slot, _ in again.slots] == [1, 2]
    assert await lapses(one) == [(0, 1), (1, 2)]
    one.wait(LEASE_SECONDS)
    third = await one.ask(1)  # slot 1 for the third time: it has lapsed before
    one.wait(LEASE_SECONDS)
    await one.tell(third, {1: 0.0})  # late on a lease that was not its first
    await one.tell(first, {2: 0.5})  # its first holder, two minutes late: had lapsed
    assert await lapses(one) == []  # the round is closed
    row = await one.pool.fetchrow(
        "SELECT counts, lapsed FROM affinity.rounds WHERE campaign = $1 AND number = 0", one.id
    )
    assert (row["counts"], row["lapsed"]) == ([2, 2], [1, 2])


@pytest.mark.parametrize(
    "planted", ["a in three of four", "both in three of eight"], ids=["planted", "control"]
)
@pytest.mark.campaign(LONG, 10_000)
async def test_answers_missing_for_one_group_are_found_while_the_round_is_open(
    one: OneCampaign, planted: str
) -> None:
    for turn in range(40):
        lease = await one.ask(2)
        (own, _), (other, _) = lease.slots
        if planted.startswith("a"):
            told = {other: 0.5} | ({own: 0.5} if turn % 4 == 0 else {})
        else:  # as many missing, shared
            told = {}
            if turn % 8 not in (0, 2, 4):
                told[own] = 0.5
            if turn % 8 not in (1, 3, 5):
                told[other] = 0.5
        if told:
            await one.tell(lease, told)
    assert "missing" not in await found(one)  # no lease has expired yet
    one.wait(LEASE_SECONDS + 1)
    now = await found(one)
    if planted.startswith("both"):
        assert "missing" not in now
        return
    seen = now["missing"]
    assert (seen.arms, seen.severity, seen.since) == (("a",), "warning", one.now)
    assert "more often for “a”" in seen.seen
    assert "75% of its 40 slots" in seen.seen
    assert "against 0% of the others'" in seen.seen
    assert "which no guarantee here covers" in seen.effect
    # It stays, with the time of the first look, whatever comes after.
    first = one.now
    for _ in range(30):
        lease = await one.ask(2)
        await one.tell(lease, dict.fromkeys((slot for slot, _ in lease.slots), 0.5))
    one.wait(LEASE_SECONDS)
    assert (await found(one))["missing"].since == first


@pytest.mark.campaign(LONG, 10_000, lowest=1.0, highest=5.0)
async def test_scores_at_one_end_are_found_in_closed_and_open_rounds(one: OneCampaign) -> None:
    lease = await one.ask(540)
    await one.tell(lease, {slot: 5.0 if slot % 2 else 4.99 for slot, _ in lease.slots})
    seen = (await found(one))["ends"]
    assert (seen.severity, seen.arms) == ("warning", ())
    assert seen.seen == (
        "Nearly all scores of all groups are the highest there are: on average they are 0.005"
        " from 5, in 540 answers."
    )
    assert "No two groups can differ by more than 0.2" in seen.effect
    # Once raters use the scale it is over.
    lease = await one.ask(50)
    await one.tell(lease, {slot: 1.0 + slot % 5 for slot, _ in lease.slots})
    assert "ends" not in await found(one)


@pytest.mark.campaign(LONG, 10_000)
async def test_a_round_that_stands_still_is_found_and_forgotten_when_it_goes_on(
    one: OneCampaign,
) -> None:
    async def answer() -> None:
        lease = await one.ask(1)
        one.wait(5.0)
        await one.tell(lease, {lease.slots[0][0]: 0.5})

    for _ in range(30):
        await answer()
    await one.ask(3)
    one.wait(2 * LEASE_SECONDS)
    assert "standstill" not in await found(one)
    one.wait(LEASE_SECONDS)
    seen = (await found(one))["standstill"]
    assert seen.severity == "warning"
    assert seen.seen == (
        "No answer has come for 3 minutes; before that, tells came 5 seconds apart on average."
        " 3 slots that were handed out have no answer."
    )
    await answer()
    assert "standstill" not in await found(one)
    # It was silent for so long before: half as long again is nothing new.
    one.wait(5.5 * LEASE_SECONDS)
    assert "standstill" not in await found(one)
    one.wait(LEASE_SECONDS)
    assert "standstill" in await found(one)
    # Nor does one that nobody may go on with.
    await one.campaigns.stop(one.tenant, one.id, actor="t", key="stop", now=one.now)
    assert "standstill" not in await found(one)


async def test_unequal_numbers_of_answers_are_found(one: OneCampaign) -> None:
    lease = await one.ask(4)
    await one.tell(lease, dict.fromkeys((slot for slot, _ in lease.slots), 0.5))
    assert not await found(one)
    change = "UPDATE affinity.rounds SET counts = $2 WHERE campaign = $1 AND number = 0 RETURNING 1"
    await one.pool.execute(change, one.id, [3, 1])
    assert "uneven" in await found(one)
    await one.pool.execute(change, one.id, [2, 2])


async def test_looks_take_turns_and_one_that_fails_keeps_no_other(one: OneCampaign) -> None:
    await one.pool.execute("UPDATE affinity.health SET due_at = NULL WHERE campaign <> $1", one.id)
    second = await one.create(ExploreThenCommit(2), 100)
    metrics = Mock()
    clock = iter(itertools.repeat(0.0))
    checks = HealthChecks(one.pool, metrics, lambda: next(clock))
    assert await checks.check_due(now=one.now) == 0  # they were made just now
    one.wait(health_checks.LOOK_SECONDS)
    check_look, looked = health_checks.check_look, []

    def fails_once(look: Any) -> Any:
        looked.append(look)
        if len(looked) == 1:
            raise ValueError("a defect")
        return check_look(look)

    with patch.object(health_checks, "check_look", fails_once):
        assert await checks.check_due(now=one.now) == 2
        assert await checks.check_due(now=one.now) == 0  # not again within a minute
    (call,) = metrics.count_failure.call_args_list
    assert str(call.args[0]) == "a defect"
    checked = [(await one.look()).health is not None]
    one.id = second
    checked.append((await one.look()).health is not None)
    assert sorted(checked) == [False, True]
    one.wait(health_checks.LOOK_SECONDS)
    clock = itertools.count(0.0, 0.9 * health_checks.MOST_SECONDS)
    assert await checks.check_due(now=one.now) == 1  # a slow one leaves the rest for later
    assert await checks.check_due(now=one.now) == 1
    clock = iter(itertools.repeat(0.0))
    one.wait(health_checks.LOOK_SECONDS)
    await one.campaigns.stop(one.tenant, second, actor="t", key="stop", now=one.now)
    assert await checks.check_due(now=one.now) == 2
    one.wait(health_checks.LOOK_SECONDS)
    assert await checks.check_due(now=one.now) == 1  # one that is over is not looked at again


GONE = "SELECT pg_terminate_backend(pg_backend_pid()), $1::uuid, $2::integer"
DEFECT = "SELECT 1 / 0, $1::uuid, $2::integer"


@pytest.mark.parametrize(("query", "defects"), [(GONE, 0), (DEFECT, 1)])
async def test_a_database_that_goes_away_in_a_look_is_no_defect(
    one: OneCampaign, query: str, defects: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = Mock()
    monkeypatch.setattr(health_checks.sql, "rounds_to_check", query)
    one.wait(health_checks.LOOK_SECONDS)
    away = pytest.raises(Unavailable) if query == GONE else nullcontext()
    with away:
        await HealthChecks(one.pool, metrics).check_due(now=one.now)
    assert metrics.count_failure.call_count == defects


async def test_after_the_clock_is_set_back_campaigns_are_looked_at_within_two_turns(
    one: OneCampaign,
) -> None:
    await one.pool.execute("UPDATE affinity.health SET due_at = NULL WHERE campaign <> $1", one.id)
    checks = HealthChecks(one.pool)
    one.wait(-86_400.0)
    assert await checks.check_due(now=one.now) == 1
    assert await checks.check_due(now=one.now) == 0
    one.wait(-0.5 * health_checks.LOOK_SECONDS)
    assert await checks.check_due(now=one.now) == 0
    one.wait(1.5 * health_checks.LOOK_SECONDS)
    assert await checks.check_due(now=one.now) == 1


@pytest.mark.campaign(LONG, 10_000)
async def test_the_pace_of_answers_bears_a_clock_that_is_set_back(one: OneCampaign) -> None:
    for _ in range(30):
        lease = await one.ask(1)
        await one.tell(lease, {lease.slots[0][0]: 0.5})
        one.wait(-5.0)
    await one.ask(3)
    one.wait(150.0 + 4 * LEASE_SECONDS)
    seen = (await found(one))["standstill"]
    assert "tells came 0 seconds apart" in seen.seen


@pytest.mark.slow
@given(
    runs=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), max_size=6),
    width=st.integers(1, 7),
)
def test_runs_are_counted_as_their_slots_would_be(runs: list[tuple[int, int]], width: int) -> None:
    slots = [slot for first, count in runs for slot in range(first, first + count)]
    expected = [sum(slot % width == place for slot in slots) for place in range(width)]
    assert runs_by_place([(first, first + count) for first, count in runs], width) == expected
