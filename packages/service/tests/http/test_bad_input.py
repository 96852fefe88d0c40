"""The service over HTTP: values that are none, in every place that takes one."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from affinity_bandits_client.messages.base import LARGEST_NUMBER, LARGEST_ROUND
from packages.service.tests.conftest import RUNNER
from tests.support.declared import DECLARED
from tests.support.web_site import CAMPAIGN, Site, opened, refused

ANSWER = '{"lease": 2, "answers": [{"slot": %s, "score": %s}]}'
NAMED = '{"lease": 2, "totals": [{"arm": %s, "scores": [{"score": 1, "count": 1}]}]}'
COUNTED = '{"lease": 2, "totals": [{"arm": "a", "scores": [{"score": %s, "count": %s}]}]}'
DECLARATION = f', "declaration": {json.dumps(DECLARED.to_json())}}}'
OPENING = '{"name": "n", "arms": ["a", "b"], "policy": {"name": "uniform"}, %s' + DECLARATION
PLACES = {
    "count": ("/ask", '{"count": %s}'),
    "listed": ("/ask", '{"listed": %s}'),
    "lease": ("/tell", '{"lease": %s, "answers": [{"slot": 0, "score": 0}]}'),
    "answers[0].slot": ("/tell", ANSWER % ("%s", 0)),
    "answers[0].score": ("/tell", ANSWER % (0, "%s")),
    "totals[0].arm": ("/tell", NAMED),
    "totals[0].scores[0].score": ("/tell", COUNTED % ("%s", 1)),
    "totals[0].scores[0].count": ("/tell", COUNTED % (1, "%s")),
    "name": (
        "",
        '{"name": %s, "arms": ["a", "b"], "policy": {"name": "uniform"}, "horizon": 9'
        + DECLARATION,
    ),
    "arms[1]": (
        "",
        '{"name": "n", "arms": ["a", %s], "policy": {"name": "uniform"}, "horizon": 9'
        + DECLARATION,
    ),
    "policy": ("", '{"name": "n", "arms": ["a", "b"], "policy": %s, "horizon": 9' + DECLARATION),
    "plan": ("", '{"name": "n", "arms": ["a", "b"], "plan": %s' + DECLARATION),
    "horizon": ("", OPENING % '"horizon": %s'),
    "lease_seconds": ("", OPENING % '"horizon": 9, "lease_seconds": %s'),
    "lowest": ("", OPENING % '"horizon": 9, "lowest": %s'),
    "highest": ("", OPENING % '"horizon": 9, "highest": %s'),
}
"""Where a value stands: the path below the campaign (none: a new campaign), the body around it."""
NO_VALUES = ["null", "[]", "{}", "NaN", "Infinity", "-Infinity", "1e400", "-1e400"]
NO_NUMBERS = [
    *NO_VALUES,
    "true",
    "false",
    '"1e309"',
    '"x"',
    '"1\\u0000"',
    "1" + "0" * 400,
    "-1e5000",
]
NO_WORDS = [*NO_VALUES, "true", "7", '""', '"\\u0000"', '"a\\u0000"', '"\\ud800"', '"a\\nb"']
WORDS = {"totals[0].arm", "name", "arms[1]", "policy", "plan"}
EDGES = {
    "count": (1, 10_000),
    "lease": (0, LARGEST_NUMBER),
    "answers[0].slot": (0, LARGEST_ROUND),
    "totals[0].scores[0].count": (1, 10_000),
    "horizon": (1, 10**15),
}
BODIES = {
    "nothing": b"",
    "a space": b" ",
    "deep lists": b"[" * 10_000 + b"]" * 10_000,
    "deep lists without an end": b"[" * 10_000,
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "deep in a member": b'{"count": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "no UTF-8": b'{"count": "\xff\xfe"}',
    "no UTF-8 in a name": b'{"\xc3\x28": 1}',
    "overlong UTF-8": b'{"count": "\xc0\x80"}',
    "a surrogate in UTF-8": b'{"count": "\xed\xa0\x80"}',
    "a lone surrogate": b'{"count": "\\ud800"}',
    "a lone surrogate in a name": b'{"\\udc00": 1}',
    "NUL": b"\x00",
    "NUL after the end": b'{"count": 1}\x00',
    "a mark of byte order": b'\xef\xbb\xbf{"count": 1}',
    "UTF-16": '{"count": 1}'.encode("utf-16"),
    "two values": b'{"count": 1}{"count": 1}',
    "a comment": b'{"count": 1 /* one */}',
    "a form": b"count=1",
    "compressed": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "a number": b"1",
    "ten thousand members": json.dumps({f"member {i}": i for i in range(10_000)}).encode(),
}
INJECTIONS = [
    "Robert'); DROP TABLE affinity.campaigns; --",
    "' OR '1'='1",
    "\\'; SELECT pg_sleep(60); --",
    "$$; DROP SCHEMA affinity CASCADE; $$",
    "$1 %s %(name)s {0} {name!r}",
    '{a,b} "NULL" NULL',
    "<script>alert(1)</script>",
    "\ufdfa \U0001d518\U0001d52b e\u0301 \xdf",
]


pytestmark = pytest.mark.site(quiet=True)


@pytest.fixture
def client(at: Site, request: pytest.FixtureRequest) -> httpx.AsyncClient:
    """A client that may send as fast as it can."""
    return at.client(request.node.stash[RUNNER].run(at.key(requests_per_second=1e6)))


@pytest.fixture
def path(client: httpx.AsyncClient, request: pytest.FixtureRequest) -> str:
    """The path of a campaign of whose round both slots are leased, as lease 2."""
    run = request.node.stash[RUNNER].run
    found = f"/v1/campaigns/{run(opened(client))}"
    run(client.post(f"{found}/ask", json={"count": 2}))
    return found


@pytest.mark.parametrize("place", PLACES)
async def test_what_is_no_value_is_refused_by_its_name(
    client: httpx.AsyncClient, path: str, place: str
) -> None:
    below, around = PLACES[place]
    bad = NO_WORDS if place in WORDS else NO_NUMBERS
    if place == "listed":
        bad = [*NO_VALUES, "0", "1", '"true"']
    if place == "policy":  # of which '{}' is one without a name
        bad = [*bad, '{"name": 1}', '{"name": "x"}', '{"name": null}', '{"name": ["uniform"]}']

    for value in bad:
        where = f"{path}{below}" if below else "/v1/campaigns"
        said = refused(await client.post(where, content=around % value), 422, "invalid")
        # What is no JSON at all has no place that could be named.
        named = place.removeprefix("totals[0].") in said or "body must be JSON" in said
        assert named, (value, said)
        assert " must " in said
        assert len(said) < 400


@pytest.mark.parametrize("place", EDGES)
async def test_whole_numbers_are_taken_up_to_the_edge_and_not_beyond(
    client: httpx.AsyncClient, path: str, place: str
) -> None:
    below, around = PLACES[place]
    low, high = EDGES[place]
    beyond = [low - 1, high + 1, -(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1, 2**63, 2**64]
    inside = [low, high, *(n for n in (2**31 - 1, 2**31, 2**32) if n <= high)]

    where = f"{path}{below}" if below else "/v1/campaigns"
    for value in beyond:
        said = refused(await client.post(where, content=around % value), 422, "invalid")
        assert place in said
        assert str(value) in said
    for value in inside:
        answer = await client.post(where, content=around % value)
        code = answer.json().get("code")
        assert code in {None, "no_such_lease", "not_leased"}, value


@pytest.mark.parametrize("kind", BODIES)
async def test_what_is_no_body_is_refused_everywhere(
    client: httpx.AsyncClient, path: str, kind: str
) -> None:
    body = BODIES[kind]

    for where in ("/v1/campaigns", f"{path}/ask", f"{path}/tell"):
        answer = await client.post(where, content=body)
        assert " must " in refused(answer, 422, "invalid")
        assert len(answer.content) < 1000
    answer = await client.post(f"{path}/tells", content=body)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert {one["status"] for one in lines} <= {422}
    assert len(lines) == (1 if body.strip() else 0)


PLAN = {"groups": 2, "horizon": 9, "policy": {"name": "uniform"}}
PLAN["declaration"] = DECLARED.to_json()


async def test_a_declaration_is_whole_and_says_no_protected_attributes(
    client: httpx.AsyncClient,
) -> None:
    declared = {"groups_are": "sources", "responsible": "us", "purpose": "next year"}
    campaign = {"name": "n", "arms": ["a", "b"], "policy": {"name": "uniform"}, "horizon": 9}

    said = refused(await client.post("/v1/campaigns", json=campaign), 422, "invalid")
    assert "declaration must be given, such as {'groups_are': 'sources of" in said
    for bad in ({}, {"purpose": "x"}, declared | {"purpose": "a\x00"}, declared | {"more": 1}):
        body = campaign | {"declaration": bad}
        refused(await client.post("/v1/campaigns", json=body), 422, "invalid")
    body = campaign | {"declaration": declared | {"protected": True}}
    said = refused(await client.post("/v1/campaigns", json=body), 422, "invalid")
    assert "protected must be false" in said
    assert "discrimination" in said
    made = await client.post("/v1/campaigns", json=campaign | {"declaration": declared})
    assert made.status_code == 201
    trail = await client.get(f"/v1/campaigns/{made.json()['id']}/events")
    assert '"responsible":"us"' in trail.text.replace(": ", ":")


async def test_a_plan_is_data_and_neither_a_text_nor_deeper_than_can_be(
    client: httpx.AsyncClient,
) -> None:
    deep = '{"a":' * 30_000 + "1" + "}" * 30_000
    text = "run.policies.plan" + ".a" * 30_000 + " = 1"
    wide = {"name": "uniform"} | {f"member {i}": i for i in range(10_000)}
    plans = [
        json.dumps(text),
        json.dumps(PLAN)[:-1] + f', "policy": {{"name": "uniform", "x": {deep}}}}}',
        json.dumps(PLAN | {"policy": wide}),
        *(json.dumps(PLAN | {"policy": bad}) for bad in ("uniform", {}, {"name": "none"}, None)),
        *(json.dumps(PLAN | {"groups": bad}) for bad in (1, 3, 2.5, "2", None)),
        *(json.dumps(PLAN | {"horizon": bad}) for bad in (0, 10**15 + 1, 1.5, None)),
        json.dumps(PLAN | {"noise": "gaussian"}),
        json.dumps(PLAN | {"other": 1}),
        *(json.dumps(PLAN | {"unit": bad}) for bad in ("", "a\x00", "x" * 17, 3)),
    ]

    with limited_memory(2 * 2**30):
        for plan in plans:
            body = '{"name": "n", "arms": ["a", "b"], "plan": ' + plan + "}"
            said = refused(await client.post("/v1/campaigns", content=body), 422, "invalid")
            named = any(name in said for name in ("plan", "policy", "arms", "uniform"))
            assert named or "body must be JSON" in said, said
            assert len(said) < 500
        good = {"name": "n", "arms": ["a", "b"], "plan": PLAN}
        assert (await client.post("/v1/campaigns", json=good)).status_code == 201


@pytest.mark.slow
async def test_words_of_another_language_are_only_words(
    at: Site, client: httpx.AsyncClient, path: str
) -> None:
    """SQL and the like: every string comes back as it went in, and the tables are as they were."""

    before = await _tables(at.pool)
    for number, words in enumerate(INJECTIONS):
        key = f"{number}{words}".encode("ascii", "ignore").decode().replace(" ", "/**/")
        made = await client.post(
            "/v1/campaigns",
            json=CAMPAIGN | {"name": words, "arms": [words, f"{words}2"]},
            headers={"idempotency-key": key},
        )
        assert made.status_code == 201, made.text
        assert made.headers["idempotency-key"] == key
        own = f"/v1/campaigns/{made.json()['id']}"
        found = (await client.get(own)).json()
        assert found["name"] == words
        assert [one["name"] for one in found["arms"]] == [words, f"{words}2"]
        lease = (await client.post(f"{own}/ask", headers={"idempotency-key": key}, json={})).json()
        total = {"arm": words, "scores": [{"score": 1, "count": 1}]}
        line = {"lease": lease["lease"], "totals": [total], "key": f"{key}!"}
        told = (await client.post(f"{own}/tells", json=line)).json()
        assert told["counted"] == 1
        events = (await client.get(f"{own}/events")).json()["items"]
        assert [one["key"] for one in events] == [None, key, f"{key}!"]
        assert events[0]["data"]["description"]["name"] == words
        for bad in (CAMPAIGN | {"policy": {"name": words}}, CAMPAIGN | {words: 1}):
            refused(await client.post("/v1/campaigns", json=bad), 422, "invalid")
        for where in (f"/v1/campaigns/{words}", f"{path}/{words}", f"{path}/ask/{words}"):
            assert (await client.get(where)).status_code in {404, 422}
    assert await _tables(at.pool) == before


async def _tables(pool: asyncpg.Pool[Any]) -> list[tuple[str, str]]:
    rows = await pool.fetch(
        "SELECT table_name::text, column_name::text FROM information_schema.columns"
        " WHERE table_schema = 'affinity' ORDER BY 1, 2"
    )
    assert len(rows) > 30
    return [tuple(row) for row in rows]


@contextmanager
def limited_memory(size: int) -> Iterator[None]:
    """Let this process have so much more memory than it has, and no more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
