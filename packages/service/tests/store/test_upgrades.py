"""The pattern of an upgrade, tried with a version 2 that exists only for this."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import asyncpg
import httpx
import pytest

from affinity_bandits.base.errors import NotSupported
from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core import keys
from affinity_bandits_service.serving import check_schema
from affinity_bandits_service.store import connection
from affinity_bandits_service.store import migrate as module
from affinity_bandits_service.store.connection import SESSION, connect
from affinity_bandits_service.store.migrate import migrate
from checks.soak.service.upgrade import EXPANDED, release_2
from tests.support.databases import run_sql
from tests.support.served import Server, served, until
from tests.support.web_site import CAMPAIGN, Site, on_site

CONTRACTED = EXPANDED._replace(serves=2)


def version(dsn: str) -> Any:
    async def read() -> Any:
        db = await asyncpg.connect(dsn)
        try:
            return tuple(await db.fetchrow("SELECT version, serves FROM affinity.schema_version"))
        finally:
            await db.close()

    return asyncio.run(read())


def test_releases_work_with_a_range_of_schemas(empty_dsn: str) -> None:
    migrate(empty_dsn)
    with release_2():
        asyncio.run(check_schema(empty_dsn))  # release 2 before its migration
        for _ in range(2):
            migrate(empty_dsn)
        assert version(empty_dsn) == (2, 1)
    asyncio.run(check_schema(empty_dsn))  # release 1 after it
    with pytest.raises(NotSupported, match=r"schema is version 2, .* needs version 1"):
        migrate(empty_dsn)


def test_what_is_out_of_the_range_is_refused_and_not_ready(empty_dsn: str) -> None:
    migrate(empty_dsn)
    with release_2(CONTRACTED), pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "OLDEST_SCHEMA", 2)
        with pytest.raises(NotSupported, match="has the schema 1 and this version needs 2"):
            asyncio.run(check_schema(empty_dsn))
        migrate(empty_dsn)
    with pytest.raises(NotSupported, match="the schema 2 or newer, and this one has 1; upgrade it"):
        asyncio.run(check_schema(empty_dsn))

    async def work(at: Site) -> None:
        async with at.admin() as admin:
            assert (await admin.get("/readyz")).status_code == 503

    on_site(empty_dsn, work)


@contextlib.contextmanager
def reading(dsn: str, seconds: float) -> Iterator[None]:
    """A reader that keeps its transaction open for a while."""

    async def read() -> None:
        db = await asyncpg.connect(dsn)
        async with db.transaction(isolation="repeatable_read"):
            await db.fetch("SELECT FROM affinity.campaigns")
            began.set()
            await asyncio.sleep(seconds)
        await db.close()

    began = threading.Event()
    reader = threading.Thread(target=lambda: asyncio.run(read()))
    reader.start()
    assert began.wait(30)
    yield
    reader.join(60)


@pytest.mark.slow
def test_a_reader_holds_up_the_migration_and_nobody_behind_it(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(empty_dsn)
    monkeypatch.setitem(SESSION, "lock_timeout", "200ms")
    monkeypatch.setattr(connection, "PAUSE_SECONDS", 0.1)
    waits = []

    def query() -> None:
        began = time.monotonic()
        run_sql(empty_dsn, "SELECT FROM affinity.campaigns")
        waits.append(time.monotonic() - began)

    with release_2(EXPANDED._replace(before=())), ThreadPoolExecutor(1) as thread:
        with reading(empty_dsn, 3.0):
            migrating = thread.submit(migrate, empty_dsn)
            while not migrating.done():
                query()
        migrating.result()
    assert version(empty_dsn) == (2, 1)
    # Whoever comes after the migration waits no longer than one of its tries. Without a limit the
    # first query would wait for the reader, three seconds.
    assert max(waits) < 2.0


def test_locks_that_are_kept_end_the_migration_with_nothing_changed(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(empty_dsn)
    monkeypatch.setitem(SESSION, "lock_timeout", "50ms")
    monkeypatch.setattr(connection, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(connection, "TRIES", 2)
    refused = pytest.raises(NotSupported, match="no lock could be had in 2 tries")
    with release_2(EXPANDED._replace(before=())), reading(empty_dsn, 1.0), refused:
        migrate(empty_dsn)
    assert version(empty_dsn) == (1, 1)


class Load:
    """Asks and tells in several campaigns, each status kept, until told to stop."""

    def __init__(self, servers: list[Server], key: str) -> None:
        self.servers = servers
        self.statuses: list[int] = []
        self._stopped = threading.Event()
        self._headers = {"authorization": f"Bearer {key}"}

    def run(self, place: int) -> None:
        with httpx.Client(headers=self._headers, timeout=30.0) as client:
            made = client.post(f"{self.url(place)}/v1/campaigns", json=CAMPAIGN)
            self.statuses.append(made.status_code)
            path = f"/v1/campaigns/{made.json()['id']}"
            while not self._stopped.is_set():
                asked = client.post(f"{self.url(place)}{path}/ask", json={"count": 2})
                self.statuses.append(asked.status_code)
                body = asked.json()
                if "runs" not in body:  # a wait while a round is closed, or what the status says
                    time.sleep(0.05)
                    continue
                answers = [{"slot": body["runs"][0][0] + one, "score": 1} for one in (0, 1)]
                told = {"lease": body["lease"], "answers": answers[: body["runs"][0][1]]}
                reply = client.post(f"{self.url(place)}{path}/tell", json=told)
                read = client.get(f"{self.url(place)}{path}/events")
                ready = self.servers[place % len(self.servers)].probe()
                self.statuses += [one.status_code for one in (reply, read, ready)]

    def url(self, place: int) -> str:
        return self.servers[place % len(self.servers)].url

    def stop(self) -> None:
        self._stopped.set()


async def made_key(dsn: str) -> str:
    pool = await connect(dsn, largest=1)
    try:
        tenant = await keys.create_tenant(pool, "upgraded")
        return await keys.make_key(pool, tenant, "k", SCOPES, requests_per_second=1e5)
    finally:
        await pool.close()


@pytest.mark.slow
def test_processes_go_on_through_a_migration_and_can_be_rolled_back(empty_dsn: str) -> None:
    migrate(empty_dsn)
    key = asyncio.run(made_key(empty_dsn))
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(4) as threads:
        old = [stack.enter_context(served(empty_dsn, "--quiet")) for _ in range(2)]
        for one in old:
            until("ready", one.is_ready)
        load = Load(old, key)
        clients = [threads.submit(load.run, place) for place in range(4)]
        time.sleep(1.0)
        with release_2():
            migrate(empty_dsn)  # under load
            on_site(empty_dsn, upgraded)
        time.sleep(1.0)
        with served(empty_dsn, "--quiet") as back:  # a process of the former release starts again
            until("ready", back.is_ready)
        load.stop()
        for one in clients:
            one.result()
    assert version(empty_dsn) == (2, 1)
    assert len(load.statuses) > 40
    assert set(load.statuses) == {200, 201}


async def upgraded(at: Site) -> None:
    async with at.admin() as admin:
        assert (await admin.get("/readyz")).status_code == 200
