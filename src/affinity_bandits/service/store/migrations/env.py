"""What Alembic runs for every command: one connection, one transaction, one migrator at a time.

A database without a schema is given the current one (`sql/tables.sql`) and marked with its
revision; one that has a schema takes the steps that it has not seen. Either way it then gets the
functions as they are now, so a step never has to spell one out.
"""

from pathlib import Path

from alembic import context
from sqlalchemy import Connection, create_engine, pool, text

LOCK = 0x00AFF1
"""An advisory lock's number, so that two servers that start together do not both migrate."""
SQL = Path(__file__).parents[1] / "sql"


def run() -> None:
    """Bring the schema up to date in one transaction."""
    engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
    with engine.connect() as connection, connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        context.configure(connection=connection, version_table="affinity_schema")
        migration = context.get_context()
        if migration.get_current_revision() is None:
            execute(connection, "tables.sql")
            migration.stamp(context.script, "head")
        else:
            context.run_migrations()
        execute(connection, "functions.sql")
    engine.dispose()


def execute(connection: Connection, name: str) -> None:
    """Run a file of `sql`."""
    # By the driver itself: SQLAlchemy would take the operator % for a placeholder.
    connection.connection.cursor().execute((SQL / name).read_text(encoding="utf-8"))


if hasattr(context, "config"):  # Alembic runs this file; whoever only imports it wants nothing
    run()
