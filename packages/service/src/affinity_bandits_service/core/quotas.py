"""Quotas of a tenant in the database: campaigns, events and bytes."""

from __future__ import annotations

from time import monotonic
from typing import Any

import asyncpg

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits_service.limits import remember
from affinity_bandits_service.problems import QUOTA_USED_UP, ServiceProblem
from affinity_bandits_service.store.connection import sql, translate_errors

QUOTAS = ("campaigns", "events", "bytes")
FRESH_SECONDS = 10.0
"""How long a process goes by what it saw; a tenant may exceed its quota by what it sends then."""


class Quotas:
    """Compares the usage of tenants with their quotas.

    Args:
        pool: connections.
    """

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._known: dict[int, tuple[float, tuple[Any, ...] | None]] = {}

    async def check(self, tenant: int) -> None:
        """Check that a tenant may add to the audit trail.

        Raises:
            ServiceProblem: its events or their bytes are as many as they may be.
        """
        until, used_up = self._known.get(tenant, (0.0, None))
        now = monotonic()
        if until <= now:
            # At once, so that one request looks and the others go by the look before.
            remember(self._known, tenant, (now + FRESH_SECONDS, used_up))
            used_up = await self._look(tenant, "events", "bytes")
            remember(self._known, tenant, (now + FRESH_SECONDS, used_up))
        if used_up is not None:
            raise ServiceProblem(QUOTA_USED_UP, *used_up)

    async def check_all(self, tenant: int) -> None:
        """Check that a tenant may have another campaign.

        Raises:
            ServiceProblem: a quota of campaigns, events or bytes is used up.
        """
        used_up = await self._look(tenant, *QUOTAS)
        if used_up is not None:
            raise ServiceProblem(QUOTA_USED_UP, *used_up)

    @translate_errors()
    async def _look(self, tenant: int, *which: str) -> tuple[Any, ...] | None:
        row = await self._pool.fetchrow(sql.usage, tenant, None)
        for name in which:
            if row is not None and row[name] >= row[f"most_{name}"]:
                return name, row[f"most_{name}"], row[name]
        return None


@translate_errors()
async def set_quotas(pool: asyncpg.Pool, tenant: str, quotas: dict[str, int | None]) -> Any:
    """Change the given quotas of a tenant; return all quotas, with its usage.

    Raises:
        InvalidInput: the tenant is unknown.
        NotSupported: the service's own role would change them.
    """
    given = [quotas[name] for name in QUOTAS]
    try:
        if any(one is not None for one in given):
            await pool.execute(sql.set_quotas, tenant, *given)
        row = await pool.fetchrow(sql.usage, None, tenant)
    except asyncpg.InsufficientPrivilegeError:
        words = "only the owner of the schema may change quotas, with a DSN of its own"
        raise NotSupported(words) from None
    if row is None:
        raise InvalidInput("TENANT", "the name of a tenant", tenant)
    return row
