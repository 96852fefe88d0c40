"""Which column of a file is what: as the user says, or by the one obvious name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from affinity_bandits.audit.reading.places import listed, named
from affinity_bandits.errors import InvalidInput

GUESSES = {
    "group": ("group", "source", "channel"),
    "score": ("score", "rating", "stars", "grade"),
    "time": ("time", "date", "timestamp", "moment", "order"),
    "chosen": ("chosen", "hired", "selected", "joined"),
    "panel": ("panel", "panel_share"),
    "drawn_from": ("drawn_from",),
    "row_id": ("id", "row_id"),
}
"""Names that are obvious, in any letter case."""


class Seats(NamedTuple):
    """Columns that say how many of each group sat on a panel.

    Attributes:
        groups: the column of each group, in the order of the initial committee.
        others: the column of those who are of no group, if there is one.
    """

    groups: list[str]
    others: str | None = None

    @property
    def all(self) -> list[str]:
        """All of the columns."""
        return [*self.groups, *([] if self.others is None else [self.others])]


class Columns(NamedTuple):
    """The columns of a file that are read; None of what it does not have."""

    group: str
    score: str
    time: str | None
    chosen: str | None = None
    panel: str | Seats | None = None
    drawn_from: str | Seats | None = None
    row_id: str | None = None

    @property
    def all(self) -> list[str]:
        """All of them, each once."""
        found: list[str] = []
        for column in self:
            if isinstance(column, Seats):
                found += column.all
            elif column is not None:
                found.append(column)
        return list(dict.fromkeys(found))


Panel = str | Mapping[str, str]


def columns_of(
    header: Sequence[str],
    groups: Sequence[str],
    given: Mapping[str, str | None],
    panels: Mapping[str, Panel | None],
    *,
    in_order: bool,
) -> Columns:
    """Return which column is what.

    Args:
        header: the names of all columns.
        groups: the names of all groups.
        given: what the user says of group, score, time, chosen and row_id.
        panels: what the user says of panel and drawn_from.
        in_order: whether rows are in order, so that no time is looked for.
    """
    names = list(header)
    found = {
        role: _one(role, name, names, needed=role in ("group", "score"))
        for role, name in given.items()
        if role != "time"
    }
    if in_order and given["time"] is not None:
        raise InvalidInput("time", "left out if rows are in order", given["time"])
    time = None
    if not in_order:
        time = _one("time", given["time"], names, needed=False)
        if time is None:
            rule = f"one of the columns {listed(names)}, or said to be the order of the rows"
            raise InvalidInput("time", rule, None)
    seats = {role: _panel(role, given, names, groups) for role, given in panels.items()}
    if seats["drawn_from"] is not None and seats["panel"] is None:
        rule = "left out unless panels are given"
        raise InvalidInput("drawn_from", rule, panels["drawn_from"] or "drawn_from")
    group, score = found["group"], found["score"]
    assert group is not None
    assert score is not None
    columns = Columns(
        group, score, time, found["chosen"], seats["panel"], seats["drawn_from"], found["row_id"]
    )
    for column in columns.all:
        if names.count(column) > 1:
            raise InvalidInput(f"column {named(column)}", "in the file once", "twice")
    return columns


def _one(role: str, name: str | None, names: list[str], *, needed: bool) -> str | None:
    """Return the column that the user named, or the one that has an obvious name."""
    if name is not None:
        if not isinstance(name, str) or name not in names:
            raise InvalidInput(role, f"one of the columns {listed(names)}", name)
        return name
    fitting = [column for column in names if column.strip().lower() in GUESSES[role]]
    if len(fitting) == 1:
        return fitting[0]
    if len(fitting) > 1:
        if len(set(fitting)) == 1:
            raise InvalidInput(f"column {named(fitting[0])}", "in the file once", "twice")
        raise InvalidInput(role, f"said, since it may be {listed(fitting)}", None)
    if needed:
        raise InvalidInput(role, f"one of the columns {listed(names)}", None)
    return None


def _panel(
    role: str, given: Panel | None, names: list[str], groups: Sequence[str]
) -> str | Seats | None:
    """Return the column of shares, or those of seats."""
    if isinstance(given, Mapping):
        for group in groups:
            if given.get(group) not in names:
                rule = f"one of the columns {listed(names)}"
                raise InvalidInput(f"{role}[{group!r}]", rule, given.get(group))
        others = [group for group in given if group not in groups]
        if others:
            rule = f"a column for each of {listed(list(groups))}"
            raise InvalidInput(role, rule, others[0])
        return Seats([given[group] for group in groups])
    if given is not None:
        return _one(role, given, names, needed=False)
    share = _one(role, None, names, needed=False)
    seats = [f"{role}_{group}" for group in groups]
    if all(column in names for column in seats):
        if share is not None:
            rule = f"a share or seats, not both: say which of {listed([share, *seats])}"
            raise InvalidInput(role, rule, None)
        return Seats(seats)
    return share
