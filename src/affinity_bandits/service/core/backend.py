"""The backend of a server process: a connection pool and the parts of the core that use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

import asyncpg

from affinity_bandits.service.core.batching import Batcher
from affinity_bandits.service.core.campaigns import Campaigns
from affinity_bandits.service.core.expiry import expire_requests
from affinity_bandits.service.core.health_checks import HealthChecks
from affinity_bandits.service.core.keys import KeyRing
from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.problems import NeedsAttention, Unavailable
from affinity_bandits.service.store.connection import GONE, connect, translate_errors
from affinity_bandits.service.store.migrate import revision_of
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.webhooks.sender import Sender
from affinity_bandits.service.webhooks.subscriptions import Webhooks

EVERY_SECONDS = 1.0
"""Between two looks for rounds to close, and between two tries to reach the database."""
STARTING_SECONDS = 1.0
"""How long a starting process waits for the database before it takes requests."""
EXPIRE_SECONDS = 3600.0
"""Between two looks for idempotency keys that are too old: a look reads every campaign's head."""
CLOSING_SECONDS = 5.0
"""How long a stopping process waits for its connections."""


@dataclass(frozen=True)
class Watcher:
    """Callbacks for background events, such as faults and closed rounds.

    Attributes:
        failed: called with an unexpected error.
        faulted: called with a fault on one campaign.
        rounds_closed: called with the number of rounds that this process closed.
        rounds_due: called with the number of rounds that wait to be closed.
        needing_attention: called with the number of campaigns that are marked.
        findings: called with how many campaigns under way have each finding, by kind and severity.
        reached: called with whether the database answered, about once a second.
        notice_tried: called after each try to send a notice with whether it was received.
        notices: called with the number of notices that wait and that are dead.
    """

    failed: Callable[[BaseException], None]
    faulted: Callable[[NeedsAttention], None]
    rounds_closed: Callable[[int], None]
    rounds_due: Callable[[int], None]
    needing_attention: Callable[[int], None]
    findings: Callable[[Mapping[tuple[str, str], int]], None]
    reached: Callable[[bool], None]
    notice_tried: Callable[[bool], None]
    notices: Callable[[int, int], None]


@dataclass(frozen=True)
class Parts:
    """The parts of the core, which exist once the database has answered."""

    pool: asyncpg.Pool
    campaigns: Campaigns
    batcher: Batcher
    queries: CampaignQueries
    keys: KeyRing
    health: HealthChecks
    webhooks: Webhooks


class Backend:
    """The core behind one process of the service; it may start before the database does.

    Args:
        dsn: where the database is.
        pool_size: connections at most.
        key_cache_ttl: for how long a key is taken as it was when it was last looked up.
        watcher: callbacks for background events.
        webhooks_private: whether webhooks may lead to private addresses, and by plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pool_size: int,
        key_cache_ttl: float,
        watcher: Watcher,
        webhooks_private: bool = False,
        keep_requests_days: float | None = None,
    ) -> None:
        self.watcher = watcher
        self._dsn = dsn
        self._pool_size = pool_size
        self._remember_seconds = key_cache_ttl
        self._webhooks_private = webhooks_private
        self._keep_requests_days = keep_requests_days
        self._expire_at = 0.0
        self._sender = Sender(
            dsn,
            private=webhooks_private,
            tried=watcher.notice_tried,
            counted=watcher.notices,
            failed=watcher.failed,
        )
        self._parts: Parts | None = None
        self._connected = asyncio.Event()
        self._names: dict[tuple[int, UUID], tuple[str, ...]] = {}

    @property
    def parts(self) -> Parts:
        """The parts of the core, for routes to use.

        Raises:
            Unavailable: the database has not answered yet.
        """
        if self._parts is None:
            raise Unavailable
        return self._parts

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect, close due rounds every second, send notices, and disconnect at the end."""
        tasks = [asyncio.create_task(one) for one in (self._maintain(), self._sender.run())]
        try:
            # A database that answers is there before the first request; one that does not is
            # no reason to stay away.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._connected.wait(), STARTING_SECONDS)
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._parts is not None:
                pool = self._parts.pool
                self._parts = None
                try:
                    await asyncio.wait_for(pool.close(), CLOSING_SECONDS)
                except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    pool.terminate()

    async def names(self, tenant: int, campaign: UUID) -> tuple[str, ...]:
        """Return the names of a campaign's arms.

        Raises:
            NoSuchCampaign: this tenant has none by that id.
        """
        known = self._names.get((tenant, campaign))
        if known is None:
            found = await self.parts.queries.arms(tenant, campaign)
            known = remember(self._names, (tenant, campaign), found)
        return known

    async def schema(self) -> str | None:
        """Return the revision of the database's schema; None if it has none.

        Raises:
            Unavailable: the database does not answer.
        """
        async with translate_errors():
            return await revision_of(self.parts.pool)

    async def _maintain(self) -> None:
        # A process that has just started may be the one that can read what others could not.
        first = True
        said: type[Exception] | None = None
        while True:
            try:
                if self._parts is None:
                    self._parts = await self._connect()
                    self._connected.set()
                await self._parts.campaigns.close_due(at_once=first)
                self.watcher.rounds_due(await self._parts.pool.fetchval(sql.count_due))
                self.watcher.needing_attention(await self._parts.pool.fetchval(sql.count_marks))
                if first:
                    await self._parts.health.watch_the_rest()
                await self._parts.health.check_due()
                self.watcher.findings(await self._parts.health.count())
                await self._expire_requests(self._parts.pool)
                self.watcher.reached(True)
                first, said = False, None
            except (Unavailable, *GONE):
                self.watcher.reached(False)  # /readyz says so, too
            except asyncpg.UndefinedTableError:
                pass  # it is not migrated yet; the same
            except Exception as error:  # nothing may end the closing of rounds
                if type(error) is not said:  # once, not every second
                    self.watcher.failed(error)
                said = type(error)
            await asyncio.sleep(EVERY_SECONDS)

    async def _expire_requests(self, pool: asyncpg.Pool) -> None:
        if self._keep_requests_days is not None and self._expire_at <= monotonic():
            self._expire_at = monotonic() + EXPIRE_SECONDS
            await expire_requests(pool, self._keep_requests_days * 86_400)

    async def _connect(self) -> Parts:
        pool = await connect(self._dsn, largest=self._pool_size)
        campaigns = Campaigns(pool, self.watcher.faulted, self.watcher.rounds_closed)
        return Parts(
            pool,
            campaigns,
            Batcher(campaigns),
            CampaignQueries(pool, campaigns.note),
            KeyRing(pool, self._remember_seconds),
            HealthChecks(pool, self.watcher.failed),
            Webhooks(pool, private=self._webhooks_private),
        )
