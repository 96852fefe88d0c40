"""The backend of a server process: a connection pool and the parts of the core that use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

import asyncpg

from affinity_bandits.service.core.batching import Batcher
from affinity_bandits.service.core.campaigns import Campaigns, expire_requests
from affinity_bandits.service.core.health_checks import HealthChecks
from affinity_bandits.service.core.keys import KeyRing
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.core.quotas import Quotas
from affinity_bandits.service.limits import remember
from affinity_bandits.service.metrics import Metrics
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.connection import (
    GONE,
    STATEMENT_CACHE,
    connect,
    repeat,
    sql,
    translate_errors,
)
from affinity_bandits.service.store.migrate import schema_problem
from affinity_bandits.service.webhooks.sending import Sender
from affinity_bandits.service.webhooks.subscriptions import Webhooks

STARTING_SECONDS = 1.0
"""How long a starting process waits for the database before it takes requests."""
EXPIRE_SECONDS = 3600.0
"""Between two looks for idempotency keys that are too old: a look reads every campaign's head."""
PROBES = 2
"""Connections of their own for probes and the lookup of API keys."""
CLOSING_SECONDS = 5.0
"""How long a stopping process waits for its connections."""


@dataclass(frozen=True)
class Parts:
    """The parts of the core, which exist once the database has answered."""

    pool: asyncpg.Pool
    probes: asyncpg.Pool
    campaigns: Campaigns
    batcher: Batcher
    queries: CampaignQueries
    keys: KeyRing
    quotas: Quotas
    health: HealthChecks
    webhooks: Webhooks


class Backend:
    """The core behind one process of the service; it may start before the database does.

    Args:
        dsn: the database.
        pool_size: connections at most, beside those of probes and webhooks.
        statement_cache: see `connection.connect`.
        key_cache_ttl: seconds for which a key that was looked up is remembered.
        metrics: counts the work in the background.
        webhooks_private: allow webhooks to private addresses and over plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pool_size: int,
        key_cache_ttl: float,
        metrics: Metrics,
        statement_cache: int = STATEMENT_CACHE,
        webhooks_private: bool = False,
        keep_requests_days: float | None = None,
    ) -> None:
        self.metrics = metrics
        self._dsn = dsn
        self._pool_size = pool_size
        self._statement_cache = statement_cache
        self._remember_seconds = key_cache_ttl
        self._webhooks_private = webhooks_private
        self._keep_requests_days = keep_requests_days
        self._expire_at = 0.0
        self._sender = Sender(
            dsn, private=webhooks_private, metrics=metrics, statement_cache=statement_cache
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
        work = (repeat(self._maintain, self.metrics), self._sender.run())
        tasks = [asyncio.create_task(one) for one in work]
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
            pools = () if self._parts is None else (self._parts.pool, self._parts.probes)
            self._parts = None
            for pool in pools:
                try:
                    await asyncio.wait_for(pool.close(), CLOSING_SECONDS)
                except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                    pool.terminate()

    async def names(self, tenant: int, campaign: UUID) -> tuple[str, ...]:
        """Return the names of a campaign's arms.

        Raises:
            NoSuchCampaign: the id is unknown to this tenant.
        """
        known = self._names.get((tenant, campaign))
        if known is None:
            found = await self.parts.queries.arms(tenant, campaign)
            known = remember(self._names, (tenant, campaign), found)
        return known

    @translate_errors()
    async def schema_problem(self) -> str | None:
        """Return why this version cannot use the database, or None.

        Raises:
            Unavailable: the database does not answer.
        """
        return await schema_problem(self.parts.probes)

    async def _maintain(self) -> None:
        """Connect if need be, close due rounds, check health, delete old keys and set gauges."""
        metrics = self.metrics
        try:
            if self._parts is None:
                self._parts = await self._connect()
                self._connected.set()
            await self._parts.campaigns.closer.close_due()
            row = await self._parts.pool.fetchrow(sql.count_due)
            metrics.due.set(row["due"])
            metrics.attention.set(row["faults"])
            metrics.dead_rows.set(row["dead_rows"])
            await self._parts.health.check_due()
            metrics.set_findings(await self._parts.health.count())
            if self._keep_requests_days is not None and self._expire_at <= monotonic():
                self._expire_at = monotonic() + EXPIRE_SECONDS
                await expire_requests(self._parts.pool, self._keep_requests_days * 86_400)
            metrics.database.set(True)
        except (Unavailable, *GONE):
            metrics.database.set(False)

    async def _connect(self) -> Parts:
        cache = self._statement_cache
        pool = await connect(self._dsn, largest=self._pool_size, statement_cache=cache)
        probes = await connect(self._dsn, largest=PROBES, statement_cache=cache)
        campaigns = Campaigns(pool, self.metrics)
        return Parts(
            pool,
            probes,
            campaigns,
            Batcher(campaigns),
            CampaignQueries(pool),
            KeyRing(probes, self._remember_seconds),
            Quotas(probes),
            HealthChecks(pool, self.metrics),
            Webhooks(pool, private=self._webhooks_private),
        )
