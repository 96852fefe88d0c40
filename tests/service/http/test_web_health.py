"""A fault planted in a campaign over HTTP: what the API, the client and the metrics say of it."""

from __future__ import annotations

import asyncio
from uuid import UUID

import httpx
import pytest

from affinity_bandits.client import AsyncClient
from tests.support.web_site import Site, on_site, opened

LEASE_SECONDS = 0.3
PASSES = 40


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
