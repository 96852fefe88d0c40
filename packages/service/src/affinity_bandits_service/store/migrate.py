"""Create and change the service's database schema.

Each version of the schema says the oldest version whose processes still work with it, so processes
may be upgraded after the migration, and rolled back. A change therefore comes in two releases: one
that only adds what new processes need, and a later one that removes what old processes needed.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import asyncpg

from affinity_bandits.base.errors import NotSupported
from affinity_bandits_service.store.connection import SQL, connected, sql, with_patience

SCHEMA_VERSION = 1
OLDEST_SCHEMA = 1
"""The oldest version of the schema that this version of the package works with."""
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


class Migration(NamedTuple):
    """A change of the schema.

    Attributes:
        version: the version that it leads to, from the one before.
        serves: the oldest version whose processes work with the changed schema.
        text: statements of one transaction.
        before: statements that come first, outside a transaction, such as the concurrent making of
            an index; they may be repeated.
    """

    version: int
    serves: int
    text: str
    before: tuple[str, ...] = ()


MIGRATIONS: tuple[Migration, ...] = ()


def migrate(dsn: str) -> None:
    """Create the schema, or bring an existing one to this version and replace its functions.

    Each version is one transaction, and several processes may migrate at once.

    Raises:
        InvalidInput: the DSN is malformed or the database cannot be opened.
        NotSupported: the database has a newer version of the schema, a schema `affinity` of unknown
            origin or of another owner, or others hold locks for too long.
        Unavailable: no server answers.
    """
    asyncio.run(_migrate(dsn))


async def find_schema(db: asyncpg.Connection | asyncpg.Pool) -> tuple[int, int] | None:
    """Return the version of a database's schema, and the oldest version that it serves."""
    # A query of a missing table would abort the transaction, and a view may run anything.
    if not await db.fetchval(sql.has_schema):
        return None
    version, serves = await db.fetchrow(sql.schema_version)
    return version, serves


async def schema_problem(db: asyncpg.Connection | asyncpg.Pool) -> str | None:
    """Return why this version of the package cannot use a database, or None."""
    found = await find_schema(db)
    if found is None:
        return "the database has no schema yet; run 'affinity serve migrate'"
    version, serves = found
    if version < OLDEST_SCHEMA:
        return (
            f"the database has the schema {version} and this version needs {OLDEST_SCHEMA} or"
            " newer; run 'affinity serve migrate'"
        )
    if serves > SCHEMA_VERSION:
        return (
            f"the database has the schema {version}, which serves versions of the package with"
            f" the schema {serves} or newer, and this one has {SCHEMA_VERSION}; upgrade it"
        )
    return None


async def _migrate(dsn: str) -> None:
    try:
        async with connected(dsn) as db:
            while await with_patience(lambda: _take_step(db)):
                pass
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotSupported(
            f"only the owner of the schema may migrate, with a DSN of its own: {error}"
        ) from None


async def _take_step(db: asyncpg.Connection) -> bool:
    """Take the next step; return whether there may be another."""
    found = await _check_owned(db)
    step = next((one for one in MIGRATIONS if found is not None and one.version == found + 1), None)
    for statement in step.before if step else ():
        # Without a limit: nobody has to wait for who makes an index concurrently.
        await db.execute("SET lock_timeout = 0")
        await db.execute(statement)
        await db.execute("RESET lock_timeout")
    async with db.transaction():
        await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
        if await _check_owned(db) != found:
            return True  # another process did it meanwhile
        if found is None:
            await _run_files(db, TABLES)
            version = serves = SCHEMA_VERSION
        elif step is None:
            version, serves = found, SCHEMA_VERSION
        else:
            await db.execute(step.text)
            version, serves = step.version, step.serves
        if version == SCHEMA_VERSION:
            await _run_files(db, FUNCTIONS)
        if found != version:
            await db.execute(sql.set_schema_version, version, serves)
    return version < SCHEMA_VERSION


async def _check_owned(db: asyncpg.Connection) -> int | None:
    """Return the version of the schema, if it exists; refuse a schema that others have made."""
    # By the catalog alone: a schema that somebody else made may hold anything.
    row = await db.fetchrow(sql.owner_of_schema)
    if row is None:
        return None
    if row["owner"] != row["role"]:
        raise NotSupported(
            f"only the owner of the schema may migrate: affinity belongs to {row['owner']}, and"
            f" the role of the DSN is {row['role']}; use a DSN of the owner, or another database"
        )
    found = await find_schema(db)
    if found is None:
        raise NotSupported(
            "the database has a schema named affinity without a version; use another database"
        )
    if found[0] > SCHEMA_VERSION:
        raise NotSupported(
            f"the database's schema is version {found[0]}, and this version of the package needs"
            f" version {SCHEMA_VERSION}; nothing was changed"
        )
    return found[0]


async def _run_files(db: asyncpg.Connection, names: tuple[str, ...]) -> None:
    for name in names:
        await db.execute((SQL / name).read_text(encoding="utf-8"))
