"""The schema is created once, as a whole, and a dump of it is a whole backup."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import asyncpg
import pytest

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits_client.messages import Lease
from affinity_bandits_service.problems import Unavailable
from affinity_bandits_service.serving import check_schema
from affinity_bandits_service.store.connection import connect
from affinity_bandits_service.store.migrate import SCHEMA_VERSION, migrate
from affinity_bandits_service.trail.chain import Digest, newest_digest
from affinity_bandits_service.trail.verify import verify
from packages.service.tests.trail.exported import a_busy_campaign
from tests.support.one_campaign import OneCampaign, opened

VERSION = "SELECT version FROM affinity.schema_version"


def query(dsn: str, sql: str) -> list[Any]:
    """Run SQL; return the first column of what a single statement returns."""

    async def run() -> list[Any]:
        connection = await asyncpg.connect(dsn)
        try:
            if not sql.startswith("SELECT"):
                await connection.execute(sql)
                return []
            return [row[0] for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return asyncio.run(run())


@pytest.mark.slow
def test_servers_that_start_together_may_all_migrate(empty_dsn: str) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as servers:
        for done in [servers.submit(migrate, empty_dsn) for _ in range(3)]:
            done.result()
    assert query(empty_dsn, VERSION) == [SCHEMA_VERSION]


def test_another_schema_or_version_is_refused_and_nothing_changes(empty_dsn: str) -> None:
    query(empty_dsn, "CREATE SCHEMA affinity")
    with pytest.raises(NotSupported, match="a schema named affinity without a version"):
        migrate(empty_dsn)
    assert query(empty_dsn, "SELECT count(*) FROM pg_tables WHERE schemaname = 'affinity'") == [0]
    query(empty_dsn, "DROP SCHEMA affinity")
    migrate(empty_dsn)
    query(empty_dsn, "UPDATE affinity.schema_version SET version = 2; DROP TABLE affinity.due")
    with pytest.raises(NotSupported, match=r"schema is version 2, .* needs version 1"):
        migrate(empty_dsn)
    assert query(empty_dsn, "SELECT to_regclass('affinity.due')::text") == [None]


@pytest.mark.parametrize(
    ("where", "problem", "said"),
    [
        ("postgresql://127.0.0.1:1/test", Unavailable, "; check the host and port of AFFINITY_DSN"),
        ("no dsn", InvalidInput, "of the form postgresql://"),
        ("{}_not", InvalidInput, r'database "[a-z_0-9]*_not" does not exist'),
        ("{}?target_session_attrs=standby", Unavailable, "did not answer"),  # during a failover
    ],
)
def test_a_database_that_is_not_there_is_said_to_be(
    dsn: str, where: str, problem: type[Exception], said: str
) -> None:
    with pytest.raises(problem, match=said):
        migrate(where.format(dsn))
    with pytest.raises(problem, match=said):
        asyncio.run(connect(where.format(dsn)))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="needs pg_dump")
def test_a_dump_of_the_schema_is_restored_served_and_verified(empty_dsn: str) -> None:
    migrate(empty_dsn)
    kept = asyncio.run(on_busy_campaign(empty_dsn))
    before = contents(empty_dsn)
    # The documented backup, as text that needs no psql.
    command = ["pg_dump", "-n", "affinity", "--inserts", "--dbname", empty_dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    query(empty_dsn, "DROP SCHEMA affinity CASCADE")
    query(empty_dsn, "\n".join(one for one in text.splitlines() if not one.startswith("\\")))
    asyncio.run(check_schema(empty_dsn))
    migrate(empty_dsn)  # which changes nothing
    assert contents(empty_dsn) == before
    asyncio.run(on_busy_campaign(empty_dsn, kept))


async def on_busy_campaign(dsn: str, kept: tuple[OneCampaign, Digest] | None = None) -> Any:
    """Make a campaign, or verify the one that was made and go on with it."""
    async with opened(dsn) as one:
        if kept is None:
            await a_busy_campaign(one, ("a", "b", "ü"))
            return one, await newest_digest(one.pool, one.id)
        before, digest = kept
        one.tenant, one.id, one.now = before.tenant, before.id, before.now
        one.wait(3600)
        assert (await verify(one.pool, one.id, [digest])).differences == ()
        assert isinstance(await one.ask(1), Lease)
        return None


def contents(dsn: str) -> list[Any]:
    tables = query(dsn, "SELECT tablename FROM pg_tables WHERE schemaname = 'affinity' ORDER BY 1")
    assert "events" in tables
    return [query(dsn, f"SELECT t::text FROM affinity.{one} AS t ORDER BY 1") for one in tables]


@pytest.mark.as_owner
@pytest.mark.parametrize("change", ["UPDATE {} SET actor = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_neither_the_trail_nor_a_part_of_it_can_be_changed(dsn: str, change: str) -> None:
    parts = query(
        dsn,
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'affinity.events'::regclass",
    )
    assert len(parts) == 16
    for name in ["affinity.events", *parts]:
        with pytest.raises(asyncpg.RaiseError, match="append-only"):
            query(dsn, change.format(name))


BROKEN = [
    (asyncpg.CheckViolationError, "INSERT INTO {heads}, 'lost', 0, 1, 1, 0, 0"),
    (asyncpg.CheckViolationError, "INSERT INTO {heads}, 'open', 0, 1, 1, 2, 0"),
    (asyncpg.CheckViolationError, "INSERT INTO {heads}, 'open', 0, 1, 1, 0, 1"),
    (
        asyncpg.CheckViolationError,
        "INSERT INTO affinity.leases VALUES (gen_random_uuid(), 1, 0, '{{}}', now(), false, 't')",
    ),
    (
        asyncpg.CheckViolationError,
        "INSERT INTO affinity.events (campaign, number, at, kind, actor, round, chain)"
        " VALUES (gen_random_uuid(), 1, now(), 'edit', 't', 0, '')",
    ),
    (
        asyncpg.ForeignKeyViolationError,
        "INSERT INTO affinity.due VALUES (gen_random_uuid())",
    ),
]
HEADS = (
    "affinity.heads (lease_seconds, lowest, highest, chain, campaign, tenant, events, status,"
    " round, width, size, next_slot, answered)"
    " SELECT 1, 0, 1, '', gen_random_uuid(), 1, 1"
)


@pytest.mark.parametrize(("error", "statement"), BROKEN)
def test_rows_that_break_a_rule_are_refused(
    dsn: str, error: type[Exception], statement: str
) -> None:
    with pytest.raises(error):
        query(dsn, statement.format(heads=HEADS))
