"""A process that is killed anywhere in a request about a block leaves all of it, or nothing.

It is killed after each statement in turn. The control commits every statement by itself.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from json import dumps
from typing import Any

import pytest

from affinity_bandits_client.messages import Block, Told
from affinity_bandits_client.messages.base import new_key
from affinity_bandits_service.core.blocks import BlockAsk, BlockTell
from affinity_bandits_service.trail.verify import verify
from tests.support.block_campaign import ask_block, create_blocks
from tests.support.environments import ROOT
from tests.support.one_campaign import ONE, OneCampaign

pytestmark = pytest.mark.slow
MOST = 20
"""Statements of a request at most, with those of its transaction."""
UNITS = [4 * ONE, 2 * ONE]


async def killed(one: OneCampaign, dsn: str, way: str, *, atomic: bool) -> list[dict[str, Any]]:
    """Let processes die after 1, 2, ... statements, each of a campaign of its own."""
    one.now = None  # type: ignore[assignment]  # the database's, as in the other process
    tries = []
    for statements in range(1, MOST + 1):
        await create_blocks(one)
        lease = (await ask_block(one, "a", "r1")).number if way == "tell" else None
        tries.append(
            {
                "statements": statements,
                "campaign": str(one.id),
                "tenant": one.tenant,
                "key": new_key(),
                "lease": lease,
                "units": UNITS,
            }
        )
    words = ("-m", "tests.support.killed_blocks", dsn, dumps(tries), "atomic" if atomic else "")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    ends = [int(line) for line in output.split()]
    assert len(ends) == MOST
    assert set(ends) == {0, -signal.SIGKILL}  # so the last ones had no more statements to send
    return tries


async def check(one: OneCampaign, dsn: str, way: str, *, atomic: bool) -> list[str]:
    """Return what is wrong after the same requests are sent again."""
    wrong = []
    for own in await killed(one, dsn, way, atomic=atomic):
        one.id = type(one.id)(own["campaign"])
        after = f"killed after {own['statements']} statements"
        if (await verify(one.pool, one.id)).differences:
            wrong.append(f"{after}: the record contradicts itself")
            continue
        if way == "tell":
            tell = BlockTell(own["lease"], tuple(own["units"]), own["key"], "t")
            told = await one.campaigns.tell_block(one.tenant, one.id, tell)
            if told != Told(counted=2, late=0, duplicate=0):
                wrong.append(f"{after}: {told}")
        else:
            ask = BlockAsk("a", "r1", own["key"], "t")
            block = await one.campaigns.ask_block(one.tenant, one.id, ask)
            assert isinstance(block, Block)
        found = (await one.look()).round
        expected = (2, 2 if way == "tell" else 0)
        if (found.handed_out, found.answered) != expected:
            wrong.append(f"{after}: {found.handed_out} given, {found.answered} answered")
        if (await verify(one.pool, one.id)).differences:
            wrong.append(f"{after}: the record contradicts itself at the end")
    return wrong


@pytest.mark.parametrize("way", ["ask", "tell"])
async def test_a_killed_request_leaves_all_of_it_or_nothing(
    one: OneCampaign, dsn: str, way: str
) -> None:
    assert await check(one, dsn, way, atomic=True) == []


@pytest.mark.parametrize("way", ["ask", "tell"])
async def test_a_request_in_several_transactions_leaves_parts(
    one: OneCampaign, dsn: str, way: str
) -> None:
    assert len(await check(one, dsn, way, atomic=False)) >= 2
    await create_blocks(one)  # whose trail the fixture verifies
