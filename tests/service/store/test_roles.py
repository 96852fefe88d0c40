"""The service's role can do what the service does, and not what would falsify the trail."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.policies import ExploreThenCommit
from affinity_bandits.service.core import faults
from affinity_bandits.service.core.health_checks import HealthChecks
from affinity_bandits.service.store import roles
from affinity_bandits.service.store.migrate import migrate
from affinity_bandits.service.trail.export import export
from affinity_bandits.service.trail.table_files import Target
from affinity_bandits.service.trail.verify import verify
from affinity_bandits.wire.limits import SCOPES
from tests.support.databases import as_role, made_database, service_role
from tests.support.one_campaign import opened
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


def run(dsn: str, *statements: str) -> None:
    async def work() -> None:
        db = await asyncpg.connect(dsn)
        try:
            for statement in statements:
                await db.execute(statement)
        finally:
            await db.close()

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
    "UPDATE affinity.api_keys SET tenant = 1",
    "UPDATE affinity.campaigns SET tenant = 1",
    "UPDATE affinity.campaigns SET policy = '{}'",
    "UPDATE affinity.webhooks SET url = 'https://elsewhere.example/'",
    "UPDATE affinity.tenants SET name = 'x'",
    "DELETE FROM affinity.campaigns",
    "DELETE FROM affinity.rounds",
    "DELETE FROM affinity.tenants",
    "INSERT INTO affinity.removals (by, tenant, detail) VALUES ('x', 'x', '{}')",
    "DELETE FROM affinity.removals",
    "UPDATE affinity.affinity_schema SET version_num = '0001'",
    "CREATE TABLE affinity.more (x int)",
    "CREATE FUNCTION affinity.ask() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DROP FUNCTION affinity.slots_in",
    "DROP SCHEMA affinity CASCADE",
    "CREATE SCHEMA elsewhere",
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
def test_the_service_works_as_its_role(both: tuple[str, str], tmp_path: Path) -> None:
    async def work(at: Site) -> None:
        async with at.client(await at.key()) as client:
            plain = {"name": "c", "arms": ["a", "b"], "horizon": 100}
            spec = plain | {"policy": {"name": "explore-then-commit", "pulls_per_arm": 2}}
            made = await client.post("/v1/campaigns", json=spec)
            assert made.status_code == 201, made.text
            path = f"/v1/campaigns/{made.json()['id']}"
            lease = (await client.post(f"{path}/ask", json={"count": 4})).json()["lease"]
            answers = [{"slot": slot, "score": 1 - slot % 2, "rater": "r"} for slot in range(4)]
            told = await client.post(f"{path}/tell", json={"lease": lease, "answers": answers})
            assert told.json()["counted"] == 4
            assert (await client.get(path)).json()["status"] == "decided"
            for rest in ("", "/rounds", "/events"):
                assert (await client.get(path + rest)).status_code == 200
            line = b'{"lease": 2, "answers": [{"slot": 0, "score": 1}]}\n'
            assert (await client.post(f"{path}/tells", content=line)).status_code == 200
            assert (await client.post(f"{path}/stop")).status_code == 200
            judged = await client.post("/v1/campaigns", json=plain | {"policy": PANEL})
            named = await client.post(
                f"/v1/campaigns/{judged.json()['id']}/judges",
                json={"judges": {"a": 1, "b": 1}, "standing": True},
            )
            assert named.status_code == 200, named.text
            made = await client.post("/v1/keys", json={"name": "k", "scopes": ["ask"]})
            assert (await client.post(f"/v1/keys/{made.json()['id']}/revoke")).status_code == 200
            hook = {"url": "https://example.org/", "kinds": ["decided"]}
            made = await client.post("/v1/webhooks", json=hook)
            path = f"/v1/webhooks/{made.json()['id']}"
            assert (await client.post(f"{path}/retry")).status_code == 200
            assert (await client.post(f"{path}/remove")).status_code == 200
            key = await at.key(scopes=SCOPES)
            entered = await client.post("/ui/login", content=f"key={key}".encode())
            assert entered.status_code == 303, entered.text
            for page in ("/ui", "/readyz", "/metrics"):
                assert (await client.get(page)).status_code == 200
            async with asyncio.timeout(30):  # what the service does by itself, too
                while "affinity_database_up 1.0" not in (await client.get("/metrics")).text:
                    await asyncio.sleep(0.05)
            assert 'faults_total{kind="unexpected"} 0.0' in (await client.get("/metrics")).text

    on_site(both[1], work)

    async def core() -> None:
        async with opened(both[1]) as one:
            one.id = await one.create(ExploreThenCommit(2), 100)
            await one.complete_but_do_not_close()
            one.wait(3600)
            assert await one.campaigns.close_due(now=one.now) == 1
            await one.campaigns.note([faults.fault_of(one.id, "page")])
            await HealthChecks(one.pool).check(one.id)
            await HealthChecks(one.pool).watch_the_rest()
            async with one.pool.acquire() as db:
                await faults.forget(db, one.id)
            lease = await one.ask(1)
            one.wait(3600)
            await one.tell(lease, {0: 1})  # an expired lease: lapses
            assert (await verify(one.pool, one.id)).differences == ()
            await export(one.pool, one.id, Target(tmp_path / "t.csv", force=False), lambda *_: None)

    asyncio.run(core())


def test_the_owner_migrates_again_and_gives_the_rights_anew(both: tuple[str, str]) -> None:
    owner, service = f"{NAME}_owner", f"{NAME}_service"
    as_owner = as_role(both[0], owner)
    run(both[0], f"REVOKE ALL ON ALL TABLES IN SCHEMA affinity FROM {service}")
    migrate(as_owner)
    roles.carry_out(as_owner, roles.grants(service))
    run(both[1], "SELECT FROM affinity.events")


def test_the_owner_alone_makes_a_database_from_nothing(both: tuple[str, str]) -> None:
    name = f"{NAME}_new"
    with made_database(name) as dsn:
        owner, service = f"{NAME}_owner", f"{NAME}_service"
        roles.carry_out(dsn, roles.setup(owner, service, urlsplit(dsn).path[1:]))
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
