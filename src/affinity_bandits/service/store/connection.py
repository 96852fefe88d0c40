"""Connections to PostgreSQL, with its failures turned into errors that callers understand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from affinity_bandits.errors import InvalidInput
from affinity_bandits.service import tracing
from affinity_bandits.service.problems import Unavailable
from affinity_bandits.service.store.named import names

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
"""What is raised where the server is stopped, starting, full, was never there, or gave way, and
where of several servers none is the primary yet."""


async def connect(dsn: str, *, smallest: int = 1, largest: int = 10) -> asyncpg.Pool:
    """Return a pool of connections.

    Raises:
        InvalidInput: the DSN cannot be read, or names a database or user that is not there.
        Unavailable: no server answers.
    """
    async with opening():
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
async def opening() -> AsyncIterator[None]:
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
    # Nothing here changes a session, so there is nothing to set back; asyncpg rolls back whatever
    # transaction is open, and would otherwise ask the server once more after every query.
    pass


def _dumps(data: Any) -> str:
    return json.dumps(data, allow_nan=False)
