"""A campaign whose policy this version does not have is marked, and not taken for damaged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from unittest.mock import patch

import pytest

from affinity_bandits.errors import NotSupported
from affinity_bandits.policies import POLICIES, register
from affinity_bandits.service import problems
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.trail.verify import verify
from tests.support.one_campaign import OneCampaign, opened
from tests.support.own_policies import DropLowest

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
