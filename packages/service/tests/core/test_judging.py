"""Who judges a round: named once, by whoever comes first, and kept as long as that is fair."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from typing import Any

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import (
    Elimination,
    MembersElimination,
    PanelElimination,
    RecusalElimination,
)
from affinity_bandits_client.messages import Finished, Lease, Wait
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service import problems
from affinity_bandits_service.core.campaigns import Campaigns
from affinity_bandits_service.core.judging import JudgeCounts, Naming, in_order
from affinity_bandits_service.core.queries import CampaignQueries
from tests.support.one_campaign import OneCampaign
from tests.support.refusals import refusal

PANEL = PanelElimination(bounded=True, failure=0.05)
MEMBERS = MembersElimination(bounded=True, failure=0.05, in_flight=8)


async def name(
    one: OneCampaign,
    counts: tuple[int, ...],
    number: int | None = None,
    *,
    key: str | None = None,
    by: Campaigns | None = None,
    **more: Any,
) -> None:
    naming = Naming(JudgeCounts(counts, **more), number, key or new_key(), "t")
    await (by or one.campaigns).name_judges(one.tenant, one.id, naming, now=one.now)


async def panel(one: OneCampaign) -> tuple[int, ...] | None:
    found = (await one.look()).round.judged_by
    return None if found is None else tuple(found.judges.values())


async def play(one: OneCampaign, better: int = 0) -> None:
    """Answer the open round so that one arm scores 1 and the other 0."""
    lease = await one.ask(1000)
    assert isinstance(lease, Lease), lease
    await one.tell(lease, {slot: float(arm == "ab"[better]) for slot, arm in lease.slots})


@pytest.mark.campaign(PANEL)
async def test_a_round_has_no_slots_until_its_panel_is_named(one: OneCampaign) -> None:
    for _ in range(2):
        wait = await one.ask(3)
        assert isinstance(wait, Wait)
        assert wait.reason == "the panel of round 0 is not named yet; any panel will do"
        assert wait.outstanding == 0
    before = await one.look()
    assert (before.awaits_judges, before.round.size, before.status) == (True, 0, "open")
    await name(one, (3, 1), outsiders=2)
    after = await one.look()
    assert (after.awaits_judges, await panel(one)) == (False, (3, 1))
    assert after.round.judged_by is not None
    assert after.round.judged_by.outsiders == 2
    assert isinstance(await one.ask(3), Lease)
    assert await one.kinds() == ["create", "judges", "ask"]


@pytest.mark.slow
@pytest.mark.campaign(PANEL, horizon=1000)
async def test_a_panel_stands_until_its_leader_would_have_more_seats_than_another(
    one: OneCampaign,
) -> None:
    await name(one, (1, 2), standing=True)
    await play(one)  # a leads, and has the fewest seats
    for _ in range(3):
        await play(one)
    while not (await one.look()).awaits_judges:
        await play(one, better=1)
    now = await one.look()
    assert now.fewest_seats == "b"
    assert now.named_judges is not None
    assert now.named_judges.judges == {"a": 1, "b": 2}
    assert (await one.ask(1)).reason.endswith(", and the panel that was named gives it more")
    # Whoever runs the campaign may say so all the same; it is theirs for that round alone.
    await name(one, (1, 2), standing=True)
    await play(one, better=1)
    assert (await one.look()).awaits_judges
    await name(one, (2, 2), standing=True)
    await play(one, better=1)
    assert not (await one.look()).awaits_judges


@pytest.mark.campaign(MEMBERS, horizon=1000)
@pytest.mark.parametrize(("later", "arms"), [(30, {"a"}), (0, {"b"})])
async def test_people_on_their_way_are_told_when_a_round_opens_and_put_on_record(
    one: OneCampaign, later: int, arms: set[str]
) -> None:
    """Nobody is chosen again for members who are coming; untold, somebody is."""
    await name(one, (9, 5))
    await play(one)  # a leads, and has more members
    await name(one, (9, 5), coming=(0, 0, 0, later) if later else ())
    lease = await one.ask(1000)
    assert {arm for _, arm in lease.slots} == arms  # if b will have many more, a may have some
    with pytest.raises(InvalidInput, match="soon and later must be told when a round opens"):
        await name(one, (9, 6), 2, coming=(0, 0, 0, 1))
    events, _ = await CampaignQueries(one.pool).events(one.tenant, one.id, None, 1000)
    named = [event.data.get("coming") for event in events if event.kind == "judges"]
    assert named == [None, [0, 0, 0, later] if later else None]


@pytest.mark.parametrize(
    ("wanted", "left", "counts", "fair"),
    [
        (None, (0, 1, 2), (9, 0, 0), True),
        (0, (0, 1, 2), (2, 2, 2), True),
        (0, (0, 1, 2), (2, 3, 1), False),
        (0, (0, 1), (2, 3, 1), True),  # who was dropped does not count
        (2, (1, 2), (0, 1, 1), True),
        (2, (1, 2), (0, 0, 1), False),
    ],
)
def test_seats_are_in_order_where_the_leader_has_no_more_than_any_other(
    wanted: int | None, left: tuple[int, ...], counts: tuple[int, ...], fair: bool
) -> None:
    assert in_order(wanted, left, JudgeCounts(counts)) is fair


@pytest.mark.campaign(PANEL)
async def test_the_same_again_is_fine_and_another_is_refused_once_the_round_is_open(
    one: OneCampaign,
) -> None:
    await name(one, (1, 2), key="first")
    for number in (None, 0):
        await name(one, (1, 2), number)
        for other in ({"counts": (2, 2)}, {"outsiders": 1}, {"standing": True}):
            with refusal(problems.JUDGES_SETTLED, match=r"of round 0 is settled, .* = 1"):
                await name(one, **{"counts": (1, 2), "number": number, **other})
    await name(one, (1, 2), key="first")  # whatever has happened since
    with refusal(problems.KEY_REUSED):
        await name(one, (1, 1), key="first")
    with pytest.raises(InvalidInput, match=r"round must be left out, or the one to come \(1\)"):
        await name(one, (1, 2), 2)
    assert await one.kinds() == ["create", "judges"]


@pytest.mark.campaign(RecusalElimination(bounded=True))
async def test_only_a_campaign_that_asks_is_told(one: OneCampaign) -> None:
    for id_ in (one.id, await one.create(Elimination(), 100)):
        one.id = id_
        with refusal(problems.JUDGES_NOT_ASKED, match="its policy is not told who judges"):
            await name(one, (1, 1))
        assert isinstance(await one.ask(1), Lease)


@pytest.mark.campaign(PANEL)
async def test_a_campaign_that_is_over_or_anothers_is_not_told(one: OneCampaign) -> None:
    await one.campaigns.stop(one.tenant, one.id, actor="t", key=new_key(), now=one.now)
    assert await one.ask(1) == Finished(status="stopped")
    with refusal(problems.JUDGES_NOT_ASKED, match="it is stopped"):
        await name(one, (1, 1))
    one.tenant += 1_000_000
    with pytest.raises(problems.NoSuchCampaign):
        await name(one, (1, 1))


@pytest.mark.campaign(PANEL)
async def test_a_committee_opens_the_first_round_and_is_told_before_each_other(
    one: OneCampaign,
) -> None:
    one.id = await one.create(MEMBERS, 1000, committee=(4, 2))
    assert await one.kinds() == ["create", "judges"]
    assert await panel(one) == (4, 2)
    await play(one)
    wait = await one.ask(1)
    assert wait.reason == "nobody has said yet who is in the committee before round 1"
    await name(one, (5, 2))
    assert isinstance(await one.ask(1), Lease)


@pytest.mark.parametrize("wrong", [{"counts": (-1, 2)}, {"counts": (1, 10**13)}, {"outsiders": -1}])
def test_numbers_of_judges_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        JudgeCounts(**{"counts": (1, 2), **wrong})


# Two servers, and servers that die.


@pytest.mark.campaign(PANEL)
async def test_of_two_servers_that_name_one_panel_one_opens_the_round(one: OneCampaign) -> None:
    for number in range(5):
        both = (one.campaigns, one.other_process)
        await asyncio.gather(*(name(one, (1, 1), number, by=process) for process in both))
        await play(one)
    assert (await one.kinds()).count("judges") == 5


@pytest.mark.campaign(PANEL)
async def test_whoever_names_the_next_panel_closes_what_a_dead_process_left(
    one: OneCampaign,
) -> None:
    await name(one, (1, 1))
    await one.complete_but_do_not_close()
    await name(one, (2, 2))
    assert await panel(one) == (2, 2)
    assert (await one.kinds())[-2:] == ["close", "judges"]


DIES = """
import asyncio, os, signal, sys
from uuid import UUID
from affinity_bandits_service.core import judging
from affinity_bandits_service.core.campaigns import Campaigns
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.connection import sql

