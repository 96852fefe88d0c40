"""The service over HTTP: who may pass, how often, with how much."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.limits import RateLimiter
from tests.support.web_site import (
    Site,
    calls,
    content,
    new_names,
    opened,
    path_of,
    refused,
)


@pytest.mark.slow
async def test_each_route_takes_its_own_scope_and_no_other(at: Site) -> None:
    tenant = next(new_names)
    async with at.client(await at.key(tenant)) as client:
        campaign = await opened(client)
    for held in SCOPES:
        async with at.client(await at.key(tenant, [held])) as client:
            for method, template, scope in calls():
                path = path_of(template, campaign)
                answer = await client.request(method, path, content=content(method, template))
                if held == scope:
                    fine = {404} if "{webhook}" in template else {200, 201, 422}
                    assert answer.status_code in fine, (method, path, answer.text)
                else:
                    assert repr(scope) in refused(answer, 403, "not_allowed")
                    assert f'scope="{scope}"' in answer.headers["www-authenticate"]


async def test_no_route_is_reached_without_a_key_in_use(at: Site) -> None:
    tenant = next(new_names)
    good = await at.key(tenant)
    async with at.client(good) as client:
        campaign = await opened(client)
    revoked = await at.key(tenant)
    await keys.revoke_key(at.pool, revoked.split("_")[1], "test")
    expired = await at.key(tenant, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    wrong_secret = good[:-1] + ("0" if good[-1] != "0" else "1")
    headers: list[tuple[dict[str, str], bool]] = [
        ({}, False),
        ({"authorization": good}, False),
        ({"authorization": f"Basic {good}"}, False),
        ({"authorization": "Bearer"}, True),
        ({"authorization": "Bearer \u00e9".encode("latin-1").decode("latin-1")}, True),
        ({"authorization": f"Bearer {wrong_secret}"}, True),
        ({"authorization": f"Bearer {revoked}"}, True),
        ({"authorization": f"Bearer {expired}"}, True),
    ]
    async with at.client() as client:
        for (method, template, _), (sent, given) in itertools.product(calls(), headers):
            at.forgive()
            raw = [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]
            answer = await client.request(
                method,
                path_of(template, campaign),
                content=content(method, template),
                headers=raw,
            )
            refused(answer, 401, "no_key")
            assert ("invalid_token" in answer.headers["www-authenticate"]) == given


async def test_another_tenants_campaign_looks_like_none(at: Site) -> None:
    async with at.client(await at.key()) as owner:
        campaign = await opened(owner)
        # The owner's use fills what the process remembers of the campaign.
        assert (await owner.post(f"/v1/campaigns/{campaign}/ask", json={})).status_code == 200
    nowhere = str(uuid4())
    tells = {
        "ask": b'{"count": 1}',
        "tell": b'{"lease": 2, "answers": [{"slot": 0, "score": 1}]}',
        "tells": b'{"lease": 2, "answers": [{"slot": 0, "score": 1}]}',
        "judges": b'{"judges": {"a": 1}}',
        "release": b'{"lease": 2}',
        "ask-block": b"{}",
        "tell-block": b'{"lease": 2, "scores": [1]}',
    }
    async with at.client(await at.key()) as stranger:
        for method, template, _ in calls():
            if "{campaign}" not in template:
                continue
            bodies = []
            for id_ in (campaign, nowhere):
                path = path_of(template, id_)
                body = tells.get(path.rpartition("/")[2], b"")
                answer = await stranger.request(method, path, content=body)
                refused(answer, 404, "no_such_campaign")
                own = answer.headers["x-request-id"]
                bodies.append(answer.text.replace(id_, "ID").replace(own, "REQUEST"))
            assert bodies[0] == bodies[1]
        totals = b'{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1, "count": 1}]}]}'
        path = f"/v1/campaigns/{campaign}/tell"
        refused(await stranger.post(path, content=totals), 404, "no_such_campaign")
        assert (await stranger.get("/v1/campaigns")).json() == {"items": [], "next": None}


@pytest.mark.site(limiter=RateLimiter(lambda: 5.0))
async def test_too_many_requests_are_told_when_to_come_back(at: Site) -> None:
    async with at.client(await at.key(requests_per_second=0.25)) as client:
        assert (await client.get("/v1/campaigns")).status_code == 200
        answer = await client.get("/v1/campaigns")
        refused(answer, 429, "too_many")
        assert answer.headers["retry-after"] == "4"


async def test_a_large_body_is_refused_unread_and_stops_being_read_where_it_has_no_length(
    at: Site,
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * 2**20:
            sent += 2**16
            yield b" " * 2**16

    key = await at.key(largest_body=2**16)
    async with at.client(key) as client:
        campaign = await opened(client)
        path = f"/v1/campaigns/{campaign}/ask"
        answer = await client.post(path, content=b" " * (2**16 + 1))
        assert "65,536" in refused(answer, 413, "too_large")
    # By hand, since httpx's transport reads a request to its end before it sends it.
    answer_status = 0
    body = endless()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": await anext(body), "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        nonlocal answer_status
        answer_status = message.get("status", answer_status)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(b"authorization", f"Bearer {key}".encode())],
    }
    await at.app(scope, receive, send)
    assert answer_status == 413
    assert sent <= 3 * 2**16


async def test_nothing_of_a_body_is_read_before_the_key_the_rate_and_the_scope_were_looked_at(
    at: Site,
) -> None:
    tenant = next(new_names)
    slow = await at.key(tenant, requests_per_second=0.001)
    async with at.client(slow) as client:
        await client.get("/v1/campaigns")  # its only one for a long while
    weak = await at.key(tenant, ["read"])
    read, statuses = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        statuses.append(message.get("status"))

    for method, template, _ in calls():
        path = path_of(template, uuid4())
        scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode()}
        scope |= {"query_string": b"", "root_path": "", "scheme": "http"}
        for key, status in ((None, 401), ("ab_0", 401), (slow, 429), (weak, 403)):
            if status == 403 and method == "GET":
                continue
            sent = [] if key is None else [(b"authorization", f"Bearer {key}".encode())]
            await at.app(scope | {"headers": sent}, receive, send)
            assert statuses[-2:] == [status, None], (method, template, key)
    assert read == 0
