"""Webhooks of a tenant: made, listed, removed, and their dead notices tried again."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from affinity_bandits.service.problems import NoSuchWebhook, TooManyWebhooks
from affinity_bandits.service.store.connection import transaction, translate_errors
from affinity_bandits.service.store.named import sql
from affinity_bandits.service.webhooks.addresses import target_of

MOST_WEBHOOKS = 10
"""Of a tenant."""


class Webhooks:
    """The webhooks in one database.

    Args:
        pool: connections.
        private: whether they may lead to private addresses, and by plain HTTP.
    """

    def __init__(self, pool: asyncpg.Pool, *, private: bool) -> None:
        self._pool = pool
        self._private = private

    async def add(
        self, tenant: int, url: str, kinds: Sequence[str], actor: str
    ) -> tuple[UUID, str]:
        """Make a webhook; return its id and the secret that its notices are signed with.

        Raises:
            InvalidInput: notices are not sent to such a URL.
            TooManyWebhooks: the tenant has as many as it may have.
        """
        target_of(url, private=self._private)
        id_, secret = uuid4(), secrets.token_hex(32)
        async with transaction(self._pool) as db:
            await db.execute(sql.lock_tenant, tenant)
            if await db.fetchval(sql.count_webhooks, tenant) >= MOST_WEBHOOKS:
                raise TooManyWebhooks(MOST_WEBHOOKS)
            wanted = sorted(set(kinds))
            await db.execute(sql.add_webhook, id_, tenant, url, secret.encode(), wanted, actor)
        return id_, secret

    async def list(self, tenant: int) -> list[dict[str, Any]]:
        """Return the webhooks of a tenant, oldest first, without their secrets."""
        async with translate_errors():
            return [dict(row) for row in await self._pool.fetch(sql.webhooks_of, tenant)]

    async def remove(self, tenant: int, webhook: UUID) -> None:
        """Remove a webhook with all that it is still owed.

        Raises:
            NoSuchWebhook: the tenant has none by that id.
        """
        async with transaction(self._pool) as db:
            if await db.fetchval(sql.remove_webhook, tenant, webhook) is None:
                raise NoSuchWebhook(webhook)
            await db.execute(sql.forget_notices, webhook)

    async def retry(self, tenant: int, webhook: UUID) -> int:
        """Try the dead notices of a webhook again, from the oldest on; return how many there are.

        Raises:
            NoSuchWebhook: the tenant has none by that id.
        """
        async with transaction(self._pool) as db:
            if await db.fetchval(sql.retry_webhook, tenant, webhook) is None:
                raise NoSuchWebhook(webhook)
            return len(await db.fetch(sql.revive_notices, webhook))
