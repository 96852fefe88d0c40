"""Requests that share a transaction: whatever becomes of a batch, nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest

from affinity_bandits.service.core.batching import WrongReply, _Queue
from affinity_bandits.service.problems import KeyReused, Unavailable

ONE, OTHER = UUID(int=1), UUID(int=2)


class Database:
    """Answers batches, the first of a campaign once it is let."""

    def __init__(self, reply: Callable[[Sequence[str]], Any]) -> None:
        self.reply = reply
        self.go = asyncio.Event()
        self.batches: list[list[str]] = []

    async def send(self, _: int, campaign: UUID, items: Sequence[str]) -> Any:
        if campaign == OTHER:
            return [item.upper() for item in items]
        self.batches.append(list(items))
        if len(self.batches) == 1:
            await self.go.wait()
            return [item.upper() for item in items]
        if len(self.batches) == 2:
            return self.reply(items)
        return [item.upper() for item in items]


def failing(_: Sequence[str]) -> Any:
    raise RuntimeError("a defect")


def sent(reply: Callable[[Sequence[str]], Any]) -> tuple[list[Any], Database]:
    """Send a request, then two that share a batch which is answered so, then one more."""

    async def run() -> tuple[list[Any], Database]:
        database = Database(reply)
        queue: _Queue[str, str] = _Queue(database.send, lambda _: 1)
        async with asyncio.timeout(30):
            tasks = [asyncio.create_task(queue.put(1, ONE, "a"))]
            while not database.batches:
                await asyncio.sleep(0)
            tasks += [asyncio.create_task(queue.put(1, ONE, item)) for item in "bc"]
            tasks.append(asyncio.create_task(queue.put(1, OTHER, "x")))
            await asyncio.sleep(0)
            database.go.set()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            found.append(await queue.put(1, ONE, "d"))
        assert not queue._waiting
        return found, database

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda _: [], WrongReply),
        (lambda items: [items[0]], WrongReply),
        (lambda items: [*items, "more"], WrongReply),
        (lambda _: None, TypeError),
        (failing, RuntimeError),
    ],
)
def test_a_batch_that_fails_fails_its_own_requests_and_the_next_one_runs(
    reply: Callable[[Sequence[str]], Any], error: type[Exception]
) -> None:
    found, database = sent(reply)
    assert database.batches == [["a"], ["b", "c"], ["d"]]
    assert found[0] == "A"
    assert [type(one) for one in found[1:3]] == [error, error]
    assert found[3:] == ["X", "D"]


def test_a_refusal_of_one_is_not_that_of_the_others() -> None:
    found, _ = sent(lambda items: [KeyReused(), items[1].upper()])
    assert isinstance(found[1], KeyReused)
    assert found[2] == "C"


def test_a_defect_of_the_queue_itself_leaves_nobody_waiting() -> None:
    async def run() -> None:
        database = Database(failing)
        database.go.set()
        queue: _Queue[str, str] = _Queue(database.send, lambda _: 1)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # the task's own end is asyncio's to log
        broken = patch.object(queue, "_cut", side_effect=RuntimeError("a defect"))
        with broken, pytest.raises(Unavailable):
            await asyncio.wait_for(queue.put(1, ONE, "a"), 30)
        assert await asyncio.wait_for(queue.put(1, ONE, "b"), 30) == "B"

    asyncio.run(run())


def test_whoever_waits_when_the_process_stops_is_told_to_try_again() -> None:
    async def run() -> None:
        database = Database(failing)
        queue: _Queue[str, str] = _Queue(database.send, lambda _: 1)
        waiting = [asyncio.create_task(queue.put(1, ONE, item)) for item in "abc"]
        while not database.batches:
            await asyncio.sleep(0)
        (task,) = queue._running
        task.cancel()
        found = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 30)
        assert [type(one) for one in found] == [Unavailable] * 3

    asyncio.run(run())
