"""Queries by name: `sql.ask` is the text below the line `-- name: ask` in one of the files."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import asyncpg

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits_service import tracing
from affinity_bandits_service.metrics import Metrics
from affinity_bandits_service.problems import UNAVAILABLE, Unavailable

SQL = Path(__file__).parent / "sql"
STATEMENT_CACHE = 100
"""Statements that a connection keeps prepared; there are about as many queries."""


def queries_in(file: Path) -> list[tuple[str, str]]:
    """Return the named queries of a file, each with its text."""
    _, *parts = re.split(r"^-- name: (\w+)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(name, text.strip()) for name, text in zip(parts[::2], parts[1::2], strict=True)]


sql = SimpleNamespace(**dict(chain.from_iterable(map(queries_in, SQL.glob("*.sql")))))
names = {text: name for name, text in vars(sql).items()}
"""The names of queries by their text."""


# Raised if the server is stopped, starting, full, unreachable or rolled a transaction back, if none
# of several servers is the primary yet, if a connection broke off in the middle of a reply, or if
# the schema was migrated after a statement was prepared.
GONE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.TransactionRollbackError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.ObjectNotInPrerequisiteStateError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InvalidCachedStatementError,
)
# Settings of every session, as PostgreSQL spells their values. Behind a pooler they must be the
# role's own (`roles.setup`), and a connection without them is refused.
SESSION = {
    "search_path": "pg_catalog, pg_temp",  # nothing that others create elsewhere is found
    "lock_timeout": "2s",
    "statement_timeout": "1min",
    "idle_in_transaction_session_timeout": "20s",  # a process that is cut off holds its locks
    "client_connection_check_interval": "5s",
    "jit": "off",  # the estimate for a page of a long trail is so high that each would be compiled
}
# A peer that vanished is noticed after 25 seconds. A pooler has settings of its own for this.
KEEPALIVES = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
NO_LIMITS = {"statement_timeout": "0", "idle_in_transaction_session_timeout": "0"}
"""For commands of an operator that may take long."""


STATEMENT_SECONDS = 60.0
"""How long a process waits for the result of a statement, the wait of a commit for a standby
included. What a canceled wait leaves behind is on the primary alone, so a repeat of the request
must write or lock a row of what it acknowledges: its own commit then waits, too."""
EVERY_SECONDS = 1.0
"""Between two turns of work in the background, and between two tries to reach the database."""
TRIES, PAUSE_SECONDS = 20, 1.0
"""To get a lock, for two seconds each: who waits for a table makes others wait behind it."""
T = TypeVar("T")


UNREACHABLE = UNAVAILABLE._replace(
    detail="the database did not answer ({}); check the host and port of AFFINITY_DSN, and that"
    " the server runs and lets this machine in"
)


class Unreachable(Unavailable):
    """No server answered when the first connection was made."""

    def __init__(self, reason: str) -> None:
        super().__init__(UNREACHABLE, reason)


class PooledConnection(asyncpg.Connection):  # type: ignore[misc] # asyncpg has no types
    """A connection to a pooler that gives each transaction another session.

    A statement with arguments takes two exchanges, which have to be in one transaction.
    """

    async def execute(self, query: str, *args: Any, **options: Any) -> str:
        """See `asyncpg.Connection`, also for the methods below."""
        async with self._one_session(args):
            return str(await super().execute(query, *args, **options))

    async def fetch(self, *args: Any, **options: Any) -> Any:
        async with self._one_session():
            return await super().fetch(*args, **options)

    async def fetchrow(self, *args: Any, **options: Any) -> Any:
        async with self._one_session():
            return await super().fetchrow(*args, **options)

    async def fetchval(self, *args: Any, **options: Any) -> Any:
        async with self._one_session():
            return await super().fetchval(*args, **options)

    def _one_session(self, args: Any = True) -> AbstractAsyncContextManager[Any]:
        return self.transaction() if args and not self.is_in_transaction() else nullcontext()


async def connect(
    dsn: str, *, smallest: int = 1, largest: int = 10, statement_cache: int = STATEMENT_CACHE
) -> asyncpg.Pool:
    """Return a pool of connections.

    Args:
        dsn: the database.
        smallest: connections that are made at once.
        largest: connections at most.
        statement_cache: prepared statements per connection; 0 for a pooler that gives each
            transaction another session.

    Raises:
        InvalidInput: the DSN is malformed, or names an unknown database or user.
        NotSupported: a pooler's sessions do not have the settings of the service's role.
        Unavailable: no server answers.
    """
    pooled = statement_cache == 0
    async with _opening():
        return await asyncpg.create_pool(
            dsn,
            ssl=_encryption(dsn),
            min_size=smallest,
            max_size=largest,
            init=_prepare_pooled if pooled else _prepare,
            reset=_leave_as_it_is,
            command_timeout=STATEMENT_SECONDS,
            timeout=10,
            statement_cache_size=statement_cache,
            connection_class=PooledConnection if pooled else asyncpg.Connection,
            server_settings={} if pooled else SESSION | KEEPALIVES,
        )


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Yield a connection without time limits, outside of a pool; raises the errors of `connect`."""
    async with _opening():
        db = await asyncpg.connect(
            dsn, ssl=_encryption(dsn), timeout=10, server_settings=SESSION | NO_LIMITS
        )
    try:
        yield db
    finally:
        await db.close()


