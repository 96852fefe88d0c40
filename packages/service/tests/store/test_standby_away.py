"""What a primary acknowledges while its synchronous standby is away, the standby has afterwards.

A commit that waits for a standby exists on the primary alone once its wait is canceled, as it is
when the time limit of a statement is over. So whatever a repeat acknowledges must have been written
or locked in the repeat's own transaction, whose commit then waits as well. Two real PostgreSQL
servers; the standby hears nothing more, then the primary crashes, and the standby takes its place.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from affinity_bandits_service.http import create_app
from affinity_bandits_service.store import connection
from affinity_bandits_service.store.connection import connected, sql
from affinity_bandits_service.store.migrate import migrate
from checks.soak.service.postgres import Cluster, free_port
from tests.support.web_site import CAMPAIGN, opened, site

LIMIT = 0.5
"""Seconds after which the wait for the standby is canceled."""
REMOVE = "/v1/webhooks/{webhook}/remove"
"""It takes no idempotency key: a repeat finds that the webhook is gone."""
JUDGED = {
    "policy": {"name": "panel-elimination", "bounded": True, "failure": 0.05},
    "horizon": 600,
}
BLOCKS = {"policy": {"name": "neutral-elimination", "outsiders": True}, "horizon": 600}
UNLOCKED = "SELECT id, digest, created_by FROM affinity.campaigns WHERE tenant = $1 AND key = $2"
NO_STANDBY = "SELECT count(*) = 0 FROM pg_stat_replication"
IN_STEP = "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"


@contextmanager
def cluster() -> Iterator[tuple[Cluster, Callable[[], Cluster]]]:
    """A primary, and a way to make its standby."""
    chance = random.Random(time.time_ns())
    with tempfile.TemporaryDirectory(prefix="standby-", dir="/tmp") as folder:
        Path(folder).chmod(0o711)
        made = [Cluster(Path(folder, "0"), free_port(chance), {})]

        def copy() -> Cluster:
            made.append(made[0].copy(Path(folder, "1"), free_port(chance)))
            made[1].start()
            return made[1]

        try:
            made[0].start()
            yield made[0], copy
        finally:
            for one in made:
                one.stop()


async def settle(dsn: str, holds: str, *settings: str) -> None:
    """Change settings of a server, and wait until a query says yes."""
    async with connected(dsn) as db:
        await db.execute("SET synchronous_commit = local")
        for one in settings:
            await db.execute(f"ALTER SYSTEM SET {one}")
        await db.execute("SELECT pg_reload_conf()")
        async with asyncio.timeout(30):
            while not await db.fetchval(holds):
                await asyncio.sleep(0.02)


class Requests:
    """A request for every route that takes an idempotency key, on campaigns that are ready."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.sent: dict[str, tuple[str, dict[str, Any] | str]] = {}

    async def prepare(self) -> None:
        paths = [f"/v1/campaigns/{await opened(self._client)}" for _ in range(5)]
        judged = f"/v1/campaigns/{await opened(self._client, **JUDGED)}"
        blocks = [f"/v1/campaigns/{await opened(self._client, **BLOCKS)}" for _ in range(2)]
        given = (await self._client.post(f"{blocks[0]}/ask-block", json={"rater": "r"})).json()
        hook = {"url": "https://example.com/", "kinds": ["decided"]}
        removed = (await self._client.post("/v1/webhooks", json=hook)).json()["id"]
        leases = [
            (await self._client.post(f"{path}/ask", json={"count": 1})).json()["lease"]
            for path in paths[:3]
        ]
        answers = [{"slot": 0, "score": 1}]
        line = f'{{"lease": {leases[1]}, "answers": [{{"slot": 0, "score": 1}}], "key": "line"}}'
        self.sent = {
            "/v1/campaigns": ("/v1/campaigns", CAMPAIGN | {"name": "late"}),
            "/v1/campaigns/{campaign}/tell": (
                f"{paths[0]}/tell",
                {"lease": leases[0], "answers": answers},
            ),
            "/v1/campaigns/{campaign}/tells": (f"{paths[1]}/tells", line),
            "/v1/campaigns/{campaign}/release": (f"{paths[2]}/release", {"lease": leases[2]}),
            "/v1/campaigns/{campaign}/ask": (f"{paths[3]}/ask", {"count": 1}),
            "/v1/campaigns/{campaign}/tell-block": (
                f"{blocks[0]}/tell-block",
                {"lease": given["lease"], "scores": [1, 0]},
            ),
            "/v1/campaigns/{campaign}/ask-block": (f"{blocks[1]}/ask-block", {"rater": "r"}),
            "/v1/campaigns/{campaign}/stop": (f"{paths[4]}/stop", {}),
            "/v1/campaigns/{campaign}/judges": (f"{judged}/judges", {"judges": {"a": 1, "b": 1}}),
            REMOVE: (f"/v1/webhooks/{removed}/remove", {}),
        }

    async def acknowledged(self) -> dict[str, Any]:
        """Send each request once more, all at once; return the replies but those of 503."""
        replies = await asyncio.gather(*(self._post(route) for route in self.sent))
        return {
            route: reply
            for route, (status, reply) in zip(self.sent, replies, strict=True)
            if status != 503
        }

    async def _post(self, route: str) -> tuple[int, Any]:
        path, body = self.sent[route]
        form: dict[str, Any] = {"content" if isinstance(body, str) else "json": body}
        keyed = {"idempotency-key": f"once-{route}"}
        answer = await self._client.post(path, headers=keyed, timeout=60, **form)
        reply = answer.json()
        status = reply["status"] if route.endswith("/tells") else answer.status_code
        expected = (200, 404, 503) if route == REMOVE else (200, 201, 503)
        assert status in expected, answer.text
        return status, reply


