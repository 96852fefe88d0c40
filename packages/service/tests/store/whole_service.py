"""One of everything that the service does, over HTTP and by the commands of an operator."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

from affinity_bandits.base.tables import TableFile
from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.trail.export import export
from affinity_bandits_service.trail.verify import verify
from tests.support.declared import DECLARED
from tests.support.web_site import Site

PANEL = {"name": "panel-elimination", "bounded": True}


async def use_everything(at: Site) -> UUID:
    """Call every kind of route; return the id of a campaign that was played and stopped."""
    async with at.client(await at.key()) as client:

        async def post(path: str, **body: Any) -> Any:
            reply = await client.post(path, json=body)
            assert reply.status_code < 300, reply.text
            return reply.json()

        policy = {"name": "explore-then-commit", "pulls_per_arm": 2}
        spec: dict[str, Any] = {"name": "c", "arms": ["a", "b"], "horizon": 100}
        spec["declaration"] = DECLARED.to_json()
        made = (await post("/v1/campaigns", **spec, policy=policy))["id"]
        campaign = f"/v1/campaigns/{made}"
        lease = (await post(f"{campaign}/ask", count=4))["lease"]
        answers = [{"slot": slot, "score": 1 - slot % 2, "rater": "r"} for slot in range(4)]
        assert (await post(f"{campaign}/tell", lease=lease, answers=answers))["counted"] == 4
        assert (await client.post(f"{campaign}/stop")).json()["status"] == "stopped"
        judged = (await post("/v1/campaigns", **spec, policy=PANEL))["id"]
        await post(f"/v1/campaigns/{judged}/judges", judges={"a": 1, "b": 1}, standing=True)
        policy = {"name": "neutral-elimination", "outsiders": True}
        blocks = (await post("/v1/campaigns", **spec, policy=policy))["id"]
        block = (await post(f"/v1/campaigns/{blocks}/ask-block", rater="r"))["lease"]
        told = await post(f"/v1/campaigns/{blocks}/tell-block", lease=block, scores=[1, 0])
        assert told["counted"] == 2
        block = (await post(f"/v1/campaigns/{blocks}/ask-block"))["lease"]
        assert (await post(f"/v1/campaigns/{blocks}/release", lease=block))["released"] == 2
        assert (await post(f"/v1/campaigns/{blocks}/ask-block"))["status"] == "given"
        hook = (await post("/v1/webhooks", url="https://example.org/", kinds=["decided"]))["id"]
        for path in (f"webhooks/{hook}/retry", f"webhooks/{hook}/remove"):
            assert (await client.post(f"/v1/{path}")).status_code == 200
        login = f"key={await at.key(scopes=SCOPES)}".encode()
        assert (await client.post("https://test/ui/login", content=login)).status_code == 303
        pages = ("", "/rounds", "/events")
        for page in (*(campaign + rest for rest in pages), "https://test/ui"):
            assert (await client.get(page)).status_code == 200
        async with at.admin() as admin:
            assert (await admin.get("/readyz")).status_code == 200
        async with asyncio.timeout(30):  # what the service does by itself, too
            while 'affinity_database_up{database="main"} 1.0' not in await at.metrics():
                await asyncio.sleep(0.05)
        assert 'faults_total{kind="unexpected"} 0.0' in await at.metrics()
    return UUID(made)


async def inspect(at: Site, campaign: UUID, folder: Path) -> None:
    """Verify and export a campaign."""
    assert (await verify(at.pool, campaign)).differences == ()
    target = TableFile("--out", folder / f"{campaign}.csv", force=False)
    assert await export(at.pool, campaign, target) == 4
