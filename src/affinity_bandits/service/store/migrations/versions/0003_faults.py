"""Marks of campaigns that need attention, for every server process to see."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
CREATE TABLE affinity.faults (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  kind text NOT NULL,
  reason text NOT NULL,
  since timestamptz NOT NULL,
  tries integer NOT NULL,
  retry_at timestamptz NOT NULL
)
"""
    )
