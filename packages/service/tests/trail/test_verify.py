"""Where a policy is told who judges, verify sees all of it."""

from __future__ import annotations

import numpy as np
import pytest

from affinity_bandits.policies import MembersElimination, PanelElimination
from affinity_bandits.policies.contracts import add_score
from affinity_bandits.policies.state import state_to_json
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.trail.verify import verify
from tests.support.one_campaign import OneCampaign

from .exported import change

PANEL = PanelElimination(bounded=True, failure=0.3)


async def a_judged_campaign(one: OneCampaign) -> None:
    """Two rounds with a panel that stands, a third with one named ahead, a fourth that waits."""
    one.id = await one.create(PANEL, 1000, committee=(5, 3))
    await name(one, JudgeCounts((2, 2), 3, standing=True))
    for number in range(3):
        if number == 1:
            await name(one, JudgeCounts((1, 1), 1), 2)
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


@pytest.mark.parametrize("kind", [PanelElimination, MembersElimination])
async def test_a_judged_campaign_goes_as_the_librarys_policy(
    one: OneCampaign, kind: type[PanelElimination | MembersElimination]
) -> None:
    policy = kind(bounded=True, failure=0.3, in_flight=30)
    one.id = await one.create(policy, 5000)
    kernels, nodes = policy.kernels(), np.array(policy.nodes)
    state, states = policy.start(2, 5000), []
    for number in range(6):
        counts = (20 + 3 * number, 20 + number * number)
        await name(one, JudgeCounts(counts), number)
        state = policy.met(state, counts)
        planned = kernels.plan(state)
        seen = np.zeros(len(planned.arms) * len(nodes))
        left = len(planned.arms) * int(planned.repetitions)
        while left:
            lease = await one.ask(left)
            assert lease.round == number
            scores = {slot: (slot * slot + 3 * number) % 9 / 8 for slot, _ in lease.slots}
            for slot, score in scores.items():
                add_score(nodes, score, seen, slot % len(planned.arms) * len(nodes))
            left -= (await one.tell(lease, scores)).counted
        state = policy.absorbed(state, seen)
        states.append(state_to_json(state))
    query = "SELECT detail -> 'state' FROM affinity.events WHERE campaign = $1 AND kind = 'close'"
    found = await one.pool.fetch(f"{query} ORDER BY number", one.id)
    assert [row[0] for row in found] == states  # to the bit


async def name(one: OneCampaign, judges: JudgeCounts, number: int | None = None) -> None:
    naming = Naming(judges, number, new_key(), "t")
    await one.campaigns.name_judges(one.tenant, one.id, naming, now=one.now)


def in_event(number: int, path: str, value: str) -> list[str]:
    return [
        "UPDATE affinity.events"
        f" SET detail = jsonb_set(detail::jsonb, '{{{path}}}', '{value}')::json"
        f" WHERE campaign = $1 AND number = {number}"
    ]


def moved(after: int, by: int) -> list[str]:
    """The numbers of events after one moved; far away first, so that none is taken twice."""
    return [
        f"UPDATE affinity.events SET number = number + {step},"
        f" lease = lease + CASE WHEN lease > {after} THEN {step} ELSE 0 END"
        f" WHERE campaign = $1 AND number > {after}"
        for step in (1000, by - 1000)
    ] + [f"UPDATE affinity.heads SET events = {14 + by} WHERE campaign = $1"]


def gone(number: int) -> list[str]:
    """An event that is removed, and the numbers closed up behind it."""
    return [
        f"DELETE FROM affinity.events WHERE campaign = $1 AND number = {number}",
        *moved(number, -1),
    ]


def twice(number: int) -> list[str]:
    """An event that is there twice, and the numbers moved up behind it."""
    return [
        *moved(number, 1),
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, key, round, detail, chain)"
        f" SELECT campaign, {number + 1}, at, kind, actor, key, round, detail, chain"
        f" FROM affinity.events WHERE campaign = $1 AND number = {number}",
    ]


DAMAGE: dict[str, tuple[list[str], str]] = {
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
        ["UPDATE affinity.rounds SET judges[1] = 9 WHERE campaign = $1 AND number = 0"],
        "closed rounds is",
    ),
    "an open round that does not wait": (
        ["UPDATE affinity.heads SET awaits_judges = false WHERE campaign = $1"],
        "handing out no slots is False, but True",
    ),
    "somebody named whom nobody named": (
        [
            "INSERT INTO affinity.named_judges"
            " (campaign, event, round, judges, outsiders, standing)"
            " VALUES ($1, 2, 3, '{1,1}', 0, true)"
        ],
        "judges named for rounds to come is",
    ),
    "another that should have the fewest": (
        ["UPDATE affinity.rounds SET fewest_seats = 0 WHERE campaign = $1 AND number = 3"],
        "what is stored of the open round is",
    ),
}


@pytest.mark.as_owner
@pytest.mark.parametrize("damage", DAMAGE)
async def test_damage_is_found(one: OneCampaign, damage: str) -> None:
    planted, said = DAMAGE[damage]
    await a_judged_campaign(one)
    assert (await verify(one.pool, one.id)).differences == ()
    await change(one, *planted)
    found = (await verify(one.pool, one.id)).differences
    assert any(said in text for text in found), found
