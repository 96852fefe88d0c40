"""What goes wrong by the service's own fault is said so, on the one campaign it concerns."""

from __future__ import annotations

import html
import json
from typing import Any
from unittest.mock import patch
from uuid import UUID

import asyncpg
import httpx
import pytest

from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_service.store import connection
from affinity_bandits_service.ui.pages import COOKIE
from packages.service.tests.broken import CAUSES, PRIVATE, World, raising, until, world
from tests.support.databases import forget_due
from tests.support.web_site import Site, refused, site


@pytest.fixture(autouse=True)
def _nothing_due(dsn: str) -> None:
    forget_due(dsn)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "EVERY_SECONDS", 0.05)
    monkeypatch.setattr("affinity_bandits_service.core.faults.RETRY_SECONDS", 0.1)


async def all_is_well_but_for(one: World, kind: str) -> None:
    """The list, the other campaign and the service are as they were; the broken one is marked."""
    async with one.at.admin() as admin:
        assert (await admin.get("/readyz")).json() == {"status": "ready"}
    bad, good = (await one.get("/v1/campaigns"))["items"]
    assert (bad["id"], good["id"]) == (one.bad, one.good)
    assert bad["attention"]["kind"] == kind
    assert good["attention"] is None
    again = await one.campaign(one.bad)
    since = again["attention"].pop("since"), bad["attention"].pop("since")
    assert min(since) >= bad["created_at"]
    assert again == bad
    assert (bad["status"], bad["round"]["number"]) == ("open", 0)
    assert [arm["name"] for arm in bad["arms"] if arm["active"]] == ["a", "b"]
    assert await one.campaign(one.good) == good
    lease = (await one.ask(one.good)).json()
    answer = {"slot": lease["runs"][0][0], "score": 1}
    told = await one.client.post(
        f"/v1/campaigns/{one.good}/tell", json={"lease": lease["lease"], "answers": [answer]}
    )
    assert told.json() == {"counted": 1, "late": 0, "duplicate": 0}


@pytest.mark.slow
@pytest.mark.parametrize("cause", CAUSES)
async def test_a_round_that_cannot_close_is_our_fault_and_its_campaigns_alone(
    cause: str, capsys: pytest.CaptureFixture[str], at: Site, client: httpx.AsyncClient
) -> None:
    breaking, kind = CAUSES[cause]

    one = await world(at, client)
    await one.lease_all()
    counted = await one.metric(f'affinity_faults_total{{kind="{kind}"}}')
    capsys.readouterr()
    async with breaking(at, one.bad):
        told = await one.complete()
        assert (told.status_code, told.json()["counted"]) == (200, 2)
        detail = refused(await one.ask(one.bad), 500, "needs_attention")
        assert PRIVATE not in detail
        # What was acknowledged still is, asks and tells alike.
        assert (await one.complete()).json() == told.json()
        assert (await one.ask(one.bad, 100, "first-ask")).json() == one.lease
        await all_is_well_but_for(one, kind)
        log = capsys.readouterr().err
        lines = [json.loads(line) for line in log.splitlines()]
        faults = [line for line in lines if line.get("event") == "campaign needs attention"]
        assert {line["campaign"] for line in faults} == {one.bad}
        assert {line["kind"] for line in faults} == {kind}
        assert all(line["level"] == "error" and line["at"] for line in faults)
        assert PRIVATE not in log
        (asked,) = [line for line in lines if line.get("status") == 500]
        assert (asked["campaign"], asked["fault"]) == (one.bad, kind)
        assert await one.metric(f'affinity_faults_total{{kind="{kind}"}}') > counted
        await until(lambda: gauge(one, 1.0))
    # Mended, it goes on by itself.
    await until(lambda: recovered(one))
    campaign = await one.campaign(one.bad)
    assert (campaign["status"], campaign["recommended"]) == ("decided", "a")
    assert (await one.ask(one.bad)).json()["status"] == "leased"
    assert (await one.complete()).json() == told.json()
    await until(lambda: gauge(one, 0.0))


async def gauge(one: World, expected: float) -> bool:
    return await one.metric('affinity_campaigns_needing_attention{database="main"}') == expected


async def recovered(one: World) -> bool:
    return (await one.campaign(one.bad))["attention"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "cause", [c for c, (_, kind) in CAUSES.items() if kind in ("state", "policy")]
)
async def test_what_only_readers_need_yet_keeps_nobody_from_asking_and_telling(
    at: Site, client: httpx.AsyncClient, cause: str
) -> None:
    """The round goes on: slots that were planned are handed out, and answers are taken."""
    breaking, kind = CAUSES[cause]

    one = await world(at, client)
    async with breaking(at, one.bad):
        await all_is_well_but_for(one, kind)
        asked = await one.ask(one.bad)
        assert (asked.status_code, asked.json()["arms"]) == (200, ["a", "b"])
        path = f"/v1/campaigns/{one.bad}"
        for more in ("/rounds", "/events"):
            assert (await client.get(path + more)).status_code == 200
        line = {"lease": asked.json()["lease"], "answers": [{"slot": 0, "score": 0.5}]}
        told = await client.post(path + "/tells", content=json.dumps(line))
        assert told.json()["counted"] == 1
        assert (await one.campaign(one.bad))["policy"]["name"] == "explore-then-commit"
        stopped = await client.post(path + "/stop")
        assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")
    await until(lambda: recovered(one))


