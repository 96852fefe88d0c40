"""Tenants, keys, campaigns, the hot path's two functions and the audit trail."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the schema."""
    for name in ("0001_tables.sql", "0001_functions.sql"):
        script = Path(__file__).with_name(name).read_text(encoding="utf-8")
        # By the driver itself: SQLAlchemy would take the operator % for a placeholder.
        op.get_bind().connection.cursor().execute(script)
