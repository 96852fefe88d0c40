"""A log of past decisions: who was scored, how, and which share their group then had."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits import checks
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.seating import Seats, let_wait, seat_waiting, seats_of
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]
MOST_GROUPS = 1_000
ROUNDING = 1e-9
"""By how much of the scale a score may be beyond its end: what was divided before it came here."""


class Rows(NamedTuple):
    """Some rows of a log, one after the other.

    Attributes:
        group: a number each.
        score: from 0, the lowest, to 1, the highest of the scale.
        opens: whether a moment begins with the row: whoever was chosen before has joined the
            committee. None if it does with every row.
        chosen: whether whoever was scored joins the committee. None if all do.
        panel: the share of the row's group among those who judged it. None without panels.
        drawn_from: the share of the row's group among those whom the panel was drawn from. None if
            it is that in the committee.
    """

    group: IntArray
    score: FloatArray
    opens: BoolArray | None = None
    chosen: BoolArray | None = None
    panel: FloatArray | None = None
    drawn_from: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class DecisionLog:
    """Decisions in their order, checked. Made by `decision_log`.

    Attributes:
        groups: the names of the groups, in the order of the initial committee.
        initial: the initial committee, a number for each group.
        group: of each row, a number.
        score: of each row, from 0, the lowest, to 1, the highest of the stated scale.
        chosen: whether whoever was scored joined the committee.
        before: the rows that had been decided when this one was: its committee is the initial one
            and the chosen of that many rows.
        share: the share of the row's group in that committee.
        panel: the share of the row's group among those who judged it, if panels are recorded.
        drawn_from: the share of the row's group among those whom the panel was drawn from: what
            the panel's share is on average if it was drawn at random.
    """

    groups: tuple[str, ...]
    initial: IntArray
    group: IntArray
    score: FloatArray
    chosen: BoolArray
    before: IntArray
    share: FloatArray
    panel: FloatArray | None
    drawn_from: FloatArray

    def __len__(self) -> int:
        return len(self.group)

    def __repr__(self) -> str:
        panels = "" if self.panel is None else ", panels recorded"
        return f"DecisionLog({len(self):,} decisions on {len(self.groups)} groups{panels})"

    @property
    def opens(self) -> BoolArray:
        """Whether a moment begins with the row."""
        return np.asarray(self.before == np.arange(len(self)))

    @property
    def judging(self) -> FloatArray:
        """The share among those who judged: of the panel where it is known, else of all."""
        return self.share if self.panel is None else self.panel

    def first(self, rows: int) -> DecisionLog:
        """Return the log as it was after so many rows."""
        kept = checks.integer("rows", rows, low=1, high=len(self))
        return DecisionLog(
            self.groups,
            self.initial,
            self.group[:kept],
            self.score[:kept],
            self.chosen[:kept],
            self.before[:kept],
            self.share[:kept],
            None if self.panel is None else self.panel[:kept],
            self.drawn_from[:kept],
        )


def decision_log(
    group: Iterable[object],
    score: Iterable[object],
    *,
    initial: Mapping[Any, int],
    lowest: float = 0.0,
    highest: float = 1.0,
    moment: Iterable[object] | None = None,
    chosen: Iterable[object] | None = None,
    panel: Iterable[object] | None = None,
    drawn_from: Iterable[object] | None = None,
) -> DecisionLog:
    """Return a log of decisions, which come in their order, a row each.

    Args:
        group: of each row, one of those in `initial`.
        score: of each row, on the scale from `lowest` to `highest`.
        initial: how many of each group the committee had before the first row.
        lowest: the lowest score that there is, not the lowest that was given.
        highest: the highest score that there is.
        moment: when each row was decided, if several were at once: numbers that never fall. Rows
            of one moment have the same committee.
        chosen: whether whoever was scored joined the committee; all did unless it says otherwise.
        panel: the share of the row's group among those who judged it, from 0 to 1.
        drawn_from: the share of the row's group among those whom the panel was drawn from; that in
            the committee unless it says otherwise.

    >>> log = decision_log("aab", [5, 4, 1], initial={"a": 1, "b": 1}, lowest=1, highest=5)
    >>> log.share.tolist(), log.score.tolist()
    ([0.5, 0.6666666666666666, 0.25], [1.0, 0.75, 0.0])
    """
    names, members = committee_of(initial)
    groups = _groups(group, list(initial))
    rows = len(groups)
    low = checks.number("lowest", lowest)
    high = checks.number("highest", highest, low=low, open_low=True)
    given = _column("score", score, rows, low, high, ROUNDING * (high - low))
    mapped = np.clip((given - low) / (high - low), 0.0, 1.0)
    before = np.arange(rows) if moment is None else _before(moment, rows)
    joined = np.ones(rows, dtype=np.bool_) if chosen is None else _flags("chosen", chosen, rows)
    share = np.empty(rows)
    opens = before == np.arange(rows)
    code_for_rows(shares)(groups, joined, opens, seats_of(members), share)
    judged = None if panel is None else _column("panel", panel, rows, 0.0, 1.0)
    pool = share if drawn_from is None else _column("drawn_from", drawn_from, rows, 0.0, 1.0)
    if drawn_from is not None and panel is None:
        raise InvalidInput("drawn_from", "left out unless panels are given", drawn_from)
    return DecisionLog(names, members, groups, mapped, joined, before, share, judged, pool)


def shares(
    group: IntArray, chosen: BoolArray, opens: BoolArray, seats: Seats, share: FloatArray
) -> None:
    """Fill in the share of each row's group in the committee before it; a kernel."""
    for row in range(len(group)):
        if opens[row]:
            seat_waiting(seats)
        share[row] = seats.members[group[row]] / seats.sizes[0]
        if chosen[row]:
            let_wait(seats, group[row])


