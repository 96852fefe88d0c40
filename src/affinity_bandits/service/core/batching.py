"""Batching: requests for one campaign that arrive together share a transaction.

A campaign's row can be locked by one transaction at a time, and each ends with a write to disk:
alone, a few thousand a second and fewer as more wait. So while one batch of a campaign is on its
way, a process gathers what arrives and sends it as the next batch. Nobody waits for company: the
first request leaves at once. Nothing is acknowledged before its batch is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.core.tells import Tell
from affinity_bandits.service.problems import Problem, Unavailable
from affinity_bandits.wire import Finished, Told, Wait

LARGEST_BATCH = 256
MOST_BATCHED = 20_000
"""Answers in a batch, beyond which the next one has to wait its turn."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Send = Callable[[int, UUID, Sequence[Item]], Awaitable[Sequence[Result | Problem]]]
Waiting = list[tuple[Item, asyncio.Future[Result]]]


class WrongReply(Exception):  # noqa: N818 - reads as the fact it states
    """The database returned a different number of results than the batch has requests."""

    def __init__(self, requests: int, results: int) -> None:
        super().__init__(f"{requests} requests were sent, and {results} results came")


class Batcher:
    """Takes asks and tells one at a time and sends them to the database in batches.

    Args:
        campaigns: the core.
    """

    def __init__(self, campaigns: Campaigns) -> None:
        self._asks: _Queue[Ask, Lease | Wait | Finished] = _Queue(campaigns.ask, lambda _: 1)
        self._tells: _Queue[Tell, Told] = _Queue(campaigns.tell, lambda one: len(one.units))

    async def ask(self, tenant: int, campaign: UUID, ask: Ask) -> Lease | Wait | Finished:
        """Lease slots of the open round; see `Campaigns.ask`."""
        return await self._asks.put(tenant, campaign, ask)

    async def tell(self, tenant: int, campaign: UUID, tell: Tell) -> Told:
        """Record answers to slots of a lease; see `Campaigns.tell`."""
        return await self._tells.put(tenant, campaign, tell)


class _Queue(Generic[Item, Result]):
    """Requests that wait while an earlier batch of their campaign is on its way."""

    def __init__(self, send: Send[Item, Result], weight: Callable[[Item], int]) -> None:
        self._send = send
        self._weight = weight
        self._waiting: dict[tuple[int, UUID], Waiting[Item, Result]] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def put(self, tenant: int, campaign: UUID, item: Item) -> Result:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get((tenant, campaign))
        if waiting is not None:
            waiting.append((item, result))
        else:
            self._waiting[tenant, campaign] = [(item, result)]
            task = asyncio.create_task(self._run(tenant, campaign))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await result

    async def _run(self, tenant: int, campaign: UUID) -> None:
        """Send a campaign's batches until no request waits; a campaign has one such task at most.

        Whatever becomes of a batch, each of its requests gets a result and the next batch is sent.
        """
        waiting = self._waiting[tenant, campaign]
        batch: Waiting[Item, Result] = []
        try:
            while waiting:
                batch = self._cut(waiting)
                results: Sequence[Any]
                try:
                    results = await self._send(tenant, campaign, [item for item, _ in batch])
                    if len(results) != len(batch):
                        results = [WrongReply(len(batch), len(results))] * len(batch)
                except Exception as error:  # every caller is told, none is forgotten
                    results = [error] * len(batch)
                for (_, future), result in zip(batch, results, strict=True):
                    _settle(future, result)
        finally:
            # Reached with requests in hand only where the task is cancelled: the process stops, and
            # nobody knows what became of them.
            del self._waiting[tenant, campaign]
            for _, future in batch + waiting:
                _settle(future, Unavailable())

    def _cut(self, waiting: Waiting[Item, Result]) -> Waiting[Item, Result]:
        """Remove the next batch, of at least one request, from a list and return it."""
        size, weight = 0, 0
        for item, _ in waiting[:LARGEST_BATCH]:
            weight += self._weight(item)
            if size and weight > MOST_BATCHED:
                break
            size += 1
        batch, waiting[:size] = waiting[:size], []
        return batch


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():  # whoever asked has gone, or has a result
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
