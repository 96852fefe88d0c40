"""No slot goes out too far ahead of the oldest without an answer; and what callers see of it."""

from __future__ import annotations

from affinity_bandits.policies import HeadStartElimination
from affinity_bandits_service.core.spec import DEFAULT_IN_FLIGHT
from tests.support.web_site import Site, opened

TOLD = HeadStartElimination(initial_lead=96, bounded=True, failure=0.5, in_flight=6)


async def test_a_campaign_that_says_nothing_has_the_window_that_the_record_shows(at: Site) -> None:
    async with at.client(await at.key()) as client:
        policy = {"name": "head-start-elimination", "initial_lead": 30, "bounded": True}
        for given, shown in ((None, DEFAULT_IN_FLIGHT), (7, 7)):
            wanted = policy if given is None else policy | {"in_flight": given}
            campaign = await opened(client, policy=wanted, horizon=5000)
            path = f"/v1/campaigns/{campaign}"
            record = (await client.get(path)).json()
            assert (record["in_flight"], record["policy"]["in_flight"]) == (shown, shown)
            lease = (await client.post(f"{path}/ask", json={"count": 5000})).json()
            least = min(shown, record["round"]["size"])
            assert sum(count for _, count in lease["runs"]) == least
            full = (await client.post(f"{path}/ask", json={"count": 1})).json()
            assert (full["status"], full["outstanding"]) == ("wait", least)
            assert 3500 < full["retry_after"] <= 3600
        other = (await client.get(f"/v1/campaigns/{await opened(client)}")).json()
        assert other["in_flight"] is None
