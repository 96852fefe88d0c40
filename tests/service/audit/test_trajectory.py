"""However many clients ask and tell at once, a campaign goes as the library's own run does."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from affinity_bandits.policies import (
    FOREVER,
    Elimination,
    ExploreThenCommit,
    HandicapElimination,
    Live,
    PublishedSchedule,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
)
from affinity_bandits.service.audit.verify import verify
from affinity_bandits.service.core import keys
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.store.connection import connect
from affinity_bandits.wire import Finished, Wait
from affinity_bandits.wire.values import new_key

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LEASE_SECONDS = 5.0
ARMS = 4
HORIZON = 400
POLICIES: list[RoundPolicy] = [
    Elimination(PublishedSchedule(-4.0)),
    Elimination(PublishedSchedule(-4.0), discard_first=False),
    HandicapElimination(head_start=3, sigma=0.1, bounded=False, in_flight=30),
    ExploreThenCommit(20),
    SuccessiveRejects(),
    SequentialHalving(),
    Uniform(),
]


SCALES = [(0, 1), (0, 5), (1, 5), (0, 100), (-1, 1)]
"""Lowest and highest score."""


def feedback(number: int, slot: int, arm: int) -> float:
    """Fixed in advance; a multiple of 1/512, which nine decimals hold, so float sums are exact."""
    noise = (7919 * number + 104729 * slot + 31 * (number + 1) * slot * slot) % 129
    return (noise + 120 * arm) / 512


@dataclass
class Run:
    """What a run comes to; the last round is the one that the horizon or nothing ends."""

    arms: list[tuple[int, ...]] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    sums: list[list[float]] = field(default_factory=list)  # of what the policy is given
    dropped: list[tuple[int, ...]] = field(default_factory=list)


def library_run(policy: RoundPolicy) -> Run:
    """Let the library play to the horizon: one pull at a time, and a round at a time."""
    run, live, state, pulls = Run(), Live(policy, ARMS, HORIZON), policy.start(ARMS, HORIZON), 0
    while pulls < HORIZON:
        planned = policy.kernels().plan(state)
        arms, repetitions = tuple(int(arm) for arm in planned.arms), int(planned.repetitions)
        counts, sums = [0] * len(arms), [0.0] * len(arms)
        active = live.candidates()
        size = min(len(arms) * repetitions, HORIZON - pulls)
        for slot in range(size):
            place = slot % len(arms)
            assert live.ask() == arms[place]
            value = feedback(len(run.arms), slot, arms[place])
            live.tell(arms[place], value)
            counts[place] += 1
            sums[place] += value
        if size == len(arms) * repetitions:
            state = policy.absorbed(state, np.array(sums))
        pulls += size
        run.arms.append(arms)
        run.counts.append(counts)
        run.sums.append(sums)
        run.dropped.append(tuple(arm for arm in active if arm not in live.candidates()))
    return run


class Crowd:
    """Clients in several processes who share a clock and the wish to finish."""

    def __init__(
        self,
        processes: list[Campaigns],
        tenant: int,
        campaign: UUID,
        scale: tuple[int, int],
        last: int,
    ) -> None:
        self.processes = processes
        self.tenant = tenant
        self.campaign = campaign
        self.scale = scale
        self.last = last  # the round from which nothing is lost: its slots come but once
        self.now = BEGIN
        self.before: dict[int, int] = {}

    async def client(self, number: int) -> None:
        rng = random.Random(f"{self.scale}/{number}")
        process = self.processes[number % len(self.processes)]
        forgotten: list[Lease] = []
        while True:
            ask = Ask(rng.randint(1, 25), new_key(), f"client {number}")
            (given,) = await process.ask(self.tenant, self.campaign, [ask], now=self.now)
            if isinstance(given, Finished):
                break
            if isinstance(given, Wait):
                self.now += timedelta(seconds=given.retry_after)
                continue
            assert isinstance(given, Lease)
            if given.round == self.last and self._wanted(given) == []:
                break
            if given.round < self.last and rng.random() < 0.2:
                forgotten.append(given)
                continue
            await self._answer(process, given, rng)
            if forgotten and rng.random() < 0.5:  # better late than never
                await self._answer(process, forgotten.pop(), rng)

    def _wanted(self, lease: Lease) -> list[tuple[int, int]]:
        """Slots of a lease that lie before the horizon, which a last round may go beyond."""
        left = HORIZON - self.before.get(lease.round, 0)
        return [(slot, arm) for slot, arm in lease.slots if slot < left]

    async def _answer(self, process: Campaigns, lease: Lease, rng: random.Random) -> None:
        slots = self._wanted(lease)
        rng.shuffle(slots)
        tells = []
        while slots:
            part = [slots.pop() for _ in range(min(len(slots), rng.randint(1, 12)))]
            tells.append(answers(lease, part, self.scale))
            if rng.random() < 0.3:  # the same again, as if it were news
                tells.append(answers(lease, part, self.scale))
            if rng.random() < 0.3:  # the same again, as a client that heard nothing repeats it
                tells.append(tells[-1])
        if rng.random() < 0.5:
            rng.shuffle(tells)
            batches = [tells]
        else:
            batches = [[one] for one in tells]
        for batch in batches:
            await process.tell(self.tenant, self.campaign, batch, now=self.now)


def answers(lease: Lease, slots: list[tuple[int, int]], scale: tuple[int, int]) -> SlotTell:
    lowest, highest = scale
    units = tuple(
        to_units(lowest + (highest - lowest) * feedback(lease.round, slot, arm))
        for slot, arm in slots
    )
    return SlotTell(lease.number, new_key(), "client", tuple(slot for slot, _ in slots), units)


@pytest.mark.parametrize(
    "scale",
    [
        pytest.param(
            scale, marks=[pytest.mark.slow] * (scale != (0, 1)), id="{} to {}".format(*scale)
        )
        for scale in SCALES
    ],
)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_crowd_gets_what_the_library_gets(
    dsn: str, policy: RoundPolicy, scale: tuple[int, int]
) -> None:
    expected = library_run(policy)
    assert len(expected.arms) > 1 or isinstance(policy, Uniform)  # or there is little to compare
    found = asyncio.run(served_run(dsn, policy, scale, expected))
    assert found.arms == expected.arms
    assert found.counts == expected.counts
    assert found.sums == expected.sums  # to the bit
    assert found.dropped == expected.dropped


async def served_run(dsn: str, policy: RoundPolicy, scale: tuple[int, int], expected: Run) -> Run:
    pools = [await connect(dsn, largest=2) for _ in range(3)]
    try:
        processes = [Campaigns(pool) for pool in pools]
        tenant = await keys.create_tenant(pools[0], "trajectory")
        about = CampaignSpec("crowd", tuple("abcd"), policy, HORIZON, LEASE_SECONDS, *scale)
        campaign = await processes[0].create(tenant, about, key=new_key(), actor="t", now=BEGIN)
        crowd = Crowd(processes, tenant, campaign, scale, last=len(expected.arms) - 1)
        crowd.before = {
            number: sum(sum(counts) for counts in expected.counts[:number])
            for number in range(len(expected.arms))
        }
        await asyncio.gather(*(crowd.client(number) for number in range(7)))
        assert (await verify(pools[0], campaign)).differences == ()
        return await what_came_of_it(CampaignQueries(pools[0]), tenant, campaign, scale)
    finally:
        for pool in pools:
            await pool.close()


async def what_came_of_it(
    reading: CampaignQueries, tenant: int, campaign: UUID, scale: tuple[int, int]
) -> Run:
    run = Run()

    def mapped(sums: tuple[int, ...], counts: tuple[int, ...]) -> list[float]:
        low, high = (end * 10**9 for end in scale)
        return [
            float(Fraction(total - count * low, high - low))
            for total, count in zip(sums, counts, strict=True)
        ]

    closed, _ = await reading.rounds(tenant, campaign, None, 1000)
    for one in closed:
        run.arms.append(one.arms)
        run.counts.append(list(one.counts))
        run.sums.append(mapped(one.sums, one.counts))
        run.dropped.append(one.dropped)
    now = await reading.campaign(tenant, campaign)
    if now.status != "exhausted":
        assert now.round.repetitions == FOREVER
        run.arms.append(now.round.arms)
        run.counts.append(list(now.round.answers))
        run.sums.append(mapped(now.round.sums, now.round.answers))
        run.dropped.append(())
    return run


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_any_floats_do_not_depend_on_the_order(dsn: str, seed: int) -> None:
    asyncio.run(sums_of_any_floats(dsn, seed))


async def sums_of_any_floats(dsn: str, seed: int) -> None:
    repetitions, width = 150, 2
    values = random.Random(7)  # the same whatever the order
    scores = [values.uniform(-1000, 1000) * 10.0 ** -values.randint(0, 9) for _ in range(300)]
    scores[:4] = [1e-9, -1e-9, 999.999999999, -1000.0]
    pool = await connect(dsn)
    try:
        tenant = await keys.create_tenant(pool, "trajectory")
        policy = ExploreThenCommit(repetitions)
        about = CampaignSpec("floats", ("a", "b"), policy, 1000, lowest=-1000, highest=1000)
        campaigns = Campaigns(pool)
        campaign = await campaigns.create(tenant, about, key=new_key(), actor="t", now=BEGIN)
        (lease,) = await campaigns.ask(tenant, campaign, [Ask(300, new_key(), "t")], now=BEGIN)
        order = list(range(300))
        random.Random(seed).shuffle(order)

        def tell(slots: list[int]) -> Any:
            units = tuple(to_units(scores[slot]) for slot in slots)
            one = SlotTell(lease.number, new_key(), "t", tuple(slots), units)
            return campaigns.tell(tenant, campaign, [one], now=BEGIN)

        await asyncio.gather(*(tell(order[at : at + 13]) for at in range(0, 300, 13)))
        (closed,), _ = await CampaignQueries(pool).rounds(tenant, campaign, None, 2)
        state = await pool.fetchval("SELECT saved FROM affinity.campaigns WHERE id = $1", campaign)
    finally:
        await pool.close()
    for place in range(width):
        exact = [Fraction(score) * 10**9 for score in scores[place::width]]
        assert closed.counts[place] == repetitions
        assert closed.sums[place] == sum(round(score) for score in exact)
        mapped = Fraction(closed.sums[place] + repetitions * 1000 * 10**9, 2000 * 10**9)
        nearest = float(mapped)  # rounded once
        assert state["state"]["sums"][place] == nearest
