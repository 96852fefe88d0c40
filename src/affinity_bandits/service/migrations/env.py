"""What Alembic runs for every command: one connection, one transaction, one migrator at a time."""

from alembic import context
from sqlalchemy import create_engine, pool, text

LOCK = 0x00AFF1
"""An advisory lock's number, so that two servers that start together do not both migrate."""


def run() -> None:
    """Run the wanted migrations in one transaction."""
    engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
    with engine.connect() as connection, connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        context.configure(connection=connection, version_table="affinity_schema")
        context.run_migrations()
    engine.dispose()


if hasattr(context, "config"):  # Alembic runs this file; whoever only imports it wants nothing
    run()
