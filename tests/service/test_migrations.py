"""Databases of every released schema come up to date with what is in them, and go on."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service.campaigns import Ask, Campaigns
from affinity_bandits.service.database import connect
from affinity_bandits.service.idempotency import new_key
from affinity_bandits.service.migrate import migrate, newest_revision
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.records import Finished, Lease
from affinity_bandits.service.tells import Tell
from affinity_bandits.service.verify import verify

from .golden import make

NOW = make.LATER + timedelta(hours=1)


def every_revision() -> list[str]:
    config = Config()
    config.set_main_option("script_location", "affinity_bandits.service:migrations")
    return sorted(one.revision for one in ScriptDirectory.from_config(config).walk_revisions())


def test_every_schema_that_was_released_has_a_golden_dump() -> None:
    assert sorted(path.stem for path in make.HERE.glob("*.sql")) == every_revision()


def test_an_empty_database_is_brought_to_the_newest_schema(empty_dsn: str) -> None:
    migrate(empty_dsn)
    assert query(empty_dsn, "SELECT version_num FROM affinity_schema") == [newest_revision()]
    assert newest_revision() == every_revision()[-1]


def test_migrating_again_changes_nothing(empty_dsn: str) -> None:
    migrate(empty_dsn)
    asyncio.run(make.fill(empty_dsn))
    before = contents(empty_dsn)
    migrate(empty_dsn)
    assert contents(empty_dsn) == before


@pytest.mark.slow
def test_servers_that_start_together_may_all_migrate(empty_dsn: str) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as servers:
        for done in [servers.submit(migrate, empty_dsn) for _ in range(3)]:
            done.result()
    assert query(empty_dsn, "SELECT version_num FROM affinity_schema") == [newest_revision()]


def test_a_migration_that_fails_leaves_nothing_behind(empty_dsn: str) -> None:
    query(empty_dsn, "CREATE SCHEMA affinity")  # somebody else's, in the way
    with pytest.raises(Exception, match="already exists"):
        migrate(empty_dsn)
    assert query(empty_dsn, "SELECT count(*) FROM pg_tables WHERE schemaname = 'affinity'") == [0]
    query(empty_dsn, "DROP SCHEMA affinity")
    migrate(empty_dsn)


@pytest.mark.parametrize(
    ("dsn", "problem", "said"),
    [
        ("postgresql://127.0.0.1:1/test", Unavailable, "did not answer"),
        ("no dsn", InvalidInput, "of the form postgresql://"),
    ],
)
def test_a_database_that_is_not_there_is_said_to_be(
    dsn: str, problem: type[Exception], said: str
) -> None:
    with pytest.raises(problem, match=said):
        migrate(dsn)


def test_a_database_that_does_not_exist_is_named(empty_dsn: str) -> None:
    with pytest.raises(InvalidInput, match=r'database "[a-z_0-9]*_not" does not exist'):
        migrate(f"{empty_dsn}_not")


@pytest.mark.parametrize("revision", every_revision())
def test_a_database_of_each_schema_is_upgraded_and_goes_on(empty_dsn: str, revision: str) -> None:
    dump = (make.HERE / f"{revision}.sql").read_text(encoding="utf-8")
    query(empty_dsn, dump)
    assert query(empty_dsn, "SELECT version_num FROM public.affinity_schema") == [revision]
    migrate(empty_dsn)
    assert query(empty_dsn, "SELECT version_num FROM affinity_schema") == [newest_revision()]
    asyncio.run(goes_on(empty_dsn))


async def goes_on(dsn: str) -> None:
    pool = await connect(dsn)
    try:
        campaigns = Campaigns(pool)
        verdicts = {id_: await verify(pool, id_) for id_ in make.POLICIES}
        assert {id_: one.differences for id_, one in verdicts.items() if one.differences} == {}
        assert verdicts[make.RUNNING].rounds == 2

        assert await campaigns.close_due(now=NOW) == 1  # the one whose process had died
        for id_ in (make.RUNNING, make.DECIDED, make.COMPLETE):
            for _ in range(3):
                lease = await asked(campaigns, id_)
                assert isinstance(lease, Lease)
                slots = tuple(slot for slot, _ in lease.slots)
                tell = Tell(lease.number, new_key(), "t", slots, (10**8,) * len(slots))
                (told,) = await campaigns.tell(make.TENANT, id_, [tell], now=NOW)
                assert told.counted == len(slots)
        assert await asked(campaigns, make.EXHAUSTED) == Finished("exhausted")
        assert await asked(campaigns, make.STOPPED) == Finished("stopped")
        after = {id_: await verify(pool, id_) for id_ in make.POLICIES}
        assert {id_: one.differences for id_, one in after.items() if one.differences} == {}
        assert after[make.RUNNING].events > verdicts[make.RUNNING].events
        assert after[make.RUNNING].rounds > verdicts[make.RUNNING].rounds
    finally:
        await pool.close()


async def asked(campaigns: Campaigns, id_: Any) -> Any:
    ask = Ask(100, new_key(), "t")
    return (await campaigns.ask(make.TENANT, id_, [ask], now=NOW))[0]


def test_dumps_name_nobody_and_need_no_psql() -> None:
    for path in make.HERE.glob("*.sql"):
        text = path.read_text(encoding="utf-8")
        assert "OWNER TO" not in text
        assert not [
            line for line in text.splitlines() if line.startswith(("\\", "GRANT", "REVOKE"))
        ]


@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="only who makes a dump needs pg_dump")
def test_the_newest_dump_is_what_its_maker_makes() -> None:
    stored = (make.HERE / f"{newest_revision()}.sql").read_text(encoding="utf-8")
    assert data_of(make.made()) == data_of(stored)


def data_of(dump: str) -> list[str]:
    """The rows, sorted: a table has no order, and pg_dump's versions spell the rest differently."""
    return sorted(line for line in dump.splitlines() if line.startswith("INSERT INTO affinity."))


def contents(dsn: str) -> list[Any]:
    tables = query(dsn, "SELECT tablename FROM pg_tables WHERE schemaname = 'affinity' ORDER BY 1")
    assert "events" in tables
    return [query(dsn, f"SELECT t::text FROM affinity.{one} AS t ORDER BY 1") for one in tables]


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
