"""What others create in the database never runs as the service, its owner or a superuser.

Mallory may create in `public`, which the database's default path puts before `pg_catalog`: every
unqualified name would be hers. Whatever of hers runs counts itself in `public.loot`, a sequence,
since what runs in a transaction that fails would leave no row.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from affinity_bandits.base.errors import NotSupported
from affinity_bandits_service.store import connection, roles
from affinity_bandits_service.store.migrate import migrate
from affinity_bandits_service.trail.archive import archive, delete_tenant
from packages.service.tests.store.whole_service import inspect, use_everything
from tests.support.databases import SERVER, as_role, made_database, run_sql
from tests.support.web_site import Site, on_site

NAME = f"affinity_test_hostile_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
MALLORY, OWNER, SERVICE = (f"{NAME}_{one}" for one in ("mallory", "owner", "service"))
PLANT = """
CREATE SEQUENCE public.loot;
GRANT USAGE ON public.loot TO PUBLIC;
CREATE FUNCTION public.steal(what text) RETURNS boolean LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM pg_catalog.nextval('public.loot');
  RETURN true;
END $f$;
DO $$
DECLARE
  one record;
  made integer := 0;
BEGIN
  FOR one IN SELECT o.oprname, o.oprleft::regtype AS l, o.oprright::regtype AS r,
      o.oprresult::regtype AS result
    FROM pg_operator AS o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b'
      AND o.oprleft = ANY (ARRAY['bigint', 'integer', 'numeric', 'text', 'uuid', 'timestamptz',
        'float8', 'bytea', 'boolean', 'int8multirange', 'text[]', 'oid', 'name', 'json',
        'interval']::regtype[])
    UNION SELECT '%', 'bigint', 'integer', 'bigint'   -- which pg_catalog does not have
    UNION SELECT '=', 'text', 'name', 'boolean' LOOP
    made := made + 1;
    EXECUTE format('CREATE FUNCTION public.op_%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS'
      ' %L', made, one.l, one.r, one.result, format('BEGIN PERFORM public.steal(%L);'
      ' RETURN NULL; END', 'operator ' || one.oprname));
    EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s,'
      ' FUNCTION = public.op_%s)', one.oprname, one.l, one.r, made);
  END LOOP;
  FOR one IN SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS args,
      pg_get_function_result(p.oid) AS result
    FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
      AND p.prorettype NOT IN ('internal'::regtype, 'trigger'::regtype, 'record'::regtype)
      AND p.provariadic = 0
      AND p.proname IN ('clock_timestamp', 'now', 'sha256', 'convert_to', 'encode',
        'lower', 'upper', 'isempty', 'make_interval', 'float8send', 'cardinality', 'to_regclass',
        'to_regnamespace', 'current_setting', 'set_config', 'pg_has_role', 'pg_get_userbyid',
        'array_position', 'array_fill', 'octet_length', 'row_to_json', 'array_to_json',
        'pg_advisory_xact_lock', 'current_database', 'format', 'generate_series', 'unnest',
        'gen_random_uuid', 'has_function_privilege', 'int8range') LOOP
    EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
      one.proname, one.args, one.result,
      format('BEGIN PERFORM public.steal(%L); RETURN%s; END', one.proname || '()',
        CASE WHEN one.result LIKE 'SETOF%' OR one.result = 'void' THEN '' ELSE ' NULL' END));
  END LOOP;
  FOR one IN SELECT name FROM unnest(ARRAY['schema_version', 'heads', 'events', 'campaigns',
      'leases', 'tenants', 'api_keys', 'pg_class', 'pg_namespace', 'pg_proc',
      'pg_type']) AS name LOOP
    EXECUTE format('CREATE VIEW public.%I AS SELECT 1 AS version, 1 AS serves,'
      ' public.steal(%L) AS oid', one.name, 'view ' || one.name);
  END LOOP;
  FOR one IN SELECT name FROM
      unnest(ARRAY['uuid', 'json', 'bytea', 'timestamptz', 'text']) AS name LOOP
    EXECUTE format('CREATE DOMAIN public.%I AS pg_catalog.%I CHECK (public.steal(%L))',
      one.name, one.name, 'type ' || one.name);
  END LOOP;
