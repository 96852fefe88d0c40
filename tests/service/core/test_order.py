"""No slot goes out too far ahead of the oldest without an answer; and what callers see of it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from affinity_bandits.client import Client, Lease, Wait
from affinity_bandits.policies import ExploreThenCommit, HandicapElimination
from affinity_bandits.policies.state import state_to_json
from affinity_bandits.policies.tallies import add_score
from affinity_bandits.service.core.campaign_spec import DEFAULT_IN_FLIGHT, OpenRound, open_round
from tests.support.clients import Service, running
from tests.support.one_campaign import OneCampaign, on_a_campaign
from tests.support.web_site import Site, on_site, opened

TOLD = HandicapElimination(head_start=96, bounded=True, failure=0.5, in_flight=6)


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Service]:
    with running(dsn) as made:
        yield made


# The rule.


def test_a_lease_is_cut_to_what_the_window_lets_out(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        first, second = await one.ask(4), await one.ask(4)
        assert (first.runs, second.runs) == (((0, 4),), ((4, 2),))
        full = await one.ask(1)
        assert (full.outstanding, full.retry_after) == (6, 60.0)  # of 16 slots in the round
        # Whatever is answered behind the oldest makes no room.
        await one.tell(second, {4: 1, 5: 1})
        await one.tell(first, {1: 1, 2: 1, 3: 1})
        assert (await one.ask(1)).outstanding == 1
        await one.tell(first, {0: 1})
        assert (await one.ask(9)).runs == ((6, 6),)

    on_a_campaign(dsn, test, TOLD)


def test_what_an_expired_lease_owes_goes_out_when_the_window_is_full(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        lost = await one.ask(2)
        one.wait(30)
        await one.tell(await one.ask(4), dict.fromkeys(range(2, 6), 1))
        assert (await one.ask(1)).retry_after == 30.0
        one.wait(30)
        again = await one.ask(5)
        assert again.runs == lost.runs
        await one.tell(again, {0: 1, 1: 1})
        assert (await one.ask(9)).runs == ((6, 6),)

    on_a_campaign(dsn, test, TOLD)


@pytest.mark.slow
def test_a_round_of_one_group_has_no_order(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        while (await one.look()).status == "open":
            lease = await one.ask(6)
            await one.tell(lease, {slot: float(arm == 1) for slot, arm in lease.slots})
            if len(lease.arms) == 1:
                continue
            assert len(lease.slots) <= 6
        assert (await one.look()).recommended == 1
        assert len((await one.ask(1000)).slots) == 1000

    on_a_campaign(dsn, test, TOLD, horizon=1000)


def test_a_policy_to_which_the_order_is_all_one_has_no_window(dsn: str) -> None:
    async def test(one: OneCampaign) -> None:
        assert (await one.look()).in_flight is None
        assert len((await one.ask(1000)).slots) == 1000

    on_a_campaign(dsn, test, ExploreThenCommit(500), horizon=2000)


# What callers see.


def test_a_campaign_that_says_nothing_has_the_window_that_the_record_shows(dsn: str) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            policy = {"name": "handicap-elimination", "head_start": 30, "bounded": True}
            for given, shown in ((None, DEFAULT_IN_FLIGHT), (7, 7)):
                wanted = policy if given is None else policy | {"in_flight": given}
                campaign = await opened(client, policy=wanted, horizon=5000)
                path = f"/v1/campaigns/{campaign}"
                record = (await client.get(path)).json()
                assert (record["in_flight"], record["policy"]["in_flight"]) == (shown, shown)
                lease = (await client.post(f"{path}/ask", json={"count": 5000})).json()
                least = min(shown, record["round"]["size"])
                assert sum(count for _, count in lease["runs"]) == least
                full = (await client.post(f"{path}/ask", json={"count": 1})).json()
                assert (full["status"], full["outstanding"]) == ("wait", least)
                assert 3500 < full["retry_after"] <= 3600
            other = (await client.get(f"/v1/campaigns/{await opened(client)}")).json()
            assert other["in_flight"] is None

    on_site(dsn, work)


# The worst order, over HTTP.

VALUES = (0.9, 0.9, 0.9)
INITIAL = (40, 10, 10)


class Committee:
    """Raters who favour large shares, and a mirror of the campaign that is told what they say."""

    def __init__(self, policy: HandicapElimination, groups: int, horizon: int, seed: int) -> None:
        self.policy, self.groups, self.horizon = policy, groups, horizon
        self.members = list(INITIAL[:groups])
        self.chance = random.Random(seed)
        self.state = policy.start(groups, horizon)
        self.counted = 0
        self.states: list[Any] = []
        self.seen = np.zeros(0)

    def begin(self, arms: int) -> None:
        self.seen = np.zeros(arms * max(1, len(self.policy.nodes)))

    def rate(self, arm: int, place: int) -> float:
        share = self.members[arm] / sum(self.members)
        score = float(self.chance.random() < VALUES[arm] * share**2)
        self.members[arm] += 1
        if self.policy.nodes:
            add_score(np.array(self.policy.nodes), score, self.seen, place * len(self.policy.nodes))
        else:
            self.seen[place] += score
        self.counted += 1
        return score

    def end(self) -> None:
        self.state = self.policy.absorbed(self.state, self.seen)
        self.states.append(state_to_json(self.state))


@pytest.mark.nightly_but("[0]", "[1]", "[2]", "[3]")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_answers_in_the_worst_order_give_what_the_library_makes_of_them(
    service: Service, seed: int
) -> None:
    groups, window = (2, 3)[seed % 2], (10, 25, 100)[seed % 3]
    horizon = 260
    policy = HandicapElimination(head_start=30, bounded=True, failure=0.05, in_flight=window)
    mirror = Committee(policy, groups, horizon, seed)
    names = tuple("abc")[:groups]
    with Client(service.url, service.key()) as client:
        campaign = client.create_campaign("worst order", names, policy.to_json(), horizon=horizon)
        furthest, largest = 0, 0
        while True:
            current = open_round(policy, mirror.state, horizon, mirror.counted)
            if not current.whole:
                break
            largest = max(largest, current.size if len(current.arms) > 1 else 0)
            mirror.begin(len(current.arms))
            furthest = max(furthest, worst_order(client, campaign.id, mirror, current))
            mirror.end()
        assert furthest == min(window, largest) - 1  # the rule was used to its end
        closed = [one.data for one in client.events(campaign) if one.kind == "close"]
        assert [one["state"] for one in closed] == mirror.states
        assert service.differences(campaign.id) == ()


def worst_order(client: Client, campaign: str, mirror: Committee, current: OpenRound) -> int:
    """Answer a round, the leader's slots first and the last group's only when nothing else can be.

    Return how far ahead of the oldest slot without an answer one was handed out.
    """
    arms, leader = current.arms, max(0, int(mirror.state.leader[0]))
    held: dict[int, Lease] = {}
    handed_out = furthest = 0

    def kind(slot: int) -> int:
        arm = arms[slot % len(arms)]
        return 0 if arm == leader else 2 if arm == mirror.groups - 1 else 1

    while True:
        while handed_out < current.size:
            lease = client.ask(campaign, 40)
            if isinstance(lease, Wait):
                assert lease.outstanding == len(held)
                break
            assert isinstance(lease, Lease)
            handed_out += len(lease)
            held |= {one.slot: lease for one in lease.slots}
            if len(arms) > 1:
                furthest = max(furthest, max(held) - min(held))
        if not held:
            return furthest
        first = min(kind(slot) for slot in held)
        chosen = sorted(slot for slot in held if kind(slot) == first)
        if first == 2:
            chosen = chosen[:1]  # the oldest, and the others have room again
        scores: dict[int, dict[int, float]] = {}
        leases: dict[int, Lease] = {}
        for slot in chosen:
            lease = held.pop(slot)
            leases[lease.number] = lease
            place = slot % len(arms)
            scores.setdefault(lease.number, {})[slot] = mirror.rate(arms[place], place)
        for number, lease in leases.items():
            client.tell(lease, scores[number])
