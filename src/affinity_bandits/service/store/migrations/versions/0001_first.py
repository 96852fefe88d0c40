"""The first schema: where upgrades begin. New databases are made from `sql`, not from here."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Be where upgrades begin, and nothing else."""
    raise AssertionError("a database without a schema is given the current one")