@pytest.mark.slow
async def test_a_mark_is_seen_from_every_process(at: Site, dsn: str) -> None:
    """Also from one that would have no trouble with the campaign."""

    key = await at.key()
    async with at.client(key) as client:
        one = await world(at, client)
        await one.lease_all()
        async with CAUSES["absorb raises"][0](at, one.bad):
            await one.complete()
            async with site(dsn) as other, other.client(key) as there:
                bad, good = (await there.get("/v1/campaigns")).json()["items"]
                assert (bad["attention"]["kind"], good["attention"]) == ("decision", None)


@pytest.mark.slow
async def test_the_pages_say_it_in_plain_words(at: Site) -> None:
    key = await at.key()
    async with at.client(key) as client:
        one = await world(at, client)
        await one.lease_all()
        for cause in ("another version", "policy is gone", "absorb raises"):
            async with CAUSES[cause][0](at, one.bad):
                await one.complete()
                assert (await page(one, key, "")).count("Needs attention") == 1
                bad = await page(one, key, f"/campaigns/{one.bad}")
                assert "This campaign needs attention" in bad
                assert "This round has all its answers and cannot be closed at present" in bad

                async def same_reason() -> bool:
                    # The page may be older than the last try, which found something else.
                    said = (await one.campaign(one.bad))["attention"]["reason"]
                    shown = await page(one, key, f"/campaigns/{one.bad}")
                    return said in html.unescape(shown)

                await until(same_reason)
                assert "The campaign was made" in await page(
                    one, key, f"/campaigns/{one.bad}/events"
                )
                good = await page(one, key, f"/campaigns/{one.good}")
                assert "needs attention" not in good
        await until(lambda: recovered(one))
        assert "Needs attention" not in await page(one, key, "")
        assert "needs attention" not in await page(one, key, f"/campaigns/{one.bad}")


async def page(one: World, key: str, path: str) -> str:
    answer = await one.client.get(f"/ui{path}", headers={"cookie": f"{COOKIE}={key}"})
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.slow
async def test_a_campaign_without_words_is_shown_without_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], at: Site
) -> None:
    key = await at.key()
    async with at.client(key) as client:
        one = await world(at, client)
        await one.lease_all()
        unknown = property(lambda _: raising())
        monkeypatch.setattr(ExploreThenCommit, "warm_up_rounds", unknown)
        listed = await page(one, key, "")
        assert listed.count("the bad one") == listed.count("the good one") == 1
        assert listed.count("Needs attention") == 1
        bad = await page(one, key, f"/campaigns/{one.bad}")
        assert "This campaign needs attention" in bad
        assert "its page cannot be put into words" in bad
        assert "ask" in await page(one, key, f"/campaigns/{one.bad}/events")
        assert "needs attention" not in await page(one, key, f"/campaigns/{one.good}")
        log = capsys.readouterr().err
        assert '"kind":"page"' in log
        assert PRIVATE not in log
        assert await one.metric('affinity_faults_total{kind="page"}') >= 1
        # It keeps nothing from going on.
        await one.complete()
        assert (await one.campaign(one.bad))["status"] == "decided"


@pytest.mark.slow
@pytest.mark.parametrize("route", ["ask", "tell", "tells"])
async def test_a_reply_of_the_wrong_length_is_our_fault(
    route: str, capsys: pytest.CaptureFixture[str], at: Site, client: httpx.AsyncClient
) -> None:
    """A database that answers more requests than it was sent, and then comes to its senses."""

    one = await world(at, client)
    await one.lease_all()
    line = {"lease": one.lease["lease"], "answers": [{"slot": 0, "score": 0.5}]}
    content = json.dumps({"count": 1} if route == "ask" else line)
    path = f"/v1/campaigns/{one.bad}/{route}"
    honest = asyncpg.Pool.fetch

    async def short(pool: Any, query: str, *arguments: Any) -> Any:
        rows = await honest(pool, query, *arguments)
        told = "affinity.ask(" in query or "affinity.tell(" in query
        return [*rows, *rows] if told and arguments[1] == [UUID(one.bad)] else rows

    with patch.object(asyncpg.Pool, "fetch", short):
        answer = await client.post(path, content=content)
        if route == "tells":
            found = answer.json()
            assert (found["status"], found["code"]) == (500, "needs_attention")
        else:
            refused(answer, 500, "needs_attention")
        assert (await one.ask(one.good)).status_code == 200
    assert '"kind":"unexpected"' in capsys.readouterr().err
    assert (await client.post(path, content=content)).status_code == 200