END $$;
CREATE TYPE public.evil AS (x integer);
CREATE FUNCTION public.as_text(public.evil) RETURNS pg_catalog.text LANGUAGE plpgsql AS $f$
BEGIN PERFORM public.steal('cast'); RETURN 'x'; END $f$;
CREATE CAST (public.evil AS pg_catalog.text) WITH FUNCTION public.as_text(public.evil) AS IMPLICIT;
"""


@pytest.fixture
def hostile() -> Iterator[str]:
    """The DSN of a superuser of a database in which Mallory has done what she can."""
    run_sql(SERVER, f"CREATE ROLE {MALLORY} LOGIN")
    try:
        with made_database(NAME) as dsn:
            run_sql(dsn, f"GRANT CREATE ON SCHEMA public TO {MALLORY}")
            run_sql(as_role(dsn, MALLORY), PLANT)
            run_sql(dsn, f'ALTER DATABASE "{NAME}" SET search_path = public, pg_catalog')
            yield dsn
    finally:
        for role in (MALLORY, OWNER, SERVICE):
            run_sql(SERVER, f"DROP ROLE IF EXISTS {role}")


def looted(dsn: str) -> int:
    """How often something of hers ran."""

    async def read() -> int:
        async with connection.connected(dsn) as db:
            return int(await db.fetchval("SELECT last_value - 1 + is_called::int FROM public.loot"))

    return asyncio.run(read())


def use(dsn: str, operator: str, folder: Path) -> None:
    """Use the service with one DSN, and the commands of an operator with another."""
    found: list[UUID] = []

    async def work(at: Site) -> None:
        found.append(await use_everything(at))
        await inspect(at, found[0], folder)

    async def remove(at: Site) -> None:
        assert (await archive(at.pool, found[0], folder, by="me")).trail.events == 5
        name = await at.pool.fetchval("SELECT name FROM affinity.tenants ORDER BY id LIMIT 1")
        assert len(await delete_tenant(at.pool, name, by="me")) == 2  # with judges, and of blocks

    on_site(dsn, work)
    on_site(operator, remove)


@pytest.mark.slow
def test_nothing_of_a_stranger_runs_as_superuser(hostile: str, tmp_path: Path) -> None:
    for _ in range(2):
        migrate(hostile)
    use(hostile, hostile, tmp_path)
    assert looted(hostile) == 0


@pytest.mark.slow
def test_nothing_of_a_stranger_runs_as_owner_and_service(hostile: str, tmp_path: Path) -> None:
    roles.carry_out(hostile, roles.setup(OWNER, SERVICE, NAME))
    owner = as_role(hostile, OWNER)
    migrate(owner)
    roles.carry_out(owner, roles.grants(SERVICE))
    use(as_role(hostile, SERVICE), owner, tmp_path)
    assert looted(hostile) == 0


@pytest.mark.slow
@pytest.mark.parametrize("place", ["session", "function"])
def test_without_a_fixed_path_they_would_run(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The control: each of the two places where the path is fixed is needed."""
    migrate(hostile)
    if place == "session":
        monkeypatch.setattr(connection, "SESSION", {})
    else:
        change = "ALTER FUNCTION affinity.{} SET search_path = public, pg_catalog"
        changes = "; ".join(change.format(one) for one in ("ask", "locked", "events_before"))
        run_sql(hostile, f"SET search_path = pg_catalog; {changes}")
    with pytest.raises(Exception):  # noqa: B017, PT011 - her code breaks what it runs in
        use(hostile, hostile, tmp_path)
    monkeypatch.undo()
    assert looted(hostile) > 0


def test_every_function_has_a_fixed_path(dsn: str) -> None:
    """Or a body whose names were resolved when it was made."""

    async def read() -> list[Any]:
        async with connection.connected(dsn) as db:
            return await db.fetch(
                "SELECT p.proname, p.prosqlbody IS NOT NULL AS bound, p.proconfig FROM pg_proc AS p"
                " WHERE p.pronamespace = to_regnamespace('affinity')"
            )

    functions = asyncio.run(read())
    assert len(functions) >= 15
    for row in functions:
        assert row["bound"] or "search_path=pg_catalog, pg_temp" in row["proconfig"], row["proname"]


def test_a_schema_of_a_stranger_is_not_migrated(hostile: str) -> None:
    run_sql(hostile, f'GRANT CREATE ON DATABASE "{NAME}" TO {MALLORY}')
    run_sql(
        as_role(hostile, MALLORY),
        "CREATE SCHEMA affinity; CREATE VIEW affinity.schema_version AS"
        " SELECT 1 AS version, 1 AS serves FROM public.steal('schema')",
    )
    with pytest.raises(NotSupported, match=f"belongs to {MALLORY}, and the role"):
        migrate(hostile)
    with pytest.raises(NotSupported, match=f"belongs to {MALLORY}"):
        roles.carry_out(hostile, roles.setup(OWNER, SERVICE, NAME))
    assert looted(hostile) == 0
