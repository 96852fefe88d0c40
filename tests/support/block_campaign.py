"""A campaign of blocks to try things on, and its twin: `Blocks` by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from affinity_bandits import Blocks, NeutralElimination
from affinity_bandits.policies import BlockPolicy
from affinity_bandits.policies.blocks import BlockRound
from affinity_bandits_client.messages import Block
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.blocks import BlockAsk, BlockTell
from affinity_bandits_service.core.spec import CampaignSpec
from tests.support.declared import DECLARED
from tests.support.one_campaign import LEASE_SECONDS, ONE, OneCampaign

NAMES = ("a", "b", "c", "d", "e")


async def create_blocks(
    one: OneCampaign,
    policy: BlockPolicy | None = None,
    groups: int = 3,
    horizon: int = 10_000,
    scale: tuple[float, float] = (1.0, 5.0),
    **more: Any,
) -> None:
    """Make `one` a campaign of blocks."""
    spec = CampaignSpec(
        "blocks",
        NAMES[:groups],
        policy or NeutralElimination(),
        horizon,
        LEASE_SECONDS,
        *scale,
        **{"declaration": DECLARED} | more,
    )
    one.id = await one.campaigns.create(one.tenant, spec, key=new_key(), actor="t", now=one.now)


async def ask_block(
    one: OneCampaign,
    group: str | None,
    rater: str | None = None,
    key: str | None = None,
    actor: str = "t",
) -> Any:
    ask = BlockAsk(group, rater, key or new_key(), actor)
    return await one.campaigns.ask_block(one.tenant, one.id, ask, now=one.now)


async def tell_block(
    one: OneCampaign,
    block: Block | int,
    scores: Sequence[float],
    key: str | None = None,
    actor: str = "t",
) -> Any:
    number = block if isinstance(block, int) else block.number
    units = tuple(round(score * ONE) for score in scores)
    tell = BlockTell(number, units, key or new_key(), actor)
    return await one.campaigns.tell_block(one.tenant, one.id, tell, now=one.now)


async def release_block(
    one: OneCampaign, number: int, key: str | None = None, actor: str = "t"
) -> int:
    rest = {"actor": actor, "key": key or new_key()}
    return await one.campaigns.release(one.tenant, one.id, number, **rest, now=one.now)


async def play_round(one: OneCampaign, score: Callable[[str], float] = lambda _: 3.0) -> None:
    """Have all blocks of a round scored, in its order, always the same for each group."""
    open_ = (await one.look()).round
    for _ in range(open_.repetitions):
        for own in open_.blocks or ():
            block = await ask_block(one, own.rater_group)
            await tell_block(one, block, [score(group) for group in block.groups])


def round_by_hand(blocks: Blocks) -> BlockRound | None:
    """The round that the twin begins."""
    found: BlockRound | None = blocks.policy.round(blocks.state)
    return found


def play_round_by_hand(blocks: Blocks, scores: Sequence[dict[int, float]]) -> None:
    """Tell the twin the scores of a round's blocks, in its order, by group."""
    for own in scores:
        block = blocks.ask()
        assert block is not None
        blocks.tell([own[group] for group in block.groups])


def stars(rng: np.random.Generator, means: Sequence[float], group: int) -> float:
    """A score of a group in whole stars."""
    return float(np.clip(np.rint(means[group] + rng.normal()), 1, 5))
