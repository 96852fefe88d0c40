"""Alerts are caused on a real service; what their runbooks say to look at is there."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg
import httpx
import pytest

from affinity_bandits_service.core import campaigns, health_checks
from affinity_bandits_service.store import connection
from affinity_bandits_service.store.connection import connected
from affinity_bandits_service.store.migrate import migrate
from affinity_bandits_service.ui.pages import COOKIE
from affinity_bandits_service.webhooks import sending
from packages.service.tests.broken import CAUSES, until, world
from packages.service.tests.test_cli import Relay
from packages.service.tests.webhooks.receiver import receiving
from tests.support.environments import ROOT
from tests.support.served import served
from tests.support.served import until as wait_until
from tests.support.web_site import Site, on_site, opened

RUNBOOKS = (ROOT / "docs" / "run" / "runbooks.md").read_text(encoding="utf-8")


def value(text: str, name: str) -> float:
    """The sum of the samples of a metric that begin so."""
    found = [line for line in text.splitlines() if line.startswith(name)]
    return sum(float(line.rpartition(" ")[2]) for line in found)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "EVERY_SECONDS", 0.05)


def test_a_campaign_needs_attention_is_not_closed_and_is_a_fault(
    dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`AffinityCampaignNeedsAttention`, `AffinityRoundsNotClosed`, `AffinityFaults`."""
    (query,) = re.findall(r"`(SELECT campaign, kind.*?)`", RUNBOOKS)

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            one = await world(at, client)
            await one.lease_all()
            async with CAUSES["absorb raises"][0](at, one.bad):
                await one.complete()

                async def marked() -> bool:
                    text = await at.metrics()
                    return (
                        value(text, "affinity_campaigns_needing_attention") > 0
                        and value(text, "affinity_rounds_due") > 0
                        and value(text, 'affinity_faults_total{kind="decision"}') > 0
                    )

                await until(marked)
                found = [row for row in await at.pool.fetch(query) if str(row[0]) == one.bad]
                assert [row["kind"] for row in found] == ["decision"]

    on_site(dsn, work)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (fault, *_) = [one for one in lines if one.get("event") == "campaign needs attention"]
    assert fault["at"]


