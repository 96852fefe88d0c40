"""Faults planted in campaigns over HTTP: what API, client, metrics and pages say of them."""

from __future__ import annotations

import asyncio
from uuid import UUID

import httpx
import pytest

from affinity_bandits.client import AsyncClient
from tests.support.web_site import Site, on_site, opened

LEASE_SECONDS = 0.3
PASSES = 40


@pytest.mark.slow
@pytest.mark.parametrize("planted", [True, False], ids=["planted", "control"])
def test_answers_missing_for_one_group_are_reported(dsn: str, planted: bool) -> None:
    """Without the fault as many answers are missing, shared by both groups."""

    async def work(at: Site) -> None:
        key = await at.key()
        async with at.client(key) as client:
            policy = {"name": "explore-then-commit", "pulls_per_arm": 200}
            campaign = await opened(
                client, arms=["<open> call", "agency"], policy=policy, lease_seconds=LEASE_SECONDS
            )
            path = f"/v1/campaigns/{campaign}"
            assert (await client.get(path)).json()["health"] is None
            for turn in range(PASSES):
                lease = (await client.post(f"{path}/ask", json={"count": 2})).json()
                left_out = {0} if planted else {turn % 2}
                answers = [
                    {"slot": one["slot"], "score": 0.5}
                    for one in lease["slots"]
                    if not (turn % 4 < 3 and one["slot"] % 2 in left_out)
                ]
                told = {"lease": lease["lease"], "answers": answers}
                assert (await client.post(f"{path}/tell", json=told)).status_code == 200
            await asyncio.sleep(LEASE_SECONDS)
            checks = at.app.state.backend.parts.health
            await checks.check(UUID(campaign))
            at.app.state.metrics.findings(await checks.count())

            health = (await client.get(path)).json()["health"]
            (listed,) = (await client.get("/v1/campaigns")).json()["items"]
            assert listed["health"] == health
            metric = 'affinity_campaign_findings{kind="missing",severity="warning"}'
            shown = dict(
                line.rsplit(" ", 1)
                for line in (await client.get("/metrics")).text.splitlines()
                if line.startswith("affinity_campaign_findings{")
            )
            transport = httpx.ASGITransport(app=at.app)
            async with AsyncClient("http://test", key, transport=transport) as python:
                known = (await python.campaign(campaign)).health
            assert known is not None
            if not planted:
                assert health["findings"] == []
                assert known.findings == ()
                return
            (found,) = health["findings"]
            assert (found["kind"], found["severity"]) == ("missing", "warning")
            assert found["arms"] == ["<open> call"]
            assert "more often for “<open> call”" in found["seen"]
            assert float(shown[metric]) >= 1.0
            assert len(shown) == 12
            assert known.findings[0].arms == ("<open> call",)
            assert known.findings[0].since == known.checked_at

    on_site(dsn, work)


@pytest.mark.slow
@pytest.mark.parametrize("planted", [True, False], ids=["planted", "control"])
def test_one_rater_and_a_committee_that_does_not_fit_are_reported(dsn: str, planted: bool) -> None:
    async def work(at: Site) -> None:
        key = await at.key()
        async with at.client(key) as client:
            policy = {"name": "handicap-elimination", "bounded": True, "failure": 0.05}
            campaign = await opened(
                client,
                arms=["<open> call", "agency"],
                policy=policy | {"judges": "members", "in_flight": 100},
                horizon=10_000,
                committee={"<open> call": 50, "agency": 50},
            )
            path = f"/v1/campaigns/{campaign}"
            lease = (await client.post(f"{path}/ask", json={"count": 1000})).json()
            answers = [
                {"slot": one["slot"], "score": 0.5, "rater": "r1" if planted else f"r{turn % 4}"}
                for turn, one in enumerate(lease["slots"])
            ]
            told = {"lease": lease["lease"], "answers": answers}
            assert (await client.post(f"{path}/tell", json=told)).json()["counted"] == 100
            joined = {"<open> call": 100 + planted, "agency": 100}
            named = await client.post(f"{path}/judges", json={"judges": joined})
            assert named.status_code == 200, named.text
            checks = at.app.state.backend.parts.health
            await checks.check(UUID(campaign))
            at.app.state.metrics.findings(await checks.count())

            findings = (await client.get(path)).json()["health"]["findings"]
            metrics = (await client.get("/metrics")).text
            await client.post("/ui/login", data={"key": key}, headers={"origin": "http://test"})
            page = (await client.get(f"/ui/campaigns/{campaign}")).text
            assert "Answers so far" in page
            for title in ("The committee does not fit", "One rater gives nearly all scores"):
                assert (title in page) == planted
            if not planted:
                assert findings == []
                return
            assert [(one["kind"], one["severity"]) for one in findings] == [
                ("committee", "warning"),
                ("rater", "note"),
            ]
            assert findings[0]["arms"] == ["<open> call"]
            assert "“<open> call” has 101, where at most 100 fit" in findings[0]["seen"]
            assert "Rater “r1” gave 100 of the 100 scores" in findings[1]["seen"]
            for kind, severity in (("committee", "warning"), ("rater", "note")):
                line = f'affinity_campaign_findings{{kind="{kind}",severity="{severity}"}} '
                assert float(metrics.split(line)[1].split()[0]) >= 1.0

    on_site(dsn, work)
