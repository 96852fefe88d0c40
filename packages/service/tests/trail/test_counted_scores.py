"""Where scores are counted, a campaign goes as the library's own run, and verify sees all."""

from __future__ import annotations

import asyncio
import random

import numpy as np
import pytest

from affinity_bandits.model.noise import Bernoulli, Beta, Empirical, Noise, Ordinal
from affinity_bandits.policies import HeadStartElimination
from affinity_bandits_service.trail.verify import verify
from tests.support.one_campaign import OneCampaign

from .crowd import ARMS, Score, library_run, served_run
from .exported import change

MEANS = (0.2, 0.85, 0.35, 0.5)
MARKS = [12.0, 30.0, 52.0, 58.0, 58.0, 61.5, 70.0, 70.0, 70.0, 77.0, 83.0, 91.0]
NOISES = [Bernoulli(), Ordinal(), Beta(6.0), Empirical(MARKS, 0.0, 100.0)]
SCALES = [(0, 1), (1, 5)]


def drawn_from(noise: Noise) -> Score:
    """Scores of that noise, the same for a slot whoever asks; the nearest multiples of 1/512."""
    laws = noise.finite_laws(MEANS)

    def score(number: int, slot: int, arm: int) -> float:
        u = random.Random(f"{noise} {number} {slot}").random()
        if isinstance(noise, Bernoulli):
            return float(u < MEANS[arm])
        if len(laws.values):
            place = np.searchsorted(laws.cumulative[arm], u, side="right")
            value = laws.values[min(int(place), len(laws.values) - 1)]
        else:
            value = noise.kernel(noise.parameters, MEANS[arm], u)
        return round(float(value) * 512) / 512

    return score


@pytest.mark.nightly_but("-(1, 5)")
@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_scores_of_every_noise_give_what_the_library_makes_of_them(
    dsn: str, noise: Noise, scale: tuple[int, int]
) -> None:
    policy = HeadStartElimination(initial_lead=2, bounded=True, failure=0.3, in_flight=25)
    score = drawn_from(noise)
    expected = library_run(policy, score)
    assert len(expected.candidates) < ARMS  # or there is little to compare
    found = asyncio.run(served_run(dsn, policy, scale, score, expected))
    assert found == expected.complete  # to the bit


COUNTING = HeadStartElimination(initial_lead=0, bounded=True, in_flight=60)


async def test_the_largest_numbers_are_exact(one: OneCampaign) -> None:
    policy = HeadStartElimination(initial_lead=0, bounded=True, in_flight=10_000)
    one.id = await one.create(policy, 10**6, lowest=-1e5, highest=1e5)
    lease = await one.ask(10_000)
    await one.tell(lease, {(0, 99999.999999999): 5000, (1, -99999.999999999): 5000})
    closed = "SELECT detail FROM affinity.events WHERE campaign = $1 AND kind = 'close'"
    end = await one.pool.fetchval(closed, one.id)
    assert end["sums"] == [f"{sign}499999999999995000" for sign in ("", "-")]
    high, low = ([int(tally) for tally in own] for own in end["tallies"])
    assert high == low[::-1]
    assert high[-2:] == [5000 * 16, 5000 * (2 * 10**14 - 16)]  # a unit below the highest
    assert not any(high[:-2])
    assert (await verify(one.pool, one.id)).differences == ()


# What verify finds.

SUMS = "UPDATE affinity.sums SET tallies = {} WHERE campaign = $1 AND place = 0"
CLOSE = "UPDATE affinity.events SET detail = ({})::json WHERE campaign = $1 AND kind = 'close'"
TELL = "UPDATE affinity.events SET {} WHERE campaign = $1 AND number = 3"
MORE = "tallies[:2] || tallies[3] + 1 || tallies[4:]"
DAMAGE = {
    "a tally off by one": (SUMS.format(MORE), "sums of the open round is"),
    "tallies that are gone": (SUMS.format("NULL"), "sums of the open round is"),
    "other nodes": (
        "UPDATE affinity.heads SET nodes = 6 WHERE campaign = $1",
        "nodes is 6, but 17",
    ),
    "a tally in the event of an end": (
        CLOSE.format("jsonb_set(detail::jsonb, '{tallies,1,2}', '\"1\"')"),
        "(close): tallies is",
    ),
    "an event of an end without tallies": (
        CLOSE.format("detail::jsonb - 'tallies'"),
        "(close): tallies is None",
    ),
    "another score with the same sum": (
        TELL.format("units[1] = units[1] + 1000000000, units[3] = units[3] - 1000000000"),
        "(close): tallies is",
    ),
    "a score out of range": (
        TELL.format("units[1] = 50000000000"),
        "(tell): a score of 50000000000 units is out of range",
    ),
    "a total of no score": (
        "UPDATE affinity.events SET units[1] = units[1] + 1 WHERE campaign = $1"
        " AND counts IS NOT NULL",
        "do not have one score",
    ),
}


@pytest.mark.as_owner
@pytest.mark.parametrize("damage", DAMAGE)
async def test_damage_is_found(one: OneCampaign, damage: str) -> None:
    planted, said = DAMAGE[damage]
    one.id = await one.create(COUNTING, 1000, lowest=-4, highest=5)
    first = await one.ask(60)
    await one.tell(first, {slot: slot % 3 for slot, _ in first.slots})
    second = await one.ask(8)
    arm = "ab".index(second.arms[0])
    await one.tell(second, {(arm, 1): 2, (arm, -4): 1})
    assert (await verify(one.pool, one.id)).differences == ()
    await change(one, planted)
    found = (await verify(one.pool, one.id)).differences
    assert any(said in text for text in found), found


async def test_tallies_of_other_answers_than_the_sums_close_no_round(one: OneCampaign) -> None:
    one.id = await one.create(COUNTING, 1000, lowest=-4, highest=5)
    lease = await one.ask(59)
    await one.tell(lease, {slot: 1 for slot, _ in lease.slots})
    await change(one, SUMS.format(MORE))
    assert (await one.tell(await one.ask(1), {59: 1})).counted == 1
    found = (await one.look()).attention
    assert found is not None
    assert found.kind == "record"
    await change(one, SUMS.format(MORE.replace("+", "-")))
    one.wait(60)
    assert await one.campaigns.closer.close_due(now=one.now) >= 1
    assert (await one.look()).attention is None
