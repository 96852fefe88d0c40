"""Work is paid for by its size."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from affinity_bandits.service.core.buckets import LONGEST_DEBT, RateLimiter
from affinity_bandits.service.core.memory import REMEMBERED
from affinity_bandits.service.http.auth import MOST_COMMAS
from affinity_bandits.service.http.errors import MOST_ERRORS
from affinity_bandits.service.http.routes import bulk
from affinity_bandits.service.http.routes.bulk import MOST_A_TURN
from affinity_bandits.wire.limits import LARGEST_POLICY
from tests.support.web_site import CAMPAIGN, TELL, Site, on_site, opened, refused


def test_what_costs_more_than_half_a_bucket_leaves_a_debt() -> None:
    now = 100.0
    limiter = RateLimiter(lambda: now)
    assert limiter.take("k", 10.0, 25.0) == 0.0
    assert limiter.take("k", 10.0) == pytest.approx(1.6)
    now += 1.61
    assert limiter.take("k", 10.0) == 0.0
    now += 100
    assert limiter.take("k", 10.0, 1e9) == 0.0
    assert limiter.take("k", 10.0) == pytest.approx(LONGEST_DEBT + 0.1)
    # A reply is paid for whether there are tokens or not; a body without a length, unless in debt.
    assert limiter.take("k", 10.0, 1.0, float("-inf")) == 0.0
    assert limiter.take("k", 10.0, 1.0, 0.0) == pytest.approx(LONGEST_DEBT)
    # Whoever has little may still send what is large, from time to time.
    assert limiter.take("slow", 0.1, 1000.0) == 0.0
    assert limiter.take("slow", 0.1) == pytest.approx(LONGEST_DEBT + 10.0)


def test_a_debt_is_not_forgotten_for_others_who_come_later() -> None:
    limiter = RateLimiter(lambda: 100.0)
    limiter.take("k", 10.0)
    for number in range(REMEMBERED - 1):
        limiter.take(str(number), 10.0)
    limiter.take("k", 10.0, 25.0)
    limiter.take("one more", 10.0)
    assert limiter.take("k", 10.0) > 0
    assert len(limiter._buckets) == REMEMBERED


def lines_at(rate: float, body: list[bytes], dsn: str) -> tuple[list[dict[str, Any]], float, int]:
    """Send lines under a key of this rate.

    Return the replies, the seconds they took, and the most lines that were read between two turns
    of the others on the event loop: a count, since how long a turn takes is also the machine's.
    """
    found: list[dict[str, Any]] = []
    took = 0.0
    most = in_a_row = 0

    def read(line: bytes) -> Any:
        nonlocal most, in_a_row
        in_a_row += 1
        most = max(most, in_a_row)
        return READ(line)

    async def work(at: Site) -> None:
        nonlocal took
        tenant = f"lines-{time.time_ns()}"
        async with at.client(await at.key(tenant)) as owner:
            campaign = await opened(owner, tellers="any")
            await owner.post(f"/v1/campaigns/{campaign}/ask", json={"count": 2})

        async def watching() -> None:
            nonlocal in_a_row
            while True:
                await asyncio.sleep(0)
                in_a_row = 0

        async def pieces() -> AsyncIterator[bytes]:
            for piece in body:
                await asyncio.sleep(0)
                yield piece

        key = await at.key(tenant, requests_per_second=rate)
        async with at.client(key) as client:
            client.timeout = httpx.Timeout(60)
            watcher = asyncio.create_task(watching())
            begun = time.monotonic()
            answer = await client.post(f"/v1/campaigns/{campaign}/tells", content=pieces())
            took = time.monotonic() - begun
            watcher.cancel()
        found.extend(json.loads(one) for one in answer.text.splitlines())

    with patch.object(bulk, "_read", read):
        on_site(dsn, work, quiet=True)
    return found, took, most


READ = bulk._read
DUPLICATE = (TELL % (2, 0, 1)).encode() + b"\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "status"), [(DUPLICATE, 200), (b"1\n", 422), (b"{\n", 422), (b"\xff\n", 422)]
)
def test_lines_come_no_faster_than_the_key_may_send_requests(
    dsn: str, line: bytes, status: int
) -> None:
    replies, took, _ = lines_at(100.0, [line * 300], dsn)
    assert [one["status"] for one in replies] == [status] * 300
    # A second's worth is there at first, and two come at 100 a second.
    assert took > 1.5


@pytest.mark.slow
def test_lines_with_nothing_on_them_cost_something(dsn: str) -> None:
    replies, took, _ = lines_at(10.0, [b"\n" * 25], dsn)
    assert replies == []
    assert took > 0.9  # ten tokens at first, and the rest as they come


def test_a_line_that_would_wait_long_is_refused_and_told_when_to_come_back(dsn: str) -> None:
    replies, took, _ = lines_at(0.01, [DUPLICATE * 3], dsn)
    assert [one["status"] for one in replies] == [200, 429, 429]
    assert replies[1]["code"] == "too_many"
    assert "try again in 100 s" in replies[1]["detail"]
    assert took < 5


@pytest.mark.slow
def test_a_great_many_short_lines_leave_others_their_turn(dsn: str) -> None:
    # A key of any rate: nothing but the turns keeps these 200,000 lines from running in one go.
    replies, _, in_a_row = lines_at(1e6, [b"1\n" * 100_000] * 2, dsn)
    assert len(replies) == 200_000
    # The end of one batch and the beginning of the next may share a turn.
    assert in_a_row <= 2 * MOST_A_TURN


def test_large_bodies_are_paid_for_before_they_are_read(dsn: str) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key()) as owner:
            campaign = await opened(owner)
        path = f"/v1/campaigns/{campaign}/tell"
        large = b" " * 100_000 + b"{}"

        async def pieces() -> AsyncIterator[bytes]:
            yield large

        for content in (lambda: large, pieces):
            async with at.client(await at.key(requests_per_second=100)) as client:
                answers = [await client.post(path, content=content()) for _ in range(3)]
                assert answers[0].status_code == 422
                refused(answers[2], 429, "too_many")

    on_site(dsn, work, limiter=RateLimiter(lambda: 5.0))


def test_large_replies_are_paid_for(dsn: str) -> None:
    async def work(at: Site) -> None:
        tenant = f"replies-{time.time_ns()}"
        async with at.client(await at.key(tenant)) as owner:
            campaign = await opened(
                owner, policy={"name": "explore-then-commit", "pulls_per_arm": 9000}
            )
        async with at.client(await at.key(tenant, requests_per_second=10)) as client:
            asked = await client.post(f"/v1/campaigns/{campaign}/ask", json={"count": 5000})
            assert asked.status_code == 200, asked.text
            refused(await client.get(f"/v1/campaigns/{campaign}"), 429, "too_many")

    on_site(dsn, work, limiter=RateLimiter(lambda: 5.0))


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"1," * (2**19 - 2) + b"1]",
        b'{"lease":1,"answers":[' + b"1," * 500_000 + b"1]}",
        b'{"lease":1,"answers":[' + b'{"a":1,"b":2,"c":3,"d":4},' * 9_999 + b"{}]}",
        b'{"lease":1,' + b",".join(b'"%06d":1' % i for i in range(45_000)) + b"}",
    ],
    ids=["list", "answers", "members", "names"],
)
def test_bodies_that_break_many_rules_are_refused_soon(dsn: str, body: bytes) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key(requests_per_second=1e6)) as client:
            campaign = await opened(client)
            for where in ("tell", "tells"):
                spent = []
                for _ in range(3):  # the least of them: garbage of other tests is collected, too
                    begun = time.process_time()
                    answer = await client.post(f"/v1/campaigns/{campaign}/{where}", content=body)
                    spent.append(time.process_time() - begun)
                # From .3 to .7 s were they read and told of in full.
                assert min(spent) < 0.25
                if where == "tell":
                    refused(answer, 422, "invalid")
                else:
                    assert answer.json()["status"] == 422

    on_site(dsn, work)
    assert MOST_COMMAS > 4 * 10_000  # the largest tell: four members of each answer
    assert MOST_ERRORS > 1


def test_a_policy_that_would_be_long_to_read_is_refused(dsn: str) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            for rounds, good in ((999, True), (LARGEST_POLICY // 8, False), (20_000, False)):
                schedule = {"name": "listed", "rounds": [[1, 0.1]] * rounds}
                policy = {"name": "elimination", "schedule": schedule}
                answer = await client.post("/v1/campaigns", json=CAMPAIGN | {"policy": policy})
                if good:
                    assert answer.status_code == 201, answer.text
                else:
                    said = refused(answer, 422, "invalid")
                    assert said.startswith("policy must be of at most 32,768 characters"), said

    on_site(dsn, work, limiter=RateLimiter())


def test_reading_leaves_turns_to_others(dsn: str) -> None:
    async def work(at: Site) -> None:
        gate = at.app.state.gate
        async with at.client(await at.key()) as client, at.client(await at.key()) as other:
            await opened(client)
            await opened(other)
            tenant = await at.pool.fetchval("SELECT max(id) - 1 FROM affinity.tenants")
            async with gate.turns(tenant), gate.turns(tenant):
                waiting = asyncio.create_task(client.get("/v1/campaigns"))
                assert (await other.get("/v1/campaigns")).status_code == 200
                await asyncio.sleep(0.1)
                assert not waiting.done()
            assert (await waiting).status_code == 200

    on_site(dsn, work, quiet=True)


@pytest.mark.slow
def test_a_page_of_events_ends_early_where_they_are_large(dsn: str) -> None:
    async def work(at: Site) -> None:
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

    on_site(dsn, work, quiet=True)
