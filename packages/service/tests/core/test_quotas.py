"""What a tenant may keep in the database has an end, which is named; duplicates take no room."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from affinity_bandits_service.core import quotas
from affinity_bandits_service.trail.verify import verify
from tests.support.web_site import CAMPAIGN, Site, new_names, opened, refused

ANSWERS = 1000
TELLS = 20


async def limit(at: Site, tenant: str, **most: int) -> None:
    given = dict.fromkeys(quotas.QUOTAS) | most
    await quotas.set_quotas(at.pool, tenant, given)


async def ask(client: httpx.AsyncClient, path: str, count: int = 1) -> httpx.Response:
    return await client.post(f"{path}/ask", json={"count": count})


@pytest.fixture(autouse=True)
def _looks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "FRESH_SECONDS", 0.0)


@pytest.mark.as_owner
async def test_there_is_an_end_to_campaigns(at: Site) -> None:
    tenant = next(new_names)
    async with at.client(await at.key(tenant)) as client:
        await limit(at, tenant, campaigns=2)
        for _ in range(2):
            await opened(client)
        answer = await client.post("/v1/campaigns", json=CAMPAIGN)
        said = refused(answer, 429, "quota")
        assert said.startswith("campaigns of this tenant must be at most 2, and are 2;")
        assert answer.headers["retry-after"] == "60"
        await limit(at, tenant, campaigns=3)
        await opened(client)
    async with at.client(await at.key()) as other:
        await opened(other)


@pytest.mark.as_owner
@pytest.mark.parametrize("what", ["events", "bytes"])
async def test_there_is_an_end_to_events_and_their_bytes(at: Site, what: str) -> None:
    tenant = next(new_names)
    async with at.client(await at.key(tenant)) as client:
        path = f"/v1/campaigns/{await opened(client)}"
        lease = (await ask(client, path)).json()["lease"]
        await limit(at, tenant, **{what: 2 if what == "events" else 1000})
        told = {"lease": lease, "answers": [{"slot": 0, "score": 1}]}
        for answer in (
            await ask(client, path),
            await client.post(f"{path}/tell", json=told),
            await client.post(f"{path}/tells", json=told),
            await client.post("/v1/campaigns", json=CAMPAIGN),
        ):
            assert refused(answer, 429, "quota").startswith(f"{what} of this tenant must be")
        # Who has used it up can look, and stop what is not needed.
        assert (await client.get(f"{path}/events")).status_code == 200
        assert (await client.post(f"{path}/stop")).status_code == 200
        async with at.client(await at.key()) as other:
            others = f"/v1/campaigns/{await opened(other)}"
            assert (await ask(other, others)).status_code == 200
        await limit(at, tenant, **{what: 10**9})
        answer = await client.post(f"{path}/tell", json=told)
        assert answer.json()["counted"] == 1


async def test_duplicates_are_counted_and_take_no_room(at: Site) -> None:
    async with at.client(await at.key()) as client:
        campaign = await opened(client, policy={"name": "uniform"}, horizon=10**6)
        path = f"/v1/campaigns/{campaign}"
        lease = (await ask(client, path, ANSWERS)).json()["lease"]
        answers = [{"slot": slot, "score": 1, "rater": "r"} for slot in range(ANSWERS)]
        sent: dict[str, Any] = {"lease": lease, "answers": answers}
        assert (await client.post(f"{path}/tell", json=sent)).json()["counted"] == ANSWERS
        first = await size(at, campaign)
        for number in range(TELLS):
            key = {"idempotency-key": f"again-{number}"}
            for _ in range(2):  # the second is a repeat of the same request
                answer = await client.post(f"{path}/tell", json=sent, headers=key)
                assert answer.json() == {"counted": 0, "late": 0, "duplicate": ANSWERS}
        other = {"lease": lease, "answers": answers[:1]}
        refused(await client.post(f"{path}/tell", json=other, headers=key), 409, "key_reused")
        # As much as an event without answers: each would take 16 bytes an answer at least.
        assert await size(at, campaign) - first < TELLS * 400
        *_, event = (await client.get(f"{path}/events?limit=200")).json()["items"]
        assert (event["data"]["duplicate"], event["data"]["slots"]) == (ANSWERS, [])
        # One that has a new answer among others is kept whole.
        lease = (await ask(client, path, 2)).json()["lease"]
        for slots in ([ANSWERS], [ANSWERS, ANSWERS + 1]):
            both = [{"slot": slot, "score": 0} for slot in slots]
            answer = await client.post(f"{path}/tell", json={"lease": lease, "answers": both})
        assert answer.json() == {"counted": 1, "late": 0, "duplicate": 1}
    assert (await verify(at.pool, UUID(campaign))).differences == ()


async def size(at: Site, campaign: str) -> int:
    query = "SELECT sum(pg_column_size(e)) FROM affinity.events AS e WHERE campaign = $1"
    return int(await at.pool.fetchval(query, UUID(campaign)))
