"""The service's role can do what the service does, and not what would falsify the trail."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits_service.cli import app
from affinity_bandits_service.store import roles
from affinity_bandits_service.store.connection import connected
from affinity_bandits_service.store.migrate import migrate
from packages.service.tests.store.whole_service import use_everything
from tests.support.databases import as_role, made_database, service_role
from tests.support.web_site import Site, on_site

NAME = f"affinity_test_roles_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[str, str]]:
    """The DSN of a superuser, and that of the service's role."""
    with made_database(NAME) as dsn:
        migrate(dsn)
        with service_role(dsn, NAME) as restricted:
            yield dsn, restricted


def run(dsn: str, statement: str) -> None:
    async def work() -> None:
        async with connected(dsn) as db:
            await db.execute(statement)

    asyncio.run(work())


FORBIDDEN = [
    "DELETE FROM affinity.events",
    "UPDATE affinity.events SET actor = 'x'",
    "TRUNCATE affinity.events",
    "SET affinity.removing = 'yes'; DELETE FROM affinity.events",
    "ALTER TABLE affinity.events DISABLE TRIGGER append_only",
    "DROP TRIGGER append_only ON affinity.events",
    "SET session_replication_role = replica; DELETE FROM affinity.events",
    "UPDATE affinity.requests SET event = 1",
    "UPDATE affinity.api_keys SET scopes = '{admin}'",
    "UPDATE affinity.campaigns SET policy = '{}'",
    "UPDATE affinity.webhooks SET url = 'https://elsewhere.example/'",
    "DELETE FROM affinity.campaigns",
    "INSERT INTO affinity.removals (by, tenant, detail) VALUES ('x', 'x', '{}')",
    "DELETE FROM affinity.removals",
    "UPDATE affinity.schema_version SET version = 2",
    "CREATE TABLE affinity.more (x int)",
    "CREATE FUNCTION affinity.ask() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DROP SCHEMA affinity CASCADE",
    "SELECT affinity.begin_removal(gen_random_uuid(), 'x', '{}')",
    "SELECT affinity.remove_rows(gen_random_uuid(), 1)",
    "SELECT affinity.remove_tenant('x', 'x', '{}')",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_services_role_is_refused_by_privilege(both: tuple[str, str], statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        run(both[1], statement)


def test_others_have_no_rights_at_all(both: tuple[str, str]) -> None:
    stranger = f"{NAME}_stranger"
    run(both[0], f"CREATE ROLE {stranger} LOGIN")
    try:
        for statement in ("SELECT FROM affinity.events", "SELECT FROM affinity.api_keys"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                run(as_role(both[0], stranger), statement)
    finally:
        run(both[0], f"DROP ROLE {stranger}")


@pytest.mark.slow
def test_the_service_works_as_its_role(both: tuple[str, str]) -> None:
    async def work(at: Site) -> None:
        await use_everything(at)

    on_site(both[1], work)


def affinity(dsn: str, *arguments: str) -> str:
    """Run a command of the operator; return what it prints."""
    done = CliRunner().invoke(app, ["--dsn", dsn, *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.slow
@pytest.mark.parametrize("migrated", [False, True])
@pytest.mark.parametrize("managed", [False, True])
def test_the_documented_install_works(managed: bool, migrated: bool) -> None:
    """On an empty database or one that the admin migrated, as superuser and as a managed admin."""
    owner, service, admin = (f"{NAME}_{one}" for one in ("owner_2", "service_2", "admin"))
    names = ("--owner", owner, "--service", service)
    with made_database(f"{NAME}_new") as superuser:
        run(superuser, f"CREATE ROLE {admin} LOGIN CREATEROLE CREATEDB")
        run(superuser, f'ALTER DATABASE "{NAME}_new" OWNER TO {admin}')
        dsn = as_role(superuser, admin) if managed else superuser
        try:
            if migrated:
                affinity(dsn, "migrate")
            said = affinity(dsn, "roles", *names, "--execute")
            assert ("migrate --service-role" in said) is not migrated
            for _ in range(2):  # as the job of deploy/kubernetes does; again gives the rights anew
                affinity(as_role(superuser, owner), "migrate", "--service-role", service)
            affinity(dsn, "roles", *names, "--execute")

            async def work(at: Site) -> None:
                await use_everything(at)

            on_site(as_role(superuser, service), work)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                run(as_role(superuser, service), "DELETE FROM affinity.events")
        finally:
            for role in (service, owner, admin):
                run(superuser, f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
                run(superuser, f"DROP ROLE {role}")


@contextmanager
def refused(*kinds: type[Exception]) -> Iterator[Any]:
    with pytest.raises(kinds) as found:
        yield found
    assert "\n" not in str(found.value)


def test_mistakes_are_said_in_a_line(both: tuple[str, str], empty_dsn: str) -> None:
    for name in ("", "1a", "a b", 'a"; DROP TABLE x; --', "A", "pg_x", "x" * 64):
        with refused(InvalidInput):
            roles.check_role("owner", name)
    with refused(InvalidInput):
        roles.carry_out(both[0], roles.grants("nobody_by_this_name"))
    with refused(NotSupported):
        roles.carry_out(both[1], roles.setup("affinity_x", "affinity_y", "z"))
    with refused(NotSupported):
        roles.carry_out(empty_dsn, roles.grants(f"{NAME}_service"))
    with refused(NotSupported) as found:
        migrate(both[1])
    assert str(found.value).startswith("only the owner of the schema may migrate")
