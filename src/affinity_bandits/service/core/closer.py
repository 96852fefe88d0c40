"""Close rounds that are due; mark campaigns whose round cannot be closed, and retry them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from affinity_bandits.service import problems, tracing
from affinity_bandits.service.core import faults
from affinity_bandits.service.core.closing import close_round
from affinity_bandits.service.store.connection import GONE, transaction, translate_errors
from affinity_bandits.service.store.named import sql

CLOSED_AT_ONCE = 2
"""Rounds that requests close at once in a process. A round of a thousand groups takes a while, and
rounds that wait their turn hold no connection that asks and tells could use."""
MOST_FAILURES = 20
"""Tries of marked campaigns that may fail in one look for rounds to close."""


class Closer:
    """Closes rounds, and marks campaigns whose rounds cannot be closed.

    Args:
        pool: connections, as `connection.connect` makes them.
        faulted: called with every fault that is found.
        closed: called with the number of rounds that were closed.
    """

    def __init__(
        self,
        pool: asyncpg.Pool,
        faulted: Callable[[problems.NeedsAttention], None] = lambda _: None,
        closed: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._pool = pool
        self._faulted = faulted
        self._closed = closed
        self._turns = asyncio.Semaphore(CLOSED_AT_ONCE)

    async def close(self, campaign: UUID, *, now: datetime | None = None) -> bool:
        """Close the open round if it has all its answers; return whether this call closed it.

        Raises:
            NeedsAttention: it cannot be closed, or could not a moment ago.
        """
        async with self._turns, transaction(self._pool) as db:
            held = await faults.held(db, campaign, now)
            outcome = held or await self._try(db, campaign, now)
        if isinstance(outcome, problems.NeedsAttention):
            raise outcome
        self._closed(outcome)
        return outcome

    async def close_due(self, *, now: datetime | None = None, at_once: bool = False) -> int:
        """Close all due rounds that no other process is closing; return how many.

        Campaigns that cannot go on are marked, keep nobody else, and are tried again after a
        pause; the mark of one that can go on again is taken away.

        Args:
            now: the time; the database's if None.
            at_once: try all that are marked, whether their pause is over or not.
        """
        closed = failures = 0
        while (found := await self._try_next(now, sql.next_due, faults.PASSING)) is not None:
            closed += found[1] is True
        tried: list[UUID] = []
        while failures < MOST_FAILURES:
            found = await self._try_next(now, sql.next_marked, tried, at_once, now)
            if found is None:
                break
            tried.append(found[0])
            closed += found[1] is True
            failures += isinstance(found[1], problems.NeedsAttention)
        self._closed(closed)
        return closed

    async def note(self, found: Sequence[problems.NeedsAttention]) -> None:
        """Mark campaigns on which requests met faults, and report the new faults."""
        try:
            async with translate_errors():
                new = await faults.note(self._pool, found)
        except (problems.Unavailable, asyncpg.PostgresError):
            new = {one.campaign for one in found}  # nowhere to write it down, but for the log
        for one in found:
            if one.campaign in new or one.kind in faults.PASSING:
                self._faulted(one)

    async def _try_next(
        self, now: datetime | None, query: str, *arguments: Any
    ) -> tuple[UUID, bool | problems.NeedsAttention] | None:
        """Try the first campaign that a query finds unlocked; return None if there is none."""
        async with transaction(self._pool) as db:
            campaign = await db.fetchval(query, *arguments)
            if campaign is None:
                return None
            return campaign, await self._try(db, campaign, now, marked=query is sql.next_marked)

    async def _try(
        self, db: asyncpg.Connection, campaign: UUID, now: datetime | None, *, marked: bool = False
    ) -> bool | problems.NeedsAttention:
        """Close the open round if it is complete; if that fails, mark the campaign.

        Returns whether it was closed, or the fault. To be called in a transaction.
        """
        try:
            async with db.transaction():  # a savepoint: the mark must outlive what it is about
                with tracing.span("close round", campaign=str(campaign)):
                    closed = await close_round(db, campaign, now=now)
                if marked and not closed:
                    await faults.examine(db, campaign)
                if marked or closed:
                    await faults.forget(db, campaign)
                return closed
        except problems.NeedsAttention as found:
            fault = found
        except GONE:
            raise
        except Exception as error:
            fault = faults.fault_of(campaign, "record", error)
        await faults.mark(db, fault, now)
        self._faulted(fault)
        return fault

    @asynccontextmanager
    async def _watched(self, campaign: UUID) -> AsyncIterator[None]:
        """Record an unexpected error as a fault on the campaign."""
        try:
            async with translate_errors():
                yield
        except problems.Problem:
            raise
        except Exception as error:
            fault = faults.fault_of(campaign, "unexpected", error)
            await self.note([fault])
            raise fault from error
