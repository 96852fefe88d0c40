"""A database of its own for every worker of the test run, made where AFFINITY_DSN says.

The server's code is imported where it is used: tests of the client also run where only that is.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.support.elsewhere import served_elsewhere

SERVER = os.environ.get("AFFINITY_DSN", "postgresql://127.0.0.1:5432/test")

AS_ROLE = "TESTED_AS_ROLE"
"""The variable that says as whom the tests use the shared database: "service" is the role that
`affinity serve roles` makes for the service; without it they own everything."""

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests with the mark `as_owner` where the database is used as the service's role."""
    if os.environ.get(AS_ROLE) == "service":
        skip = pytest.mark.skip(reason=f"{AS_ROLE} is service, which is refused this by privilege")
        for item in items:
            if item.get_closest_marker("as_owner") is not None:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def dsn(worker: str) -> Iterator[str]:
    """A migrated database that all tests of this worker share."""
    elsewhere = served_elsewhere()
    if elsewhere is not None:
        yield elsewhere.dsn
        return
    from affinity_bandits.service.store.migrate import migrate

    name = f"affinity_test_{worker}_{os.getpid()}"
    with made_database(name) as made:
        migrate(made)
        if os.environ.get(AS_ROLE) != "service":
            yield made
            return
        with service_role(made, name) as restricted:
            yield restricted


@pytest.fixture
def empty_dsn(worker: str) -> Iterator[str]:
    """A database with nothing in it, for one test."""
    with made_database(f"affinity_test_{worker}_{os.getpid()}_{next(_numbers)}") as made:
        yield made


@pytest.fixture
def other_empty_dsn(worker: str) -> Iterator[str]:
    """Another one, to compare it with."""
    with made_database(f"affinity_test_{worker}_{os.getpid()}_{next(_numbers)}") as made:
        yield made


@pytest.fixture(scope="session")
def worker() -> str:
    return os.environ.get("PYTEST_XDIST_WORKER", "main")


@contextmanager
def service_role(dsn: str, name: str) -> Iterator[str]:
    """Make an owner and a role for the service in a migrated database; give the latter's DSN."""
    from affinity_bandits.service.store import roles

    owner, service = (f"{name}_{one}" for one in ("owner", "service"))
    roles.carry_out(dsn, roles.setup(owner, service, urlsplit(dsn).path[1:]))
    roles.carry_out(dsn, roles.grants(service))
    try:
        yield as_role(dsn, service)
    finally:
        for role in (owner, service):
            _on(dsn, f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
            _on(dsn, f"DROP ROLE {role}")


def as_role(dsn: str, role: str) -> str:
    """Return the DSN of the same database for another role."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}").geturl()


@contextmanager
def made_database(name: str) -> Iterator[str]:
    """Make a database, give its DSN, and drop it whoever is still connected."""
    # template0: nobody can be connected to it, so workers that start together do not collide.
    _on_server(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    _on_server(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'")
    try:
        yield urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    finally:
        _on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


def _on_server(statement: str) -> None:
    _on(SERVER, statement)


def _on(dsn: str, statement: str) -> None:
    import asyncpg

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
