"""Webhooks of a tenant, and the addresses that notices may be sent to."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import asyncpg

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_service.problems import NO_SUCH_WEBHOOK, TOO_MANY_WEBHOOKS, ServiceProblem
from affinity_bandits_service.store.connection import sql, transaction, translate_errors
from affinity_bandits_service.webhooks.resolving import resolver

LONGEST_URL = 2000
INSIDE = [ipaddress.ip_network(one) for one in ("168.63.129.16", "192.88.99.0/24", "3fff::/20")]
"""What Python calls global and is not: Azure's host, relays of 6to4, and documentation."""
NAT64 = ipaddress.ip_network("64:ff9b::/96")
UNICAST = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out for use on the public internet."""
PORTS = {"https": 443, "http": 80}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(Exception):  # noqa: N818 - reads as the fact it states
    """A host has an address that is closed to notices."""


@dataclass(frozen=True)
class Endpoint:
    """A URL, taken apart."""

    tls: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of the header Host."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return (
            shown if self.port == PORTS["https" if self.tls else "http"] else f"{shown}:{self.port}"
        )


def target_of(url: str, *, private: bool) -> Endpoint:
    """Return the parts of a URL.

    Raises:
        InvalidInput: the URL is unfit for notices.
    """
    schemes = ("https", "http") if private else ("https",)
    rule = f"a URL that begins with {' or '.join(f'{one}://' for one in schemes)}"
    plain = url.isascii() and url.isprintable() and not set(' "<>\\^`{|}') & set(url)
    if not plain or not 1 <= len(url) <= LONGEST_URL:
        raise InvalidInput("url", f"{rule}, of at most {LONGEST_URL:,} ASCII characters", url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("url", rule, url) from None
    if parts.scheme not in schemes or not parts.hostname:
        raise InvalidInput("url", rule, url)
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InvalidInput("url", f"{rule}, without a user, a password or a fragment", url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(parts.scheme == "https", parts.hostname, port or PORTS[parts.scheme], path)


async def addresses_of(target: Endpoint, *, private: bool) -> list[str]:
    """Return the addresses of a host, as they are now, for a connection that is made to them.

    Raises:
        AddressRefused: one of them is outside the public internet.
        NameNotFound: the host is unknown, or its name server is silent.
    """
    addresses = await resolver.addresses(target.host)
    if not private and not all(is_public(one) for one in addresses):
        raise AddressRefused
    return addresses


def is_public(text: str) -> bool:
    """Return whether an address, or the one wrapped in it, is of the public internet.

    >>> is_public("1.1.1.1"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1")
    (True, False, False)
    """
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address.teredo is not None:
            inner = address.teredo[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        # All else that wraps IPv4 or is for a site's own use, and what will be, is outside of it.
        if address not in UNICAST:
            return False
    inside = any(address in network for network in INSIDE)
    return address.is_global and not address.is_multicast and not inside


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
            InvalidInput: the URL is unfit for notices.
            ServiceProblem: the tenant has as many as it may have.
        """
        target_of(url, private=self._private)
        id_, secret = uuid4(), secrets.token_hex(32)
        async with transaction(self._pool) as db:
            await db.execute(sql.lock_tenant, tenant)
            if await db.fetchval(sql.count_webhooks, tenant) >= MOST_WEBHOOKS:
                raise ServiceProblem(TOO_MANY_WEBHOOKS, MOST_WEBHOOKS)
            wanted = sorted(set(kinds))
            await db.execute(sql.add_webhook, id_, tenant, url, secret.encode(), wanted, actor)
        return id_, secret

    @translate_errors()
    async def list(self, tenant: int) -> list[dict[str, Any]]:
        """Return the webhooks of a tenant, oldest first, without their secrets."""
        return [dict(row) for row in await self._pool.fetch(sql.webhooks_of, tenant)]

    async def remove(self, tenant: int, webhook: UUID) -> None:
        """Remove a webhook and its waiting notices.

        Raises:
            ServiceProblem: the id is unknown to the tenant.
        """
        await self._change(sql.remove_webhook, sql.forget_notices, tenant, webhook)

    async def retry(self, tenant: int, webhook: UUID) -> int:
        """Try the dead notices of a webhook again, from the oldest on; return how many there are.

        Raises:
            ServiceProblem: the id is unknown to the tenant.
        """
        return await self._change(sql.retry_webhook, sql.revive_notices, tenant, webhook)

    async def _change(self, change: str, notices: str, tenant: int, webhook: UUID) -> int:
        """Change a webhook and some of its notices; return how many notices."""
        async with transaction(self._pool) as db:
            await db.execute(sql.lock_webhook, tenant, webhook)
            changed = await db.fetchval(change, tenant, webhook) is not None
            found = len(await db.fetch(notices, webhook)) if changed else 0
        # After the commit: the refusal says that the webhook is removed, as a reply does.
        if not changed:
            raise ServiceProblem(NO_SUCH_WEBHOOK, webhook)
        return found
