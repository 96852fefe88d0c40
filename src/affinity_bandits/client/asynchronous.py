"""The client for event loops; its methods are those of `Client`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Self, TypeVar

from affinity_bandits.client import requests
from affinity_bandits.client._httpx import httpx
from affinity_bandits.client.answers import Page
from affinity_bandits.client.exchange import Exchange, lost_by, reply_of, retries_of, settings_of
from affinity_bandits.client.messages import (
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    Scores,
    Told,
    ToldLine,
    Total,
    Wait,
)
from affinity_bandits.client.requests import AnyCampaign, AnyPolicy, Request
from affinity_bandits.client.retries import Lost, Reply

T = TypeVar("T")


class AsyncClient:
    """The service, over HTTP, from an event loop; to be used in an `async with` block.

    Everything is as with `Client`, and what lists things there is an asynchronous iterator here.

    Args:
        url: the service's address.
        key: an API key; it is shown nowhere.
        timeout: seconds to wait for an answer to one try.
        attempts: tries of one request at most.
        transport: what carries requests; httpx's own if None.
        sleep: how to wait between tries.
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
        self._retries = retries_of(attempts)
        self._http = httpx.AsyncClient(transport=transport, **settings_of(url, key, timeout))
        self._sleep = sleep

    async def create_campaign(
        self,
        name: str,
        arms: Sequence[str],
        policy: AnyPolicy | None = None,
        *,
        plan: str | None = None,
        horizon: int | None = None,
        lease_seconds: float | None = None,
        lowest: float | None = None,
        highest: float | None = None,
        key: str | None = None,
    ) -> Campaign:
        settings = {"lease_seconds": lease_seconds, "lowest": lowest, "highest": highest}
        return await self._send(
            requests.create_campaign(name, arms, policy, plan, horizon, settings, key)
        )

    async def campaign(self, campaign: AnyCampaign) -> Campaign:
        return await self._send(requests.campaign(campaign))

    def campaigns(self) -> AsyncIterator[Campaign]:
        return self._all(requests.campaigns)

    def rounds(self, campaign: AnyCampaign) -> AsyncIterator[ClosedRound]:
        return self._all(lambda cursor: requests.rounds(campaign, cursor))

    def events(self, campaign: AnyCampaign) -> AsyncIterator[Event]:
        return self._all(lambda cursor: requests.events(campaign, cursor))

    async def ask(
        self, campaign: AnyCampaign, count: int = 1, *, key: str | None = None
    ) -> Lease | Wait | Finished:
        return await self._send(requests.ask(campaign, count, key))

    async def tell(self, lease: Lease, scores: Scores, *, key: str | None = None) -> Told:
        return await self._send(requests.tell(lease, scores, key))

    async def tell_totals(
        self, lease: Lease, totals: Iterable[Total], *, key: str | None = None
    ) -> Told:
        return await self._send(requests.tell_totals(lease, totals, key))

    async def tell_many(
        self, tells: Iterable[tuple[Lease, Scores]], *, key: str | None = None
    ) -> list[ToldLine]:
        return [
            line for request in requests.tell_many(tells, key) for line in await self._send(request)
        ]

    async def stop(self, campaign: AnyCampaign, *, key: str | None = None) -> Campaign:
        return await self._send(requests.stop(campaign, key))

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url)!r})"

    async def _all(self, page: Callable[[str | None], Request[Page[T]]]) -> AsyncIterator[T]:
        cursor: str | None = None
        while True:
            found = await self._send(page(cursor))
            for item in found.items:
                yield item
            if found.next is None:
                return
            cursor = found.next

    async def _send(self, request: Request[T]) -> T:
        exchange = Exchange(request, self._retries)
        while (pause := exchange.pause_after(await self._try(request))) is not None:
            await self._sleep(pause)
        return exchange.result()

    async def _try(self, request: Request[T]) -> Reply | Lost:
        try:
            return reply_of(await self._http.request(**request.parts()))
        except httpx.RequestError as error:
            return lost_by(error)
