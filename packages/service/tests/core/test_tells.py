"""A lease is answered with the API key that took it, or with one that the campaign names."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages import CreateCampaign, Lease, Told
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service import problems
from affinity_bandits_service.core import keys
from affinity_bandits_service.core.campaigns import SlotAsk
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import SlotTell, without_repeats
from affinity_bandits_service.http.errors import detail_of, invalid
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED
from tests.support.one_campaign import ONE, OneCampaign, made
from tests.support.refusals import code_of, refusal


async def key_of(one: OneCampaign, tenant: int | None = None) -> str:
    """The id of a new API key."""
    text = await keys.make_key(one.pool, tenant or one.tenant, "teller", ["tell"])
    return text.split("_")[1]


async def told_by(one: OneCampaign, lease: Lease, actor: str, key: str | None = None) -> Any:
    tell = replace(made(lease, {lease.slots[0][0]: 0.5}, key), actor=actor)
    return (await one.tell_all([tell]))[0]


async def test_another_key_of_the_tenant_is_refused_told_what_to_do_and_leaves_nothing(
    one: OneCampaign,
) -> None:
    lease = await one.ask(1)
    other = await key_of(one)
    refused = await told_by(one, lease, other)
    assert code_of(refused) == problems.NOT_TELLER.code
    assert (refused.status, refused.code) == (403, "not_teller")
    assert f"this one ({other})" in str(refused)
    assert f"tellers = ['{other}'], or 'any'" in str(refused)
    assert await one.kinds() == ["create", "ask"]
    assert await told_by(one, lease, "t") == Told(counted=1, late=0, duplicate=0)


async def test_answers_that_are_late_or_of_no_such_lease_are_no_way_around_it(
    one: OneCampaign,
) -> None:
    lease = await one.ask(4)
    one.wait(61)
    await one.ask(4)
    assert code_of(await told_by(one, lease, "x")) == problems.NOT_TELLER.code
    other = SlotTell(99, new_key(), "x", (0,), (ONE,))
    assert code_of((await one.tell_all([other]))[0]) == problems.NO_SUCH_LEASE.code


async def test_keys_that_a_campaign_names_may_answer_for_others(one: OneCampaign) -> None:
    named, other = await key_of(one), await key_of(one)
    for tellers, may in (((named,), [True, False]), ("any", [True, True])):
        one.id = await one.create(ExploreThenCommit(2), 100, tellers=tellers)
        assert (await one.look()).tellers == tellers
        told = [await told_by(one, await one.ask(1), who) for who in (named, other)]
        assert [isinstance(each, Told) for each in told] == may
        assert (await verify(one.pool, one.id)).differences == ()


async def test_a_campaign_names_only_keys_of_its_tenant_that_are_in_use(one: OneCampaign) -> None:
    elsewhere = await keys.create_tenant(one.pool, "elsewhere")
    foreign, revoked = await key_of(one, elsewhere), await key_of(one)
    await keys.revoke_key(one.pool, revoked, "test")
    for wrong in (foreign, revoked, "0" * 16):
        with pytest.raises(InvalidInput, match=f"tellers must be ids .*'{wrong}'"):
            await one.create(ExploreThenCommit(2), 100, tellers=(wrong,))


def test_a_whole_key_among_the_tellers_is_not_repeated() -> None:
    secret = "89abcdef" * 8
    body = {"name": "n", "arms": ["a", "b"], "tellers": [f"ab_{'0' * 16}_{secret}"]}
    with pytest.raises(ValidationError) as refused:
        CreateCampaign.model_validate_json(json.dumps(body))
    said = detail_of(invalid(refused.value))
    assert said.startswith("tellers must be 'any' or a list of 1 to 100 ids of API keys, got")
    assert secret[:8] not in said


async def test_an_idempotency_key_belongs_to_the_api_key_that_sent_it(one: OneCampaign) -> None:
    """Nobody learns what another key was answered, nor is kept from using the same word."""

    mine = await one.ask(1, key="same")
    (theirs,) = await one.campaigns.ask(one.tenant, one.id, [SlotAsk(1, "same", "x")], now=one.now)
    assert isinstance(theirs, Lease)
    assert theirs.number != mine.number
    assert (await one.ask(1, key="same")).number == mine.number
    told = await told_by(one, mine, "t", key="told")
    # The very same tell, from another key: refused as a tell, and not as a repeat.
    assert code_of(await told_by(one, mine, "x", key="told")) == problems.NOT_TELLER.code
    assert (await told_by(one, theirs, "x", key="told")).counted == 1
    assert await told_by(one, mine, "t", key="told") == told


async def test_stopping_and_creating_repeat_for_the_key_that_did_alone(one: OneCampaign) -> None:
    one.id = await one.create(ExploreThenCommit(2), 100)
    spec = CampaignSpec("two", ("a", "b"), ExploreThenCommit(2), 100, declaration=DECLARED)
    ids = [await one.campaigns.create(one.tenant, spec, key="k", actor="t") for _ in "ab"]
    assert ids[0] == ids[1]
    with refusal(problems.KEY_REUSED):
        await one.campaigns.create(one.tenant, spec, key="k", actor="x")
    await one.campaigns.ask(one.tenant, one.id, [SlotAsk(1, "k", "x")], now=one.now)
    await one.campaigns.stop(one.tenant, one.id, actor="t", key="k", now=one.now)
    assert await one.kinds() == ["create", "ask", "stop"]


def test_requests_are_cut_where_one_comes_again() -> None:
    one, two, other = SlotAsk(1, "a", "t"), SlotAsk(1, "b", "t"), SlotAsk(1, "a", "x")
    assert list(without_repeats([one, two, other])) == [[one, two, other]]
    assert list(without_repeats([one, two, one, two, two])) == [[one, two], [one, two], [two]]
