"""Webhooks over HTTP: made, listed and removed by their tenant alone."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from affinity_bandits_service.webhooks.subscriptions import MOST_WEBHOOKS
from tests.support.web_site import Site, refused

HOOK = {"url": "https://example.org/hook", "kinds": ["decided", "dropped", "decided"]}


async def test_a_webhook_is_made_listed_and_removed(at: Site) -> None:
    async with at.client(await at.key()) as client, at.client(await at.key()) as stranger:
        made = await client.post("/v1/webhooks", json=HOOK)
        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        id_, secret = made.json()["id"], made.json()["secret"]
        assert len(bytes.fromhex(secret)) == 32
        listed = await client.get("/v1/webhooks")
        assert secret not in listed.text
        (item,) = listed.json()["items"]
        assert (item["id"], item["kinds"]) == (id_, ["decided", "dropped"])
        assert (item["waiting"], item["dead"], item["last_failure"]) == (0, 0, None)
        assert (await stranger.get("/v1/webhooks")).json() == {"items": []}
        for action in ("remove", "retry"):
            answer = await stranger.post(f"/v1/webhooks/{id_}/{action}")
            refused(answer, 404, "no_such_webhook")
        assert (await client.post(f"/v1/webhooks/{id_}/retry")).json() == {"retried": 0}
        removed = await client.post(f"/v1/webhooks/{id_}/remove")
        assert (removed.status_code, removed.json()) == (200, {"removed": id_})
        refused(await client.post(f"/v1/webhooks/{id_}/remove"), 404, "no_such_webhook")
        assert (await client.get("/v1/webhooks")).json() == {"items": []}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        HOOK | {"kinds": []},
        HOOK | {"kinds": ["everything"]},
        HOOK | {"url": "http://example.org/"},
        HOOK | {"url": "https://user:pass@example.org/"},
        HOOK | {"secret": "mine"},
    ],
)
async def test_what_breaks_a_rule_is_refused(
    client: httpx.AsyncClient, sent: dict[str, Any]
) -> None:
    refused(await client.post("/v1/webhooks", json=sent), 422, "invalid")


async def test_there_is_an_end_to_webhooks(client: httpx.AsyncClient) -> None:
    for _ in range(MOST_WEBHOOKS):
        assert (await client.post("/v1/webhooks", json=HOOK)).status_code == 201
    refused(await client.post("/v1/webhooks", json=HOOK), 409, "too_many_webhooks")
