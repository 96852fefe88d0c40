"""The service's role can do what the service does, and not what would falsify the trail."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.service.store import roles
from affinity_bandits.service.store.connection import connected
from affinity_bandits.service.store.migrate import migrate
from affinity_bandits.wire.base import SCOPES
from tests.support.databases import as_role, made_database, service_role
from tests.support.web_site import Site, on_site

NAME = f"affinity_test_roles_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
PANEL = {"name": "handicap-elimination", "bounded": True, "judges": "panel"}


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
    "SELECT affinity.remove_campaign(gen_random_uuid(), 'x', '{}')",
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
        async with at.client(await at.key()) as client:

            async def post(path: str, **body: Any) -> Any:
                reply = await client.post(path, json=body)
                assert reply.status_code < 300, reply.text
                return reply.json()

            policy = {"name": "explore-then-commit", "pulls_per_arm": 2}
            spec: dict[str, Any] = {"name": "c", "arms": ["a", "b"], "horizon": 100}
            campaign = f"/v1/campaigns/{(await post('/v1/campaigns', **spec, policy=policy))['id']}"
            lease = (await post(f"{campaign}/ask", count=4))["lease"]
            answers = [{"slot": slot, "score": 1 - slot % 2, "rater": "r"} for slot in range(4)]
            assert (await post(f"{campaign}/tell", lease=lease, answers=answers))["counted"] == 4
            assert (await client.post(f"{campaign}/stop")).json()["status"] == "stopped"
            judged = (await post("/v1/campaigns", **spec, policy=PANEL))["id"]
            await post(f"/v1/campaigns/{judged}/judges", judges={"a": 1, "b": 1}, standing=True)
            key = (await post("/v1/keys", name="k", scopes=["ask"]))["id"]
            hook = (await post("/v1/webhooks", url="https://example.org/", kinds=["decided"]))["id"]
            for path in (f"keys/{key}/revoke", f"webhooks/{hook}/retry", f"webhooks/{hook}/remove"):
                assert (await client.post(f"/v1/{path}")).status_code == 200
            login = f"key={await at.key(scopes=SCOPES)}".encode()
            assert (await client.post("https://test/ui/login", content=login)).status_code == 303
            pages = ("", "/rounds", "/events")
            for page in (*(campaign + rest for rest in pages), "https://test/ui"):
                assert (await client.get(page)).status_code == 200
            async with at.admin() as admin:
                assert (await admin.get("/readyz")).status_code == 200
            async with asyncio.timeout(30):  # what the service does by itself, too
                while "affinity_database_up 1.0" not in await at.metrics():
                    await asyncio.sleep(0.05)
            assert 'faults_total{kind="unexpected"} 0.0' in await at.metrics()

    on_site(both[1], work)


def test_the_owner_alone_makes_a_database_from_nothing(both: tuple[str, str]) -> None:
    name = f"{NAME}_new"
    with made_database(name) as dsn:
        owner, service = f"{NAME}_owner", f"{NAME}_service"
        roles.carry_out(dsn, roles.setup(owner, service, urlsplit(dsn).path[1:]))
        for _ in range(2):  # again gives the rights anew
            migrate(as_role(dsn, owner))
            roles.carry_out(as_role(dsn, owner), roles.grants(service))
        run(as_role(dsn, service), "SELECT FROM affinity.events")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            run(as_role(dsn, service), "DELETE FROM affinity.events")


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
