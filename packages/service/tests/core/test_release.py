"""Leases that are given back before they expire."""

from __future__ import annotations

from typing import Any

import pytest

from affinity_bandits_client.messages import Told, Wait
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service import problems
from tests.support.one_campaign import OneCampaign
from tests.support.refusals import refusal


async def give_back(one: OneCampaign, lease: Any, key: str | None = None, actor: str = "t") -> int:
    return await one.campaigns.release(
        one.tenant, one.id, lease.number, actor=actor, key=key or new_key(), now=one.now
    )


async def test_what_is_given_back_is_offered_at_once_before_what_lapsed(one: OneCampaign) -> None:
    first, second = await one.ask(2), await one.ask(2)
    assert isinstance(await one.ask(1), Wait)
    assert await give_back(one, second) == 2
    again = await one.ask(1)
    assert again.slots == [(2, "a")]
    one.wait(3600)
    assert (await one.ask(9)).slots == [(0, "a"), (1, "b"), (2, "a"), (3, "b")]
    assert await one.tell(first, {0: 1, 1: 0}) == Told(counted=2, late=0, duplicate=0)
    assert await one.kinds() == ["create", "ask", "ask", "release", "ask", "ask", "tell"]


async def test_answers_to_a_lease_that_was_given_back_still_count_once(one: OneCampaign) -> None:
    lease = await one.ask(4)
    await one.tell(lease, {0: 1})
    assert await give_back(one, lease) == 3
    other = await one.ask(2)
    assert other.slots == [(1, "b"), (2, "a")]
    assert await one.tell(lease, {1: 1}) == Told(counted=1, late=0, duplicate=0)
    assert await one.tell(other, {1: 0, 2: 0}) == Told(counted=1, late=0, duplicate=1)


async def test_a_repeat_gives_nothing_back_twice(one: OneCampaign) -> None:
    lease, key = await one.ask(3), new_key()
    assert await give_back(one, lease, key) == 3
    assert await give_back(one, lease, key) == 3
    assert (await one.kinds()).count("release") == 1
    with refusal(problems.KEY_REUSED):
        await give_back(one, await one.ask(1), key)


@pytest.mark.parametrize("why", ["given back before", "answered", "of an earlier round"])
async def test_a_key_that_gave_nothing_back_is_remembered_too(one: OneCampaign, why: str) -> None:
    lease, key = await one.ask(4 if why == "of an earlier round" else 3), new_key()
    if why == "given back before":
        assert await give_back(one, lease) == 3
    else:
        await one.tell(lease, dict(lease.slots))
    for _ in range(2):
        assert await give_back(one, lease, key) == 0
    assert (await one.kinds()).count("release") == (2 if why == "given back before" else 1)
    other = await one.ask(1)
    with refusal(problems.KEY_REUSED):
        await give_back(one, other, key)
    assert await one.tell(other, dict(other.slots)) == Told(counted=1, late=0, duplicate=0)


async def test_only_who_took_a_lease_gives_it_back(one: OneCampaign) -> None:
    lease, key = await one.ask(3), new_key()
    with refusal(problems.NOT_HOLDER, match=f"lease {lease.number} was taken with another"):
        await give_back(one, lease, actor="other")
    for number in (1, 77):  # the first event is no lease
        with refusal(problems.NO_SUCH_LEASE, match=f"got {number}$"):
            await one.campaigns.release(one.tenant, one.id, number, actor="t", key=key)
    assert "release" not in await one.kinds()
    assert await give_back(one, lease, key) == 3  # what was refused took no key
    with pytest.raises(problems.NoSuchCampaign):
        await one.campaigns.release(-1, one.id, lease.number, actor="t", key=new_key())


async def test_slots_given_back_are_no_lapses(one: OneCampaign) -> None:
    await give_back(one, await one.ask(4))
    lease = await one.ask(4)
    await one.tell(lease, dict(lease.slots))
    lapsed = "SELECT lapsed FROM affinity.rounds WHERE campaign = $1 AND number = 0"
    assert await one.pool.fetchval(lapsed, one.id) == [0, 0]
