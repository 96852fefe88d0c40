"""However many clients ask and tell at once, a campaign goes as the library's own run does."""

from __future__ import annotations

import asyncio
import random
from fractions import Fraction
from typing import Any

import pytest

from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HandicapElimination,
    PublishedSchedule,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
)
from affinity_bandits.service.core import keys
from affinity_bandits.service.core.campaign_spec import CampaignSpec
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.store.connection import connect
from affinity_bandits.wire.values import new_key

from .crowd import BEGIN, library_run, served_run

POLICIES: list[RoundPolicy] = [
    Elimination(PublishedSchedule(-4.0)),
    Elimination(PublishedSchedule(-4.0), discard_first=False),
    HandicapElimination(head_start=3, sigma=0.1, in_flight=30),
    HandicapElimination(head_start=3, sigma=0.1, failure=0.2, in_flight=30),
    HandicapElimination(head_start=3, bounded=True, failure=0.2, in_flight=30, levels=5),
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


@pytest.mark.slow
@pytest.mark.nightly_but("1 to 5", "-0 to 1]")
@pytest.mark.parametrize(
    "scale",
    [
        pytest.param(
            scale, marks=[pytest.mark.slow] * (scale != (0, 1)), id="{} to {}".format(*scale)
        )
        for scale in SCALES
    ],
)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_crowd_gets_what_the_library_gets(
    dsn: str, policy: RoundPolicy, scale: tuple[int, int]
) -> None:
    expected = library_run(policy, feedback)
    assert len(expected.arms) > 1 or isinstance(policy, Uniform)  # or there is little to compare
    found = asyncio.run(served_run(dsn, policy, scale, feedback, expected))
    assert found == expected  # to the bit


@pytest.mark.slow
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
