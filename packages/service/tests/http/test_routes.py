"""The service over HTTP: a campaign from its beginning to its end, one by one and in lines."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.web_site import (
    Site,
    opened,
    refused,
)

BETS = {"name": "head-start-elimination", "initial_lead": 0, "bounded": True}


async def test_totals_say_how_often_each_score_was_given(client: httpx.AsyncClient) -> None:
    campaign = await opened(client, policy=BETS | {"in_flight": 8}, lowest=1, highest=5)
    path = f"/v1/campaigns/{campaign}"
    lease = (await client.post(f"{path}/ask", json={"count": 8})).json()
    scores = [{"score": 4.5, "count": 3}, {"score": 1, "count": 1}]
    body = {"lease": lease["lease"], "totals": [{"arm": a, "scores": scores} for a in "ab"]}
    for _ in range(2):  # the second time it is a repeat
        told = await client.post(f"{path}/tell", json=body, headers={"idempotency-key": "scores"})
        assert told.json() == {"counted": 8, "late": 0, "duplicate": 0}
    (closed,) = (await client.get(f"{path}/rounds")).json()["items"]
    assert (closed["sums"], closed["means"]) == (["14.5", "14.5"], [3.625, 3.625])
    events = (await client.get(f"{path}/events")).json()["items"]
    assert [one["kind"] for one in events] == ["create", "ask", "tell", "close"]
    assert events[2]["data"]["arms"] == [0, 0, 1, 1]
    assert events[2]["data"]["counts"] == [3, 1, 3, 1]
    # Of 4 answers, in parts of the range: one is at the lowest of 17 nodes, three are at node 14.
    own = [str({0: 1, 14: 3}.get(node, 0) * 4 * 10**9) for node in range(17)]
    assert events[3]["data"]["tallies"] == [own, own]


async def test_a_campaign_from_the_first_ask_to_the_stop(
    at: Site, client: httpx.AsyncClient
) -> None:
    campaign = await opened(client)
    path = f"/v1/campaigns/{campaign}"
    lease = (await client.post(f"{path}/ask", json={"count": 5})).json()
    assert lease["campaign"] == campaign
    assert lease["slots"] == [{"slot": 0, "arm": "a"}, {"slot": 1, "arm": "b"}]
    waiting = await client.post(f"{path}/ask", json={})
    assert waiting.json()["status"] == "wait"
    assert waiting.json()["outstanding"] == 2
    assert int(waiting.headers["retry-after"]) >= waiting.json()["retry_after"]
    totals = [
        {"arm": "a", "scores": [{"score": 0.123456789, "count": 1}]},
        {"arm": "b", "scores": [{"score": 1, "count": 1}]},
    ]
    told = await client.post(f"{path}/tell", json={"lease": lease["lease"], "totals": totals})
    assert told.json() == {"counted": 2, "late": 0, "duplicate": 0}
    (closed,) = (await client.get(f"{path}/rounds")).json()["items"]
    assert closed["sums"] == ["0.123456789", "1"]
    assert closed["means"] == [0.123456789, 1.0]
    short = (await client.post(f"{path}/ask", json={"count": 3, "listed": False})).json()
    assert "slots" not in short
    assert short["runs"] == [[0, 3]]
    stopped = (await client.post(f"{path}/stop")).json()
    assert stopped["status"] == "stopped"
    assert [one["answers"] for one in stopped["arms"]] == [1, 1]
    assert (await client.post(f"{path}/ask", json={})).json() == {"status": "stopped"}
    assert (await client.get(path)).json() == stopped
    kinds = [one["kind"] for one in (await client.get(f"{path}/events")).json()["items"]]
    assert kinds == ["create", "ask", "tell", "close", "ask", "stop"]
    numbers = await at.metrics()
    for line in (
        'affinity_answers_total{outcome="counted"} 2.0',
        "affinity_leases_total 2.0",
        "affinity_rounds_closed_total 1.0",
        'route="/v1/campaigns/{campaign}/ask",status="200"} 4.0',
    ):
        assert line in numbers
    assert campaign not in numbers


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({"answers": [{"slot": 0, "score": 1}, {"slot": 1, "score": 5.5}]}, "5.5"),
        ({"answers": [{"slot": 0, "score": 0.999999999}]}, "0.999999999"),
        ({"totals": [{"arm": "b", "scores": [{"score": 7, "count": 1}]}]}, "7"),
    ],
)
async def test_a_score_out_of_range_is_told_the_range(
    client: httpx.AsyncClient, sent: dict[str, Any], found: str
) -> None:
    path = f"/v1/campaigns/{await opened(client, lowest=1, highest=5)}"
    lease = (await client.post(f"{path}/ask", json={"count": 2})).json()["lease"]
    answer = await client.post(f"{path}/tell", json={"lease": lease, **sent})
    said = refused(answer, 422, "score_out_of_range")
    assert said == f"every score must be from 1 to 5, the campaign's range, got {found}"
