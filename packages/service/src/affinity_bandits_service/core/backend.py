"""The backend of a database: connection pools and the parts of the core that use them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

import asyncpg

from affinity_bandits_service.core.batching import Batcher
from affinity_bandits_service.core.campaigns import Campaigns, expire_requests
from affinity_bandits_service.core.health_checks import HealthChecks
from affinity_bandits_service.core.queries import CampaignQueries
from affinity_bandits_service.core.quotas import Quotas
from affinity_bandits_service.databases import Database
from affinity_bandits_service.limits import remember
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.store.connection import (
    GONE,
    STATEMENT_CACHE,
    connect,
    repeat,
    sql,
    translate_errors,
)
from affinity_bandits_service.store.migrate import schema_problem
from affinity_bandits_service.webhooks.sending import Sender
from affinity_bandits_service.webhooks.subscriptions import Webhooks

EXPIRE_SECONDS = 3600.0
"""Between two looks for idempotency keys that are too old: a look reads every campaign's head."""
PROBES = 2
"""Connections of their own for probes and the lookup of API keys."""
CLOSING_SECONDS = 5.0
"""How long a stopping process waits for its connections to a database."""


@dataclass(frozen=True)
class Parts:
    """The parts of the core, which exist once the database has answered.

    `reads` may be a little behind `queries`: it reads from the replica if there is one.
    """

    pool: asyncpg.Pool
    probes: asyncpg.Pool
    campaigns: Campaigns
    batcher: Batcher
    queries: CampaignQueries
    reads: CampaignQueries
    quotas: Quotas
    health: HealthChecks
    webhooks: Webhooks


class Backend:
    """One database of a server process, and its core; it may start before the database does.

    Args:
        name: of the database, for metrics and probes.
        database: where it is.
        pool_size: connections at most, beside those of probes and webhooks.
        statement_cache: see `connection.connect`.
        metrics: counts what happens in the background.
        webhooks_private: allow webhooks to private addresses and over plain HTTP.
        keep_requests_days: days for which idempotency keys outlive a campaign; None for ever.
    """

    def __init__(
        self,
        name: str,
        database: Database,
        *,
        pool_size: int,
        metrics: Metrics,
        statement_cache: int = STATEMENT_CACHE,
        webhooks_private: bool = False,
        keep_requests_days: float | None = None,
    ) -> None:
        self.name = name
        self.metrics = metrics
        self.connected = asyncio.Event()
        self._database = database
        self._pool_size = pool_size
        self._statement_cache = statement_cache
        self._webhooks_private = webhooks_private
        self._keep_requests_days = keep_requests_days
        self._expire_at = 0.0
        self._sender = Sender(
            database.dsn,
            private=webhooks_private,
            metrics=metrics,
            statement_cache=statement_cache,
            database=name,
        )
        self._parts: Parts | None = None
        self._pools: set[asyncpg.Pool] = set()
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
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            pools, self._pools, self._parts = self._pools, set(), None
            await asyncio.gather(*map(_close, pools))

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

    def probes(self) -> asyncpg.Pool:
        """Return the connections for probes and the lookup of API keys."""
        return self.parts.probes

    def count_connections(self) -> None:
        """Set the gauges of the pool."""
        if self._parts is not None:
            pool, metrics = self._parts.pool, self.metrics
            metrics.pool.labels(self.name).set(pool.get_size() - pool.get_idle_size())
            metrics.pool_limit.labels(self.name).set(pool.get_max_size())

    @translate_errors()
    async def schema_problem(self) -> str | None:
        """Return why this version cannot use the database, or None.

        Raises:
            Unavailable: the database does not answer.
        """
        return await schema_problem(self.parts.probes)

    async def _maintain(self) -> None:
        """Connect if need be, close due rounds, check health, delete old keys and set gauges."""
        metrics, name = self.metrics, self.name
        try:
            if self._parts is None:
                self._parts = await self._connect()
                self.connected.set()
            await self._parts.campaigns.closer.close_due()
            row = await self._parts.pool.fetchrow(sql.count_due)
            metrics.due.labels(name).set(row["due"])
            metrics.attention.labels(name).set(row["faults"])
            metrics.dead_rows.labels(name).set(row["dead_rows"])
            await self._parts.health.check_due()
            metrics.set_findings(name, await self._parts.health.count())
            if self._keep_requests_days is not None and self._expire_at <= monotonic():
                self._expire_at = monotonic() + EXPIRE_SECONDS
                await expire_requests(self._parts.pool, self._keep_requests_days * 86_400)
            metrics.database.labels(name).set(True)
        except (Unavailable, *GONE):
            metrics.database.labels(name).set(False)

    async def _connect(self) -> Parts:
        cache = self._statement_cache
        dsn, size = self._database.dsn, self._pool_size
        pool = await connect(dsn, largest=size, statement_cache=cache)
        probes = await connect(dsn, largest=PROBES, statement_cache=cache)
        replica = pool
        if self._database.read_dsn is not None:  # none at first: it may be away, others need not be
            replica = await connect(
                self._database.read_dsn, smallest=0, largest=size, statement_cache=cache
            )
        self._pools = {pool, probes, replica}
        campaigns = Campaigns(pool, self.metrics)
        return Parts(
            pool,
            probes,
            campaigns,
            Batcher(campaigns),
            CampaignQueries(pool),
            CampaignQueries(replica),
            Quotas(probes),
            HealthChecks(pool, self.metrics),
            Webhooks(pool, private=self._webhooks_private),
        )


async def _close(pool: asyncpg.Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), CLOSING_SECONDS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        pool.terminate()
