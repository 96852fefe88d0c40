"""The client for event loops, from which the one for programs that wait is made.

`client.py` is this file without its `async` and `await`; after a change, run
`python -m tests.service.sync_client`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Self, TypeVar

from affinity_bandits.client import core
from affinity_bandits.client._httpx import httpx
from affinity_bandits.client.core import AnyCampaign, AnyPolicy, Request
from affinity_bandits.client.exchange import Exchange, lost_by, reply_of, retries_of, settings_of
from affinity_bandits.client.retries import Lost, Reply
from affinity_bandits.wire import (
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    Page,
    Scores,
    Told,
    ToldLine,
    Total,
    Wait,
)

T = TypeVar("T")


class AsyncClient:
    """The service, over HTTP; to be used in an `async with` block, or closed at the end.

    What gets no reply, or 429, 502, 503 or 504, is sent again after a growing pause. Every write
    has an idempotency key from its first try on, so a repeat never leases or counts anything
    twice. Whatever runs at the same time may share a client.

    Args:
        url: the service's address.
        key: an API key; it is shown nowhere.
        timeout: seconds to wait for a reply to one try.
        attempts: tries of one request at most.
        transport: what carries requests; httpx's own if None.
        sleep: how to wait between tries.

    Raises:
        RequestRefused: from every method, where the service says no.
        NoAnswer: from every method, where no try brought a reply.
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
        plan: str | Path | None = None,
        horizon: int | None = None,
        lease_seconds: float | None = None,
        lowest: float | None = None,
        highest: float | None = None,
        key: str | None = None,
    ) -> Campaign:
        """Make a campaign; takes the scope "admin".

        Args:
            name: what people call it.
            arms: the names of the groups that are compared.
            policy: a round policy's name, or its name and settings. It takes a horizon.
            plan: instead, a file written by `affinity plan`, or its text; it has a horizon.
            horizon: answers the policy may count on in all.
            lease_seconds: how long whoever asks has to answer; 3600 if left out.
            lowest: the smallest score there can be; the plan's, or else 0, if left out. Settings of
                a policy that speak of scores speak of scores mapped from the range to [0, 1].
            highest: the largest; the plan's, or else 1, if left out.
            key: the idempotency key; a new one if left out.
        """
        settings = {"lease_seconds": lease_seconds, "lowest": lowest, "highest": highest}
        return await self._send(
            core.create_campaign(name, arms, policy, plan, horizon, settings, key)
        )

    async def campaign(self, campaign: AnyCampaign) -> Campaign:
        """Look at a campaign; takes the scope "read", as the next three do."""
        return await self._send(core.campaign(campaign))

    def campaigns(self) -> AsyncIterator[Campaign]:
        """Go through all campaigns, oldest first, a page at a time."""
        return self._all(core.campaigns)

    def rounds(self, campaign: AnyCampaign) -> AsyncIterator[ClosedRound]:
        """Go through the rounds that are over."""
        return self._all(lambda cursor: core.rounds(campaign, cursor))

    def events(self, campaign: AnyCampaign) -> AsyncIterator[Event]:
        """Go through the audit trail."""
        return self._all(lambda cursor: core.events(campaign, cursor))

    async def ask(
        self, campaign: AnyCampaign, count: int = 1, *, key: str | None = None
    ) -> Lease | Wait | Finished:
        """Ask which groups come next; takes the scope "ask".

        Args:
            campaign: a campaign, or its id.
            count: slots at most; a lease may have fewer.
            key: the idempotency key; a new one if left out.
        """
        return await self._send(core.ask(campaign, count, key))

    async def tell(self, lease: Lease, scores: Scores, *, key: str | None = None) -> Told:
        """Say what came of slots; takes the scope "tell".

        Args:
            lease: what `ask` returned.
            scores: by slot, or those of all slots in their order.
            key: the idempotency key; a new one if left out.
        """
        return await self._send(core.tell(lease, scores, key))

    async def tell_totals(
        self, lease: Lease, totals: Iterable[Total], *, key: str | None = None
    ) -> Told:
        """Say what came of a whole lease, added up by group (`Lease.totals` does); scope "tell".

        Totals count whole or not at all: only while nothing of the lease was answered or offered
        to others.
        """
        return await self._send(core.tell_totals(lease, totals, key))

    async def tell_many(
        self, tells: Iterable[tuple[Lease, Scores]], *, key: str | None = None
    ) -> list[ToldLine]:
        """Say what came of many leases of one campaign, in few requests; scope "tell".

        One that is refused leaves the others as they are: look at each line's `told`.
        """
        return [
            line for request in core.tell_many(tells, key) for line in await self._send(request)
        ]

    async def stop(self, campaign: AnyCampaign, *, key: str | None = None) -> Campaign:
        """Let a campaign hand out nothing more; takes the scope "admin"."""
        return await self._send(core.stop(campaign, key))

    async def close(self) -> None:
        """Close the connections."""
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
