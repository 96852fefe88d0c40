"""Marks of campaigns that need attention, for every server process to see."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.execute(
        """
-- Campaigns that fail by the service's own fault. Reasons quote neither data nor errors.
CREATE TABLE affinity.faults (
  campaign uuid PRIMARY KEY REFERENCES affinity.campaigns,
  kind text NOT NULL,
  reason text NOT NULL,
  since timestamptz NOT NULL,
  tries integer NOT NULL,         -- that failed in a row
  retry_at timestamptz NOT NULL   -- not before
)
"""
    )
