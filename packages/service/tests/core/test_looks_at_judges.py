"""Looks at who rated and who judges: counts by rater, committees told, and what is found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from affinity_bandits.policies import ExploreThenCommit, MembersElimination
from affinity_bandits_client.messages import Finding
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.trail.verify import verify
from packages.service.tests.core.test_health_checks import found
from tests.support.one_campaign import LEASE_SECONDS, ONE, OneCampaign, opened

LONG = ExploreThenCommit(300)
MEMBERS = MembersElimination(bounded=True, failure=0.05, in_flight=8)


async def rated(one: OneCampaign, raters: Sequence[str | None]) -> None:
    """Ask for as many slots as there are raters, and tell what each gave."""
    lease = await one.ask(len(raters))
    slots = tuple(slot for slot, _ in lease.slots)
    told = tuple((rater, None) for rater in raters)
    units = tuple(ONE // 5 * (slot % 5 + 1) for slot in slots)
    await one.tell_all([SlotTell(lease.number, new_key(), "t", slots, units, told)])


async def counts(one: OneCampaign) -> list[tuple[str, int]]:
    rows = await one.pool.fetch(
        "SELECT rater, scores FROM affinity.raters WHERE campaign = $1 ORDER BY first, place",
        one.id,
    )
    return [(row["rater"], row["scores"]) for row in rows]


@pytest.mark.campaign(LONG, 10_000)
async def test_scores_are_counted_by_rater_where_they_count(one: OneCampaign) -> None:
    await rated(one, ["bo", "ana", None, "ana"])
    await rated(one, ["cy", "bo"])
    assert await counts(one) == [("bo", 2), ("ana", 2), ("cy", 1)]
    # A tell of which a part is late, or a duplicate, is left out whole.
    lease = await one.ask(2)
    (first, _), (second, _) = lease.slots
    await one.tell(lease, {first: 0.5})
    told = (lease.number, new_key(), "t", (first, second), (ONE, ONE))
    await one.tell_all([SlotTell(*told, (("dee", None), ("dee", None)))])
    await one.tell(await one.ask(3), {8: 1.0, 9: 1.0, 10: 1.0})  # nobody says who
    assert await counts(one) == [("bo", 2), ("ana", 2), ("cy", 1)]


@pytest.mark.parametrize("planted", [True, False], ids=["planted", "control"])
@pytest.mark.campaign(LONG, 10_000)
async def test_one_rater_who_gives_nearly_all_scores_is_found(
    one: OneCampaign, planted: bool
) -> None:
    await rated(one, ["bo", "cy"])
    for turn in range(8):
        await rated(one, ["ana"] * 10 if planted else [f"r{(turn + i) % 3}" for i in range(10)])
    now = await found(one)
    if not planted:
        assert now == {}
        return
    assert now["rater"].severity == "note"
    assert now["rater"].seen == (
        "Rater “ana” gave 80 of the 82 scores that say who gave them (98%)."
    )
    # Once others rate as well it is over.
    for turn in range(3):
        await rated(one, [f"r{(turn + i) % 5}" for i in range(15)])
    assert await found(one) == {}


async def round_of(one: OneCampaign, members: Sequence[int]) -> list[int]:
    """Say who is in the committee and have all of the round answered; return answers of each."""
    naming = Naming(JudgeCounts(tuple(members)), None, new_key(), "t")
    await one.campaigns.name_judges(one.tenant, one.id, naming, now=one.now)
    round_ = (await one.look()).round
    done = 0
    while done < round_.size:
        lease = await one.ask(8)
        await one.tell(lease, {slot: float((slot + slot // 2) % 2) for slot, _ in lease.slots})
        done += len(lease.slots)
    each = round_.size // len(round_.arms)
    return [each * (arm in round_.arms) for arm in "ab"]


def judged(dsn: str, beyond: Sequence[tuple[int, int]]) -> list[dict[str, Finding]]:
    """What is found after each round, where all join who are chosen, and so many more or fewer."""

    async def run() -> list[dict[str, Finding]]:
        async with opened(dsn) as one:
            one.id = await one.create(MEMBERS, 10_000)
            members, seen = [200, 200], [await found(one)]
            for more in beyond:
                chosen = await round_of(one, members)
                one.wait(LEASE_SECONDS)
                seen.append(await found(one))
                members = [sum(all_) for all_ in zip(members, chosen, more, strict=True)]
            assert (await verify(one.pool, one.id)).differences == ()
            return seen

    return asyncio.run(run())


def test_a_committee_that_grows_by_more_than_were_chosen_is_found(dsn: str) -> None:
    # The first round has 4 of each. Of b, 3 join later: one in time for round 3, and then five.
    beyond = [(0, -3), (0, 1), (0, 5), (0, 0), (0, 0)]
    *before, noted, warned, after = judged(dsn, beyond)
    assert before == [{}, {}, {}]
    assert (noted["committee"].severity, noted["committee"].arms) == ("note", ("b",))
    assert "before round 3 has grown by more than were chosen" in noted["committee"].seen
    assert warned["committee"].severity == "warning"
    assert warned["committee"].seen.startswith(
        "The committee that was told before round 4 has more members than can have joined"
    )
    assert after["committee"].seen == warned["committee"].seen
    assert after["committee"].since == noted["committee"].since


@pytest.mark.slow
def test_control_a_committee_that_those_chosen_join_is_not_found(dsn: str) -> None:
    assert not any(judged(dsn, [(0, -3), (0, 0), (-1, 0), (0, -2), (0, 0)]))
