"""Bring a database's schema up to date."""

from __future__ import annotations

import asyncio

import asyncpg

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.store.connection import opening
from affinity_bandits.service.store.migrations import FIRST, STEPS
from affinity_bandits.service.store.named import SQL

TABLES = ("tables.sql", "trail_tables.sql", "operation_tables.sql")
FUNCTIONS = (
    "chain_functions.sql",
    "slot_functions.sql",
    "batch_functions.sql",
    "ask_function.sql",
    "tell_function.sql",
    "retention_functions.sql",
)
"""In the order in which they need each other."""
MOVED = "0008"
"""The revision that moved the table of revisions into the schema."""
WITHOUT_REVISION = (
    "the database has a schema named affinity, and nothing says of which revision it is. If it was"
    " restored from a dump of that schema alone by a version before 0008, say so and migrate again:"
    " CREATE TABLE public.affinity_schema AS SELECT '0007'::varchar(32) AS version_num"
    " (or the earlier revision that it was of). Otherwise it is somebody else's: use another"
    " database"
)
LOCK = 0x00AFF1
"""An advisory lock's number, so that two servers that start together do not both migrate."""


def migrate(dsn: str) -> None:
    """Create the schema, or apply the steps it lacks; several servers may do so at once.

    Either everything is done or nothing is changed.

    Raises:
        InvalidInput: the DSN cannot be read or the database cannot be opened.
        NotSupported: the schema is of a later version, or holds what this one cannot go on with, or
            the DSN's role does not own it.
        Unavailable: no server answers.
    """
    asyncio.run(_migrate(dsn))


def newest_revision() -> str:
    """Return the revision that this version of the package needs."""
    return [FIRST, *STEPS][-1]


async def revision_of(db: asyncpg.Connection | asyncpg.Pool) -> str | None:
    """Return the revision of a database's schema; None if it has none."""
    # Looked for without an error, which would end a transaction.
    table = await db.fetchval(
        "SELECT coalesce(to_regclass('affinity.affinity_schema'), to_regclass('affinity_schema'))"
        "::text"
    )
    if table is None:
        return None
    try:
        found = await db.fetchval(f"SELECT version_num FROM {table}")
    except asyncpg.UndefinedTableError:  # it was moved in between
        return await revision_of(db)
    return None if found is None else str(found)


async def _migrate(dsn: str) -> None:
    async with opening():
        db = await asyncpg.connect(dsn, timeout=10)
    try:
        async with db.transaction():
            await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            await _upgrade(db, await revision_of(db))
            for name in FUNCTIONS:
                await db.execute(_text(name))
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotSupported(
            f"only the owner of the schema may migrate, with a DSN of its own: {error}"
        ) from None
    finally:
        await db.close()


async def _upgrade(db: asyncpg.Connection, found: str | None) -> None:
    known = [FIRST, *STEPS]
    if found is None:
        if await db.fetchval("SELECT to_regnamespace('affinity') IS NOT NULL"):
            raise NotSupported(WITHOUT_REVISION)
        for name in TABLES:
            await db.execute(_text(name))
        await db.execute("INSERT INTO affinity.affinity_schema VALUES ($1)", known[-1])
        return
    if found not in known:
        raise NotSupported(
            f"the database's schema is {found}, and this version knows {known[0]} to {known[-1]}:"
            " it was made by a later version"
        )
    for revision in known[known.index(found) + 1 :]:
        await STEPS[revision](db)
        # Up to 0007, where the search path leads; then in the schema.
        table = "affinity.affinity_schema" if revision >= MOVED else "affinity_schema"
        await db.execute(f"UPDATE {table} SET version_num = $1", revision)


def _text(name: str) -> str:
    return (SQL / name).read_text(encoding="utf-8")