def _encryption(dsn: str) -> ssl.SSLContext | None:
    """Return how to encrypt; None to follow the DSN or the environment.

    By default asyncpg prefers TLS, but goes on unencrypted if the server, or somebody in between,
    says so. That is allowed for this machine's own servers; others need a certificate for the
    server's name, unless `sslmode` says otherwise.
    """
    parts = urlsplit(dsn)
    options = parse_qs(parts.query)
    if "sslmode" in options or "PGSSLMODE" in os.environ:
        return None
    names = ",".join([parts.netloc.rpartition("@")[2], *options.get("host", ())]).split(",")
    hosts = [re.sub(r":\d*$", "", name).strip("[]") for name in names if name]
    local = all(_is_local(host) for host in hosts or [os.environ.get("PGHOST", "")])
    return None if local else ssl.create_default_context()


def _is_local(host: str) -> bool:
    try:
        return host in ("", "localhost") or host.startswith("/") or ip_address(host).is_loopback
    except ValueError:
        return False


async def with_patience(work: Callable[[], Awaitable[T]]) -> T:
    """Return the result of an operator's transaction, repeated while others hold its locks.

    Raises:
        NotSupported: other sessions keep their locks for about a minute.
    """
    for _ in range(TRIES):
        try:
            return await work()
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            await asyncio.sleep(PAUSE_SECONDS)
    raise NotSupported(
        f"no lock could be had in {TRIES} tries, since other sessions keep theirs; nothing was"
        " changed: see pg_stat_activity for old transactions, end them, and try again"
    )


@asynccontextmanager
async def _opening() -> AsyncIterator[None]:
    """Turn errors of a first connection into errors with advice."""
    try:
        yield
    except (asyncpg.InvalidCatalogNameError, asyncpg.InvalidAuthorizationSpecificationError) as e:
        raise InvalidInput("AFFINITY_DSN", "a database that can be opened", str(e)) from None
    except (ValueError, asyncpg.ClientConfigurationError) as error:
        # The text of these errors may quote the DSN, which may hold a password.
        raise InvalidInput(
            "AFFINITY_DSN", "of the form postgresql://user@host:port/database", type(error).__name__
        ) from None
    except ssl.SSLError as error:
        rule = (
            "a server with a certificate for its name; for an authority of your own, as in"
            " postgresql://user@host/database?sslmode=verify-full&sslrootcert=FILE"
        )
        raise InvalidInput("AFFINITY_DSN", rule, str(error)) from None
    except GONE as error:
        if "unsupported startup parameter" in str(error):
            raise NotSupported(
                f"the database does not take the settings of the service's sessions ({error});"
                " behind a pooler, start the service with --statement-cache 0, and run other"
                " commands without it"
            ) from None
        raise Unreachable(str(error) or type(error).__name__) from error


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


async def repeat(work: Callable[[], Awaitable[None]], metrics: Metrics) -> None:
    """Do some work every second until cancelled.

    A database that is away or still to be migrated is left to /readyz to report. Any other error is
    counted once, until the work succeeds again.
    """
    said: type[Exception] | None = None
    while True:
        try:
            await work()
            said = None
        except (Unavailable, *GONE, asyncpg.UndefinedTableError):
            pass
        except Exception as error:
            if type(error) is not said:
                metrics.count_failure(error)
            said = type(error)
        await asyncio.sleep(EVERY_SECONDS)


async def _prepare_pooled(connection: asyncpg.Connection) -> None:
    async with connection.transaction():
        for name, wanted in SESSION.items():
            found = await connection.fetchval(f"SHOW {name}")
            if found != wanted:
                raise NotSupported(
                    f"sessions behind a pooler must have {name} = {wanted}, got {found!r}; set it"
                    " for the role with 'affinity serve roles --execute', then restart the pooler"
                )
        await _prepare(connection)


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
