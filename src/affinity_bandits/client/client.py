"""The blocking and the asyncio client, and a loop that runs a whole campaign."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

import httpx

from affinity_bandits.client.core import AnyCampaign, Awaits, Methods, Outcome, Request, Waits
from affinity_bandits.client.exchange import Exchange, lost_by, settings_of, within
from affinity_bandits.client.stream import AsyncDecisionStream, DecisionStream
from affinity_bandits.wire import Campaign, Finished, Page, Wait
from affinity_bandits.wire.base import check_whole

T = TypeVar("T")


class Client(Methods, Waits):
    """A blocking client of the service; use it in a `with` block, or close it at the end.

    A request that gets 429, 502, 503 or 504, or no reply, is sent again after a growing pause.
    Every write has an idempotency key from its first try on, so a repeat counts once. Threads may
    share a client.

    Args:
        url: the service's address.
        key: an API key, kept out of messages and logs.
        timeout: seconds for one try, from connecting to the last byte of the reply.
        attempts: tries of one request at most.
        transport: carries requests; by default httpx's own.
        sleep: how to wait between tries.

    Raises:
        RequestRefused: from every method, if the service refuses.
        NoReply: from every method, if no try got a reply.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10.0,
        attempts: int = 8,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._attempts = check_whole("attempts", attempts, low=1, high=1000)
        settings = settings_of(url, key, timeout)
        self._timeout: float = settings["timeout"]
        self._http = httpx.Client(transport=transport, **settings)
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url)!r})"

    def stream(self, campaign: AnyCampaign, **settings: Any) -> DecisionStream:
        """Return a stream of decisions; requires the scopes "ask", "tell" and "read"."""
        return DecisionStream(self, campaign, **settings)

    def send(self, request: Request[T]) -> T:
        """Send a request, again after a pause if it must be; return the reply."""
        exchange = Exchange(request, self._attempts)
        while (pause := exchange.pause_after(self._try(request))) is not None:
            self._sleep(pause)
        return exchange.result()

    def _each(self, requests: Iterable[Request[list[T]]]) -> list[T]:
        return [item for request in requests for item in self.send(request)]

    def _pages(self, page: Callable[[str | None], Request[Page[T]]]) -> Iterator[T]:
        found = self.send(page(None))
        yield from found.items
        while found.next is not None:
            found = self.send(page(found.next))
            yield from found.items

    def _try(self, request: Request[T]) -> Outcome:
        try:
            return within(self._timeout, lambda: self._http.request(**request.parts()))
        except (httpx.RequestError, TimeoutError) as error:
            return lost_by(error, self._timeout)


class AsyncClient(Methods, Awaits):
    """A client of the service for asyncio; use it in an `async with` block.

    It has the arguments and methods of `Client`; iterators are asynchronous.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10.0,
        attempts: int = 8,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._attempts = check_whole("attempts", attempts, low=1, high=1000)
        settings = settings_of(url, key, timeout)
        self._timeout: float = settings["timeout"]
        self._http = httpx.AsyncClient(transport=transport, **settings)
        self._sleep = sleep
        # In a function, so that the key is shown nowhere.
        self._blocking: Callable[[], Client] = lambda: Client(
            url, key, timeout=timeout, attempts=attempts
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url)!r})"

    def stream(self, campaign: AnyCampaign, **settings: Any) -> AsyncDecisionStream:
        """Return a stream of decisions; requires the scopes "ask", "tell" and "read"."""
        return AsyncDecisionStream(self._blocking(), campaign, **settings)

    async def send(self, request: Request[T]) -> T:
        """Send a request, again after a pause if it must be; return the reply."""
        exchange = Exchange(request, self._attempts)
        while (pause := exchange.pause_after(await self._try(request))) is not None:
            await self._sleep(pause)
        return exchange.result()

    async def _each(self, requests: Iterable[Request[list[T]]]) -> list[T]:
        return [item for request in requests for item in await self.send(request)]

    async def _pages(self, page: Callable[[str | None], Request[Page[T]]]) -> AsyncIterator[T]:
        found = await self.send(page(None))
        while True:
            for item in found.items:
                yield item
            if found.next is None:
                return
            found = await self.send(page(found.next))

    async def _try(self, request: Request[T]) -> Outcome:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._http.request(**request.parts())
        except (httpx.RequestError, TimeoutError) as error:
            return lost_by(error, self._timeout)


# Seconds between two asks where there is nothing to hand out: others may answer any moment.
SHORTEST_WAIT, LONGEST_WAIT = 0.05, 1.0


def run_campaign(
    client: Client,
    campaign: AnyCampaign,
    score: Callable[[str], float],
    *,
    count: int = 1,
    sleep: Callable[[float], object] = time.sleep,
) -> Campaign:
    """Ask, score and tell until the campaign is decided, exhausted or stopped; return it.

    Several programs may run the same campaign. If `score` raises, the slots of its lease are
    offered again once the lease has expired.

    Args:
        client: its API key needs the scopes "ask", "tell" and "read".
        campaign: a campaign, or its id.
        score: returns the score of a choice from the group of that name.
        count: slots to ask for at a time.
        sleep: how to wait.
    """
    looked_at: int | None = None
    while True:
        found = client.ask(campaign, count)
        if isinstance(found, Finished):
            return client.campaign(campaign)
        if isinstance(found, Wait):
            sleep(min(LONGEST_WAIT, max(SHORTEST_WAIT, found.retry_after)))
            continue
        if found.round != looked_at:  # a decision is made only between two rounds
            now = client.campaign(campaign)
            if now.status == "decided":
                return now
            looked_at = found.round
        client.tell(found, [score(slot.arm) for slot in found.slots])
