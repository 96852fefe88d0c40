"""A policy that this version does not have, or has with another rule, is not taken for damage."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from random import Random
from unittest.mock import patch

import pytest

from affinity_bandits.errors import NotSupported
from affinity_bandits.policies import POLICIES, HandicapElimination, register
from affinity_bandits.service import problems
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.trail.verify import verify
from tests.support.one_campaign import OneCampaign, opened
from tests.support.own_policies import DropLowest

STATE = "SELECT saved -> 'state' ->> 'log_wealth' FROM affinity.campaigns WHERE id = $1"
NAME = "this server has no policy of the name 'drop-lowest'"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with patch.dict(POLICIES):
        register(DropLowest)
        yield


@contextmanager
def elsewhere() -> Iterator[None]:
    """Be a version that does not have the policy."""
    with patch.dict(POLICIES):
        del POLICIES["drop-lowest"]
        yield


@asynccontextmanager
async def campaign(dsn: str) -> AsyncIterator[OneCampaign]:
    async with opened(dsn) as one:
        one.id = await one.create(DropLowest(2), 100)
        yield one


def test_it_needs_attention_and_says_so_until_a_version_that_has_it_comes(dsn: str) -> None:
    async def run() -> None:
        async with campaign(dsn) as one:
            lease = await one.ask(4)
            with elsewhere():
                assert (await one.tell(lease, dict(lease.slots))).counted == 4
                asked = await one.ask(1)
                assert isinstance(asked, problems.NeedsAttention)
                found = await one.look()
                assert found.attention is not None
                assert (found.attention.kind, found.attention.reason) == ("policy", NAME)
                kept = await one.pool.fetchrow(
                    "SELECT kind, reason FROM affinity.faults WHERE campaign = $1", one.id
                )
                assert tuple(kept) == ("policy", NAME)
            assert await one.campaigns.close_due(at_once=True) == 1
            assert (await one.look()).attention is None
            assert (await verify(one.pool, one.id)).differences == ()

    asyncio.run(run())


def test_whoever_looks_marks_it_before_its_round_is_over(dsn: str) -> None:
    async def run() -> None:
        async with campaign(dsn) as one:
            with elsewhere():
                reading = CampaignQueries(one.pool, one.campaigns.note)
                await reading.campaign(one.tenant, one.id)
                marked = "SELECT reason FROM affinity.faults WHERE campaign = $1"
                assert await one.pool.fetchval(marked, one.id) == NAME
            await one.campaigns.close_due(at_once=True)
            assert await one.pool.fetchval(marked, one.id) is None

    asyncio.run(run())


def test_it_cannot_be_replayed_which_says_nothing_against_it(dsn: str) -> None:
    async def run() -> None:
        async with campaign(dsn) as one:
            lease = await one.ask(4)
            await one.tell(lease, dict(lease.slots))
            with elsewhere(), pytest.raises(NotSupported) as caught:
                await verify(one.pool, one.id)
            assert str(caught.value) == (
                "the campaign cannot be replayed by this version, which has no policy of the name"
                " 'drop-lowest'; that says nothing against its record: verify it with the version"
                " that it was made with"
            )
            with patch.object(DropLowest, "version", 2), pytest.raises(NotSupported) as caught:
                await verify(one.pool, one.id)
            assert "has version 2 of its policy, and its state was saved by version 1" in str(
                caught.value
            )
            with (
                patch.object(DropLowest, "from_json", side_effect=TypeError("no such setting")),
                pytest.raises(NotSupported, match="no such settings of its policy"),
            ):
                await verify(one.pool, one.id)
            # The control: what is wrong in the tables of a policy that is here is a difference.
            await one.pool.execute(
                "UPDATE affinity.heads SET next_slot = 1 WHERE campaign = $1", one.id
            )
            (said,) = (await verify(one.pool, one.id)).differences
            assert said.startswith("next slot is 1, but 0 follows")

    asyncio.run(run())


def test_one_that_was_begun_before_a_rule_came_goes_on_without_it_and_is_verified(dsn: str) -> None:
    """The handicap that gave wealth to stakes that had been tried, while leaders change."""
    rule = "affinity_bandits.policies.handicap_elimination.TRIED"

    async def answered(one: OneCampaign, coin: Random, best: int) -> str:
        for _ in range(8):
            lease = await one.ask(100)
            scores = {s: coin.random() < (0.5 if arm == best else 0.45) for s, arm in lease.slots}
            assert (await one.tell(lease, scores)).counted == len(scores)
        return str(await one.pool.fetchval(STATE, one.id))

    async def run() -> None:
        async with opened(dsn) as one:
            policy = HandicapElimination(head_start=3, bounded=True, levels=5, in_flight=100)
            ends = []
            for newer in (None, 0.0):
                coin = Random(7)
                with nullcontext() if newer is None else patch(rule, newer):
                    one.id = await one.create(policy, 5000)
                    await answered(one, coin, 0)
                ends.append(await answered(one, coin, 1))
                assert (await verify(one.pool, one.id)).differences == ()
            assert ends[0] != ends[1]
            # The control: a replay that begins by today's rule.
            with patch("affinity_bandits.service.trail.replay.as_begun", lambda fresh, _: fresh):
                assert len((await verify(one.pool, one.id)).differences) > 1

    asyncio.run(run())
