"""A line of the log says whose request it was."""

from __future__ import annotations

import json

import pytest

from tests.support.web_site import (
    Site,
    opened,
)


async def test_a_line_of_the_log_says_whose_request_it_was(
    capsys: pytest.CaptureFixture[str], at: Site
) -> None:
    key = await at.key()
    tenant = await at.pool.fetchval(
        "SELECT tenant FROM affinity.api_keys WHERE id = $1", key.split("_")[1]
    )
    async with at.client(key) as client:
        campaign = await opened(client)
        capsys.readouterr()
        await client.post(f"/v1/campaigns/{campaign.upper()}/ask", json={})
        await client.get("/v1/campaigns/nobody")
    asked, odd = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert asked["campaign"] == campaign
    assert odd["campaign"] is None
    for line in (asked, odd):
        assert (line["key"], line["tenant"]) == (key.split("_")[1], tenant)
        assert line["client"] == "127.0.0.1"
