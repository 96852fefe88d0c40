"""Limits on how much one key or tenant may ask of a process."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest

from affinity_bandits_client.messages.base import LARGEST_POLICY
from affinity_bandits_service.limits import RateLimiter
from tests.support.web_site import CAMPAIGN, TELL, Site, new_names, opened, refused

DUPLICATE = (TELL % (2, 0, 1)).encode() + b"\n"


@pytest.mark.slow
@pytest.mark.parametrize(("line", "status"), [(DUPLICATE, 200), (b"{\n", 422)])
@pytest.mark.site(quiet=True)
async def test_lines_come_no_faster_than_the_key_may_send_requests(
    at: Site, line: bytes, status: int
) -> None:
    tenant = next(new_names)
    async with at.client(await at.key(tenant)) as owner:
        campaign = await opened(owner, tellers="any")
        await owner.post(f"/v1/campaigns/{campaign}/ask", json={"count": 2})
    async with at.client(await at.key(tenant, requests_per_second=100.0)) as client:
        client.timeout = httpx.Timeout(60)
        begun = time.monotonic()
        answer = await client.post(f"/v1/campaigns/{campaign}/tells", content=line * 300)
        took = time.monotonic() - begun
    replies = [json.loads(one) for one in answer.text.splitlines()]
    assert [one["status"] for one in replies] == [status] * 300
    # A second's worth is there at first, and two come at 100 a second.
    assert took > 1.5


@pytest.mark.site(limiter=RateLimiter())
async def test_a_policy_that_would_be_long_to_read_is_refused(client: httpx.AsyncClient) -> None:
    for rounds, good in ((999, True), (LARGEST_POLICY // 8, False), (20_000, False)):
        schedule = {"name": "listed", "rounds": [[1, 0.1]] * rounds}
        policy = {"name": "elimination", "schedule": schedule}
        answer = await client.post("/v1/campaigns", json=CAMPAIGN | {"policy": policy})
        if good:
            assert answer.status_code == 201, answer.text
        else:
            said = refused(answer, 422, "invalid")
            assert said.startswith("policy must be of at most 32,768 characters"), said


@pytest.mark.site(quiet=True)
async def test_reading_leaves_turns_to_others(at: Site) -> None:
    gate, key = at.app.state.gate, await at.key()
    async with at.client(key) as client, at.client(await at.key()) as other:
        await opened(client)
        await opened(other)
        principal = await at.app.state.keys.principal(key)
        async with gate.turns(principal), gate.turns(principal):
            waiting = asyncio.create_task(client.get("/v1/campaigns"))
            assert (await other.get("/v1/campaigns")).status_code == 200
            await asyncio.sleep(0.1)
            assert not waiting.done()
        assert (await waiting).status_code == 200


@pytest.mark.slow
@pytest.mark.site(quiet=True)
async def test_a_page_of_events_ends_early_where_they_are_large(at: Site) -> None:
    async with at.client(await at.key(requests_per_second=1e6)) as client:
        campaign = await opened(client, policy={"name": "uniform"}, horizon=10**9)
        path = f"/v1/campaigns/{campaign}"
        for _ in range(30):
            lease = (await client.post(f"{path}/ask", json={"count": 500})).json()
            slots = [{"slot": one["slot"], "score": 1} for one in lease["slots"]]
            body = {"lease": lease["lease"], "answers": slots}
            assert (await client.post(f"{path}/tell", json=body)).status_code == 200
        pages, cursor = [], None
        while True:
            query = {"limit": 200} | ({} if cursor is None else {"cursor": cursor})
            page = (await client.get(f"{path}/events", params=query)).json()
            pages.append([one["number"] for one in page["items"]])
            cursor = page["next"]
            if cursor is None:
                break
        assert len(pages) > 1
        assert [one for page in pages for one in page] == list(range(1, 62))
