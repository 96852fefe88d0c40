"""The service over HTTP: what it says of itself, and what it must not say."""

from __future__ import annotations

import json
from uuid import uuid4

import httpx
import pytest

from affinity_bandits_service.http import admin_app, create_app
from tests.support.web_site import (
    CAMPAIGN,
    Site,
    calls,
    on_site,
    opened,
    path_of,
    refused,
)


@pytest.mark.slow
async def test_without_a_database_the_service_is_up_and_not_ready() -> None:
    app = create_app("postgresql://127.0.0.1:1/none")
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            key = {"authorization": f"Bearer ab_{'0' * 16}_{'0' * 64}"}
            for method, template, _ in calls():
                path = path_of(template, uuid4())
                answer = await client.request(method, path, headers=key)
                refused(answer, 503, "unavailable")
                assert answer.headers["retry-after"] == "1"
        transport = httpx.ASGITransport(app=admin_app(app.state.backends))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as admin:
            assert (await admin.get("/healthz")).status_code == 200
            answer = await admin.get("/readyz")
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert (await admin.get("/metrics")).status_code == 200


@pytest.mark.slow
def test_readiness_takes_the_newest_schema(empty_dsn: str, dsn: str) -> None:
    async def not_migrated(at: Site) -> None:
        async with at.admin() as admin:
            answer = await admin.get("/readyz")
            assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
            assert "affinity serve migrate" in answer.text

    async def migrated(at: Site) -> None:
        async with at.admin() as admin:
            assert (await admin.get("/readyz")).json() == {"status": "ready"}

    on_site(empty_dsn, not_migrated)
    on_site(dsn, migrated)


async def test_no_answer_and_no_line_of_the_log_has_a_secret(
    capsys: pytest.CaptureFixture[str], at: Site
) -> None:
    key = await at.key()
    secret = key.rpartition("_")[2]
    texts = []
    async with at.client(key) as client:
        campaign = await opened(client)
        for path, sent in [
            ("/v1/campaigns", {"json": CAMPAIGN | {"name": key + "\n"}}),
            ("/v1/campaigns", {"json": CAMPAIGN | {"policy": {"name": key}}}),
            ("/v1/campaigns", {"json": CAMPAIGN | {key: 1}}),
            (f"/v1/campaigns/{key}/ask", {"json": {}}),
            (f"/v1/campaigns/{campaign}/ask", {"json": {"count": key}}),
            (f"/v1/campaigns/{campaign}/ask", {"content": key}),
            (f"/v1/campaigns/{campaign}/tells", {"content": f'{{"lease": "{key}"}}'}),
            (f"/v1/campaigns/{campaign}/tells", {"content": key}),
            (f"/v1/campaigns/{campaign}/ask", {"headers": {"idempotency-key": key + " "}}),
            (f"/v1/campaigns/{campaign}/ask", {"headers": {"authorization": key}}),
            (f"/{key}", {}),
        ]:
            answer = await client.post(path, **sent)
            assert answer.status_code >= 400 or path.endswith("/tells")
            texts.append(answer.text)
        texts.append((await client.get("/v1/campaigns", params={"cursor": key})).text)
        texts.append(await at.metrics())
    log = capsys.readouterr().err
    for line in log.splitlines():
        assert {"time", "level"} <= set(json.loads(line))
    assert f'"key":"{key.split("_")[1]}"' in log
    for text in [*texts, log]:
        # Not a part of it either: sixteen digits of the secret would be eight bytes.
        for first in range(0, len(secret) - 15):
            assert secret[first : first + 16] not in text
