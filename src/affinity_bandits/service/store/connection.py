"""Queries by name: `sql.ask` is the text below the line `-- name: ask` in one of the files."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncpg

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service import tracing
from affinity_bandits.service.problems import Unavailable

SQL = Path(__file__).parent / "sql"


def queries_in(file: Path) -> list[tuple[str, str]]:
    """Return the named queries of a file, each with its text."""
    _, *parts = re.split(r"^-- name: (\w+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(name, text.strip()) for name, text in zip(parts[::2], parts[1::2], strict=True)]


sql = SimpleNamespace(**dict(chain.from_iterable(map(queries_in, SQL.glob("*.sql")))))
names = {text: name for name, text in vars(sql).items()}
"""The names of queries by their text."""


# Raised if the server is stopped, starting, full, unreachable or rolled a transaction back, or if
# none of several servers is the primary yet.
GONE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ObjectNotInPrerequisiteStateError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.ReadOnlySQLTransactionError,
)


async def connect(dsn: str, *, smallest: int = 1, largest: int = 10) -> asyncpg.Pool:
    """Return a pool of connections.

    Raises:
        InvalidInput: the DSN cannot be read, or names a database or user that is not there.
        Unavailable: no server answers.
    """
    async with _opening():
        return await asyncpg.create_pool(
            dsn,
            min_size=smallest,
            max_size=largest,
            init=_prepare,
            reset=_leave_as_it_is,
            command_timeout=60,
            timeout=10,
        )


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection outside of a pool; raises the errors of `connect`."""
    async with _opening():
        db = await asyncpg.connect(dsn, timeout=10)
    try:
        yield db
    finally:
        await db.close()


@asynccontextmanager
async def _opening() -> AsyncIterator[None]:
    """Turn errors of a first connection into errors that say what to do."""
    try:
        yield
    except (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError) as e:
        raise InvalidInput("AFFINITY_DSN", "a database that can be opened", str(e)) from None
    except (ValueError, asyncpg.ClientConfigurationError) as error:
        # The text of these errors may quote the DSN, which may hold a password.
        raise InvalidInput(
            "AFFINITY_DSN", "of the form postgresql://user@host:port/database", type(error).__name__
        ) from None
    except GONE as error:
        raise Unavailable from error


@asynccontextmanager
async def transaction(pool: asyncpg.Pool, **settings: Any) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection in a transaction with these settings."""
    async with translate_errors(), pool.acquire() as db, db.transaction(**settings):
        yield db


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
    """Turn errors that mean the database is away into `Unavailable`."""
    try:
        yield
    except GONE as error:
        raise Unavailable from error


async def _prepare(connection: asyncpg.Connection) -> None:
    tracing.watch(connection, names)
    # json, not jsonb: text goes in and comes out as it is, so floats stay what they were.
    await connection.set_type_codec(
        "json", encoder=_dumps, decoder=json.loads, schema="pg_catalog", format="text"
    )


async def _leave_as_it_is(_: asyncpg.Connection) -> None:
    # No statement here changes a session, and asyncpg rolls back open transactions by itself. Its
    # own reset would cost a round trip after every query.
    pass


def _dumps(data: Any) -> str:
    return json.dumps(data, allow_nan=False)
