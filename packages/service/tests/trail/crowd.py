"""A run of the library, and a crowd of clients who are to get the same from a campaign."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.contracts import add_score
from affinity_bandits.policies.state import state_to_json
from affinity_bandits_client.messages import Finished, Lease, Wait
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.scores import to_units
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import AnyTell, ScoreTell, SlotTell
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)
LEASE_SECONDS = 5.0
ARMS = 4
HORIZON = 400
Score = Callable[[int, int, int], float]
"""From a round, a slot and its arm to a score on [0, 1], fixed in advance: multiples of 1/512,
which nine decimals hold on every scale of the tests, so that float sums and counts are exact."""


class Run(NamedTuple):
    """The arms of each complete round and the policy's state after it.

    The sizes are of all rounds; the horizon may cut the last.
    """

    complete: list[tuple[list[int], Any]]
    sizes: list[int]
    candidates: list[int]


def library_run(policy: RoundPolicy, score: Score) -> Run:
    """Let the library play to the horizon."""
    run, state = Run([], [], []), policy.start(ARMS, HORIZON)
    kernels, nodes, each = policy.kernels(), np.array(policy.nodes), max(1, len(policy.nodes))
    while (left := HORIZON - sum(run.sizes)) > 0:
        planned = kernels.plan(state)
        arms = [int(arm) for arm in planned.arms]
        whole = len(arms) * int(planned.repetitions)
        seen = np.zeros(len(arms) * each)
        for slot in range(min(whole, left)):
            place = slot % len(arms)
            value = score(len(run.sizes), slot, arms[place])
            if policy.nodes:
                add_score(nodes, value, seen, place * each)
            else:
                seen[place] += value
        run.sizes.append(min(whole, left))
        if whole <= left:
            state = policy.absorbed(state, seen)
            run.complete.append((arms, state_to_json(state)))
    run.candidates.extend(arm for arm in range(ARMS) if kernels.candidate(state, arm))
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
        expected: Run,
    ) -> None:
        self.processes, self.tenant, self.campaign = processes, tenant, campaign
        self.scale, self.score = scale, score
        self.last = len(expected.sizes) - 1  # nothing is lost of it: its slots come but once
        self.left = expected.sizes[-1]
        self.now = BEGIN

    async def client(self, number: int, counting: bool) -> None:
        rng, who = random.Random(f"{self.scale}/{number}"), f"client {number}"
        process = self.processes[number % len(self.processes)]
        forgotten: list[Lease] = []
        while True:
            ask = SlotAsk(rng.randint(1, 25), new_key(), who)
            (given,) = await process.ask(self.tenant, self.campaign, [ask], now=self.now)
            if isinstance(given, Wait):
                self.now += timedelta(seconds=given.retry_after)
                continue
            if isinstance(given, Finished) or not self._wanted(given):
                break
            if given.round < self.last and rng.random() < 0.2:
                forgotten.append(given)
                continue
            await self._answer(process, given, rng, who, counting)
            if forgotten and rng.random() < 0.5:  # better late than never
                await self._answer(process, forgotten.pop(), rng, who, counting)

    def _wanted(self, lease: Lease) -> list[tuple[int, int, int]]:
        """Slots of a lease before the horizon, each with its arm and its score in units."""
        lowest, highest = self.scale
        return [
            (slot, arm, to_units(lowest + (highest - lowest) * self.score(lease.round, slot, arm)))
            for slot, name in lease.slots
            for arm in ("abcd".index(name),)
            if lease.round < self.last or slot < self.left
        ]

    async def _answer(
        self, process: Campaigns, lease: Lease, rng: random.Random, who: str, counting: bool
    ) -> None:
        wanted = self._wanted(lease)
        tells: list[AnyTell] = []
        if rng.random() < 0.3:
            tells.append(totals(lease, wanted, who))
            wanted = []
        rng.shuffle(wanted)
        while wanted:
            part = [wanted.pop() for _ in range(min(len(wanted), rng.randint(1, 12)))]
            slots, _, units = zip(*part, strict=True)
            again = 1 + (rng.random() < 0.3)  # the same again, as if it were news
            tells += [SlotTell(lease.number, new_key(), who, slots, units) for _ in range(again)]
            if rng.random() < 0.3:  # the same again, as a client that heard nothing repeats it
                tells.append(tells[-1])
        batches = [tells] if rng.random() < 0.5 else [[one] for one in tells]
        for batch in batches:
            await process.tell(self.tenant, self.campaign, batch, now=self.now)


def totals(lease: Lease, wanted: list[tuple[int, int, int]], who: str) -> ScoreTell:
    """How often each score was given to each arm."""
    scores = Counter((arm, units) for _, arm, units in wanted)
    told = [(arm, units * n, n) for (arm, units), n in scores.items()]
    return ScoreTell(lease.number, new_key(), who, *zip(*told, strict=True))


async def served_run(
    dsn: str,
    policy: RoundPolicy,
    scale: tuple[int, int],
    score: Score,
    expected: Run,
) -> list[tuple[list[int], Any]]:
    """Let seven clients of three processes play; return the complete rounds, as `Run` has them."""
    async with AsyncExitStack() as stack:
        pools = [await connect(dsn, largest=2) for _ in range(3)]
        for pool in pools:
            stack.push_async_callback(pool.close)
        processes = [Campaigns(pool) for pool in pools]
        tenant = await keys.create_tenant(pools[0], "trajectory")
        about = CampaignSpec(
            "crowd", tuple("abcd"), policy, HORIZON, LEASE_SECONDS, *scale, declaration=DECLARED
        )
        campaign = await processes[0].create(tenant, about, key=new_key(), actor="t", now=BEGIN)
        crowd = Crowd(processes, tenant, campaign, scale, score, expected)
        await asyncio.gather(*(crowd.client(number, bool(policy.nodes)) for number in range(7)))
        assert (await verify(pools[0], campaign)).differences == ()
        return [tuple(row) for row in await pools[0].fetch(COMPLETE, campaign)]


COMPLETE = """
SELECT r.arms, e.detail -> 'state' FROM affinity.events AS e
JOIN affinity.rounds AS r ON r.campaign = e.campaign AND r.number = e.round
WHERE e.campaign = $1 AND e.kind = 'close' AND r.size = r.repetitions::numeric * cardinality(r.arms)
ORDER BY e.number
"""
