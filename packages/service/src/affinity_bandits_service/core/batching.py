"""Batching: requests that arrive together share a transaction, also those of several campaigns.

A transaction ends with a write to disk and locks its campaign, so requests sent one by one would be
limited to a few thousand per second. While a few batches are on their way, a process gathers new
requests and sends them as the next batch. The first request leaves at once, and a request is
acknowledged only when its batch is committed.

A batch of several campaigns never waits for a lock. A campaign that is locked or fails is sent
alone, when it is its tenant's turn (`limits.Turns`), so tenants do not wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar
from uuid import UUID

from affinity_bandits_client.messages import Finished, Lease, Told, Wait
from affinity_bandits_service.core.campaigns import Campaigns, SlotAsk
from affinity_bandits_service.core.tells import AnyTell, Key, Keyed, Sent, Share
from affinity_bandits_service.problems import ServiceProblem, Unavailable

LARGEST_BATCH = 256
MOST_BATCHED = 20_000
"""Answers in a batch of one campaign, beyond which the next one has to wait its turn."""
MOST_SHARED = 256
"""Answers in a batch of several campaigns; one that has more of its own is sent alone."""
MOST_SENDERS = 2
"""Batches of several campaigns that are on their way at once. More would be smaller ones."""

Item = TypeVar("Item", bound=Keyed)
Result = TypeVar("Result")
Waiting = list[tuple[Item, asyncio.Future[Result]]]


class Batcher:
    """Takes asks and tells one at a time and sends them to the database in batches.

    Args:
        campaigns: the core.
    """

    def __init__(self, campaigns: Campaigns) -> None:
        close = campaigns.close_told
        self._asks: _Queue[SlotAsk, Lease | Wait | Finished] = _Queue(
            campaigns.ask, campaigns.ask_shared, lambda _: 1, close
        )
        self._tells: _Queue[AnyTell, Told] = _Queue(
            campaigns.tell, campaigns.tell_shared, lambda one: len(one.units), close
        )

    async def ask(self, tenant: int, campaign: UUID, ask: SlotAsk) -> Lease | Wait | Finished:
        """Lease slots of the open round; see `Campaigns.ask`."""
        return await self._asks.put(tenant, campaign, ask)

    async def tell(self, tenant: int, campaign: UUID, tell: AnyTell) -> Told:
        """Record answers to slots of a lease; see `Campaigns.tell`."""
        return await self._tells.put(tenant, campaign, tell)


class _Queue(Generic[Item, Result]):
    """Requests that wait while others are on their way.

    A campaign is ready, or on its way in one batch while its further requests wait.

    Args:
        send: sends requests of one campaign.
        send_together: sends requests of several.
        weight: returns the weight of a request.
        close: closes the complete round of a campaign.
    """

    def __init__(
        self,
        send: Callable[[int, UUID, Sequence[Item]], Awaitable[Sequence[Result | ServiceProblem]]],
        send_together: Callable[
            [Sequence[Share[Item]]], Awaitable[Sequence[Sent[Result | ServiceProblem] | None]]
        ],
        weight: Callable[[Item], int],
        close: Callable[[int, UUID], Awaitable[None]],
    ) -> None:
        self._send = send
        self._send_together = send_together
        self._weight = weight
        self._close = close
        self._waiting: dict[Key, Waiting[Item, Result]] = {}
        self._ready: deque[Key] = deque()
        self._senders = 0
        self._running: set[asyncio.Task[None]] = set()

    async def put(self, tenant: int, campaign: UUID, item: Item) -> Result:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        key = (tenant, campaign)
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.append((item, result))
        else:
            self._waiting[key] = [(item, result)]
            self._make_ready(key)
        return await result

    def _make_ready(self, key: Key) -> None:
        self._ready.append(key)
        if self._senders < MOST_SENDERS:
            self._senders += 1
            self._start(self._send_ready())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _send_ready(self) -> None:
        """Send batches as long as campaigns are ready."""
        try:
            while self._ready:
                await self._send_batch({})
        finally:
            self._senders -= 1
            if self._ready:
                self._make_ready(self._ready.popleft())

    async def _send_batch(self, taken: dict[Key, Waiting[Item, Result]]) -> None:
        """Send a batch that never waits for locks: the requests taken, else the next ready ones.

        Each of its requests gets a result, even if the batch fails.
        """
        try:
            if not taken:
                self._take(taken)
            shares = [Share(*key, [one for one, _ in batch]) for key, batch in taken.items()]
            sent: Sequence[Sent[Any] | None]
            try:
                sent = await self._send_together(shares) if shares else []
            except Exception as error:  # every caller is told, none is forgotten
                sent = [Sent([error] * len(one.items)) for one in shares]
            for key, outcome in zip(list(taken), sent, strict=True):
                self._go_on(key, taken[key], outcome)
                del taken[key]
        finally:
            for key, batch in taken.items():
                self._abandon(key, batch)

    def _go_on(self, key: Key, batch: Waiting[Item, Result], outcome: Sent[Any] | None) -> None:
        """Act on the outcome of a campaign's part of a batch."""
        if outcome is None:
            self._start(self._send_alone(key, batch))
        elif outcome.complete:
            self._start(self._close_and_settle(key, batch, outcome.results))
        else:
            _settle_all(batch, outcome.results)
            self._release(key)

    def _take(self, taken: dict[Key, Waiting[Item, Result]]) -> None:
        """Take the next batch from those that are ready; start large ones on their own."""
        items = weight = 0
        while self._ready and items < LARGEST_BATCH and weight < MOST_SHARED:
            key = self._ready.popleft()
            taken[key] = []  # from here on it is answered for
            batch = taken[key] = self._cut(self._waiting[key])
            own = sum(self._weight(one) for one, _ in batch)
            if own > MOST_SHARED:
                self._start(self._send_batch({key: taken.pop(key)}))
            else:
                items, weight = items + len(batch), weight + own

    async def _send_alone(self, key: Key, batch: Waiting[Item, Result]) -> None:
        """Send a campaign's requests by themselves, as long as some wait."""
        waiting = self._waiting[key]
        try:
            while batch:
                results: Sequence[Any]
                try:
                    results = await self._send(*key, [item for item, _ in batch])
                except Exception as error:  # every caller is told, none is forgotten
                    results = [error] * len(batch)
                _settle_all(batch, results)
                batch = self._cut(waiting) if waiting else []
            del self._waiting[key]
        finally:
            if key in self._waiting and self._waiting[key] is waiting:
                self._abandon(key, batch)

    async def _close_and_settle(
        self, key: Key, batch: Waiting[Item, Result], results: Sequence[Any]
    ) -> None:
        """Close a complete round before those are answered who completed it."""
        try:
            await self._close(*key)
            _settle_all(batch, results)
            batch = []
            self._release(key)
        finally:
            if batch:
                self._abandon(key, batch)

    def _release(self, key: Key) -> None:
        """Let the next requests of a campaign go."""
        if self._waiting[key]:
            self._make_ready(key)
        else:
            del self._waiting[key]

    def _abandon(self, key: Key, batch: Waiting[Item, Result]) -> None:
        """Report that the fate of a campaign's requests is unknown: the process stops."""
        for _, future in batch + self._waiting.pop(key, []):
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


def _settle_all(batch: Waiting[Any, Any], results: Sequence[Any]) -> None:
    for (_, future), result in zip(batch, results, strict=True):
        _settle(future, result)


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if future.done():  # whoever asked has gone, or has a result
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
