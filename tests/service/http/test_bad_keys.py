"""Bad keys and failed logins are throttled by address, and sessions by their key."""

from __future__ import annotations

import time

import httpx

from affinity_bandits.service.core import keys
from affinity_bandits.service.core.addresses import source_of
from affinity_bandits.service.core.buckets import Buckets, RateLimiter
from affinity_bandits.service.core.memory import REMEMBERED
from tests.support.web_site import Site, on_site, refused

BAD_KEY = f"ab_{'0' * 16}_{'0' * 64}"


def test_bad_keys_are_throttled_and_a_good_one_passes(dsn: str) -> None:
    async def work(at: Site) -> None:
        at.forgive(refills=False)
        good = await at.key()
        fresh = await at.key()
        async with at.client(good) as client, at.client() as bad:
            assert (await client.get("/v1/campaigns")).status_code == 200
            statuses = []
            for number in range(150):
                key = f"ab_{number:016x}_{'0' * 64}" if number % 3 else "nonsense"
                sent = {"authorization": f"Bearer {key}"} if number % 4 else {}
                statuses.append((await bad.get("/v1/campaigns", headers=sent)).status_code)
            assert statuses[:40] == [401] * 40
            assert statuses.count(429) > 50
            answer = await bad.get("/v1/campaigns", headers={"authorization": f"Bearer {BAD_KEY}"})
            refused(answer, 429, "too_many_refusals")
            assert int(answer.headers["retry-after"]) >= 1
            # Both one that is remembered and one that has to be looked up.
            for key in (good, fresh):
                headers = {"authorization": f"Bearer {key}"}
                assert (await bad.get("/v1/campaigns", headers=headers)).status_code == 200

    on_site(dsn, work, quiet=True)


def test_failed_logins_are_throttled_and_a_good_one_passes(dsn: str) -> None:
    async def work(at: Site) -> None:
        at.forgive(refills=False)
        good = await at.key()
        async with at.client() as client:
            form = {"key": BAD_KEY}
            statuses = [
                (await client.post("/ui/login", data=form)).status_code
                for _ in range(int(keys.REFUSALS_AT_ONCE) + 30)
            ]
            assert set(statuses) == {401, 429}
            # A made-up session is a bad key like any other.
            answer = await client.get("/ui", headers={"cookie": f"affinity_session={BAD_KEY}"})
            assert answer.status_code == 429
            assert "Wait a minute" in answer.text
            assert (await client.post("/ui/login", data={"key": good})).status_code == 303

    on_site(dsn, work, quiet=True)


async def session_of(client: httpx.AsyncClient, key: str) -> str:
    """Log in with a key; return that of the session."""
    answer = await client.post("/ui/login", data={"key": key})
    assert answer.status_code == 303
    client.cookies.clear()
    return str(answer.cookies["affinity_session"])


def test_a_session_has_no_more_than_the_key_it_stands_for(dsn: str) -> None:
    now = 100.0

    async def work(at: Site) -> None:
        nonlocal now
        key = await at.key(requests_per_second=40, largest_body=4096)
        async with at.client() as client:
            sessions = []
            for _ in range(3):
                sessions.append(await session_of(client, key))
                now += 10
            found = await at.app.state.backend.parts.keys.principal(sessions[0])
            assert (found.requests_per_second, found.largest_body) == (40, 4096)
            # All of them and the key itself take from one bucket, a second's worth.
            senders = [{"authorization": f"Bearer {one}"} for one in (*sessions, key)]
            statuses = [
                (await client.get("/v1/campaigns", headers=senders[number % 4])).status_code
                for number in range(60)
            ]
            assert statuses == [200] * 40 + [429] * 20
            # And so do their pages, in one of their own.
            cookies = [{"cookie": f"affinity_session={one}"} for one in sessions]
            statuses = [(await client.get("/ui", headers=one)).status_code for one in cookies]
            assert statuses == [200, 200, 429]

    on_site(dsn, work, quiet=True, limiter=RateLimiter(lambda: now))


def test_pages_of_a_slow_key_take_nothing_from_others(dsn: str) -> None:
    async def work(at: Site) -> None:
        tenant = f"pages-{time.time_ns()}"
        slow, fast = await at.key(tenant, requests_per_second=1), await at.key(tenant)
        async with at.client() as client:
            cookies = [
                {"cookie": f"affinity_session={await session_of(client, one)}"}
                for one in (slow, fast)
            ]
            order = (0, 0, 1, 0, 1)
            statuses = [
                (await client.get("/ui", headers=cookies[one])).status_code for one in order
            ]
            assert statuses == [200, 429, 200, 429, 200]

    on_site(dsn, work, quiet=True, limiter=RateLimiter(lambda: 5.0))


def test_logging_in_costs_the_key_as_much_as_a_page(dsn: str) -> None:
    async def work(at: Site) -> None:
        key, other = await at.key(requests_per_second=50), await at.key(requests_per_second=50)
        async with at.client() as client:
            session = await session_of(client, key)
            await session_of(client, session)  # at the expense of the key it stands for
            for one in (key, session):
                answer = await client.post("/ui/login", data={"key": one})
                assert answer.status_code == 429
                assert "set-cookie" not in answer.headers
            count = "SELECT count(*) FROM affinity.api_keys WHERE parent = $1"
            assert await at.pool.fetchval(count, key.split("_")[1]) == 2
            await session_of(client, other)

    on_site(dsn, work, quiet=True, limiter=RateLimiter(lambda: 5.0))


def test_bad_keys_do_not_push_good_ones_out_of_memory(dsn: str) -> None:
    async def work(at: Site) -> None:
        ring = at.app.state.backend.parts.keys
        good = await at.key()
        assert await ring.principal(good, "10.0.0.1") is not None
        remembered = dict(ring._known)
        ring._unknown = {number.to_bytes(32): 1e18 for number in range(REMEMBERED)}
        assert await ring.principal(BAD_KEY, "10.0.0.2") is None
        assert ring._known == remembered
        assert len(ring._unknown) == REMEMBERED

    on_site(dsn, work, quiet=True)


def test_addresses_are_counted_apart_and_no_more_than_fit() -> None:
    now = 0.0
    buckets = Buckets(1.0, 2.0, lambda: now)
    assert [buckets.take("a") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert buckets.empty("a")
    assert not buckets.empty("b")
    assert buckets.take("b") == 0.0
    for number in range(REMEMBERED - 1):
        buckets.take("a")
        buckets.take(str(number))
    assert buckets.take("a") == 1.0  # whoever keeps coming is not forgotten for others
    assert len(buckets._left) == REMEMBERED
    now += 1
    assert buckets.take("a") == 0.0
    assert source_of("2001:db8::1") == source_of("2001:db8::ffff:1") != source_of("2001:db8:1::1")
    assert source_of("::ffff:192.0.2.1") == source_of("192.0.2.1")
