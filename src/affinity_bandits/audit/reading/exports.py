"""The tables that `affinity serve export` writes, known by their header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from affinity_bandits.audit.reading.columns import Columns, Seats
from affinity_bandits.audit.reading.files import Source
from affinity_bandits.errors import InvalidInput

FIXED = (
    "order",
    "event",
    "time",
    "round",
    "slot",
    "group",
    "score",
    "answers",
    "sum",
    "total",
    "counted",
    "outcome",
    "rater",
    "rater group",
    "digest",
    "outsiders",
)
"""The columns of every such table; two for each group come after them."""
JUDGES, MEMBERS = " judges", " initial members"
_PROTECTED = re.compile("(^|[,;|\t\r\n])'")


class Export(NamedTuple):
    """What an export says of itself.

    Attributes:
        groups: their names.
        initial: the initial committee, if it was told.
        columns: which column is what. All answers of an event are one moment.
    """

    groups: list[str]
    initial: dict[str, int] | None
    columns: Columns


def export_in(source: Source) -> Export | None:
    """Return what an export says of itself; None if the source is none."""
    count = (len(source.names) - len(FIXED)) // 2
    if tuple(source.names[: len(FIXED)]) != FIXED or count < 1:
        return None
    judges = source.names[len(FIXED) : len(FIXED) + count]
    members = source.names[len(FIXED) + count :]
    if not all(name.endswith(JUDGES) for name in judges):
        return None
    read = unprotected if source.text else str
    groups = [read(name.removesuffix(JUDGES)) for name in judges]
    if [read(name) for name in members] != [f"{group}{MEMBERS}" for group in groups]:
        return None
    first = next(source.batches([*judges, *members]))
    values = [array[0].as_py() for array in first]
    seats = None if None in values[:count] else Seats(judges, "outsiders")
    columns = Columns("group", "score", "event", None, seats, None, None)
    return Export(groups, _committee(groups, values[count:]), columns)


def unprotected(text: str) -> str:
    """Return a name as it was before it was made harmless for spreadsheets.

    >>> unprotected("'=1+1"), unprotected("a;'=1+1"), unprotected("''a"), unprotected("it's")
    ('=1+1', 'a;=1+1', "'a", "it's")
    """
    return _PROTECTED.sub(r"\1", text)


def _committee(groups: list[str], cells: list[Any]) -> dict[str, int] | None:
    """Return the initial committee that the first row has."""
    if None in cells:
        return None
    numbers: Mapping[str, Any] = dict(zip(groups, cells, strict=True))
    try:
        return {group: int(cell) for group, cell in numbers.items()}
    except ValueError:
        raise InvalidInput("initial members", "whole numbers", dict(numbers)) from None
