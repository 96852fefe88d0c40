"""The service over HTTP: numbers, words and cursors that break a rule."""

from __future__ import annotations

import json
from typing import Any

import httpx

from affinity_bandits_service.http.auth import to_cursor
from tests.support.web_site import (
    CAMPAIGN,
    TELL,
    opened,
    refused,
)

BAD_ASKS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'{"count": 0}',
    b'{"count": -1}',
    b'{"count": 10001}',
    b'{"count": 2147483648}',
    b'{"count": 9223372036854775808}',
    b'{"count": 1' + b"0" * 5000 + b"}",
    b'{"count": 1.5}',
    b'{"count": "1"}',
    b'{"count": true}',
    b'{"count": NaN}',
    b'{"count": 1e400}',
    b'{"count": null}',
    b'{"count": 1, "other": 2}',
    b'{"listed": 1}',
    b'\xff\xfe{"count": 1}',
    b'{"\\ud800": 1}',
    b"[" * 100_000,
    b'{"count": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
]
BAD_TELLS = [
    TELL % (lease, slot, score)
    for lease, slot, score in [
        ("9223372036854775808", "0", "0"),
        ("-1", "0", "0"),
        ("1.0e0", "0", "0"),
        ("2", "9223372036854775808", "0"),
        ("2", "9223372036854775807", "0"),  # the slot after it does not fit eight bytes
        ("2", "-1", "0"),
        ("2", "0", "NaN"),
        ("2", "0", "Infinity"),
        ("2", "0", "1e400"),
        ("2", "0", "1" + "0" * 400),
        ("2", "0", "100001"),
        ("2", "0", '"0.5"'),
        ("2", "0", "null"),
    ]
] + [
    '{"lease": 2}',
    '{"lease": 2, "answers": []}',
    '{"lease": 2, "answers": null}',
    '{"lease": 2, "answers": [{"slot": 0, "score": 0}, {"slot": 0, "score": 1}]}',
    '{"lease": 2, "answers": [{"slot": 0, "score": 0}], "totals": []}',
    '{"lease": 2, "totals": []}',
    '{"lease": 2, "totals": [{"arm": "a"}]}',
    '{"lease": 2, "totals": [{"arm": "a", "count": 1, "sum": 1}]}',
    '{"lease": 2, "totals": [{"arm": "a\\u0000", "scores": [{"score": 1, "count": 1}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1, "count": 10001}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 100001, "count": 1}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": []}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1, "count": 0}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1, "count": 1}], "count": 1}]}',
    '{"lease": 2, "totals": [{"arm": "c", "scores": [{"score": 1, "count": 1}]}]}',
    '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": 1, "count": 1},'
    ' {"score": 1, "count": 1}]}]}',
]
BAD_CAMPAIGNS: list[dict[str, Any]] = [
    {"name": ""},
    {"name": "a\x00b"},
    {"name": "x" * 201},
    {"name": 3},
    {"arms": ["a"]},
    {"arms": ["a", "a"]},
    {"arms": ["a", "b\n"]},
    {"arms": [f"a{i}" for i in range(1001)]},
    {"policy": {"name": "none"}},
    {"policy": {}},
    {"policy": "elimination"},
    {"policy": {"name": "elimination", "other": 1}},
    {"policy": None},
    {"plan": "x = 1"},
    {"horizon": 0},
    {"horizon": 2**63},
    {"horizon": 10**15 + 1},
    {"horizon": None},
    {"lease_seconds": 0},
    {"lease_seconds": 1e9},
    {"lowest": 1.0},
    {"lowest": -1e6},
    {"highest": 1e-12},
    {"highest": 1e-7},
    {"other": 1},
]


async def test_every_bad_body_is_a_problem_that_says_what_is_wrong(
    client: httpx.AsyncClient,
) -> None:
    campaign = await opened(client)
    path = f"/v1/campaigns/{campaign}"
    await client.post(f"{path}/ask", json={"count": 2})
    for body in BAD_ASKS:
        said = refused(await client.post(f"{path}/ask", content=body), 422, "invalid")
        assert 5 < len(said) < 400
    for line in BAD_TELLS:
        said = refused(await client.post(f"{path}/tell", content=line), 422, "invalid")
        assert 5 < len(said) < 400
    for change in BAD_CAMPAIGNS:
        body = json.dumps(CAMPAIGN | change).encode()
        said = refused(await client.post("/v1/campaigns", content=body), 422, "invalid")
        assert any(name in said for name in change), (change, said)
    assert (await client.get("/v1/campaigns")).json()["next"] is None
    assert len((await client.get("/v1/campaigns")).json()["items"]) == 1


async def test_idempotency_keys_are_checked_returned_and_remembered(
    client: httpx.AsyncClient,
) -> None:
    campaign = await opened(client)
    path = f"/v1/campaigns/{campaign}/ask"
    for bad in (b"", b"a b", b"x" * 201, b"\xe9", b"a\tb"):
        headers = [(b"idempotency-key", bad)]
        answer = await client.post(path, json={}, headers=headers)
        assert "Idempotency-Key" in refused(answer, 422, "invalid")
    made = await client.post(path, json={})
    again = {"idempotency-key": made.headers["idempotency-key"]}
    repeat = await client.post(path, json={}, headers=again)
    assert repeat.json() == made.json()
    refused(await client.post(path, json={"count": 2}, headers=again), 409, "key_reused")
    keyed = {"idempotency-key": "mine"}
    first = await client.post("/v1/campaigns", json=CAMPAIGN, headers=keyed)
    second = await client.post("/v1/campaigns", json=CAMPAIGN, headers=keyed)
    assert first.json()["id"] == second.json()["id"]


async def test_cursors_go_through_pages_and_nothing_else_is_one(client: httpx.AsyncClient) -> None:
    made = [await opened(client, name=f"c{i}") for i in range(5)]
    found, cursor = [], None
    while True:
        query = {"limit": "2"} | ({} if cursor is None else {"cursor": cursor})
        page = (await client.get("/v1/campaigns", params=query)).json()
        found += [one["id"] for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == made
    last = to_cursor(2**63 - 1)
    for place in ("", f"/{made[0]}/rounds", f"/{made[0]}/events"):
        path = f"/v1/campaigns{place}"
        page = (await client.get(path, params={"cursor": last})).json()
        assert page == {"items": [], "next": None}
        for name, value in [
            ("cursor", "zz"),
            ("cursor", "\u00e9"),
            ("cursor", "//////////8"),
            ("cursor", "x" * 1000),
            ("limit", "0"),
            ("limit", "201"),
            ("limit", "9" * 30),
            ("limit", "1.5"),
            ("limit", "\x00"),
        ]:
            answer = await client.get(path, params={name: value})
            assert name in refused(answer, 422, "invalid")
