"""API keys: whom they let in, and when they no longer do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import asyncpg
import pytest

from affinity_bandits_service.core import keys
from affinity_bandits_service.core.keys import (
    KeyRing,
    create_tenant,
    forget_sessions,
    list_keys,
    make_key,
    revoke_key,
)
from tests.support.one_campaign import OneCampaign


@pytest.fixture
def pool(one: OneCampaign) -> asyncpg.Pool[Any]:
    return one.pool


async def test_the_database_holds_no_key(pool: asyncpg.Pool[Any]) -> None:
    tenant = await create_tenant(pool, "keys three")
    secret = (await make_key(pool, tenant, "a", ["ask"])).split("_")[2]
    rows = await pool.fetch("SELECT api_keys::text AS line FROM affinity.api_keys")
    assert not any(secret in row["line"] for row in rows)


class Later(datetime):
    """The clock of somebody an hour ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(hours=1)


async def test_revoked_and_expired_keys_end(
    pool: asyncpg.Pool[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await create_tenant(pool, "keys four")
    text = await make_key(pool, tenant, "a", ["ask"])
    soon = datetime.now(UTC) + timedelta(minutes=30)
    brief = await make_key(pool, tenant, "b", ["ask"], expires_at=soon)
    ring = KeyRing({"main": lambda: pool}, key_cache_ttl=0)
    remembering = KeyRing({"main": lambda: pool}, key_cache_ttl=86_400)
    assert await ring.principal(text) is not None
    assert await remembering.principal(brief) is not None
    assert await revoke_key(pool, text.split("_")[1], "test")
    assert not await revoke_key(pool, text.split("_")[1], "test")
    assert await ring.principal(text) is None
    monkeypatch.setattr(keys, "datetime", Later)
    assert await remembering.principal(brief) is None  # remembered, and over all the same


async def test_a_session_ends_with_the_key_it_stands_for(pool: asyncpg.Pool[Any]) -> None:
    tenant = await create_tenant(pool, "keys five")
    text = await make_key(pool, tenant, "a", ["read"])
    session = await make_key(pool, tenant, "s", ["read"], parent=text.split("_")[1])
    ring = KeyRing({"main": lambda: pool}, key_cache_ttl=0)
    assert await ring.principal(session) is not None
    await revoke_key(pool, text.split("_")[1], "test")
    assert await ring.principal(session) is None


async def test_sessions_that_are_over_are_forgotten_and_nothing_else(
    pool: asyncpg.Pool[Any],
) -> None:
    tenant = await create_tenant(pool, "keys six")
    text = await make_key(pool, tenant, "parent", ["read"])
    parent, past = text.split("_")[1], datetime.now(UTC) - timedelta(seconds=1)
    await make_key(pool, tenant, "over", ["read"], parent=parent, expires_at=past)
    await make_key(pool, tenant, "good", ["read"], parent=parent)
    await make_key(pool, tenant, "own", ["read"], expires_at=past)
    await forget_sessions(pool, tenant)
    assert [key.name for key in await list_keys(pool, tenant)] == ["parent", "good", "own"]
