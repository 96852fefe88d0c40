"""API keys that keys make, list and revoke: within one tenant, and never more than they have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg

from affinity_bandits import wire
from affinity_bandits.service import problems
from affinity_bandits.service.core.keys import Principal, check_name, new_secret
from affinity_bandits.service.store.connection import transaction, translate_errors
from affinity_bandits.service.store.named import sql
from affinity_bandits.wire.limits import MOST_KEYS


async def make_key_by(pool: asyncpg.Pool, maker: Principal, wanted: wire.CreateKey) -> wire.MadeKey:
    """Make a key that may do no more than the one that makes it.

    Raises:
        GivesTooMuch: it would have a scope, a rate, a size or a time that its maker has not.
        TooManyKeys: the tenant has as many in use as it may have.
        MakerRevoked: the maker was revoked a moment ago.
    """
    check_name("name", wanted.name)
    scopes = sorted(set(wanted.scopes))
    rate = wanted.requests_per_second or maker.requests_per_second
    body = wanted.largest_body or maker.largest_body
    expires_at = wanted.expires_at or maker.expires_at
    _check_within(maker, scopes, rate, body, expires_at)
    id_, digest, text = new_secret()
    async with transaction(pool) as db:
        await db.execute(sql.lock_tenant, maker.tenant)
        # Locked, so that a key that is being revoked makes none, or one that is revoked with it.
        if await db.fetchval(sql.maker, maker.key_id) is None:
            raise problems.MakerRevoked
        if await db.fetchval(sql.count_keys, maker.tenant) >= MOST_KEYS:
            raise problems.TooManyKeys(MOST_KEYS)
        what = (id_, maker.tenant, wanted.name, digest, scopes, rate, body, expires_at)
        row = await db.fetchrow(sql.make_key_by, *what, maker.key_id)
    return wire.MadeKey(**dict(row), key=text)


async def keys_of(
    pool: asyncpg.Pool, tenant: int, position: int | None, limit: int
) -> tuple[tuple[wire.ApiKey, ...], int | None]:
    """Return a page of a tenant's keys, oldest first, without sessions of browsers.

    Keys are never deleted, so how many came before says where a page begins.
    """
    before = position or 0
    async with translate_errors():
        rows = await pool.fetch(sql.page_of_keys, tenant, limit + 1, before)
    following = before + limit if len(rows) > limit else None
    return tuple(wire.ApiKey(**dict(row)) for row in rows[:limit]), following


async def revoke_key_of(
    pool: asyncpg.Pool, tenant: int, key_id: str, *, made: bool
) -> tuple[str, ...]:
    """Revoke a tenant's key, perhaps with all that it made and those made; return their ids.

    With what it made, it may be revoked already: the rest can still follow.

    Raises:
        NoSuchKey: the tenant has none in use by that id; or none at all, with what it made.
    """
    async with transaction(pool) as db:
        if made:
            # No key is made meanwhile, so that one statement sees them all.
            await db.execute(sql.lock_tenant, tenant)
        revoke = sql.revoke_with_made if made else sql.revoke_key_of
        rows: list[Any] = await db.fetch(revoke, tenant, key_id)
        if not rows and not (made and await db.fetchval(sql.key_of, tenant, key_id)):
            raise problems.NoSuchKey(key_id)
    return tuple(row["id"] for row in rows)


def _check_within(
    maker: Principal, scopes: Sequence[str], rate: float, body: int, expires_at: datetime | None
) -> None:
    beyond = set(scopes) - maker.scopes
    if beyond:
        raise problems.GivesTooMuch("scopes", f"of {', '.join(sorted(maker.scopes))}", scopes)
    if rate > maker.requests_per_second:
        most = f"at most {maker.requests_per_second:g}"
        raise problems.GivesTooMuch("requests_per_second", most, rate)
    if body > maker.largest_body:
        raise problems.GivesTooMuch("largest_body", f"at most {maker.largest_body}", body)
    ends = maker.expires_at
    if ends is not None and (expires_at is None or expires_at > ends):
        raise problems.GivesTooMuch("expires_at", f"no later than {ends.isoformat()}", expires_at)
