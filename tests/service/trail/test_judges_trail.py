"""Where a policy is told who judges, campaigns go as the library does; verify sees all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from affinity_bandits.noise import Bernoulli, Noise, Ordinal
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.service.core.judging import Judges, Naming
from affinity_bandits.service.core.tells import SlotTell
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire.values import new_key
from tests.support.one_campaign import OneCampaign, opened

from .crowd import ARMS, Seats, library_run, served_run
from .test_counted_scores import drawn_from

PANEL = HandicapElimination(bounded=True, failure=0.3, levels=5, judges="panel")
MEMBERS = HandicapElimination(bounded=True, failure=0.3, levels=5, in_flight=8, judges="members")


def panel_of(number: int, leader: int | None, answers: Sequence[int]) -> tuple[int, ...]:
    """Another one for each round; the leader has the fewest seats in two of three rounds."""
    seats = [2 + (number + arm) % 3 for arm in range(ARMS)]
    if leader is not None and number % 3:
        seats[leader] = number % 2
    return tuple(seats)


def committee_of(number: int, leader: int | None, answers: Sequence[int]) -> tuple[int, ...]:
    """Half of those who were chosen have joined, and one of another group leaves now and then."""
    return tuple(max(0, 6 + n // 2 - (number + arm) % 2) for arm, n in enumerate(answers))


@pytest.mark.nightly_but("ordinal")
@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(Bernoulli(), id="bernoulli"),
        pytest.param(Ordinal(), id="ordinal", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    ("policy", "seats"),
    [(PANEL, panel_of), (MEMBERS, committee_of)],
    ids=["panel", "members"],
)
def test_a_crowd_gets_what_the_library_gets(
    dsn: str, policy: HandicapElimination, seats: Seats, noise: Noise
) -> None:
    score = drawn_from(noise)
    expected = library_run(policy, score, seats)
    assert any(expected.dropped)  # or there is little to compare
    assert len(expected.arms) > 8
    found = asyncio.run(served_run(dsn, policy, (1, 5), score, expected, seats))
    assert found == expected  # to the bit


# What verify finds.


async def a_judged_campaign(one: OneCampaign) -> None:
    """Two rounds with a panel that stands, a third with one named ahead, a fourth that waits."""
    one.id = await one.create(PANEL, 1000, committee=(5, 3))
    await name(one, Judges((2, 2), 3, standing=True))
    for number in range(3):
        if number == 1:
            await name(one, Judges((1, 1), 1), 2)
        lease = await one.ask(100)
        slots = tuple(slot for slot, _ in lease.slots)
        raters = tuple((f"r{slot % 3}", slot % 2 or None) for slot in slots)
        units = tuple(10**9 * (slot % 2) for slot in slots)
        await one.tell_all([SlotTell(lease.number, new_key(), "t", slots, units, raters)])
    assert (await one.look()).awaits_judges
    assert await one.kinds() == [
        *("create", "judges", "ask", "tell", "close", "judges"),
        *("judges", "ask", "tell", "close", "judges", "ask", "tell", "close"),
    ]


async def name(one: OneCampaign, judges: Judges, number: int | None = None) -> None:
    naming = Naming(judges, number, new_key(), "t")
    await one.campaigns.name_judges(one.tenant, one.id, naming, now=one.now)


def changed(statement: str, count: int = 1) -> Callable[[OneCampaign], Awaitable[None]]:
    async def damage(one: OneCampaign) -> None:
        async with one.pool.acquire() as db, db.transaction():
            await db.execute("SET LOCAL session_replication_role = replica")  # no triggers
            done = await db.execute(statement, one.id)
            assert done.rpartition(" ")[2] == str(count)

    return damage


def in_event(number: int, path: str, value: str) -> Callable[[OneCampaign], Awaitable[None]]:
    return changed(
        "UPDATE affinity.events"
        f" SET detail = jsonb_set(detail::jsonb, '{{{path}}}', '{value}')::json"
        f" WHERE campaign = $1 AND number = {number}"
    )


def gone(number: int) -> Callable[[OneCampaign], Awaitable[None]]:
    """An event that is removed, and the numbers closed up behind it."""

    async def damage(one: OneCampaign) -> None:
        await changed(f"DELETE FROM affinity.events WHERE campaign = $1 AND number = {number}")(one)
        # Below 0 first: a number must not be taken when it is given, in whatever order rows come.
        for turned in (
            "UPDATE affinity.events SET number = 1 - number, lease = lease - 1"
            f" WHERE campaign = $1 AND number > {number}",
            "UPDATE affinity.events SET number = -number WHERE campaign = $1 AND number < 0",
        ):
            await changed(turned, 14 - number)(one)
        await one.pool.execute("UPDATE affinity.heads SET events = 13 WHERE campaign = $1", one.id)

    return damage


def twice(number: int) -> Callable[[OneCampaign], Awaitable[None]]:
    """An event that is there twice, and the numbers moved up behind it."""

    async def damage(one: OneCampaign) -> None:
        moved = 14 - number
        for step in (1000, -999):
            await changed(
                f"UPDATE affinity.events SET number = number + {step},"
                f" lease = lease + CASE WHEN lease > {number} THEN {step} ELSE 0 END"
                f" WHERE campaign = $1 AND number > {number}",
                moved,
            )(one)
        await changed(
            "INSERT INTO affinity.events"
            " (campaign, number, at, kind, actor, key, round, detail, chain)"
            f" SELECT campaign, {number + 1}, at, kind, actor, key, round, detail, chain"
            f" FROM affinity.events WHERE campaign = $1 AND number = {number}"
        )(one)
        await one.pool.execute("UPDATE affinity.heads SET events = 15 WHERE campaign = $1", one.id)

    return damage


DAMAGE: dict[str, tuple[Callable[[OneCampaign], Awaitable[None]], str]] = {
    "another seat": (in_event(2, "judges,0", "3"), "(close): state is"),
    "a seat less in a panel that stood": (in_event(6, "judges,1", "1"), "(judges): judges is"),
    "other outsiders": (in_event(2, "outsiders", "4"), "closed rounds is"),
    "a panel that stands no longer": (in_event(2, "standing", "false"), "by the service is True"),
    "another round": (in_event(7, "round", "3"), "round to come is 3, expected 2"),
    "named in another event": (in_event(11, "named", "2"), "named in is 2, expected 7"),
    "a longer round": (in_event(6, "opened,size", "900"), "(judges): opened is"),
    "no such number of seats": (in_event(2, "judges,0", "-1"), "these cannot judge"),
    "another leader": (in_event(5, "fewest_seats", "0"), "fewest seats is 0, expected 1"),
    "another committee": (
        in_event(1, "description,committee", "[5, 4]"),
        "committee is [5, 3], made as [5, 4]",
    ),
    "another rater": (in_event(4, "raters,0", '"r9"'), "what it says of raters is not what was"),
    "a rater of another group": (in_event(4, "rater_arms,0", "1"), "what it says of raters is not"),
    "a panel that was not named": (gone(2), "leased slots of a round that nobody was named to"),
    "a standing panel that was not seated": (gone(6), "(judges): by the service is False"),
    "a panel that was not named ahead": (gone(7), "(judges): judges is"),
    "a panel named twice": (twice(2), "(judges): opened is"),
    "a standing panel seated twice": (twice(6), "(judges): by the service is True"),
    "another panel in the table": (
        changed("UPDATE affinity.rounds SET judges[1] = 9 WHERE campaign = $1 AND number = 0"),
        "closed rounds is",
    ),
    "an open round that does not wait": (
        changed("UPDATE affinity.heads SET awaits_judges = false WHERE campaign = $1"),
        "waiting for judges is False, but True",
    ),
    "somebody named whom nobody named": (
        changed(
            "INSERT INTO affinity.named_judges"
            " (campaign, event, round, judges, outsiders, standing)"
            " VALUES ($1, 2, 3, '{1,1}', 0, true)"
        ),
        "judges named for rounds to come is",
    ),
    "another that should have the fewest": (
        changed("UPDATE affinity.rounds SET fewest_seats = 0 WHERE campaign = $1 AND number = 3"),
        "what is stored of the open round is",
    ),
}


@pytest.mark.as_owner
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(dsn: str, damage: str) -> None:
    planted, said = DAMAGE[damage]

    async def run() -> None:
        async with opened(dsn) as one:
            await a_judged_campaign(one)
            assert (await verify(one.pool, one.id)).differences == ()
            await planted(one)
            found = (await verify(one.pool, one.id)).differences
            assert any(said in text for text in found), found

    asyncio.run(run())