def test_an_unexpected_error_is_in_the_log_under_its_request(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`AffinityErrors`, `AffinityFaults`."""

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            campaign = await opened(client)
            monkeypatch.setattr(at.app.state.backends["main"].parts.queries, "campaign", None)
            answer = await client.get(f"/v1/campaigns/{campaign}")
            assert answer.status_code == 500
            text = await at.metrics()
            assert value(text, 'affinity_faults_total{kind="unexpected"}') == 1
            assert re.search(r'affinity_requests_total\{.*status="500"\} 1.0', text)
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        told = [one for one in lines if one.get("request") == answer.headers["x-request-id"]]
        events = {one.get("event") for one in told}
        assert "unexpected error" in events
        assert campaign in {one.get("campaign") for one in told}

    on_site(dsn, work)


@pytest.mark.slow
def test_a_database_that_is_away_and_a_process_that_is_down(dsn: str) -> None:
    """`AffinityDatabaseAway`, `AffinityDown`."""
    relay = Relay(dsn)
    try:
        with served(relay.dsn) as server:
            wait_until("ready", server.is_ready)
            relay.cut()
            wait_until(
                "away",
                lambda: value(server.probe("/metrics").text, "affinity_database_up") == 0,
            )
            wait_until("not ready", lambda: server.probe().json().get("code") == "unavailable")
            assert server.probe("/healthz").status_code == 200
        with pytest.raises(httpx.ConnectError):
            server.probe("/healthz")
    finally:
        relay.cut()


def test_a_notice_that_is_given_up_says_why_and_can_be_sent_again(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`AffinityNoticesDead`."""
    monkeypatch.setattr(sending, "MOST_TRIES", 1)
    migrate(empty_dsn)  # a server of another test would send notices of a database that is shared

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            sent = {"url": "http://127.0.0.1:9/", "kinds": ["exhausted"]}
            hook = (await client.post("/v1/webhooks", json=sent)).json()["id"]
            campaign = await opened(client, policy={"name": "uniform"}, horizon=1)
            lease = (await client.post(f"/v1/campaigns/{campaign}/ask", json={})).json()["lease"]
            told = {"lease": lease, "answers": [{"slot": 0, "score": 1}]}
            await client.post(f"/v1/campaigns/{campaign}/tell", json=told)

            async def dead() -> bool:
                return (
                    value(await at.metrics(), 'affinity_notices{database="main",state="dead"}') > 0
                )

            await until(dead)
            (shown,) = (await client.get("/v1/webhooks")).json()["items"]
            assert (shown["dead"], shown["last_failure"]) == (1, "no connection could be made")
            retried = await client.post(f"/v1/webhooks/{hook}/retry")
            assert retried.json() == {"retried": 1}

    on_site(empty_dsn, work, webhooks_private=True)


def test_a_lock_makes_asks_slow_and_fills_the_pool(dsn: str) -> None:
    """`AffinitySlow`, `AffinityPoolFull`."""
    (query,) = re.findall(r"`(SELECT pid, state, xact_start.*?)`", RUNBOOKS)

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            campaign = await opened(client)
            held = "SELECT FROM affinity.heads WHERE campaign = $1 FOR UPDATE"
            async with at.pool.acquire() as db:
                async with db.transaction():
                    await db.execute(held, UUID(campaign))
                    asking = asyncio.create_task(
                        client.post(f"/v1/campaigns/{campaign}/ask", json={})
                    )
                    await asyncio.sleep(0.7)
                    text = await at.metrics()
                    in_use = value(text, "affinity_pool_connections_in_use")
                    assert in_use / value(text, "affinity_pool_connections_limit") > 0.9
                    waiting = [row["query"] for row in await db.fetch(query)]
                    assert any("affinity.ask" in one for one in waiting)
                assert (await asking).status_code == 200
            text = await at.metrics()
            route = 'route="/v1/campaigns/{campaign}/ask"'
            buckets = [line for line in text.splitlines() if route in line and "_bucket" in line]
            (fast,) = [line for line in buckets if 'le="0.5"' in line]
            (every,) = [line for line in buckets if 'le="+Inf"' in line]
            assert (float(fast.split()[-1]), float(every.split()[-1])) == (0, 1)

    on_site(dsn, work, quiet=True)


def test_late_answers_are_counted(dsn: str) -> None:
    """`AffinityLateAnswersRise`."""

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            campaign = await opened(client, lease_seconds=0.001)
            path = f"/v1/campaigns/{campaign}"
            lease = (await client.post(f"{path}/ask", json={})).json()["lease"]
            await asyncio.sleep(0.05)
            for _ in range(2):  # the first still counts, since nobody else has answered
                told = {"lease": lease, "answers": [{"slot": 0, "score": 1}]}
                await client.post(f"{path}/tell", json=told)
            text = await at.metrics()
            assert value(text, 'affinity_answers_total{outcome="late"}') == 1
            assert value(text, 'affinity_answers_total{outcome="counted"}') == 1

    on_site(dsn, work, quiet=True)


LONG = {"name": "explore-then-commit", "pulls_per_arm": 1000}


@pytest.fixture
def own_dsn(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database that no other test counts in, where campaigns are looked at all the time."""
    migrate(empty_dsn)
    for module in (campaigns, health_checks):
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    return empty_dsn


def counts(at: Site, name: str, *, some: bool = True) -> Callable[[], Awaitable[bool]]:
    """Return a function that says whether a metric is above 0, or whether it is 0."""

    async def so() -> bool:
        return (value(await at.metrics(), name) > 0) == some

    return so


async def answer(client: httpx.AsyncClient, path: str, count: int, score: float) -> None:
    """Ask for slots and tell the same score of all of them."""
    lease = (await client.post(f"{path}/ask", json={"count": count})).json()
    answers = [{"slot": one["slot"], "score": score} for one in lease["slots"]]
    told = {"lease": lease["lease"], "answers": answers}
    assert (await client.post(f"{path}/tell", json=told)).json()["counted"] == count


def test_a_campaign_that_stands_still_says_what_is_owed_and_goes_on(own_dsn: str) -> None:
    """`AffinityCampaignStandsStill`."""

    async def work(at: Site) -> None:
        key = await at.key()
        async with at.client(key) as client:
            campaign = await opened(client, policy=LONG, horizon=10_000, lease_seconds=0.1)
            path = f"/v1/campaigns/{campaign}"
            await client.post(f"{path}/ask", json={"count": 20})
            still = (
                'affinity_campaign_findings{database="main",kind="standstill",severity="warning"}'
            )
            await until(counts(at, still))
            shown = (await client.get(path)).json()["round"]
            assert shown["handed_out"] - shown["answered"] == 20
            cookie = {"cookie": f"{COOKIE}={key}"}
            page = (await client.get(f"/ui/campaigns/{campaign}", headers=cookie)).text
            assert "20 slots that were handed out have no answer" in page
            assert "First seen on" in page
            # Whoever asks next is given fresh slots, and then those of expired leases.
            await answer(client, path, 10, 0.5)
            await until(counts(at, still, some=False))

    on_site(own_dsn, work)


def test_doubtful_answers_are_named_with_advice_until_they_are_mended(own_dsn: str) -> None:
    """`AffinityAnswersDoubtful`."""

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            path = f"/v1/campaigns/{await opened(client, policy=LONG, horizon=10_000)}"
            await answer(client, path, 600, 1.0)
            ends = 'affinity_campaign_findings{database="main",kind="ends",severity="warning"}'
            await until(counts(at, ends))
            (found,) = (await client.get(path)).json()["health"]["findings"]
            assert found["kind"] == "ends"
            assert "Check that the form sends what raters enter" in found["advice"]
            await answer(client, path, 400, 0.5)  # once the form is mended
            await until(counts(at, ends, some=False))

    on_site(own_dsn, work)


def test_notices_that_nobody_tries_to_send_wait_for_a_lock(own_dsn: str) -> None:
    """`AffinityNoticesNotSent`."""
    (query,) = re.findall(r"`(SELECT pid, state, xact_start.*?)`", RUNBOOKS)

    async def work(at: Site) -> None:
        with receiving() as receiver:
            async with at.client(await at.key()) as client, connected(own_dsn) as other:
                sent = {"url": receiver.url, "kinds": ["exhausted"]}
                await client.post("/v1/webhooks", json=sent)
                async with other.transaction():
                    await other.execute("UPDATE affinity.webhooks SET last_failure = NULL")
                    made = await opened(client, policy={"name": "uniform"}, horizon=1)
                    await answer(client, f"/v1/campaigns/{made}", 1, 1.0)
                    await until(counts(at, 'affinity_notices{database="main",state="waiting"}'))
                    await asyncio.sleep(0.5)
                    assert value(await at.metrics(), "affinity_notice_tries_total") == 0
                    held = [row["pid"] for row in await at.pool.fetch(query)]
                    assert other.get_server_pid() in held
                await until(
                    counts(at, 'affinity_notices{database="main",state="waiting"}', some=False)
                )
                assert receiver.kinds == ["exhausted"]

    on_site(own_dsn, work, webhooks_private=True)


def test_an_old_snapshot_keeps_rows_until_it_is_ended(own_dsn: str) -> None:
    """`AffinityOldSnapshot`."""
    (query,) = re.findall(r"`(SELECT pid, usename, xact_start.*?)`", RUNBOOKS)
    (end,) = re.findall(r"`(SELECT pg_terminate_backend\(pid\))`", RUNBOOKS)
    copies = (
        "INSERT INTO affinity.campaigns OVERRIDING USER VALUE SELECT (jsonb_populate_record(c,"
        " jsonb_build_object('id', gen_random_uuid(), 'key', n))).* FROM affinity.campaigns AS c,"
        " generate_series(1, 299) AS n;"
        "INSERT INTO affinity.heads SELECT (jsonb_populate_record(h, jsonb_build_object("
        "'campaign', c.id))).* FROM affinity.heads AS h, affinity.campaigns AS c"
        " WHERE c.id <> h.campaign"
    )

    async def rows_above(at: Site, number: int) -> bool:
        return value(await at.metrics(), "affinity_dead_rows") > number

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            await opened(client)
        await at.pool.execute(copies)
        old = await asyncpg.connect(own_dsn)
        await old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM affinity.heads")
        async with connected(own_dsn) as busy:  # counted when the session ends, at the latest
            for _ in range(70):
                await busy.execute("UPDATE affinity.heads SET oldest = oldest")
        await until(lambda: rows_above(at, 20_000))
        async with connected(own_dsn) as operator:
            await operator.execute("VACUUM affinity.heads")
            assert await operator.fetchval(
                "SELECT pg_stat_get_dead_tuples('affinity.heads'::regclass) > 20000"
            )
            (oldest, *_) = [row["pid"] for row in await operator.fetch(query)]
            assert oldest == old.get_server_pid()
            await operator.execute(end.replace("pid", str(oldest)))
            old.terminate()

            async def vacuumed() -> bool:
                await operator.execute("VACUUM affinity.heads")
                return not await rows_above(at, 0)

            await until(vacuumed)

    on_site(own_dsn, work)
