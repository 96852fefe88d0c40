"""Databases for the tests: each worker makes its own on the server that AFFINITY_DSN names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.support.poolers import pgbouncer

SERVER = os.environ.get("AFFINITY_DSN", "postgresql://127.0.0.1:5432/test")
POOLED = os.environ.get("TESTED_AS_ROLE") == "pooled"
"""Whether that role's connections go through PgBouncer, in `packages/service/tests/http`."""
CACHE = 0 if POOLED else 100
"""Prepared statements per connection; a pooler has none."""
os.environ.setdefault("AFFINITY_STATEMENT_CACHE", str(CACHE))
AS_SERVICE = POOLED or os.environ.get("TESTED_AS_ROLE") == "service"
"""Whether tests use the shared database as the role that `affinity serve roles` makes."""
EMPTY = "DROP SCHEMA IF EXISTS affinity CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public"
DISCONNECT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests with the mark `as_owner` where the database is used as the service's role."""
    skip = pytest.mark.skip(reason="the service's role lacks the privilege")
    for item in items:
        if AS_SERVICE and item.get_closest_marker("as_owner") is not None:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def worker() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@pytest.fixture(scope="session")
def dsn(worker: str) -> Iterator[str]:
    """A migrated database that all tests of this worker share."""
    from affinity_bandits_service.store.migrate import migrate

    name = f"affinity_test_{worker}_{os.getpid()}"
    with made_database(name) as made:
        migrate(made)
        if AS_SERVICE:
            with service_role(made, name) as restricted:
                if POOLED:
                    with pgbouncer(made, f"{name}_service") as through:
                        yield through
                else:
                    yield restricted
        else:
            yield made


@pytest.fixture(scope="session")
def _spare(worker: str) -> Iterator[str]:
    with made_database(f"affinity_test_{worker}_{os.getpid()}_spare") as made:
        yield made


@pytest.fixture
def empty_dsn(_spare: str) -> str:
    """A database with nothing in it, for one test."""
    run_sql(_spare, f"{DISCONNECT}; {EMPTY}")
    return _spare


def forget_due(dsn: str) -> None:
    """Leave no round to close and no campaign to check from tests before."""
    run_sql(dsn, "DELETE FROM affinity.due; UPDATE affinity.health SET due_at = NULL")


@contextmanager
def service_role(dsn: str, name: str) -> Iterator[str]:
    """Make an owner and a role for the service in a migrated database; give the latter's DSN."""
    from affinity_bandits_service.store import roles

    owner, service = (f"{name}_{one}" for one in ("owner", "service"))
    roles.carry_out(dsn, roles.setup(owner, service, urlsplit(dsn).path[1:]))
    roles.carry_out(dsn, roles.grants(service))
    try:
        yield as_role(dsn, service)
    finally:
        for role in (owner, service):
            run_sql(dsn, f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
            run_sql(dsn, f"DROP ROLE {role}")


def as_role(dsn: str, role: str) -> str:
    """Return the DSN of the same database for another role."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}").geturl()


@contextmanager
def made_database(name: str) -> Iterator[str]:
    """Make a database, give its DSN, and drop it, connected clients included."""
    # template0: nobody can be connected to it, so workers that start together do not collide.
    run_sql(SERVER, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    run_sql(SERVER, f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'")
    try:
        yield urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    finally:
        run_sql(SERVER, f'DROP DATABASE "{name}" WITH (FORCE)')


def run_sql(dsn: str, statement: str) -> None:
    """Run a statement; fail the test if there is no server to run it on."""

    async def run() -> None:
        connection = await asyncpg.connect(dsn, timeout=30)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    try:
        asyncio.run(run())
    except (OSError, asyncpg.PostgresError) as error:
        # Not a skip: a run that tested nothing must not look like one that passed.
        pytest.fail(
            f"the tests of the service need a PostgreSQL that answers at AFFINITY_DSN and lets "
            f"them make databases: {type(error).__name__}: {error}",
            pytrace=False,
        )
