"""Bulk tells: lines are cut anywhere, answered one by one, and end with what is too large."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator

import httpx

from affinity_bandits_service.http.bulk import TOO_LONG, lines_of
from tests.support.web_site import (
    TELL,
    Site,
    opened,
    refused,
)


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
