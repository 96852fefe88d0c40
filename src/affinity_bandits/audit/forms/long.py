"""The usual form of a log."""

from __future__ import annotations

from affinity_bandits.audit.tables import Table


class Long:
    """One row per score, with columns of any name: every table that has no other form."""

    def fits(self, table: Table) -> bool:
        """Return True."""
        return True

    def to_long(self, table: Table) -> Table:
        """Return the table as it is."""
        return table
