"""The table that the service exports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from affinity_bandits.audit.columns import ROLES
from affinity_bandits.audit.log import Flags
from affinity_bandits.audit.score_cells import YES
from affinity_bandits.audit.tables import Table, is_empty, label

FIRST_COLUMNS = ("order", "event", "time", "round", "slot", "group", "score", "answers", "sum",
    "total", "counted", "outcome", "rater", "rater group", "digest", "outsiders")  # fmt: skip
ROLE_COLUMNS = {"group": "group", "score": "score", "judge": "rater",
    "judge_group": "rater group", "session": "round"}  # fmt: skip
NAMES = ("group", "rater", "rater group")
PROTECTED = re.compile("(^|[,;|\t\r\n])'")
"""The sign that an export puts before names that spreadsheets would take for formulas."""


class Exported:
    """What `affinity serve export` writes: a row per answer, some of them not counted."""

    def fits(self, table: Table) -> bool:
        """Return whether the table begins with the columns of an export."""
        return tuple(table.names[: len(FIRST_COLUMNS)]) == FIRST_COLUMNS

    def to_long(self, table: Table) -> Table:
        """Return the table with names as they were given, and say which answers count."""

        def load(index: int) -> tuple[npt.NDArray[np.int32], Sequence[Any]]:
            codes, values = table.load(index)
            if table.names[index] in NAMES:
                values = [None if is_empty(one) else _as_given(label(one)) for one in values]
            return codes, values

        total, counted = says_yes(table, "total"), says_yes(table, "counted")
        return replace(
            table,
            load=load,
            # Its other columns have names that would be guessed wrong.
            roles=dict.fromkeys(ROLES, "") | ROLE_COLUMNS,
            left_out=(
                ("totals of several answers", total),
                ("answers that did not count", ~total & ~counted),
            ),
        )


def _as_given(name: str) -> str:
    return PROTECTED.sub(r"\1", name)


def says_yes(table: Table, column: str) -> Flags:
    """Return the rows in which a column says yes."""
    codes, values = table.values(column)
    return np.array([*(label(value).casefold() in YES for value in values), False])[codes]