def keyed_routes() -> set[str]:
    """Every route whose description has an idempotency key."""
    paths = create_app("postgresql://127.0.0.1:1/none").openapi()["paths"]
    return {
        path
        for path, methods in paths.items()
        for one in methods.values()
        if any(each["name"] == "Idempotency-Key" for each in one.get("parameters", ()))
    }


async def tried(
    primary: Cluster, copy: Callable[[], Cluster]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what was acknowledged while the standby was away, and what it says of the same."""
    dsn = primary.dsn
    async with site(dsn, quiet=True, pool_size=20) as at:
        key = await at.key(requests_per_second=1e6)
        async with at.client(key) as client:
            requests = Requests(client)
            await requests.prepare()
            assert set(requests.sent) == keyed_routes() | {REMOVE}
            standby = await asyncio.to_thread(copy)
            await settle(dsn, IN_STEP, "synchronous_standby_names = '*'")
            await settle(standby.dsn, "SELECT true", "primary_conninfo = ''")
            await settle(dsn, NO_STANDBY)
            early = await requests.acknowledged()
            assert early == {}  # the first tries; their commits exist on the primary alone
            for _ in range(3):
                early |= await requests.acknowledged()
        await asyncio.to_thread(primary.crash)
    await asyncio.to_thread(standby.promote)
    async with site(standby.dsn, quiet=True) as at, at.client(key) as client:
        requests._client = client
        async with connected(standby.dsn) as db:
            names = await db.fetch("SELECT name FROM affinity.campaigns WHERE name = 'late'")
        there = {"/v1/campaigns": len(names)}
        return early, there | {"repeated": await requests.acknowledged()}


@pytest.mark.slow
@pytest.mark.parametrize("locked", [True, False])
def test_a_repeat_acknowledges_only_what_its_own_commit_waits_for(
    locked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control reads the campaign without a lock, and acknowledges one that is lost."""
    monkeypatch.setattr(connection, "STATEMENT_SECONDS", LIMIT)
    if not locked:
        monkeypatch.setattr(sql, "created_before", UNLOCKED)
    with cluster() as (primary, copy):
        migrate(primary.dsn)
        acknowledged, after = asyncio.run(tried(primary, copy))
    assert set(acknowledged) == (set() if locked else {"/v1/campaigns"})
    # In either case nothing of it is on the standby, and a repeat does all of it once.
    assert after["/v1/campaigns"] == 0
    assert set(after["repeated"]) == keyed_routes() | {REMOVE}
    assert [*after["repeated"][REMOVE]] == ["removed"]
