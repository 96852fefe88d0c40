"""API keys: stored as digests, with a tenant, scopes and limits; made, listed and revoked."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits_client.messages.base import (
    API_KEY,
    FASTEST_RATE,
    LARGEST_BODY,
    LARGEST_LIMIT,
    SCOPES,
    SLOWEST_RATE,
    SMALLEST_LIMIT,
)
from affinity_bandits_service.limits import RateLimiter, remember, source_of
from affinity_bandits_service.problems import TooManyRefusals, Unavailable
from affinity_bandits_service.store.connection import sql, translate_errors

REQUESTS_PER_SECOND = 1000.0
REFUSALS_PER_SECOND, REFUSALS_AT_ONCE = 5.0, 50.0
"""Requests without a good key that one address may make before it is told to wait."""
LOOKUPS_AT_ONCE = 4
"""Keys that a process looks up at once in a database, so that bad keys leave connections to
others."""
AWAY = "away"
LOOKUP_SECONDS = 5.0
"""How long a database may take to look up a key, so that one that hangs delays few requests."""


@dataclass(frozen=True)
class Principal:
    """The authenticated sender of a request, and the rights of its key."""

    database: str
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
    """An API key, without its secret."""

    key_id: str
    tenant: str
    name: str
    scopes: tuple[str, ...]
    requests_per_second: float
    largest_body: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


@translate_errors()
async def create_tenant(pool: asyncpg.Pool, name: str) -> int:
    """Return the id of the tenant with this name, which is created if needed."""
    check_name("tenant", name)
    await pool.execute(sql.create_tenant, name)
    return int(await pool.fetchval(sql.tenant, name))


@translate_errors()
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

    A key with a parent stands for it and ends with it. The secret has 256 random bits, so a plain
    digest is safe to store.
    """
    check_name("name", name)
    wanted = [checks.choice("scopes", scope, SCOPES) for scope in scopes]
    if not wanted:
        raise InvalidInput("scopes", f"one or more of {', '.join(SCOPES)}", wanted)
    rate = checks.number(
        "requests_per_second", requests_per_second, low=SLOWEST_RATE, high=FASTEST_RATE
    )
    body = checks.integer("largest_body", largest_body, low=SMALLEST_LIMIT, high=LARGEST_LIMIT)
    id_, secret = secrets.token_hex(8), secrets.token_hex(32)
    what = (_digest(secret), sorted(set(wanted)), rate, body, expires_at, parent)
    await pool.execute(sql.make_key, id_, tenant, name, *what)
    return f"ab_{id_}_{secret}"


@translate_errors()
async def revoke_key(pool: asyncpg.Pool, key_id: str, by: str) -> bool:
    """Revoke an API key in somebody's name; return whether there was one to revoke."""
    return await pool.fetchval(sql.revoke_key, key_id, by) is not None


@translate_errors()
async def list_keys(pool: asyncpg.Pool, tenant: int | None = None) -> list[KeyInfo]:
    """Return the API keys of one tenant or of all, oldest first."""
    rows = await pool.fetch(sql.list_keys, tenant)
    return [KeyInfo(**row | {"scopes": tuple(row["scopes"])}) for row in map(dict, rows)]


@translate_errors()
async def forget_sessions(pool: asyncpg.Pool, tenant: int) -> None:
    """Delete a tenant's expired and revoked session keys, which are absent from events."""
    await pool.execute(sql.forget_sessions, tenant)


