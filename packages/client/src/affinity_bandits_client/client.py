"""The blocking and the asyncio client, and a loop that runs a whole campaign."""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2

from affinity_bandits_client import core
from affinity_bandits_client.core import AnyCampaign, AnyPolicy, Outcome, Request
from affinity_bandits_client.exchange import Exchange, lost_by, settings_of, within
from affinity_bandits_client.messages import (
    Asked,
    AskedBlock,
    Block,
    BlockScores,
    Campaign,
    ClosedRound,
    Event,
    Finished,
    Lease,
    Page,
    Raters,
    Released,
    Scores,
    Told,
    ToldLine,
    Total,
    Wait,
)
from affinity_bandits_client.messages.base import check_whole
from affinity_bandits_client.stream import AsyncDecisionStream, DecisionStream

T = TypeVar("T")


class Client:
    """A blocking client of the service; use it in a `with` block, or close it at the end.

    A request that gets 429, 502, 503 or 504, or no reply, is sent again after a growing pause.
    Every write has an idempotency key from its first try on, so a repeat counts once. Threads may
    share a client.

    Args:
        url: the service's address.
        key: an API key, kept out of messages and logs.
        timeout: seconds for one try, from connecting to the last byte of the reply.
        attempts: tries of one request at most.
        transport: carries requests; by default httpx2's own.
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
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._attempts = check_whole("attempts", attempts, low=1, high=1000)
        settings = settings_of(url, key, timeout)
        self._timeout: float = settings["timeout"]
        self._http = httpx2.Client(transport=transport, **settings)
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

    def create_campaign(
        self,
        name: str,
        arms: Sequence[str] | None = None,
        policy: AnyPolicy | None = None,
        *,
        plan: str | Path | None = None,
        horizon: int | None = None,
        lease_seconds: float | None = None,
        lowest: float | None = None,
        highest: float | None = None,
        committee: Mapping[str, int] | None = None,
        tellers: Sequence[str] | str | None = None,
        declaration: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Campaign:
        """Create a campaign; requires the scope "admin".

        Args:
            name: its name for people.
            arms: the names of the groups to compare; by default those in the plan.
            policy: a round policy's name, or its name and settings. It needs a horizon.
            plan: instead, a file written by `affinity plan`, or its text.
            horizon: answers that the policy may count on.
            lease_seconds: time to answer a lease; default 3600.
            lowest: the smallest possible score; by default the plan's, or else 0. Settings of a
                policy about scores refer to scores mapped from the range to [0, 1].
            highest: the largest; by default the plan's, or else 1.
            committee: initial members of each group, if known.
            tellers: ids of API keys that may answer any lease, or "any" for all keys of the tenant.
                By default only the key that took a lease answers it.
            declaration: `groups_are`, `responsible`, `purpose` and, if the groups are protected
                attributes of people, `protected`. Required, unless the plan has one.
            key: the idempotency key; by default a new one.
        """
        return self.send(
            core.create_campaign(
                name,
                arms,
                policy,
                plan=plan,
                horizon=horizon,
                lease_seconds=lease_seconds,
                lowest=lowest,
                highest=highest,
                committee=committee,
                tellers=tellers,
                declaration=declaration,
                key=key,
            )
        )

    def campaign(self, campaign: AnyCampaign) -> Campaign:
        """Get a campaign; requires the scope "read"."""
        return self.send(core.campaign(campaign))

    def campaigns(self) -> Iterator[Campaign]:
        """Iterate over all campaigns, oldest first; requires the scope "read"."""
        return self._pages(core.campaigns)

    def rounds(self, campaign: AnyCampaign) -> Iterator[ClosedRound]:
        """Iterate over the closed rounds of a campaign; requires the scope "read"."""
        return self._pages(lambda cursor: core.rounds(cursor, campaign))

    def events(self, campaign: AnyCampaign) -> Iterator[Event]:
        """Iterate over the audit trail of a campaign; requires the scope "read"."""
        return self._pages(lambda cursor: core.events(cursor, campaign))

    def ask(self, campaign: AnyCampaign, count: int = 1, *, key: str | None = None) -> Asked:
        """Ask which groups come next; requires the scope "ask".

        Args:
            campaign: a campaign, or its id.
            count: slots at most; a lease may have fewer.
            key: the idempotency key; by default a new one.
        """
        return self.send(core.ask(campaign, count, key=key))

    def tell(
        self, lease: Lease, scores: Scores, *, raters: Raters | None = None, key: str | None = None
    ) -> Told:
        """Report the scores of slots; requires the scope "tell".

        Args:
            lease: the reply to `ask`.
            scores: by slot, or those of all slots in order.
            raters: who gave them, for the audit trail: one for all, or one for each. A pseudonym,
                never a name or an e-mail address.
            key: the idempotency key; by default a new one.
        """
        return self.send(core.tell(lease, scores, raters=raters, key=key))

    def tell_totals(self, lease: Lease, totals: Iterable[Total], *, key: str | None = None) -> Told:
        """Report the scores of a whole lease as totals; requires the scope "tell".

        `Lease.totals` counts them by group. They count only if the whole lease is still unanswered
        and yours.
        """
        return self.send(core.tell_totals(lease, totals, key=key))

    def tell_many(
        self, tells: Iterable[tuple[Lease, Scores]], *, key: str | None = None
    ) -> list[ToldLine]:
        """Report the scores of slots of many leases of one campaign; requires the scope "tell".

        A tell that is refused leaves the others as they are: see each line's `told`.
        """
        return self._each(core.tell_many(tells, key=key))

    def ask_block(
        self,
        campaign: AnyCampaign,
        rater_group: str | None = None,
        *,
        rater: str | None = None,
        key: str | None = None,
    ) -> AskedBlock:
        """Get a block for a rater, whose group the service checks; requires the scope "ask".

        Args:
            campaign: a campaign of blocks, or its id.
            rater_group: the group that the rater belongs to; None for a person of no group.
            rater: a pseudonym, for the audit trail: never a name or an e-mail address.
            key: the idempotency key; by default a new one.
        """
        return self.send(core.ask_block(campaign, rater_group, rater=rater, key=key))

    def tell_block(self, block: Block, scores: BlockScores, *, key: str | None = None) -> Told:
        """Report all scores of a block; requires the scope "tell".

        They count if they come in time, and all together. If the rater cannot finish, `release` the
        block.

        Args:
            block: the reply to `ask_block`.
            scores: by group, or in the order of `block.groups`.
            key: the idempotency key; by default a new one.
        """
        return self.send(core.tell_block(block, scores, key=key))

    def release(
        self, campaign: AnyCampaign, lease: Lease | Block | int, *, key: str | None = None
    ) -> Released:
        """Give back a lease's open slots, or a block; requires "ask" and the same key.

        Others can have them at once, instead of when the lease expires.
        """
        return self.send(core.release(campaign, lease, key=key))

    def stop(self, campaign: AnyCampaign, *, key: str | None = None) -> Campaign:
        """Stop a campaign; requires the scope "admin".

        It hands out no more slots, but answers to leased slots still count.
        """
        return self.send(core.stop(campaign, key=key))

    def name_judges(
        self,
        campaign: AnyCampaign,
        judges: Mapping[str, int],
        *,
        outsiders: int = 0,
        soon: Mapping[str, int] | None = None,
        later: Mapping[str, int] | None = None,
        standing: bool = False,
        round: int | None = None,
        key: str | None = None,
    ) -> Campaign:
        """Name who judges a round, which opens it if it waits for that; requires the scope "admin".

        Args:
            campaign: a campaign, or its id.
            judges: number per group; default 0. If all members judge, the current committee.
            outsiders: judges from outside all groups.
            soon: per group, at most how many of those chosen may begin to judge during the round,
                if all members judge.
            later: per group, how many of those chosen will begin after it.
            standing: whether they also judge later rounds, until others are named; a panel only
                while the leading group has the fewest seats.
            round: the one that waits, or the one after the open round; default the one that waits.
            key: the idempotency key; by default a new one.
        """
        return self.send(
            core.name_judges(
                campaign,
                judges,
                outsiders=outsiders,
                soon=soon,
                later=later,
                standing=standing,
                round=round,
                key=key,
            )
        )

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
        except (httpx2.RequestError, TimeoutError) as error:
            return lost_by(error, self._timeout)


class AsyncClient:
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
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._attempts = check_whole("attempts", attempts, low=1, high=1000)
        settings = settings_of(url, key, timeout)
        self._timeout: float = settings["timeout"]
        self._http = httpx2.AsyncClient(transport=transport, **settings)
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

    async def create_campaign(
        self,
        name: str,
        arms: Sequence[str] | None = None,
        policy: AnyPolicy | None = None,
        *,
        plan: str | Path | None = None,
        horizon: int | None = None,
        lease_seconds: float | None = None,
        lowest: float | None = None,
        highest: float | None = None,
        committee: Mapping[str, int] | None = None,
        tellers: Sequence[str] | str | None = None,
        declaration: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Campaign:
        """Create a campaign; requires the scope "admin".

        See `Client.create_campaign`.
        """
        return await self.send(
            core.create_campaign(
                name,
                arms,
                policy,
                plan=plan,
                horizon=horizon,
                lease_seconds=lease_seconds,
                lowest=lowest,
                highest=highest,
                committee=committee,
                tellers=tellers,
                declaration=declaration,
                key=key,
            )
        )

    async def campaign(self, campaign: AnyCampaign) -> Campaign:
        """Get a campaign; requires the scope "read"."""
        return await self.send(core.campaign(campaign))

    def campaigns(self) -> AsyncIterator[Campaign]:
        """Iterate over all campaigns, oldest first; requires the scope "read"."""
        return self._pages(core.campaigns)

    def rounds(self, campaign: AnyCampaign) -> AsyncIterator[ClosedRound]:
        """Iterate over the closed rounds of a campaign; requires the scope "read"."""
        return self._pages(lambda cursor: core.rounds(cursor, campaign))

    def events(self, campaign: AnyCampaign) -> AsyncIterator[Event]:
        """Iterate over the audit trail of a campaign; requires the scope "read"."""
        return self._pages(lambda cursor: core.events(cursor, campaign))

    async def ask(self, campaign: AnyCampaign, count: int = 1, *, key: str | None = None) -> Asked:
        """Ask which groups come next; requires the scope "ask".

        See `Client.ask`.
        """
        return await self.send(core.ask(campaign, count, key=key))

    async def tell(
        self, lease: Lease, scores: Scores, *, raters: Raters | None = None, key: str | None = None
    ) -> Told:
        """Report the scores of slots; requires the scope "tell".

        See `Client.tell`.
        """
        return await self.send(core.tell(lease, scores, raters=raters, key=key))

    async def tell_totals(
        self, lease: Lease, totals: Iterable[Total], *, key: str | None = None
    ) -> Told:
        """Report the scores of a whole lease as totals; requires the scope "tell".

        See `Client.tell_totals`.
        """
        return await self.send(core.tell_totals(lease, totals, key=key))

    async def tell_many(
        self, tells: Iterable[tuple[Lease, Scores]], *, key: str | None = None
    ) -> list[ToldLine]:
        """Report the scores of slots of many leases of one campaign; requires the scope "tell".

        See `Client.tell_many`.
        """
        return await self._each(core.tell_many(tells, key=key))

    async def ask_block(
        self,
        campaign: AnyCampaign,
        rater_group: str | None = None,
        *,
        rater: str | None = None,
        key: str | None = None,
    ) -> AskedBlock:
        """Get a block for a rater, whose group the service checks; requires the scope "ask".

        See `Client.ask_block`.
        """
        return await self.send(core.ask_block(campaign, rater_group, rater=rater, key=key))

    async def tell_block(
        self, block: Block, scores: BlockScores, *, key: str | None = None
    ) -> Told:
        """Report all scores of a block; requires the scope "tell".

        See `Client.tell_block`.
        """
        return await self.send(core.tell_block(block, scores, key=key))

    async def release(
        self, campaign: AnyCampaign, lease: Lease | Block | int, *, key: str | None = None
    ) -> Released:
        """Give back a lease's open slots, or a block; requires "ask" and the same key.

        See `Client.release`.
        """
        return await self.send(core.release(campaign, lease, key=key))

    async def stop(self, campaign: AnyCampaign, *, key: str | None = None) -> Campaign:
        """Stop a campaign; requires the scope "admin".

        See `Client.stop`.
        """
        return await self.send(core.stop(campaign, key=key))

    async def name_judges(
        self,
        campaign: AnyCampaign,
        judges: Mapping[str, int],
        *,
        outsiders: int = 0,
        soon: Mapping[str, int] | None = None,
        later: Mapping[str, int] | None = None,
        standing: bool = False,
        round: int | None = None,
        key: str | None = None,
    ) -> Campaign:
        """Name who judges a round, which opens it if it waits for that; requires the scope "admin".

        See `Client.name_judges`.
        """
        return await self.send(
            core.name_judges(
                campaign,
                judges,
                outsiders=outsiders,
                soon=soon,
                later=later,
                standing=standing,
                round=round,
                key=key,
            )
        )

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
        except (httpx2.RequestError, TimeoutError) as error:
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