def committee_of(initial: object) -> tuple[tuple[str, ...], IntArray]:
    """Return names and numbers of the initial committee."""
    if not isinstance(initial, Mapping) or not 2 <= len(initial) <= MOST_GROUPS:
        rule = f"a table of 2 to {MOST_GROUPS:,} groups and their numbers"
        raise InvalidInput("initial", rule, initial)
    numbers = [checks.integer(f"initial[{name!r}]", count) for name, count in initial.items()]
    if sum(numbers) == 0:
        raise InvalidInput("initial", "a committee of at least one member", dict(initial))
    return tuple(str(name) for name in initial), np.array(numbers, dtype=np.int64)


def _items(column: str, values: object, rows: int | None) -> list[Any]:
    """Return the values of a column, as Python's own objects."""
    rule = "a column of at least one row" if rows is None else f"a column of {rows:,} rows"
    if isinstance(values, np.ndarray) and values.ndim == 1:
        items: list[Any] = values.tolist()
    elif isinstance(values, str):
        items = list(values)
    else:
        items = checks.sequence(column, values, rule)
    if (not items) if rows is None else (len(items) != rows):
        raise InvalidInput(column, rule, f"{len(items):,} rows")
    return items


def _groups(values: object, names: list[Any]) -> IntArray:
    """Return the number of each row's group."""
    items = _items("group", values, None)
    numbers = {name: number for number, name in enumerate(names)}
    try:
        found = np.fromiter((numbers.get(item, -1) for item in items), np.int64, len(items))
    except TypeError:  # a list, say, which cannot be looked up
        found = np.array([numbers.get(item, -1) if _plain(item) else -1 for item in items])
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        raise InvalidInput(f"group in row {row + 1:,}", "one of those in initial", items[row])
    return found


def _plain(item: object) -> bool:
    """Return whether an item can be looked up."""
    return getattr(item, "__hash__", None) is not None and not isinstance(item, tuple)


def _column(
    column: str, values: object, rows: int, low: float, high: float, slack: float = 0.0
) -> FloatArray:
    """Return a column of numbers in [low, high]."""
    rule = f"a number from {low:g} to {high:g}"
    found = _numbers(column, values, rows, rule)
    wrong = ~((found >= low - slack) & (found <= high + slack))  # nan is wrong, too
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(f"{column} in row {row + 1:,}", rule, float(found[row]))
    return found


def _numbers(column: str, values: object, rows: int, rule: str) -> FloatArray:
    """Return a column of numbers, of any size."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf":
        if len(values) != rows:
            raise InvalidInput(column, f"a column of {rows:,} rows", f"{len(values):,} rows")
        return values.astype(np.float64)
    items = _items(column, values, rows)
    found = np.empty(rows)
    for row, item in enumerate(items):
        if not isinstance(item, int | float):  # whole numbers and bools are taken, text is not
            raise InvalidInput(f"{column} in row {row + 1:,}", rule, item)
        try:
            found[row] = item
        except OverflowError:
            raise InvalidInput(f"{column} in row {row + 1:,}", rule, item) from None
    return found


def _flags(column: str, values: object, rows: int) -> BoolArray:
    """Return a column of yes and no."""
    rule = "true or false (or 1 or 0)"
    found = _numbers(column, values, rows, rule)
    wrong = (found != 0.0) & (found != 1.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(f"{column} in row {row + 1:,}", rule, float(found[row]))
    return np.asarray(found == 1.0)


def _before(moment: object, rows: int) -> IntArray:
    """Return for each row how many rows came in earlier moments."""
    rule = "a number that is not below the one before it"
    found = _numbers("moment", moment, rows, rule)
    wrong = np.isnan(found)
    wrong[1:] |= ~(found[1:] >= found[:-1])
    if wrong.any():
        row = int(np.argmax(wrong))
        value = float(found[row])
        raise InvalidInput(f"moment in row {row + 1:,}", rule, None if math.isnan(value) else value)
    opens = np.ones(rows, dtype=np.bool_)
    opens[1:] = found[1:] > found[:-1]
    return np.maximum.accumulate(np.where(opens, np.arange(rows), 0))
