"""API keys: stored as digests, each with a tenant, scopes and limits."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.core.addresses import source_of
from affinity_bandits.service.core.buckets import Buckets
from affinity_bandits.service.core.memory import remember
from affinity_bandits.service.problems import TooManyRefusals
from affinity_bandits.service.store.connection import translate_errors
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire.limits import (
    API_KEY,
    FASTEST_RATE,
    LARGEST_BODY,
    LARGEST_LIMIT,
    SCOPES,
    SLOWEST_RATE,
    SMALLEST_LIMIT,
)

REQUESTS_PER_SECOND = 1000.0
REFUSALS_PER_SECOND = 5.0
"""Requests without a good key that one address may make before it is told to wait. People mistype
a few, and a server with a revoked key makes one for each of its requests."""
REFUSALS_AT_ONCE = 50.0
LOOKUPS_AT_ONCE = 2
"""Keys that are looked up at once for all addresses that have been told to wait: a good key among
them still passes, and bad ones keep the database's connections from nobody."""


@dataclass(frozen=True)
class Principal:
    """The authenticated sender of a request, and what its key allows."""

    key_id: str
    tenant: int
    scopes: frozenset[str]
    requests_per_second: float
    largest_body: int
    expires_at: datetime | None
    parent: str | None = None

    @property
    def actor(self) -> str:
        """The id under which events are recorded: a session's are those of the key it is for."""
        return self.parent or self.key_id


@dataclass(frozen=True)
class KeyInfo:
    """What may be shown of an API key: everything but its secret."""

    key_id: str
    tenant: str
    name: str
    scopes: tuple[str, ...]
    requests_per_second: float
    largest_body: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


async def create_tenant(pool: asyncpg.Pool, name: str) -> int:
    """Return the id of the tenant with this name, creating it if there is none."""
    check_name("tenant", name)
    async with translate_errors():
        await pool.execute(sql.create_tenant, name)
        return int(await pool.fetchval(sql.tenant, name))


async def make_key(
    pool: asyncpg.Pool,
    tenant: int,
    name: str,
    scopes: Iterable[str],
    *,
    requests_per_second: float = REQUESTS_PER_SECOND,
    largest_body: int = LARGEST_BODY,
    expires_at: datetime | None = None,
    parent: str | None = None,
) -> str:
    """Make an API key and return its text, which cannot be shown again.

    One that has a parent stands for it, and ends when the parent is revoked. The secret has 256
    random bits, so a plain digest of it is as hard to turn round as a slow one.
    """
    check_name("name", name)
    wanted = [checks.choice("scopes", scope, SCOPES) for scope in scopes]
    if not wanted:
        raise InvalidInput("scopes", f"one or more of {', '.join(SCOPES)}", wanted)
    rate = checks.number(
        "requests_per_second", requests_per_second, low=SLOWEST_RATE, high=FASTEST_RATE
    )
    body = checks.integer("largest_body", largest_body, low=SMALLEST_LIMIT, high=LARGEST_LIMIT)
    id_, digest, text = new_secret()
    async with translate_errors():
        what = (digest, sorted(set(wanted)), rate, body, expires_at, parent)
        await pool.execute(sql.make_key, id_, tenant, name, *what)
    return text


def new_secret() -> tuple[str, bytes, str]:
    """Return the id of a new API key, the digest of its secret, and its text."""
    id_, secret = secrets.token_hex(8), secrets.token_hex(32)
    return id_, _digest(secret), f"ab_{id_}_{secret}"


async def revoke_key(pool: asyncpg.Pool, key_id: str) -> bool:
    """Revoke an API key; return whether there was one to revoke."""
    async with translate_errors():
        return await pool.fetchval(sql.revoke_key, key_id) is not None


async def list_keys(pool: asyncpg.Pool, tenant: int | None = None) -> list[KeyInfo]:
    """Return the API keys of one tenant or of all, oldest first."""
    async with translate_errors():
        rows = await pool.fetch(sql.list_keys, tenant)
    return [KeyInfo(**row | {"scopes": tuple(row["scopes"])}) for row in map(dict, rows)]


async def forget_sessions(pool: asyncpg.Pool, tenant: int) -> None:
    """Delete a tenant's expired and revoked session keys, which no event refers to."""
    async with translate_errors():
        await pool.execute(sql.forget_sessions, tenant)


class KeyRing:
    """Looks up API keys in the database, and caches them for a short while.

    A key that is revoked goes on working for at most that while in a process that saw it. Whoever
    sends many that are no good is told to wait, by address.

    Args:
        pool: connections.
        key_cache_ttl: for how long.
    """

    def __init__(self, pool: asyncpg.Pool, key_cache_ttl: float = 10.0) -> None:
        self._pool = pool
        self._seconds = key_cache_ttl
        self._known: dict[bytes, tuple[float, Principal]] = {}
        # Apart, so that any number of bad keys leaves the good ones where they are.
        self._unknown: dict[bytes, float] = {}
        self._refused = Buckets(REFUSALS_PER_SECOND, REFUSALS_AT_ONCE)
        self._suspects = asyncio.Semaphore(LOOKUPS_AT_ONCE)

    async def principal(self, text: str | None, host: str = "") -> Principal | None:
        """Return the principal of an API key; None if it is unknown, revoked or expired.

        Args:
            text: the key; None where there is none.
            host: the address that it comes from.

        Raises:
            TooManyRefusals: it is no good, and neither were many others from there.
        """
        found = None if text is None else API_KEY.fullmatch(text)
        principal = None
        if found is not None:
            digest = _digest(found[0])  # memory holds no secrets either
            principal = await self._remembered(digest, found[1], found[2], host)
        ends = None if principal is None else principal.expires_at
        if principal is not None and (ends is None or ends > datetime.now(ends.tzinfo)):
            return principal
        wait = self._refused.take(source_of(host))
        if wait > 0:
            raise TooManyRefusals(wait)
        return None

    async def _remembered(
        self, digest: bytes, key_id: str, secret: str, host: str
    ) -> Principal | None:
        """Return the principal of a key, from memory if it was looked up a short while ago."""
        now = time.monotonic()
        known = self._known.get(digest)
        if known is not None and known[0] >= now:
            return known[1]
        if self._unknown.get(digest, 0.0) >= now:
            return None
        if self._refused.empty(source_of(host)):
            async with self._suspects:
                principal = await self._look_up(key_id, secret)
        else:
            principal = await self._look_up(key_id, secret)
        until = time.monotonic() + self._seconds
        if principal is None:
            self._known.pop(digest, None)
            remember(self._unknown, digest, until)
        else:
            remember(self._known, digest, (until, principal))
        return principal

    async def _look_up(self, key_id: str, secret: str) -> Principal | None:
        async with translate_errors():
            row = await self._pool.fetchrow(sql.key, key_id)
        stored = b"\0" * 32 if row is None else row["secret_digest"]
        # Compared also where there is no such key, and in a time that says nothing.
        same = hmac.compare_digest(stored, _digest(secret))
        if row is None or not same:
            return None
        rest = (row["requests_per_second"], row["largest_body"], row["expires_at"], row["parent"])
        return Principal(key_id, row["tenant"], frozenset(row["scopes"]), *rest)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def check_name(parameter: str, name: object) -> None:
    """Check the name of a key or a tenant."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
        raise InvalidInput(parameter, "1 to 200 printable characters", name)
