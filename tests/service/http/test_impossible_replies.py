"""A reply that cannot be built is the service's fault, and not that of whoever asked for it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from affinity_bandits import wire
from affinity_bandits.service.core.batching import Batcher
from affinity_bandits.service.core.queries import CampaignQueries
from affinity_bandits.service.http.routes import bulk
from tests.service.broken import PRIVATE
from tests.support.web_site import CAMPAIGN, TELL, Site, on_site, opened, refused

FAULTS = 'affinity_faults_total{kind="unexpected"}'
IMPOSSIBLE: dict[str, tuple[type, str, str, str, str]] = {
    "list_campaigns": (CampaignQueries, "campaigns", "status", "GET", ""),
    "get_campaign": (CampaignQueries, "campaign", "status", "GET", "/{}"),
    "create_campaign": (CampaignQueries, "campaign", "in_flight", "POST", ""),
    "stop_campaign": (CampaignQueries, "campaign", "created_at", "POST", "/{}/stop"),
    "list_rounds": (CampaignQueries, "rounds", "repetitions", "GET", "/{}/rounds"),
    "ask": (Batcher, "ask", "number", "POST", "/{}/ask"),
}
"""By route: where a record comes from, which member of it is spoilt, and the request."""


async def completed(client: httpx.AsyncClient) -> str:
    """Return a campaign with one round that is over."""
    campaign = await opened(client)
    path = f"/v1/campaigns/{campaign}"
    lease = (await client.post(f"{path}/ask", json={"count": 2})).json()
    answers = [{"slot": one["slot"], "score": 0.5} for one in lease["slots"]]
    told = await client.post(f"{path}/tell", json={"lease": lease["lease"], "answers": answers})
    assert told.json()["counted"] == 2
    return campaign


async def faults(client: httpx.AsyncClient) -> float:
    lines = (await client.get("/metrics")).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(FAULTS))


def spoilt(found: Any, member: str) -> Any:
    """Return a record, or a page of records, with a value that no message can have."""
    if isinstance(found, tuple):
        items, following = found
        return [spoilt(one, member) for one in items], following
    return replace(found, **{member: PRIVATE})


@pytest.mark.parametrize("route", IMPOSSIBLE)
def test_a_reply_that_breaks_a_rule_is_a_500_without_a_word_about_it(
    dsn: str, route: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, name, member, method, below = IMPOSSIBLE[route]
    honest = getattr(source, name)

    async def lying(*arguments: Any) -> Any:
        return spoilt(await honest(*arguments), member)

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            path = "/v1/campaigns" + below.format(await completed(client))
            content = {"create_campaign": json.dumps(CAMPAIGN), "ask": "{}"}.get(route)
            before = await faults(client)
            with monkeypatch.context() as patch:
                patch.setattr(source, name, lying)
                capsys.readouterr()
                answer = await client.request(method, path, content=content)
            log = capsys.readouterr().err
            detail = refused(answer, 500, "unexpected")
            assert PRIVATE not in answer.text
            assert member not in detail
            lines = [json.loads(line) for line in log.splitlines()]
            (failure,) = [one for one in lines if one.get("event") == "unexpected error"]
            assert failure["error"] == "ValidationError"
            assert failure["request"] == answer.headers["x-request-id"]
            assert any("translation.py" in place for place in failure["at"])
            assert PRIVATE not in log
            assert await faults(client) == before + 1
            # The control: the same request, with nothing spoilt.
            assert (await client.request(method, path, content=content)).status_code < 300

    on_site(dsn, work)


def test_an_impossible_value_among_lines_is_not_the_callers_either(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line that breaks a rule is refused; what breaks while it is taken in is a defect."""

    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            path = f"/v1/campaigns/{await completed(client)}/tells"
            wrong = await client.post(path, content=TELL % (2, 0, '"x"'))
            assert (wrong.json()["status"], wrong.json()["code"]) == (422, "invalid")
            before = await faults(client)

            def broken(*_: Any) -> Any:
                return wire.Told.model_validate({"counted": PRIVATE})

            monkeypatch.setattr(bulk, "tell_of", broken)
            answer = await client.post(path, content=TELL % (2, 0, 0.5))
            assert (answer.json()["status"], answer.json()["code"]) == (500, "unexpected")
            assert PRIVATE not in answer.text
            assert '"error":"ValidationError"' in capsys.readouterr().err
            assert await faults(client) == before + 1

    on_site(dsn, work)
