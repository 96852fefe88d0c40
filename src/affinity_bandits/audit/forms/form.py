"""The contract of a form of files."""

from __future__ import annotations

from typing import Protocol

from affinity_bandits.audit.tables import Table


class Form(Protocol):
    """A way to write scores into a table."""

    def fits(self, table: Table) -> bool:
        """Return whether a table has this form.

        The names of its columns usually say so, or else most of their cells: one wrong cell must
        not change the form, since it is a problem to report.
        """

    def to_long(self, table: Table) -> Table:
        """Return the table with one row per score.

        It keeps the number that the file gives each row, which the remarks name. `Table.roles` says
        what the columns are, if the form knows; otherwise they are guessed from their names.
        `Table.left_out` says which rows are no scores, and why.
        """
