"""The service over HTTP: a campaign from its beginning to its end, one by one and in lines."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from affinity_bandits.service.http.bulk import TOO_LONG, lines_of
from tests.support.web_site import (
    TELL,
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


def test_lines_are_cut_wherever_the_chunks_end() -> None:
    async def cut(text: bytes, size: int) -> list[bytes]:
        async def chunks() -> AsyncIterator[bytes]:
            for first in range(0, len(text), size):
                yield text[first : first + size]

        return [line async for lines in lines_of(chunks(), longest=5) for line in lines]

    text = b"12345\n123456\n\n1\n1234567890123\n12345"
    for size in range(1, len(text) + 1):
        found = asyncio.run(cut(text, size))
        assert found == [b"12345", TOO_LONG, b"", b"1", TOO_LONG, b"12345"]
        assert found[1] is TOO_LONG


def test_of_a_line_that_never_ends_nothing_is_kept() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield bytes(2**20)

    async def cut() -> list[list[bytes]]:
        return [lines async for lines in lines_of(chunks())]

    tracemalloc.start()
    try:
        found = asyncio.run(cut())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [[TOO_LONG]]
    assert peak < 8 * 2**20


async def test_a_bad_line_leaves_the_others_as_they_are(client: httpx.AsyncClient) -> None:
    campaign = await opened(client)
    path = f"/v1/campaigns/{campaign}"
    first = (await client.post(f"{path}/ask", json={"count": 2})).json()["lease"]
    body = "\n".join(
        [
            TELL % (first, 0, "0.5"),
            "not json",
            "",
            TELL % (first, 7, "0.5"),
            TELL % (99, 0, "0.5"),
            TELL % (first, 1, "7"),
            " " * (2**20 + 1),
            '{"key": "a b", ' + (TELL % (first, 1, "0.5"))[1:],
            '{"key": "own", ' + (TELL % (first, 1, "0.5"))[1:],
        ]
    )
    keyed = {"idempotency-key": "bulk"}
    for _ in range(2):  # the second is a repeat: nothing counts twice
        answer = await client.post(f"{path}/tells", content=body, headers=keyed)
        assert answer.headers["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in answer.text.splitlines()]
        found = [(one["line"], one["status"], one.get("code")) for one in lines]
        assert found == [
            (1, 200, None),
            (2, 422, "invalid"),
            (4, 422, "not_leased"),
            (5, 404, "no_such_lease"),
            (6, 422, "score_out_of_range"),
            (7, 413, "too_large"),
            (8, 422, "invalid"),
            (9, 200, None),
        ]
        assert lines[0]["counted"] == lines[-1]["counted"] == 1
    events = (await client.get(f"{path}/events")).json()["items"]
    told = [one["key"] for one in events if one["kind"] == "tell"]
    assert told == ["bulk:1", "own"]
    long = await client.post(f"{path}/tells", content=b"", headers={"idempotency-key": "x" * 181})
    refused(long, 422, "invalid")


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


async def test_lines_go_on_until_the_body_is_too_large(at: Site) -> None:
    limit = 64 * 1024

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(limit // 1024 + 1):
            yield b"x" * 1023 + b"\n"

    async with at.client(await at.key(largest_body=1024)) as client:
        campaign = await opened(client)
        path = f"/v1/campaigns/{campaign}/tells"
        answer = await client.post(path, content=chunks())
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert [one["status"] for one in lines] == [422] * 64 + [413]
        refused(await client.post(path, content=b"x" * (limit + 1)), 413, "too_large")
