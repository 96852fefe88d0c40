"""Two database roles: the owner of the schema, and the role that the service connects as.

The service's role may read the audit trail and add to it. It has no privilege to change or delete
events, whatever triggers there are.
"""

from __future__ import annotations

import asyncio
import re

import asyncpg

from affinity_bandits.errors import InvalidInput, NotSupported
from affinity_bandits.service.store.connection import connected

OWNER, SERVICE = "affinity_owner", "affinity_service"
INSERTS = (
    *("tenants", "api_keys", "campaigns", "heads", "rounds", "named_judges", "sums", "leases"),
    *("lapses", "raters", "due", "health", "findings", "events", "requests"),
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
    *("leases", "lapses", "raters", "due", "health", "findings", "notices"),
    "webhooks (removed_at, retry_at, last_failure)",
)
DELETES = (
    *("named_judges", "sums", "leases", "lapses", "due", "findings", "notices"),
    "api_keys",  # sessions of browsers that are over
    "requests",  # idempotency keys, after a time that is set
)


def check_role(parameter: str, name: str) -> str:
    """Return the name of a role, which needs no quotes in SQL."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name) or name.startswith("pg_"):
        rule = "1 to 63 small letters, digits and underscores, not beginning with a digit or pg_"
        raise InvalidInput(parameter, rule, name)
    return name


def setup(owner: str, service: str, database: str) -> list[str]:
    """Return the statements that make both roles and give the owner what there is.

    For a superuser, once, in the service's database; it may be done again.
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
        *made,
        f"GRANT CONNECT, CREATE ON DATABASE {quoted} TO {owner}",
        f"GRANT CONNECT ON DATABASE {quoted} TO {service}",
        _give_all_to(owner),
    ]


def grants(service: str) -> list[str]:
    """Return the statements that give the service's role what it needs and nothing else.

    For the owner, after every migration: new tables come without rights.
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
        InvalidInput: the DSN cannot be read or the database cannot be opened, or a role is not
            there.
        NotSupported: the DSN's role may not do this, or the schema is not there yet.
        Unavailable: no server answers.
    """
    asyncio.run(_carry_out(dsn, statements))


async def _carry_out(dsn: str, statements: list[str]) -> None:
    try:
        async with connected(dsn) as db, db.transaction():
            for statement in statements:
                await db.execute(statement)
    except asyncpg.InsufficientPrivilegeError as error:
        raise NotSupported(f"the role of the DSN may not do this: {error}") from None
    except asyncpg.UndefinedObjectError as error:
        raise InvalidInput("role", "one of this server", str(error)) from None
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        raise NotSupported(
            "the database has no schema yet; run 'affinity serve migrate' first"
        ) from None


async def database_of(dsn: str) -> str:
    """Return the name of the database that a DSN leads to."""
    async with connected(dsn) as db:
        return str(await db.fetchval("SELECT current_database()"))


def _give_all_to(owner: str) -> str:
    """Return a statement that makes a role the owner of a schema that another one migrated."""
    return f"""DO $$
DECLARE
  v_what text;
BEGIN
  IF to_regnamespace('affinity') IS NOT NULL THEN
    EXECUTE 'ALTER SCHEMA affinity OWNER TO {owner}';
  END IF;
  FOR v_what IN
    SELECT format('TABLE %s', c.oid::regclass) FROM pg_class AS c
      WHERE c.relnamespace = to_regnamespace('affinity') AND c.relkind IN ('r', 'p')
    UNION ALL
    SELECT format('FUNCTION %s', p.oid::regprocedure) FROM pg_proc AS p
      WHERE p.pronamespace = to_regnamespace('affinity')
  LOOP
    EXECUTE format('ALTER %s OWNER TO {owner}', v_what);
  END LOOP;
END $$"""


def _tables(names: tuple[str, ...]) -> str:
    return ", ".join(f"affinity.{one}" for one in names)


def _columns(text: str) -> str:
    table, _, columns = text.partition(" ")
    return f"{columns} ON affinity.{table}".strip()
