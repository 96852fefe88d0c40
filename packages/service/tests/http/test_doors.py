"""The edge of the service: probes, large heads, a stop under load."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.web_site import refused


@pytest.mark.parametrize(
    "sent", [{"headers": {"x": "y" * 100_000}}, {"params": {"x": "y" * 40_000}}]
)
@pytest.mark.site(quiet=True)
async def test_a_large_head_is_refused(client: httpx.AsyncClient, sent: dict[str, Any]) -> None:
    refused(await client.get("/v1/campaigns", **sent), 431, "head_too_large")
    fits = await client.get("/v1/campaigns", headers={"x": "y" * 30_000})
    assert fits.status_code == 200
