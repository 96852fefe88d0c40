"""Bring a database's schema up to date."""

from __future__ import annotations

import asyncio

import asyncpg

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.store.connection import opening
from affinity_bandits.service.store.migrations import FIRST, STEPS
from affinity_bandits.service.store.named import SQL

FUNCTIONS = ("slot_functions.sql", "functions.sql")
"""In the order in which they need each other."""
LOCK = 0x00AFF1
"""An advisory lock's number, so that two servers that start together do not both migrate."""


def migrate(dsn: str) -> None:
    """Create the schema, or apply the steps it lacks; several servers may do so at once.

    Either everything is done or nothing is changed.

    Raises:
        InvalidInput: the DSN cannot be read or the database cannot be opened.
        NotSupported: the schema is of a later version, or holds what this one cannot go on with.
        Unavailable: no server answers.
    """
    asyncio.run(_migrate(dsn))


def newest_revision() -> str:
    """Return the revision that this version of the package needs."""
    return [FIRST, *STEPS][-1]


async def revision_of(db: asyncpg.Connection | asyncpg.Pool) -> str | None:
    """Return the revision of a database's schema; None if it has none."""
    try:
        found = await db.fetchval("SELECT version_num FROM affinity_schema")
    except asyncpg.UndefinedTableError:
        return None
    return None if found is None else str(found)


async def _migrate(dsn: str) -> None:
    async with opening():
        db = await asyncpg.connect(dsn, timeout=10)
    try:
        async with db.transaction():
            await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            # Asked without an error, which would end the transaction.
            there = await db.fetchval("SELECT to_regclass('affinity_schema') IS NOT NULL")
            await _upgrade(db, await revision_of(db) if there else None)
            for name in FUNCTIONS:
                await db.execute(_text(name))
    finally:
        await db.close()


async def _upgrade(db: asyncpg.Connection, found: str | None) -> None:
    known = [FIRST, *STEPS]
    if found is None:
        await db.execute(_text("tables.sql"))
        await db.execute("INSERT INTO affinity_schema VALUES ($1)", known[-1])
        return
    if found not in known:
        raise NotSupported(
            f"the database's schema is {found}, and this version knows {known[0]} to {known[-1]}:"
            " it was made by a later version"
        )
    for revision in known[known.index(found) + 1 :]:
        await STEPS[revision](db)
        await db.execute("UPDATE affinity_schema SET version_num = $1", revision)


def _text(name: str) -> str:
    return (SQL / name).read_text(encoding="utf-8")
