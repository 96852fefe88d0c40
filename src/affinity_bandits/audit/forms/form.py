"""The contract of a form of files."""

from __future__ import annotations

from typing import Protocol

from affinity_bandits.audit.tables import Table


class Form(Protocol):
    """A way to write scores into a table."""

    def fits(self, table: Table) -> bool:
        """Return whether a table has this form.

        The names of its columns usually say so, or else most of their cells: one wrong cell must
        not change the form, since it is a problem to report. It must not fit an ordinary log, such
        as one with a single column called "score by judge".
        """

    def to_long(self, table: Table) -> Table:
        """Return the table with one row per score.

        It keeps the number that the file gives each row, which the remarks name. Names of columns
        are unique. `Table.roles` says what columns are, if the form knows; what it leaves out is
        guessed from their names, and the user's answers win. If each row of the file is another
        candidate and no column names them, the form makes one. A cell without a score is left out,
        or stays as a row without one. `Table.left_out` says which rows a reader should know to be
        left out, and why.
        """