class KeyRing:
    """Looks up API keys in the databases, and caches them for a short while.

    Another process may accept a revoked key for that long. An address that sends many bad keys is
    told to wait. A key is in the database of its tenant: a new one is looked up in all of them at
    once, and later only where it was found.

    Args:
        pools: returns the connections to a database, or raises `Unavailable`; by its name.
        key_cache_ttl: seconds for which keys are cached.
    """

    def __init__(
        self, pools: Mapping[str, Callable[[], asyncpg.Pool]], key_cache_ttl: float = 10.0
    ) -> None:
        self._pools = pools
        self._seconds = key_cache_ttl
        self._known: dict[bytes, tuple[float, Principal]] = {}
        # Apart, so that any number of bad keys leaves the good ones where they are.
        self._unknown: dict[bytes, float] = {}
        self._refusals = RateLimiter()
        self._lookups = {name: asyncio.Semaphore(LOOKUPS_AT_ONCE) for name in pools}

    async def principal(self, text: str | None, host: str = "") -> Principal | None:
        """Return the principal of an API key; None if it is unknown, revoked or expired.

        Raises:
            TooManyRefusals: it is no good, and neither were many others from there.
            Unavailable: its database does not answer, or one that may be.
        """
        principal = await self.look_again(text)
        if principal is not None:
            return principal
        source = source_of(host)
        wait = self._refusals.take(source, REFUSALS_PER_SECOND, burst=REFUSALS_AT_ONCE)
        if wait > 0:
            raise TooManyRefusals(wait)
        return None

    async def look_again(self, text: str | None) -> Principal | None:
        """Return the principal of an API key; None if it is unknown, revoked or expired.

        Unlike `principal`, it counts nothing against the sender's address: for requests that were
        admitted before.

        Raises:
            Unavailable: see `principal`.
        """
        found = None if text is None else API_KEY.fullmatch(text)
        if found is None:
            return None
        digest = _digest(found[0])  # memory holds no secrets either
        principal = await self._remembered(digest, found[1], found[2])
        ends = None if principal is None else principal.expires_at
        return None if ends is not None and ends <= datetime.now(ends.tzinfo) else principal

    async def _remembered(self, digest: bytes, key_id: str, secret: str) -> Principal | None:
        """Return the principal of a key, from memory if it was looked up a short while ago."""
        now = time.monotonic()
        known = self._known.get(digest)
        if known is not None and known[0] >= now:
            return known[1]
        if self._unknown.get(digest, 0.0) >= now:
            return None
        homes = list(self._pools) if known is None else [known[1].database]
        principal = await self._look_up(homes, key_id, secret)
        until = time.monotonic() + self._seconds
        if principal is None:
            self._known.pop(digest, None)
            remember(self._unknown, digest, until)
        elif principal.parent is None:  # a session ends everywhere at once, and pages are rare
            remember(self._known, digest, (until, principal))
        return principal

    async def _look_up(self, homes: list[str], key_id: str, secret: str) -> Principal | None:
        """Return the principal that the first database has; the others need not answer."""
        looks = [asyncio.create_task(self._look_in(one, key_id, secret)) for one in homes]
        away = False
        try:
            for look in asyncio.as_completed(looks):
                found = await look
                if isinstance(found, Principal):
                    return found
                away = away or found is AWAY
        finally:
            for one in looks:
                one.cancel()
        if away:
            raise Unavailable
        return None

    async def _look_in(self, database: str, key_id: str, secret: str) -> Principal | str | None:
        try:
            # A database that hangs keeps its own turns alone.
            async with (
                translate_errors(),
                asyncio.timeout(LOOKUP_SECONDS),
                self._lookups[database],
            ):
                row = await self._pools[database]().fetchrow(sql.key, key_id)
        except (Unavailable, asyncpg.UndefinedTableError):  # or it has no schema yet
            return AWAY
        stored = b"\0" * 32 if row is None else row["secret_digest"]
        # Compared also where there is no such key, and in a time that says nothing.
        same = hmac.compare_digest(stored, _digest(secret))
        if row is None or not same:
            return None
        rest = (row["requests_per_second"], row["largest_body"], row["expires_at"], row["parent"])
        return Principal(database, key_id, row["tenant"], frozenset(row["scopes"]), *rest)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def check_name(parameter: str, name: object) -> None:
    """Check the name of a key or a tenant."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
        raise InvalidInput(parameter, "1 to 200 printable characters", name)
