"""A request that goes on for long writes only as long as its key and its tenant's quota allow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import pytest

from affinity_bandits_service.core import keys, quotas
from affinity_bandits_service.core.keys import revoke_key
from affinity_bandits_service.http import auth
from tests.support.web_site import CAMPAIGN, TELL, Site, new_names, opened, refused

LINES = 12
AFTER = 4
"""Lines that are sent before the key or the quota ends."""
AN_HOUR = timedelta(hours=1)


class AnHourLater(datetime):
    """The clock of the service's process, after an hour."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> AnHourLater:
        return super().now(tz) + AN_HOUR


async def nothing() -> None:
    pass


async def sent_over_time(
    at: Site, tenant: str, key: str, meanwhile: Callable[[], Awaitable[None]]
) -> tuple[list[dict[str, Any]], int]:
    """Tell line by line in one request; return the replies, and how many answers were counted."""
    async with at.client(await at.key(tenant)) as owner, at.client(key) as teller:
        path = f"/v1/campaigns/{await opened(owner, tellers='any', horizon=10**6)}"
        lease = (await owner.post(f"{path}/ask", json={"count": LINES})).json()
        assert len(lease["slots"]) == 2  # a first round of two slots: further tells are duplicates

        async def chunks() -> AsyncIterator[bytes]:
            for number in range(LINES):
                if number == AFTER:
                    await meanwhile()
                yield (TELL % (lease["lease"], number % 2, 1)).encode() + b"\n"
                await asyncio.sleep(0)

        answer = await teller.post(f"{path}/tells", content=chunks())
        assert answer.status_code == 200
        events = (await owner.get(f"{path}/events")).json()["items"]
    told = [one for one in events if one["kind"] == "tell"]
    return [json.loads(line) for line in answer.text.splitlines()], len(told)


def refusals(replies: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    assert [one["line"] for one in replies] == list(range(1, LINES + 1))
    return [(one["status"], one.get("code")) for one in replies]


@pytest.mark.parametrize("revoked", [True, False])
@pytest.mark.site(key_cache_ttl=-1.0)
async def test_a_key_that_is_revoked_writes_no_more_lines(at: Site, revoked: bool) -> None:
    tenant = next(new_names)
    key = await at.key(tenant, ["tell"])

    async def revoke() -> None:
        assert await revoke_key(at.pool, key.split("_")[1], "test")

    replies, told = await sent_over_time(at, tenant, key, revoke if revoked else nothing)
    written = AFTER if revoked else LINES
    good, bad = [(200, None)] * written, [(401, "no_key")] * (LINES - written)
    assert (refusals(replies), told) == (good + bad, written)


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.site(key_cache_ttl=60.0)  # remembered, and over all the same
async def test_nor_does_one_that_has_expired(
    at: Site, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = next(new_names)
    key = await at.key(tenant, ["tell"], expires_at=datetime.now(UTC) + AN_HOUR)

    async def expire() -> None:
        monkeypatch.setattr(keys, "datetime", AnHourLater)

    replies, told = await sent_over_time(at, tenant, key, expire if ends else nothing)
    written = AFTER if ends else LINES
    good, bad = [(200, None)] * written, [(401, "no_key")] * (LINES - written)
    assert (refusals(replies), told) == (good + bad, written)


@pytest.mark.as_owner
@pytest.mark.parametrize("limited", [True, False])
async def test_nor_a_tenant_whose_quota_is_used_up(
    at: Site, limited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "FRESH_SECONDS", 0.0)
    tenant = next(new_names)
    key = await at.key(tenant, ["tell"])
    if limited:  # beside the tells, there are the events of creating, asking and closing a round
        await quotas.set_quotas(at.pool, tenant, dict.fromkeys(quotas.QUOTAS) | {"events": 9})
    replies, told = await sent_over_time(at, tenant, key, nothing)
    written = 6 if limited else LINES
    good, bad = [(200, None)] * written, [(429, "quota")] * (LINES - written)
    assert (refusals(replies), told) == (good + bad, written)


@pytest.mark.parametrize("revoked", [True, False])
@pytest.mark.parametrize("hot", [True, False])
@pytest.mark.site(key_cache_ttl=-1.0)
async def test_a_slow_body_is_of_a_key_that_is_still_in_use(
    at: Site, hot: bool, revoked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "LATE_SECONDS", 0.0)
    tenant = next(new_names)
    key = await at.key(tenant, ["ask", "admin"])
    async with at.client(await at.key(tenant)) as owner, at.client(key) as slow:
        path = f"/v1/campaigns/{await opened(owner)}/ask" if hot else "/v1/campaigns"
        body = json.dumps({"count": 1} if hot else CAMPAIGN).encode()

        async def chunks() -> AsyncIterator[bytes]:
            yield body[:5]
            if revoked:
                assert await revoke_key(at.pool, key.split("_")[1], "test")
            yield body[5:]

        answer = await slow.post(path, content=chunks())
        if revoked:
            refused(answer, 401, "no_key")
        else:
            assert answer.status_code == (200 if hot else 201)
        written = len((await owner.get("/v1/campaigns")).json()["items"])
    assert written == hot + (not hot and not revoked)
