"""A reply that cannot be built is the service's fault, and not that of whoever asked for it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from affinity_bandits_client import messages
from affinity_bandits_service.core import queries
from packages.service.tests.broken import PRIVATE
from tests.support.web_site import Site, opened, refused

FAULTS = 'affinity_faults_total{kind="unexpected"}'


async def faults(at: Site) -> float:
    lines = (await at.metrics()).splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(FAULTS))


def broken(*_: Any) -> Any:
    return messages.Told.model_validate({"counted": PRIVATE})


async def test_a_reply_that_breaks_a_rule_is_a_500_without_a_word_about_it(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at: Site,
    client: httpx.AsyncClient,
) -> None:
    path = f"/v1/campaigns/{await opened(client)}"
    before = await faults(at)
    with monkeypatch.context() as patch:
        patch.setattr(queries, "_campaign", broken)
        capsys.readouterr()
        answer = await client.get(path)
    log = capsys.readouterr().err
    assert "counted" not in refused(answer, 500, "unexpected")
    assert PRIVATE not in answer.text + log
    lines = [json.loads(line) for line in log.splitlines()]
    (failure,) = [one for one in lines if one.get("event") == "unexpected error"]
    assert failure["error"] == "ValidationError"
    assert failure["request"] == answer.headers["x-request-id"]
    assert await faults(at) == before + 1
    # The control: the same request, with nothing spoilt.
    assert (await client.get(path)).status_code == 200
