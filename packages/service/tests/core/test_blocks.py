"""Blocks: who gets which, what counts, what is given again, and what is refused."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from affinity_bandits import (
    Blocks,
    CrossedElimination,
    InvalidInput,
    NeutralElimination,
    NotSupported,
)
from affinity_bandits.policies import BlockPolicy, Elimination
from affinity_bandits_client.messages import Block, Finished, Told, Wait
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service import problems
from affinity_bandits_service.core.blocks import by_lot
from affinity_bandits_service.core.judging import JudgeCounts, Naming
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.core.tells import SlotTell
from affinity_bandits_service.trail.verify import verify
from tests.support.block_campaign import (
    NAMES,
    ask_block,
    create_blocks,
    play_round,
    play_round_by_hand,
    release_block,
    round_by_hand,
    stars,
    tell_block,
)
from tests.support.declared import DECLARED
from tests.support.one_campaign import LEASE_SECONDS, ONE, OneCampaign
from tests.support.refusals import refusal

FIRST_ROUND = 12
"""Blocks of the first round of three groups: four passes, in each of which every group judges."""


async def verified(one: OneCampaign) -> None:
    assert (await verify(one.pool, one.id)).differences == ()


async def test_a_rater_gets_one_candidate_of_each_group_but_their_own(one: OneCampaign) -> None:
    await create_blocks(one)
    for group, others in (("a", "bc"), ("b", "ac"), ("c", "ab")):
        block = await ask_block(one, group, f"rater of {group}".replace(" ", "-"))
        assert isinstance(block, Block)
        assert sorted(block.groups) == list(others)
        assert block.rater_group == group
        assert block.expires_at == one.now + timedelta(seconds=LEASE_SECONDS)
    found = (await one.look()).round
    assert [(b.rater_group, b.blocks, b.given, b.answered) for b in found.blocks or ()] == [
        *(("a", 4, 1, 0), ("b", 4, 1, 0), ("c", 4, 1, 0)),
    ]
    assert (found.size, found.handed_out, found.answered) == (24, 6, 0)
    await verified(one)


async def test_the_order_is_a_lot_that_anybody_can_draw_again(one: OneCampaign) -> None:
    """Each order of two groups comes in 60 to 140 of 200 blocks: 5.6 sigma of a fair coin."""
    orders = []
    for _ in range(50):
        await create_blocks(one)
        for number in range(4):
            block = await ask_block(one, "a")
            lot = by_lot(one.id, 0, 3 * number, [1, 2])
            assert block.groups == tuple(NAMES[group] for group in lot)
            orders.append(block.groups)
    assert 60 <= orders.count(("b", "c")) <= 140
    assert set(orders) == {("b", "c"), ("c", "b")}


async def test_whole_blocks_count_once_and_late_ones_never(one: OneCampaign) -> None:
    await create_blocks(one)
    block = await ask_block(one, "a", "r1")
    with refusal(problems.BLOCK_IN_PART, match="must be all 2 of block 2 at once, got 1"):
        await tell_block(one, block, [4])
    with refusal(problems.SCORE_OUT_OF_RANGE, match="from 1 to 5, the campaign's range, got 5.5"):
        await tell_block(one, block, [4, 5.5])
    key = new_key()
    told = Told(counted=2, late=0, duplicate=0)
    assert await tell_block(one, block, [4, 5], key) == told
    assert await tell_block(one, block, [4, 5], key) == told
    assert await tell_block(one, block, [4, 5]) == Told(counted=0, late=0, duplicate=2)
    with refusal(problems.KEY_REUSED):
        await tell_block(one, block, [4, 4], key)
    with refusal(problems.BLOCK_ANSWERED, match="block 2 was answered before"):
        await tell_block(one, block, [4, 4])
    late = await ask_block(one, "a", "r2")
    one.wait(LEASE_SECONDS)
    assert await tell_block(one, late, [1, 1]) == Told(counted=0, late=2, duplicate=0)
    assert await tell_block(one, late, [1, 1]) == Told(counted=0, late=2, duplicate=0)
    with refusal(problems.BLOCK_ANSWERED):
        await tell_block(one, late, [1, 2])
    assert await one.kinds() == ["create", "ask_block", "tell_block", "ask_block", "tell_block"]
    found = await one.look()
    assert (found.round.answered, [arm.answers for arm in found.arms]) == (2, [0, 1, 1])
    await verified(one)


async def test_a_block_that_expires_is_given_again_in_the_same_order(one: OneCampaign) -> None:
    await create_blocks(one)
    first = [await ask_block(one, "a") for _ in range(4)]
    wait = await ask_block(one, "a")
    assert isinstance(wait, Wait)
    assert wait.retry_after == LEASE_SECONDS
    assert wait.reason == "all blocks of this round for raters of a are given"
    one.wait(LEASE_SECONDS)
    again = [await ask_block(one, "a") for _ in range(4)]
    assert [block.groups for block in again] == [block.groups for block in first]
    assert isinstance(await ask_block(one, "a"), Wait)
    assert (await tell_block(one, first[0], [5, 5])).late == 2
    assert (await tell_block(one, again[0], [1, 2])).counted == 2
    for block in again[1:]:
        await tell_block(one, block, [3, 3])
    wait = await ask_block(one, "a")
    assert wait.reason is not None
    assert wait.reason.startswith("all blocks of this round for raters of a have their scores")
    await verified(one)


async def test_a_block_is_given_back(one: OneCampaign) -> None:
    await create_blocks(one)
    taken = [await ask_block(one, "a") for _ in range(4)]
    with refusal(problems.NOT_HOLDER):
        await release_block(one, 3, actor="other")
    key = new_key()
    for _ in range(2):
        assert await release_block(one, taken[1].number, key) == 2
    assert (await tell_block(one, taken[1], [1, 5])).late == 2
    again = await ask_block(one, "a")
    assert again.groups == taken[1].groups
    assert (await tell_block(one, again, [5, 1])).counted == 2
    await verified(one)


async def test_the_same_key_gets_the_same_block(one: OneCampaign) -> None:
    await create_blocks(one)
    key = new_key()
    block = await ask_block(one, "a", "r1", key)
    assert await ask_block(one, "a", "r1", key) == block
    for group, rater in (("b", "r1"), ("a", "r2"), ("a", None)):
        with refusal(problems.KEY_REUSED):
            await ask_block(one, group, rater, key)
    with refusal(problems.KEY_REUSED):
        await tell_block(one, block, [3, 3], key)
    await tell_block(one, block, [3, 3])
    one.wait(LEASE_SECONDS)
    assert await ask_block(one, "a", "r1", key) == block
    with refusal(problems.NOT_TELLER):
        await tell_block(one, await ask_block(one, "a"), [3, 3], actor="other")
    with refusal(problems.NO_SUCH_LEASE):
        await tell_block(one, 1, [3, 3])


async def test_a_rater_of_a_wrong_group_gets_nothing(one: OneCampaign) -> None:
    await create_blocks(one)
    with pytest.raises(InvalidInput, match=r"rater_group must be a group of the campaign \(a, b "):
        await ask_block(one, "z")
    with pytest.raises(InvalidInput, match="the group of the rater, one of a, b and c"):
        await ask_block(one, None)
    await ask_block(one, "a", "r1")
    with refusal(problems.OTHER_GROUP, match="as a member of a, and not of b"):
        await ask_block(one, "b", "r1")
    assert await one.kinds() == ["create", "ask_block"]


async def test_only_outsiders_judge_where_there_are_some(one: OneCampaign) -> None:
    await create_blocks(one, NeutralElimination(outsiders=True), groups=2)
    with pytest.raises(InvalidInput, match="only people who belong to none of the groups judge"):
        await ask_block(one, "a")
    block = await ask_block(one, None, "r1")
    assert sorted(block.groups) == ["a", "b"]
    assert block.rater_group is None
    found = (await one.look()).round.blocks or ()
    assert [(own.rater_group, own.groups, own.blocks) for own in found] == [(None, ("a", "b"), 4)]
    await tell_block(one, block, [3, 3])
    await verified(one)


async def test_two_groups_need_outsiders(one: OneCampaign) -> None:
    with pytest.raises(NotSupported, match=r"Two groups: .* Let people judge"):
        await create_blocks(one, groups=2)
    with pytest.raises(InvalidInput, match="at least 24, the scores of the first round"):
        await create_blocks(one, horizon=23)
    many = tuple(f"group {number}" for number in range(31))
    with pytest.raises(InvalidInput, match="at most 30 groups, because one rater"):
        CampaignSpec("many", many, NeutralElimination(), 10**6, declaration=DECLARED)
    CampaignSpec("fewer", many[:30], NeutralElimination(), 10**6, declaration=DECLARED)


async def test_raters_of_all_groups_score_crossed_blocks(one: OneCampaign) -> None:
    """Also those of the leader, and of dropped groups; people of no group are refused."""
    await create_blocks(one, CrossedElimination(favor_gap=0.0, failure=0.4))
    with pytest.raises(InvalidInput, match="rater_group must be the group of the rater"):
        await ask_block(one, None)
    for name in "abc":
        block = await ask_block(one, name)
        assert sorted(block.groups) == ["a", "b", "c"]
        assert (await tell_block(one, block, [3, 3, 3])).counted == 3
    while len((await one.look()).active) == 3:
        await play_round(one, lambda group: {"a": 5.0, "b": 4.0, "c": 1.0}[group])
    found = await one.look()
    assert found.active == ("a", "b")
    sitting = [(own.rater_group, own.groups) for own in found.round.blocks or ()]
    assert sitting == [(name, ("a", "b")) for name in "abc"]
    await verified(one)


async def test_raters_of_the_leader_wait(one: OneCampaign) -> None:
    await create_blocks(one)
    await play_round(one, lambda group: 5.0 if group == "b" else 1.0)
    wait = await ask_block(one, "b")
    assert isinstance(wait, Wait)
    assert wait.reason == (
        "b leads, and its members judge nobody while it does; raters of a and c judge this round"
    )
    assert [own.rater_group for own in (await one.look()).round.blocks or ()] == ["a", "c"]
    await verified(one)


async def test_once_two_groups_are_left_those_of_the_dropped_one_judge(one: OneCampaign) -> None:
    """The second of three is dropped long after the third: nothing is left for its raters."""
    await create_blocks(one, NeutralElimination(failure=0.4))
    means = {"a": 5.0, "b": 4.0, "c": 1.0}
    while len((await one.look()).active) > 2:
        await play_round(one, means.__getitem__)
    assert (await one.look()).active == ("a", "b")
    assert (await ask_block(one, "b")).reason == (
        "fewer than two groups are left that raters of b may judge; raters of c judge this round"
    )
    assert sorted((await ask_block(one, "c")).groups) == ["a", "b"]
    await verified(one)


async def test_a_decided_campaign_gives_no_more_blocks(one: OneCampaign) -> None:
    await create_blocks(one)
    while (found := await one.look()).status == "open":
        await play_round(one, lambda group: 5.0 if group == "b" else 1.0)
    assert (found.status, found.recommended, found.active) == ("decided", "b", ("b",))
    assert await ask_block(one, "c") == Finished(status="decided")
    assert (await one.ask(1)).code == "gives_blocks"
    await verified(one)


async def test_a_round_that_does_not_fit_in_the_horizon_is_not_begun(one: OneCampaign) -> None:
    await create_blocks(one, horizon=27)
    await play_round(one)
    found = await one.look()
    assert (found.status, found.before + found.round.answered) == ("exhausted", 24)
    assert await ask_block(one, "a") == Finished(status="exhausted")
    await verified(one)


async def test_a_stopped_campaign_takes_what_is_out(one: OneCampaign) -> None:
    await create_blocks(one)
    block = await ask_block(one, "a")
    await one.campaigns.stop(one.tenant, one.id, actor="t", key=new_key())
    assert await ask_block(one, "a") == Finished(status="stopped")
    assert (await tell_block(one, block, [3, 3])).counted == 2
    await verified(one)


async def test_slots_and_blocks_are_not_mixed_up(one: OneCampaign) -> None:
    await create_blocks(one)
    block = await ask_block(one, "a")
    found = await one.ask(1)
    assert (found.code, "ask for one with ask-block" in str(found)) == ("gives_blocks", True)
    tell = SlotTell(block.number, new_key(), "t", (0,), (3 * ONE,))
    assert (await one.tell_all([tell]))[0].code == "no_such_lease"
    await verified(one)
    with refusal(problems.JUDGES_NOT_ASKED):
        naming = Naming(JudgeCounts((1, 1, 1)), None, new_key(), "t")
        await one.campaigns.name_judges(one.tenant, one.id, naming)
    one.id = await one.create(Elimination(), 1000)
    with refusal(problems.GIVES_SLOTS, match="elimination, takes single answers"):
        await ask_block(one, "a")
    one.tenant = -1
    with pytest.raises(problems.NoSuchCampaign):
        await ask_block(one, "a")


async def test_two_processes_never_give_the_same_block(one: OneCampaign) -> None:
    await create_blocks(one)
    both = (one.campaigns, one.other_process)

    async def take(number: int) -> Any:
        one.campaigns = both[number % 2]
        return await ask_block(one, NAMES[number % 3])

    found = await asyncio.gather(*(take(number) for number in range(FIRST_ROUND)))
    assert len({block.number for block in found}) == FIRST_ROUND
    assert isinstance(await ask_block(one, "a"), Wait)
    told = await asyncio.gather(*(tell_block(one, block, [3, 3]) for block in found))
    assert all(one.counted == 2 for one in told)
    assert (await one.look()).round.number == 1
    await verified(one)


HISTORIES = int(os.environ.get("AFFINITY_BLOCK_HISTORIES", "6"))
"""Random histories; a hundred take minutes."""


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_it_decides_what_blocks_by_hand_decide(one: OneCampaign, seed: int) -> None:
    """Random order of raters, answers that are lost, late or given back; the same to the bit."""
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, 5))
    outsiders = groups == 2 or bool(rng.random() < 0.3)
    target = int(rng.integers(60, 600)) if rng.random() < 0.4 else None
    policy: BlockPolicy = NeutralElimination(failure=0.4, outsiders=outsiders, target=target)
    if rng.random() < 0.3:
        gap = float(rng.choice([0.0, 0.1]))
        policy = CrossedElimination(failure=0.4, favor_gap=gap, target=target)
    await create_blocks(one, policy, groups, horizon=400)
    twin = Blocks(policy, groups, scale=(1, 5))
    means = rng.uniform(1.5, 4.5, groups).tolist()
    while (found := await one.look()).status == "open":
        planned = round_by_hand(twin)
        assert planned is not None
        play_round_by_hand(twin, await play_at_random(one, rng, planned.blocks, means))
        saved = (await one.look()).saved
        assert saved is not None
        assert saved["state"] == policy.save(twin.state, groups, 400)["state"]
    if found.status == "decided":
        assert found.recommended == NAMES[twin.candidates()[0]]
        assert twin.ask() is None
    await verified(one)


async def play_at_random(
    one: OneCampaign, rng: np.random.Generator, blocks: int, means: Sequence[float]
) -> list[dict[int, float]]:
    """Have a round scored by raters who come in any order; return what counted, in its order."""
    scored: dict[int, dict[int, float]] = {}
    query = "SELECT block FROM affinity.blocks WHERE campaign = $1 AND lease = $2"
    while len(scored) < blocks:
        kinds = (await one.look()).round.blocks or ()
        own = kinds[rng.integers(len(kinds))]
        block = await ask_block(one, own.rater_group)
        if isinstance(block, Wait):
            one.wait(LEASE_SECONDS / 3)
            continue
        scores = [stars(rng, means, NAMES.index(group)) for group in block.groups]
        fate = rng.random()
        if fate < 0.1:
            continue  # the rater is never heard of again
        if fate < 0.15:
            assert await release_block(one, block.number) == len(scores)
            continue
        if fate < 0.25:
            one.wait(LEASE_SECONDS)
            assert (await tell_block(one, block, scores)).counted == 0
            continue
        assert (await tell_block(one, block, scores)).counted == len(scores)
        number = await one.pool.fetchval(query, one.id, block.number)
        groups = (NAMES.index(group) for group in block.groups)
        scored[number] = dict(zip(groups, scores, strict=True))
    return [scored[number] for number in range(blocks)]
