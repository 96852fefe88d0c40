"""Requests that share a transaction: whatever becomes of a batch, nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from affinity_bandits_service.core import batching
from affinity_bandits_service.core.batching import _Queue
from affinity_bandits_service.core.tells import Sent, Share
from affinity_bandits_service.problems import Unavailable

ONE, OTHER, THIRD = (UUID(int=number) for number in (1, 2, 3))


class Database:
    """Answers batches, the first once it is let; only one is on its way at a time.

    Attributes:
        batches: the requests of each, by campaign where there are several.
        alone: the requests that were sent alone.
        busy: campaigns that somebody else has locked.
        complete: those whose round is complete after a batch.
    """

    def __init__(self, reply: Callable[[Sequence[str]], Any] | None = None) -> None:
        self.reply = reply or upper
        self.go = asyncio.Event()
        self.unlocked = asyncio.Event()
        self.batches: list[list[str]] = []
        self.alone: list[list[str]] = []
        self.closed: list[UUID] = []
        self.busy: set[UUID] = set()
        self.complete: set[UUID] = set()
        self.queue: _Queue[Any, str] = _Queue(
            self.send, self.send_together, lambda one: 1000 if one == "heavy" else 1, self.close
        )

    async def send(self, _: int, campaign: UUID, items: Sequence[str]) -> Any:
        self.alone.append(list(items))
        if campaign in self.busy:
            await self.unlocked.wait()
        return self.reply(items)

    async def send_together(self, shares: Sequence[Share[Any]]) -> Any:
        self.batches.append([item for share in shares for item in share.items])
        if len(self.batches) == 1:
            await self.go.wait()
            return [Sent(upper(one.items)) for one in shares]
        return [
            None
            if one.campaign in self.busy
            else Sent(
                upper(one.items) if one.campaign == OTHER else self.reply(one.items),
                one.campaign in self.complete,
            )
            for one in shares
        ]

    async def close(self, _: int, campaign: UUID) -> None:
        await self.unlocked.wait()
        self.closed.append(campaign)

    def put(self, campaign: UUID, items: Sequence[str]) -> list[asyncio.Task[str]]:
        return [asyncio.create_task(self.queue.put(1, campaign, item)) for item in items]

    async def occupied(self) -> asyncio.Task[str]:
        """Send the first batch, which stays on its way."""
        (first,) = self.put(THIRD, "a")
        while not self.batches:
            await asyncio.sleep(0)
        return first


def upper(items: Sequence[str]) -> list[str]:
    return [item.upper() for item in items]


def failing(_: Sequence[str]) -> Any:
    raise RuntimeError("a defect")


@pytest.fixture(autouse=True)
def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "MOST_SENDERS", 1)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(("reply", "error"), [(lambda _: [], Unavailable), (failing, RuntimeError)])
async def test_a_batch_that_fails_fails_its_own_requests_and_the_next_one_runs(
    reply: Callable[[Sequence[str]], Any], error: type[Exception], alone: bool
) -> None:
    database = Database(reply)
    first = await database.occupied()
    if alone:
        database.busy.add(ONE)
        database.unlocked.set()
    tasks = database.put(ONE, "bc") + (database.put(OTHER, "x") if alone else [])
    await asyncio.sleep(0)
    database.go.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert await first == "A"
    assert [type(one) for one in found[:2]] == [error, error]
    assert found[2:] == ["X"][: len(tasks) - 2]
    database.reply = upper
    assert await database.put(ONE, "d")[0] == "D"
    assert not database.queue._waiting


async def test_requests_of_several_campaigns_share_a_batch() -> None:
    database = Database()
    await database.occupied()
    tasks = database.put(ONE, "bc") + database.put(OTHER, "x")
    await asyncio.sleep(0)
    database.go.set()
    assert await asyncio.gather(*tasks) == ["B", "C", "X"]
    assert database.batches == [["a"], ["b", "c", "x"]]
    assert database.alone == []


async def test_a_campaign_that_is_locked_keeps_nobody_else() -> None:
    database = Database()
    database.busy.add(ONE)
    await database.occupied()
    slow, fast = database.put(ONE, "b"), database.put(OTHER, "x")
    await asyncio.sleep(0)
    database.go.set()
    assert await fast[0] == "X"
    later = database.put(ONE, "cd")  # gathered while the campaign is on its way
    assert await database.put(OTHER, "y")[0] == "Y"
    assert not slow[0].done()
    database.unlocked.set()
    assert await asyncio.gather(*slow, *later) == ["B", "C", "D"]
    assert database.alone == [["b"], ["c", "d"]]
    assert not database.queue._waiting


async def test_what_weighs_a_lot_is_a_batch_of_its_own() -> None:
    database = Database()
    await database.occupied()
    tasks = database.put(ONE, ["heavy"]) + database.put(OTHER, "x")
    await asyncio.sleep(0)
    database.go.set()
    assert await asyncio.gather(*tasks) == ["HEAVY", "X"]
    assert (database.alone, database.batches) == ([], [["a"], ["x"], ["heavy"]])


async def test_whoever_completes_a_round_hears_of_it_once_it_is_closed_and_others_before() -> None:
    database = Database()
    database.complete.add(ONE)
    await database.occupied()
    last, other = database.put(ONE, "b"), database.put(OTHER, "x")
    await asyncio.sleep(0)
    database.go.set()
    assert await other[0] == "X"
    assert not last[0].done()
    database.unlocked.set()
    assert await last[0] == "B"
    assert database.closed == [ONE]
    assert not database.queue._waiting


async def test_a_defect_of_the_queue_itself_leaves_nobody_waiting() -> None:
    database = Database()
    database.go.set()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)  # the task's own end is asyncio's to log
    broken = patch.object(database.queue, "_cut", side_effect=RuntimeError("a defect"))
    with broken:
        tasks = database.put(ONE, "a") + database.put(OTHER, "b")
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found] == [Unavailable] * 2
    assert await database.put(ONE, "b")[0] == "B"


@pytest.mark.parametrize("alone", [False, True])
async def test_whoever_waits_when_the_process_stops_is_told_to_try_again(alone: bool) -> None:
    database = Database()
    await database.occupied()
    tasks = database.put(THIRD, "bc")
    if alone:
        database.busy.add(THIRD)
        database.go.set()
        while not database.alone:
            await asyncio.sleep(0)
        tasks += database.put(THIRD, "d")
        await asyncio.sleep(0)
    (task,) = database.queue._running
    task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in found] == [Unavailable] * len(tasks)
