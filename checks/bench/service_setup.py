"""Databases, servers and campaigns for `checks.bench.service`."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg

from affinity_bandits.base.declaration import EXAMPLES, Declaration
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits_client.messages.base import SCOPES
from affinity_bandits_service.core.campaigns import Campaigns
from affinity_bandits_service.core.keys import create_tenant, make_key
from affinity_bandits_service.core.spec import CampaignSpec
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.migrate import migrate

ARMS = ("north", "south")
HORIZON = 10**12
PROCESSES = 2


@contextmanager
def database(name: str) -> Iterator[str]:
    """Make a database with the newest schema; drop it at the end."""
    base = os.environ.get("AFFINITY_DSN", "postgresql://127.0.0.1:5432/test")
    full = f"affinity_bench_{name}_{os.getpid()}"
    asyncio.run(execute(base, f"CREATE DATABASE {full}"))
    dsn = urlunsplit(urlsplit(base)._replace(path=f"/{full}"))
    try:
        migrate(dsn)
        yield dsn
    finally:
        asyncio.run(execute(base, f"DROP DATABASE {full} WITH (FORCE)"))


async def execute(dsn: str, statement: str) -> None:
    """Run one statement."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@contextmanager
def server(arguments: list[str], dsn: str, port: int) -> Iterator[int]:
    """Start a server, wait until it answers, and stop it at the end."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name(arguments[0])), *arguments[1:]],
        env=os.environ | {"AFFINITY_DSN": dsn},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port, process)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                time.sleep(1.0)
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server on port {port} did not start")


class Bench:
    """A tenant with a key and as many campaigns as wanted."""

    def __init__(self, dsn: str, name: str = "bench") -> None:
        self.dsn = dsn
        self._name = name
        self.tenant, self.key = asyncio.run(self._with(self._tenant))

    def campaign(self) -> UUID:
        """Make a campaign whose open round never ends."""
        made: UUID = asyncio.run(self._with(self._campaign))
        return made

    def copies(self, template: UUID, count: int) -> None:
        """Make so many copies of a campaign."""

        async def run(pool: asyncpg.Pool[Any]) -> None:
            await pool.execute(COPIES, template, count, timeout=600)
            await pool.execute("ANALYZE")

        asyncio.run(self._with(run))

    def age(self, campaign: UUID, blocks: int, block: int) -> None:
        """Give a campaign a history of so many answered leases of so many slots."""

        async def run(pool: asyncpg.Pool[Any]) -> None:
            for statement in AGE:
                await pool.execute(statement, campaign, blocks, block, timeout=600)
            await pool.execute("ANALYZE")

        asyncio.run(self._with(run))

    def ids(self) -> list[UUID]:
        """Return the campaigns."""

        async def run(pool: asyncpg.Pool[Any]) -> list[UUID]:
            return [row["id"] for row in await pool.fetch("SELECT id FROM affinity.campaigns")]

        found: list[UUID] = asyncio.run(self._with(run))
        return found

    async def _with(self, work: Any) -> Any:
        pool = await connect(self.dsn)
        try:
            return await work(pool)
        finally:
            await pool.close()

    async def _tenant(self, pool: asyncpg.Pool[Any]) -> tuple[int, str]:
        tenant = await create_tenant(pool, self._name)
        return tenant, await make_key(pool, tenant, "bench", SCOPES, requests_per_second=1e6)

    async def _campaign(self, pool: asyncpg.Pool[Any]) -> UUID:
        policy = ExploreThenCommit(HORIZON // 4)
        declared = Declaration.from_json(EXAMPLES)
        about = CampaignSpec("bench", ARMS, policy, HORIZON, declaration=declared)
        return await Campaigns(pool).create(self.tenant, about, key=os.urandom(8).hex(), actor="b")


COPIES = """
WITH made AS (
  INSERT INTO affinity.campaigns (id, tenant, name, arms, policy, horizon, lease_seconds, lowest,
    highest, saved, created_at, created_by, key, digest)
  SELECT gen_random_uuid(), tenant, name, arms, policy, horizon, lease_seconds, lowest, highest,
    saved, created_at, created_by, gen_random_uuid()::text, digest
  FROM affinity.campaigns, generate_series(1, $2::int) WHERE id = $1 RETURNING id),
heads AS (
  INSERT INTO affinity.heads (campaign, tenant, status, round, width, size, next_slot, answered,
    events, lease_seconds, lowest, highest, chain)
  SELECT made.id, tenant, status, round, width, size, next_slot, answered, events, lease_seconds,
    lowest, highest, chain
  FROM affinity.heads, made WHERE campaign = $1),
rounds AS (
  INSERT INTO affinity.rounds SELECT made.id, number, arms, repetitions, size, before, opened_at
  FROM affinity.rounds, made WHERE campaign = $1)
INSERT INTO affinity.events (campaign, number, at, kind, actor, round, detail, chain)
  SELECT made.id, number, at, kind, actor, round, detail, chain
  FROM affinity.events, made WHERE campaign = $1
"""
"""Every row of one campaign again, under new ids; their chains are copies, which nobody checks."""
_AGED = """
INSERT INTO affinity.events (campaign, number, at, kind, actor, key, digest, round, asked, slots,
  expires_at, lease, told, counts, units, counted, late, duplicate, chain)
"""
AGE = (
    _AGED
    + """SELECT $1, 2 * b, now(), 'ask', 'b', 'ask-' || b, NULL, 0, $3::int,
  int8multirange(int8range((b - 1) * $3::bigint, b * $3::bigint)), now(),
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, sha256('') FROM generate_series(1, $2::int) AS b""",
    _AGED
    + """SELECT $1, 2 * b + 1, now(), 'tell', 'b', 'tell-' || b, sha256(b::text::bytea), 0, NULL,
  NULL, NULL, 2 * b, ARRAY[0, 1], ARRAY[$3::bigint / 2, $3::bigint / 2], ARRAY[0, 0], $3::bigint,
  0, 0, sha256('') FROM generate_series(1, $2::int) AS b""",
    """INSERT INTO affinity.requests SELECT campaign, key, number, actor FROM affinity.events
  WHERE campaign = $1 AND key IS NOT NULL AND $2::int > 0 AND $3::int > 0""",
    """INSERT INTO affinity.sums
  SELECT $1, place, $2::bigint * $3::bigint / 2, 0 FROM generate_series(0, 1) AS place""",
    """UPDATE affinity.heads SET events = 2 * $2::bigint + 1, next_slot = $2::bigint * $3::bigint,
  answered = $2::bigint * $3::bigint WHERE campaign = $1""",
)
"""The trail that so many blocks leave, with the sums and the head that follow from it."""
