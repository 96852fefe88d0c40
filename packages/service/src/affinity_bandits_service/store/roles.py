"""Two database roles: the owner of the schema, and the role that the service connects as.

The service's role may read the audit trail and add to it. It has no privilege to change or delete
events, whatever triggers there are.
"""

from __future__ import annotations

import asyncio
import re

import asyncpg

from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits_service.store.connection import SESSION, connected, sql, with_patience

OWNER, SERVICE = "affinity_owner", "affinity_service"
INSERTS = (
    *("tenants", "api_keys", "campaigns", "heads", "rounds", "named_judges", "sums", "leases"),
    *("blocks", "lapses", "raters", "due", "health", "findings", "events", "requests"),
    *("webhooks", "notices"),
)
UPDATES = (
    *(
        "api_keys (revoked_at, revoked_by)",
        "campaigns (saved)",
        "heads",
        "rounds",
        "named_judges",
        "sums",
    ),
    "blocks (released, owed, units, counted)",
    *("leases", "lapses", "raters", "due", "health", "findings", "notices"),
    "webhooks (removed_at, retry_at, pause, last_failure)",
)
DELETES = (
    *("named_judges", "sums", "leases", "lapses", "due", "findings", "notices"),
    "api_keys",  # sessions of browsers that are over
    "requests",  # idempotency keys, after a time that is set
)


def check_role(parameter: str, name: str) -> str:
    """Return the name of a role, which is valid unquoted in SQL."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name) or name.startswith("pg_"):
        rule = "1 to 63 small letters, digits and underscores, not beginning with a digit or pg_"
        raise InvalidInput(parameter, rule, name)
    return name


def setup(owner: str, service: str, database: str) -> list[str]:
    """Return the statements that make both roles and give the schema to the owner.

    For a superuser or a role that may create roles and owns the database, once, in the service's
    database; it may be done again.
    """
    made = [
        f"""DO $$ BEGIN
  CREATE ROLE {role} LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- it is there
END $$"""
        for role in (owner, service)
    ]
    quoted = '"' + database.replace('"', '""') + '"'
    return [
        f"SET search_path = {SESSION['search_path']}",
        *made,
        f"GRANT CONNECT, CREATE ON DATABASE {quoted} TO {owner}",
        f"GRANT CONNECT ON DATABASE {quoted} TO {service}",
        # For connections by a pooler, which does not pass on what a client sets.
        *(
            f"ALTER ROLE {service} IN DATABASE {quoted} SET {name} = {_setting(value)}"
            for name, value in SESSION.items()
        ),
        _give_all_to(owner),
    ]


def grants(service: str) -> list[str]:
    """Return the statements that grant the service's role exactly its rights.

    For the owner, after every migration, because new tables are closed to it.
    """
    return [
        "REVOKE ALL ON SCHEMA affinity FROM PUBLIC",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA affinity FROM PUBLIC, {service}",
        f"GRANT USAGE ON SCHEMA affinity TO {service}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA affinity TO {service}",
        f"GRANT INSERT ON {_tables(INSERTS)} TO {service}",
        *(f"GRANT UPDATE {_columns(one)} TO {service}" for one in UPDATES),
        f"GRANT DELETE ON {_tables(DELETES)} TO {service}",
    ]


def carry_out(dsn: str, statements: list[str]) -> None:
    """Carry out statements in one transaction.

    Raises:
        InvalidInput: the DSN is malformed, or the database or a role is unknown.
        NotSupported: the DSN's role may not do this, or the schema is still to be made.
        Unavailable: no server answers.
    """
    asyncio.run(_carry_out(dsn, statements))


async def _carry_out(dsn: str, statements: list[str]) -> None:
    async def carry_out_all() -> None:
        async with connected(dsn) as db, db.transaction():
            for statement in statements:
                await db.execute(statement)

    try:
        await with_patience(carry_out_all)
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotSupported(f"the role of the DSN may not do this: {error}") from None
    except asyncpg.UndefinedObjectError as error:
        raise InvalidInput("role", "one of this server", str(error)) from None
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        raise NotSupported(
            "the database has no schema yet; run 'affinity serve migrate' first"
        ) from None


async def database_of(dsn: str) -> tuple[str, bool]:
    """Return the name of the database that a DSN leads to, and whether it has the schema."""
    async with connected(dsn) as db:
        row = await db.fetchrow(sql.database)
        return row["name"], row["migrated"]


def _give_all_to(owner: str) -> str:
    """Return a statement that gives a role the schema, if the current role migrated it."""
    return f"""DO $$
DECLARE
  v_what text;
BEGIN
  IF NOT pg_has_role('{owner}', 'MEMBER') THEN   -- which a superuser counts as
    GRANT {owner} TO CURRENT_USER;   -- only members may give it something, and grant what it owns
  END IF;
  SELECT pg_get_userbyid(nspowner) INTO v_what FROM pg_namespace WHERE nspname = 'affinity';
  IF v_what NOT IN (CURRENT_USER, '{owner}') THEN
    RAISE insufficient_privilege USING MESSAGE = 'the schema affinity belongs to ' || v_what;
  END IF;
  FOR v_what IN
    SELECT 'SCHEMA affinity' FROM pg_namespace AS n
      WHERE n.nspname = 'affinity' AND pg_get_userbyid(n.nspowner) <> '{owner}'
    UNION ALL
    SELECT format('TABLE affinity.%I', c.relname) FROM pg_class AS c
      WHERE c.relnamespace = to_regnamespace('affinity') AND c.relkind IN ('r', 'p')
        AND pg_get_userbyid(c.relowner) <> '{owner}'
    UNION ALL
    SELECT format('FUNCTION affinity.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid))
      FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace('affinity')
        AND pg_get_userbyid(p.proowner) <> '{owner}'
  LOOP
    EXECUTE format('ALTER %s OWNER TO {owner}', v_what);
  END LOOP;
END $$"""


def _setting(value: str) -> str:
    return value if "," in value else f"'{value}'"  # a list of names, or a time


def _tables(names: tuple[str, ...]) -> str:
    return ", ".join(f"affinity.{one}" for one in names)


def _columns(text: str) -> str:
    table, _, columns = text.partition(" ")
    return f"{columns} ON affinity.{table}".strip()
