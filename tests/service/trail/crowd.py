"""A run of the library, and a crowd of clients who are to get the same from a campaign."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np

from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import FOREVER, Live, RoundPolicy
from affinity_bandits.policies.state import state_to_json
from affinity_bandits.policies.tallies import add_score
from affinity_bandits.service.core import keys
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.judging import Judges, Naming
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.core.tells import ArmTell, ScoreTell, SlotTell, Tell
from affinity_bandits.service.problems import JudgesNotAsked
from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire import Finished, Wait
from affinity_bandits.wire.values import new_key

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LEASE_SECONDS = 5.0
ARMS = 4
HORIZON = 400
Score = Callable[[int, int, int], float]
"""From a round, a slot and its arm to a score on [0, 1], fixed in advance: multiples of 1/512,
which nine decimals hold on every scale of the tests, so that float sums and counts are exact."""
Seats = Callable[[int, int | None, Sequence[int]], tuple[int, ...]]
"""From a round, the arm that should have the fewest judges and the answers that each arm has so far
to those who judge, where the policy is told."""


@dataclass
class Run:
    """What a run comes to; the last round is the one that the horizon or nothing ends."""

    arms: list[tuple[int, ...]] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    sums: list[list[float]] = field(default_factory=list)  # of what the policy is given
    dropped: list[tuple[int, ...]] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)  # of the policy, after each closed round
    judges: list[tuple[int, ...] | None] = field(default_factory=list)  # where it is told of them


def library_run(policy: RoundPolicy, score: Score, seats: Seats | None = None) -> Run:
    """Let the library play to the horizon: one pull at a time, and a round at a time."""
    run, live, state, pulls = Run(), Live(policy, ARMS, HORIZON), policy.start(ARMS, HORIZON), 0
    nodes, each = np.array(policy.nodes), max(1, len(policy.nodes))
    answers = [0] * ARMS
    while pulls < HORIZON:
        if seats is not None:
            judges = seats(len(run.arms), live.fewest_seats, answers)
            live.meet(judges)
            state = policy.met(state, judges)
            run.judges.append(judges if len(live.candidates()) > 1 else None)
        planned = policy.kernels().plan(state)
        arms, repetitions = tuple(int(arm) for arm in planned.arms), int(planned.repetitions)
        counts, sums = [0] * len(arms), [0.0] * len(arms)
        seen = np.zeros(len(arms) * each)
        active = live.candidates()
        size = min(len(arms) * repetitions, HORIZON - pulls)
        for slot in range(size):
            place = slot % len(arms)
            assert live.ask() == arms[place]
            value = score(len(run.arms), slot, arms[place])
            live.tell(arms[place], value)
            counts[place] += 1
            sums[place] += value
            answers[arms[place]] += 1
            if policy.nodes:
                add_score(nodes, value, seen, place * each)
            else:
                seen[place] += value
        if size == len(arms) * repetitions:
            state = policy.absorbed(state, seen)
            run.states.append(state_to_json(state))
            assert run.states[-1] == state_to_json(live.state.inner)
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
        score: Score,
        counting: bool,
        last: int,
        seats: Seats | None = None,
    ) -> None:
        self.processes = processes
        self.tenant = tenant
        self.campaign = campaign
        self.scale = scale
        self.score = score
        self.counting = counting
        self.last = last  # the round from which nothing is lost: its slots come but once
        self.seats = seats
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
            if isinstance(given, Wait) and given.reason is not None:
                await self._name_judges(process, f"client {number}")
                continue
            if isinstance(given, Wait):
                self.now += timedelta(seconds=given.retry_after)
                continue
            assert isinstance(given, Lease)
            if given.round == self.last and self._wanted(given) == []:
                break
            if given.round < self.last and rng.random() < 0.2:
                forgotten.append(given)
                continue
            await self._answer(process, given, rng, ask.actor)
            if forgotten and rng.random() < 0.5:  # better late than never
                await self._answer(process, forgotten.pop(), rng, ask.actor)

    async def _name_judges(self, process: Campaigns, who: str) -> None:
        """Name those whom everybody else would name, too, and perhaps has."""
        assert self.seats is not None
        reading = CampaignQueries(process._pool)
        found = await reading.campaign(self.tenant, self.campaign)
        answers = (await reading.answers([found]))[self.campaign]
        if found.awaits_judges:
            counts = self.seats(found.round.number, found.round.fewest_seats, answers)
            naming = Naming(Judges(counts), found.round.number, new_key(), who)
            # That round, or the campaign, may be over by now.
            with suppress(InvalidInput, JudgesNotAsked):
                await process.name_judges(self.tenant, self.campaign, naming, now=self.now)

    def _wanted(self, lease: Lease) -> list[tuple[int, int]]:
        """Slots of a lease that lie before the horizon, which a last round may go beyond."""
        left = HORIZON - self.before.get(lease.round, 0)
        return [(slot, arm) for slot, arm in lease.slots if slot < left]

    async def _answer(self, process: Campaigns, lease: Lease, rng: random.Random, who: str) -> None:
        slots = self._wanted(lease)
        if rng.random() < 0.3:
            tell = self._totals(lease, slots, rng, who)
            await process.tell(self.tenant, self.campaign, [tell], now=self.now)
            return
        rng.shuffle(slots)
        tells: list[Tell] = []
        while slots:
            part = [slots.pop() for _ in range(min(len(slots), rng.randint(1, 12)))]
            tells.append(self._answers(lease, part, who))
            if rng.random() < 0.3:  # the same again, as if it were news
                tells.append(self._answers(lease, part, who))
            if rng.random() < 0.3:  # the same again, as a client that heard nothing repeats it
                tells.append(tells[-1])
        if rng.random() < 0.5:
            rng.shuffle(tells)
            batches = [tells]
        else:
            batches = [[one] for one in tells]
        for batch in batches:
            await process.tell(self.tenant, self.campaign, batch, now=self.now)

    def _units(self, lease: Lease, slot: int, arm: int) -> int:
        lowest, highest = self.scale
        return to_units(lowest + (highest - lowest) * self.score(lease.round, slot, arm))

    def _answers(self, lease: Lease, slots: list[tuple[int, int]], who: str) -> SlotTell:
        units = tuple(self._units(lease, slot, arm) for slot, arm in slots)
        return SlotTell(lease.number, new_key(), who, tuple(slot for slot, _ in slots), units)

    def _totals(
        self, lease: Lease, slots: list[tuple[int, int]], rng: random.Random, who: str
    ) -> Tell:
        """All slots at once: how often each score was given, or sums where those are enough."""
        parts = (lease.number, new_key(), who)
        scores = Counter((arm, self._units(lease, slot, arm)) for slot, arm in slots)
        told = [(arm, units * n, n) for (arm, units), n in scores.items()]
        if self.counting or rng.random() < 0.5:
            return ScoreTell(*parts, *zip(*told, strict=True))
        sums: dict[int, tuple[int, int]] = {}
        for arm, units, n in told:
            total, count = sums.get(arm, (0, 0))
            sums[arm] = (total + units, count + n)
        return ArmTell(*parts, tuple(sums), *zip(*sums.values(), strict=True))


async def served_run(
    dsn: str,
    policy: RoundPolicy,
    scale: tuple[int, int],
    score: Score,
    expected: Run,
    seats: Seats | None = None,
) -> Run:
    """Let seven clients of three processes play, and return what the campaign came to."""
    pools = [await connect(dsn, largest=2) for _ in range(3)]
    try:
        processes = [Campaigns(pool) for pool in pools]
        tenant = await keys.create_tenant(pools[0], "trajectory")
        about = CampaignSpec("crowd", tuple("abcd"), policy, HORIZON, LEASE_SECONDS, *scale)
        campaign = await processes[0].create(tenant, about, key=new_key(), actor="t", now=BEGIN)
        counting, last = bool(policy.nodes), len(expected.arms) - 1
        crowd = Crowd(processes, tenant, campaign, scale, score, counting, last, seats)
        crowd.before = {
            number: sum(sum(counts) for counts in expected.counts[:number])
            for number in range(len(expected.arms))
        }
        await asyncio.gather(*(crowd.client(number) for number in range(7)))
        assert (await verify(pools[0], campaign)).differences == ()
        found = await what_came_of_it(CampaignQueries(pools[0]), tenant, campaign, scale)
        if seats is None:
            found.judges = []
        return found
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
        run.judges.append(one.judges)
    events, _ = await reading.events(tenant, campaign, None, 10_000)
    ends = [one.data for one in events if one.kind == "close"]
    whole = [one for one in ends if one["size"] == one["repetitions"] * len(one["arms"])]
    run.states = [one["state"] for one in whole]
    now = await reading.campaign(tenant, campaign)
    if now.status != "exhausted":
        assert now.round.repetitions == FOREVER
        run.arms.append(now.round.arms)
        run.counts.append(list(now.round.answers))
        run.sums.append(mapped(now.round.sums, now.round.answers))
        run.dropped.append(())
        run.judges.append(now.round.judges)
    return run
