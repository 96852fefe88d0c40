"""A dump of the schema is a whole backup, and the trail keeps out whoever edits it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess

import asyncpg
import pytest

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.core.campaigns import Ask, Campaigns
from affinity_bandits.service.core.records import Lease
from affinity_bandits.service.serving import check_schema
from affinity_bandits.service.store.connection import connect
from affinity_bandits.service.store.migrate import migrate
from affinity_bandits.service.trail.chain import Digest, newest_digest
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire.values import new_key

from .golden import make
from .test_migrations import NOW, contents, query

needs_pg_dump = pytest.mark.skipif(shutil.which("pg_dump") is None, reason="needs pg_dump")


def dumped(dsn: str) -> str:
    """The documented backup, as text that needs no psql."""
    command = ["pg_dump", "-n", "affinity", "--inserts", "--dbname", dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))


@pytest.mark.slow
@needs_pg_dump
def test_a_dump_of_the_schema_is_restored_served_and_verified(empty_dsn: str) -> None:
    migrate(empty_dsn)
    asyncio.run(make.fill(empty_dsn))
    kept = asyncio.run(digests(empty_dsn))
    before, text = contents(empty_dsn), dumped(empty_dsn)
    query(empty_dsn, "DROP SCHEMA affinity CASCADE")
    query(empty_dsn, text)
    asyncio.run(check_schema(empty_dsn))
    migrate(empty_dsn)
    assert contents(empty_dsn) == before
    asyncio.run(goes_on(empty_dsn, kept))


@pytest.mark.slow
@needs_pg_dump
def test_an_old_dump_without_its_revision_is_refused_and_then_upgraded(empty_dsn: str) -> None:
    """As `pg_dump -n affinity` left it out up to 0007: the message says what to do."""
    query(empty_dsn, (make.HERE / "0007.sql").read_text(encoding="utf-8"))
    text = dumped(empty_dsn)
    query(empty_dsn, "DROP SCHEMA affinity CASCADE; DROP TABLE public.affinity_schema")
    query(empty_dsn, text)
    with pytest.raises(NotSupported, match="nothing says of which revision") as refused:
        migrate(empty_dsn)
    statement = str(refused.value).partition("migrate again: ")[2].partition(" (or")[0]
    query(empty_dsn, statement)
    migrate(empty_dsn)
    asyncio.run(goes_on(empty_dsn, []))


async def digests(dsn: str) -> list[Digest]:
    pool = await connect(dsn)
    try:
        return [await newest_digest(pool, id_) for id_ in make.POLICIES]
    finally:
        await pool.close()


async def goes_on(dsn: str, kept: list[Digest]) -> None:
    pool = await connect(dsn)
    try:
        for number, id_ in enumerate(make.POLICIES):
            expected = kept[number : number + 1]
            assert (await verify(pool, id_, expected)).differences == ()
        asked = [Ask(1, new_key(), "t")]
        (lease,) = await Campaigns(pool).ask(make.TENANT, make.RUNNING, asked, now=NOW)
        assert isinstance(lease, Lease)
    finally:
        await pool.close()


@pytest.mark.as_owner
@pytest.mark.parametrize("table", ["events", "partition"])
@pytest.mark.parametrize("change", ["UPDATE {} SET actor = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_neither_the_trail_nor_a_part_of_it_can_be_changed(
    dsn: str, table: str, change: str
) -> None:
    parts = query(
        dsn,
        "SELECT inhrelid::regclass::text FROM pg_inherits"
        " WHERE inhparent = 'affinity.events'::regclass",
    )
    assert len(parts) == 16
    for name in ["affinity.events"] if table == "events" else parts:
        with pytest.raises(asyncpg.RaiseError, match="append-only"):
            query(dsn, change.format(name))
