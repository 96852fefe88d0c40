"""Where scores are counted, a campaign goes as the library's own run, and verify sees all."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from affinity_bandits.noise import Bernoulli, Beta, Empirical, Noise, Ordinal
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.service.core.scores import to_units
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire.values import new_key
from tests.support.one_campaign import OneCampaign, on_a_campaign, opened

from .crowd import Score, library_run, served_run

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


@pytest.mark.nightly_but("-5-(1, 5)")
@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("levels", [5, 17])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_scores_of_every_noise_give_what_the_library_makes_of_them(
    dsn: str, noise: Noise, levels: int, scale: tuple[int, int]
) -> None:
    policy = HandicapElimination(
        head_start=2, bounded=True, failure=0.3, in_flight=25, levels=levels
    )
    score = drawn_from(noise)
    expected = library_run(policy, score)
    assert any(expected.dropped)  # or there is little to compare
    assert asyncio.run(served_run(dsn, policy, scale, score, expected)) == expected  # to the bit


COUNTING = HandicapElimination(head_start=0, bounded=True, in_flight=60, levels=7)
WIDTH = 9


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_any_floats_are_exact_and_do_not_depend_on_the_order(dsn: str, seed: int) -> None:
    values = random.Random(7)  # the same whatever the order
    scores = [values.uniform(-4, 5) for _ in range(60)]
    scores[:6] = [-4.0, 5.0, -2.5, 1e-9, -1e-9, 4.999999999]

    async def test(one: OneCampaign) -> None:
        lease = await one.ask(60)
        order = list(range(60))
        random.Random(seed).shuffle(order)
        for at in range(0, 60, 13):
            slots = tuple(order[at : at + 13])
            units = tuple(to_units(scores[slot]) for slot in slots)
            await one.tell_all([SlotTell(lease.number, new_key(), "t", slots, units)])
        (end,) = await ends_of(one)
        for place, tallies in enumerate(end["tallies"]):
            exact = [Fraction(0)] * 7
            for score in scores[place::2]:
                way = Fraction(to_units(score) + 4 * 10**9, WIDTH * 10**9) * 6
                for node in range(7):
                    exact[node] += max(Fraction(0), 1 - abs(way - node))
            assert [Fraction(int(tally), WIDTH * 10**9) for tally in tallies] == exact
            assert sum(exact) == 30

    on_a_campaign(dsn, test, COUNTING, lowest=-4, highest=5)


def test_the_largest_numbers_are_exact(dsn: str) -> None:
    policy = HandicapElimination(head_start=0, bounded=True, in_flight=10_000, levels=100)
    width = 2 * 10**14

    async def test(one: OneCampaign) -> None:
        lease = await one.ask(10_000)
        await one.tell(lease, {(0, 99999.999999999): 5000, (1, -99999.999999999): 5000})
        (end,) = await ends_of(one)
        assert end["sums"] == [f"{sign}499999999999995000" for sign in ("", "-")]
        high, low = ([int(tally) for tally in own] for own in end["tallies"])
        assert high == low[::-1]
        assert high[-2:] == [5000 * 99, 5000 * (width - 99)]  # a unit below the highest
        assert not any(high[:-2])

    on_a_campaign(dsn, test, policy, horizon=10**6, lowest=-1e5, highest=1e5)


async def ends_of(one: OneCampaign) -> list[dict[str, Any]]:
    rows = await one.pool.fetch(
        "SELECT detail FROM affinity.events WHERE campaign = $1 AND kind = 'close' ORDER BY number",
        one.id,
    )
    return [row["detail"] for row in rows]


# What verify finds.


async def more_of_a_tally(one: OneCampaign) -> None:
    await one.pool.execute(
        "UPDATE affinity.sums SET tallies[3] = tallies[3] + 1 WHERE campaign = $1 AND place = 0",
        one.id,
    )


async def no_tallies(one: OneCampaign) -> None:
    await one.pool.execute("UPDATE affinity.sums SET tallies = NULL WHERE campaign = $1", one.id)


async def other_nodes(one: OneCampaign) -> None:
    await one.pool.execute("UPDATE affinity.heads SET nodes = 6 WHERE campaign = $1", one.id)


def in_the_trail(change: str) -> Callable[[OneCampaign], Any]:
    async def damage(one: OneCampaign) -> None:
        async with one.pool.acquire() as db, db.transaction():
            await db.execute("SET LOCAL session_replication_role = replica")  # no triggers
            assert await db.execute(change, one.id) == "UPDATE 1"

    return damage


DAMAGE: dict[str, tuple[Callable[[OneCampaign], Any], str]] = {
    "a tally off by one": (more_of_a_tally, "sums of the open round is"),
    "tallies that are gone": (no_tallies, "sums of the open round is"),
    "other nodes": (other_nodes, "nodes is 6, but 7"),
    "a tally in the event of an end": (
        in_the_trail(
            "UPDATE affinity.events SET detail = jsonb_set(detail::jsonb, '{tallies,1,2}',"
            " '\"1\"')::json WHERE campaign = $1 AND kind = 'close'"
        ),
        "(close): tallies is",
    ),
    "an event of an end without tallies": (
        in_the_trail(
            "UPDATE affinity.events SET detail = (detail::jsonb - 'tallies')::json"
            " WHERE campaign = $1 AND kind = 'close'"
        ),
        "(close): tallies is None",
    ),
    "another score with the same sum": (
        in_the_trail(
            "UPDATE affinity.events SET units[1] = units[1] + 1000000000,"
            " units[3] = units[3] - 1000000000 WHERE campaign = $1 AND number = 3"
        ),
        "(close): tallies is",
    ),
    "a score out of range": (
        in_the_trail(
            "UPDATE affinity.events SET units[1] = 50000000000 WHERE campaign = $1 AND number = 3"
        ),
        "(tell): a score of 50000000000 units is out of range",
    ),
    "a total of no score": (
        in_the_trail(
            "UPDATE affinity.events SET units[1] = units[1] + 1 WHERE campaign = $1"
            " AND counts IS NOT NULL"
        ),
        "do not have one score",
    ),
}


@pytest.mark.as_owner
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(dsn: str, damage: str) -> None:
    planted, said = DAMAGE[damage]

    async def run() -> None:
        async with opened(dsn) as one:
            one.id = await one.create(COUNTING, 1000, lowest=-4, highest=5)
            first = await one.ask(60)
            await one.tell(first, {slot: slot % 3 for slot, _ in first.slots})
            second = await one.ask(8)
            arm = second.arms[0]
            await one.tell(second, {(arm, 1): 2, (arm, -4): 1})
            assert (await verify(one.pool, one.id)).differences == ()
            await planted(one)
            found = (await verify(one.pool, one.id)).differences
            assert any(said in text for text in found), found

    asyncio.run(run())


def test_tallies_of_other_answers_than_the_sums_close_no_round(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        lease = await one.ask(59)
        await one.tell(lease, {slot: 1 for slot, _ in lease.slots})
        await more_of_a_tally(one)
        last = await one.ask(1)
        assert (await one.tell(last, {59: 1})).counted == 1
        found = (await one.look()).attention
        assert found is not None
        assert found.kind == "record"
        await one.pool.execute(
            "UPDATE affinity.sums SET tallies[3] = tallies[3] - 1"
            " WHERE campaign = $1 AND place = 0",
            one.id,
        )
        assert await one.campaigns.close_due(at_once=True) >= 1
        assert (await one.look()).attention is None

    on_a_campaign(dsn, test, COUNTING, lowest=-4, highest=5)
