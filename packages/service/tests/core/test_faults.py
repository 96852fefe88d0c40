"""Rounds that cannot be closed: marked, tried again after a pause, closed once they can be."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock, patch

import asyncpg
import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits.policies.elimination import PhasedElimination
from affinity_bandits_service import problems
from affinity_bandits_service.core import closing, faults
from tests.support.databases import forget_due
from tests.support.one_campaign import OneCampaign


@pytest.fixture(autouse=True)
def _nothing_due(dsn: str) -> None:
    forget_due(dsn)


class Failing:
    """A policy that counts how often it is given sums, and fails until it is mended."""

    def __init__(self, error: Exception | None = None) -> None:
        self.tries = 0
        self.error = error or RuntimeError("a defect")
        self._patch = patch.object(PhasedElimination, "absorb", staticmethod(self))

    def __call__(self, *_: Any) -> None:
        self.tries += 1
        raise self.error

    def __enter__(self) -> Failing:
        self._patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


async def mark_of(one: OneCampaign) -> Any:
    return await one.pool.fetchrow("SELECT * FROM affinity.due WHERE campaign = $1", one.id)


async def recover(one: OneCampaign) -> None:
    one.wait(faults.RETRY_SECONDS)
    assert await one.campaigns.closer.close_due(now=one.now) == 1


async def test_a_round_is_tried_again_after_a_pause_and_nobody_tries_in_between(
    one: OneCampaign,
) -> None:
    await one.complete_but_do_not_close()
    begun = one.now
    with Failing() as policy:
        for number in range(1, 4):
            assert await one.campaigns.closer.close_due(now=one.now) == 0
            mark = await mark_of(one)
            assert (policy.tries, mark["kind"], mark["since"]) == (number, "decision", begun)
            one.wait(faults.RETRY_SECONDS - 0.001)
            # Neither this process nor another, whoever asks, tells or looks.
            assert await one.other_process.closer.close_due(now=one.now) == 0
            assert isinstance(await one.ask(1), problems.NeedsAttention)
            await one.tell(2, {0: 1})
            assert policy.tries == number
            one.wait(0.001)
    attention = (await one.look()).attention
    assert attention is not None
    assert attention.since == begun
    assert await one.other_process.closer.close_due(now=one.now) == 1
    assert await mark_of(one) is None
    assert (await one.look()).status == "decided"


async def test_without_the_pause_every_ask_is_a_try(one: OneCampaign) -> None:
    """The control of the above."""

    await one.complete_but_do_not_close()
    with Failing() as policy, patch.object(faults, "find_held", AsyncMock(return_value=None)):
        for _ in range(5):
            await one.ask(1)
        assert policy.tries == 5
    await recover(one)


async def test_readers_are_shown_what_they_find(one: OneCampaign) -> None:
    with patch.object(ExploreThenCommit, "version", 2):
        found = await one.look()
        assert found.attention is not None
        assert (found.attention.kind, found.active) == ("state", ("a", "b"))
        assert found.attention.reason == (
            "the state of its policy was saved by version 1 of the policy, and this server"
            " has version 2"
        )
    assert (await one.look()).attention is None


@pytest.mark.parametrize("error", [OSError("a file"), TimeoutError(), ValueError()])
async def test_an_error_of_a_policy_is_never_taken_for_a_database_that_is_away(
    one: OneCampaign, error: Exception
) -> None:
    await one.complete_but_do_not_close()
    with Failing(error), pytest.raises(problems.NeedsAttention) as caught:
        await one.campaigns.closer.close(one.id, now=one.now)
    assert caught.value.__cause__ is error
    await recover(one)


async def test_a_database_that_is_away_is_no_fault_of_a_campaign(one: OneCampaign) -> None:
    await one.complete_but_do_not_close()
    away = AsyncMock(side_effect=asyncpg.CannotConnectNowError())
    with patch.object(closing, "close_round", away), pytest.raises(problems.Unavailable):
        await one.campaigns.closer.close(one.id, now=one.now)
    assert (await mark_of(one))["kind"] is None
    await one.campaigns.closer.close_due(now=one.now)


@pytest.mark.parametrize("error", [RuntimeError(), problems.Unavailable(), asyncpg.DataError()])
async def test_answers_that_are_committed_are_acknowledged_whatever_becomes_of_the_round(
    one: OneCampaign, error: Exception
) -> None:
    lease = await one.ask(4)
    with patch.object(one.campaigns.closer, "close", AsyncMock(side_effect=error)):
        assert (await one.tell(lease, dict(lease.slots))).counted == 4
    assert await one.campaigns.closer.close_due(now=one.now) == 1


async def test_a_campaign_that_is_over_needs_nobodys_attention(one: OneCampaign) -> None:
    """It asks nothing more of its policy."""

    lease = await one.ask(4)
    await one.tell(lease, dict(lease.slots))
    with patch.object(ExploreThenCommit, "version", 2):
        found = await one.look()
    assert (found.status, found.active, found.attention) == ("decided", ("b",), None)


@pytest.mark.parametrize("arms", [[], [0, 0], [2], [-1]])
async def test_a_plan_that_cannot_be_is_not_written_down(one: OneCampaign, arms: list[int]) -> None:
    honest = PhasedElimination.plan

    await one.complete_but_do_not_close()
    lying = staticmethod(lambda state: honest(state)._replace(arms=arms, repetitions=3))
    with (
        patch.object(PhasedElimination, "plan", lying),
        pytest.raises(problems.NeedsAttention) as caught,
    ):
        await one.campaigns.closer.close(one.id, now=one.now)
    assert caught.value.kind == "decision"
    assert (await one.kinds())[-1] == "tell"
    await recover(one)