dsn, tenant, campaign, before = sys.argv[1:]
query = getattr(sql, before)

class Dying:
    def __init__(self, db):
        self._db = db
    def __getattr__(self, name):
        return getattr(self._db, name)
    async def execute(self, text, *arguments):
        if text == query:
            os.kill(os.getpid(), signal.SIGKILL)
        return await self._db.execute(text, *arguments)

async def main():
    pool = await connect(dsn)
    async with pool.acquire() as db, db.transaction():
        naming = Naming(JudgeCounts((1, 2), 0, True), None, "named", "t")
        await judging.name_judges(Dying(db), int(tenant), UUID(campaign), naming, now=None)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("add_event"),
        pytest.param("save_state", marks=pytest.mark.slow),
        pytest.param("add_request", marks=pytest.mark.slow),
        pytest.param("name_judges", marks=pytest.mark.slow),
    ],
)
@pytest.mark.campaign(PANEL)
async def test_a_server_killed_between_naming_and_opening_leaves_nothing(
    one: OneCampaign, dsn: str, before: str
) -> None:
    command = [sys.executable, "-c", DIES, dsn, str(one.tenant), str(one.id), before]
    died = await asyncio.to_thread(subprocess.run, command, check=False)
    assert died.returncode == -signal.SIGKILL
    now = await one.look()
    assert (now.awaits_judges, now.round.judged_by, now.named_judges) == (True, None, None)
    assert await one.kinds() == ["create"]
    await name(one, (1, 2), key="named", standing=True)  # the same request, repeated
    assert await panel(one) == (1, 2)
    assert await one.kinds() == ["create", "judges"]
