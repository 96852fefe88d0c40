"""The asyncio client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Self, TypeVar

import httpx

from affinity_bandits.client.core import Methods
from affinity_bandits.client.exchange import Exchange, lost_by, retries_of, settings_of
from affinity_bandits.client.methods import Awaits
from affinity_bandits.client.requests import Outcome, Request
from affinity_bandits.wire import Page

T = TypeVar("T")


class AsyncClient(Methods, Awaits):
    """A client of the service for asyncio; use it in an `async with` block.

    It has the arguments and methods of `Client`; what returns an iterator there returns an
    asynchronous iterator here.
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

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._http.base_url)!r})"

    async def _send(self, request: Request[T]) -> T:
        exchange = Exchange(request, self._retries)
        while (pause := exchange.pause_after(await self._try(request))) is not None:
            await self._sleep(pause)
        return exchange.result()

    async def _each(self, requests: Iterable[Request[list[T]]]) -> list[T]:
        return [item for request in requests for item in await self._send(request)]

    async def _pages(self, page: Callable[[str | None], Request[Page[T]]]) -> AsyncIterator[T]:
        found = await self._send(page(None))
        while True:
            for item in found.items:
                yield item
            if found.next is None:
                return
            found = await self._send(page(found.next))

    async def _try(self, request: Request[T]) -> Outcome:
        try:
            return await self._http.request(**request.parts())
        except httpx.RequestError as error:
            return lost_by(error)
