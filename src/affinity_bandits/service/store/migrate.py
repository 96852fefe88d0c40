"""Create the service's database schema."""

from __future__ import annotations

import asyncio

import asyncpg

from affinity_bandits.errors import NotSupported
from affinity_bandits.service.store.connection import SQL, connected

SCHEMA_VERSION = 1
TABLES = ("tables.sql", "trail_tables.sql", "operation_tables.sql")
FUNCTIONS = (  # in the order of their dependencies
    "chain_functions.sql",
    "slot_functions.sql",
    "batch_functions.sql",
    "ask_function.sql",
    "tell_function.sql",
    "retention_functions.sql",
)
LOCK = 0x00AFF1  # the advisory lock that lets only one process migrate at a time


def migrate(dsn: str) -> None:
    """Create the schema, or replace the functions of an existing one.

    All of it happens in one transaction, and several processes may do so at once.

    Raises:
        InvalidInput: the DSN is malformed or the database cannot be opened.
        NotSupported: the database has another version of the schema, a schema `affinity` of
            unknown origin, or another owner.
        Unavailable: no server answers.
    """
    asyncio.run(_migrate(dsn))


async def schema_version(db: asyncpg.Connection | asyncpg.Pool) -> int | None:
    """Return the version of a database's schema; None if it has none."""
    # A query of a missing table would abort the transaction.
    if await db.fetchval("SELECT to_regclass('affinity.schema_version') IS NULL"):
        return None
    version: int | None = await db.fetchval("SELECT version FROM affinity.schema_version")
    return version


async def _migrate(dsn: str) -> None:
    try:
        async with connected(dsn) as db, db.transaction():
            await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            await _apply(db)
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotSupported(
            f"only the owner of the schema may migrate, with a DSN of its own: {error}"
        ) from None


async def _apply(db: asyncpg.Connection) -> None:
    found = await schema_version(db)
    if found not in (None, SCHEMA_VERSION):
        raise NotSupported(
            f"the database's schema is version {found}, and this version of the package needs"
            f" version {SCHEMA_VERSION}; nothing was changed"
        )
    files: tuple[str, ...] = FUNCTIONS
    if found is None:
        if await db.fetchval("SELECT to_regnamespace('affinity') IS NOT NULL"):
            raise NotSupported(
                "the database has a schema named affinity without a version; use another database"
            )
        files = TABLES + FUNCTIONS
    for name in files:
        await db.execute((SQL / name).read_text(encoding="utf-8"))
    if found is None:
        await db.execute("INSERT INTO affinity.schema_version VALUES ($1)", SCHEMA_VERSION)
