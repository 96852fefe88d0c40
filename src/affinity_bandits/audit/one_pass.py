"""All that the tests need to know of a log, from rows that are read once and not kept.

Kernels carry what they know from one part of the rows to the next, so the result has the same bits
however the rows are cut, and those that the functions for a log in memory find.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.audit.comparison import RATIOS, ComparisonBets, Comparisons, all_pairs
from affinity_bandits.audit.drawn_panels import Path, RandomPanels
from affinity_bandits.audit.log import BoolArray, DecisionLog, Rows, committee_of, shares
from affinity_bandits.audit.machine_code import code_for_rows
from affinity_bandits.audit.overview import Course, Overview, Tally
from affinity_bandits.audit.pair_table import PairCount, PairTable
from affinity_bandits.audit.recorded_panels import RecordedPanels
from affinity_bandits.audit.seating import seats_of
from affinity_bandits.audit.table import LOOKED_AT, Table, TableCount, nodes_of
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

MOST_COMPARED = 8
"""Groups of which each is compared with each."""
AT_ONCE = 1 << 18
"""Rows that are looked at together, so that they stay near the processor."""


class Summary(NamedTuple):
    """What the tests need to know of a log, and what its pictures show.

    Attributes:
        rows: how many there are.
        groups: their names, in the order of the initial committee.
        initial: the initial committee, a number for each group.
        table: for `odds`, `odds_with_drift`, `likelihood_ratios` and `strength`.
        pair_table: for `pairs`.
        at_random: what `panels_at_random` finds; None without panels.
        on_record: what `panels_on_record` finds; None without panels.
        better: what `better` finds, for every two groups in both orders at a grid of ratios. Of
            more than 8 groups, for those 8 of which the first 100,000 rows have the most.
        tally: rows, mean scores and choices of each group.
        shares_over_time: the share of each group in the committee, at some 400 rows at most.
    """

    rows: int
    groups: tuple[str, ...]
    initial: IntArray
    table: Table
    pair_table: PairTable
    at_random: Path | None
    on_record: float | None
    better: Comparisons
    tally: Tally
    shares_over_time: Course


class OnePass:
    """A summary that is being made, from rows that come in parts of any length.

    The first 100,000 rows wait until it is known which scores there are. Memory does not grow with
    the rows, but with the logarithm of their number.

    Args:
        initial: how many of each group the committee had before the first row.
        nodes: the scores, from 0 to 1, if it is known that there are few; those that are not among
            them are counted in parts. If left out, the first 100,000 rows say what they are.
    """

    def __init__(self, initial: Mapping[Any, int], *, nodes: FloatArray | None = None) -> None:
        self.groups, self.initial = committee_of(initial)
        self._nodes = nodes
        self._first: list[_Part] = []
        self._waiting = 0
        self._panels: bool | None = None
        self._begun: _Begun | None = None

    def add(self, rows: Rows) -> None:
        """Add rows that follow those before."""
        part = _Part.checked(rows, len(self.groups))
        panels = rows.panel is not None
        if self._panels not in (None, panels):
            raise InvalidInput("panel", "given in all rows or in none", "in some")
        self._panels = panels
        if self._begun is not None:
            self._begun.add(part)
            return
        self._first.append(part)
        self._waiting += len(part.group)
        if self._waiting >= LOOKED_AT:
            self._begin()

    def finish(self) -> Summary:
        """Return the summary of all rows."""
        if self._begun is None:
            if self._waiting == 0:
                raise InvalidInput("rows", "at least one", 0)
            self._begin()
        begun = self._begun
        assert begun is not None
        tally = begun.overview.tally()
        return Summary(
            int(tally.rows.sum()),
            self.groups,
            self.initial,
            begun.table.table(),
            begun.pairs.table(),
            begun.at_random.path() if self._panels else None,
            begun.on_record.evidence() if self._panels else None,
            Comparisons(RATIOS, begun.compared, begun.better.evidence()),
            tally,
            begun.overview.course(),
        )

    def _begin(self) -> None:
        """Look at the first rows, and then count them."""
        nodes = self._nodes
        if nodes is None:
            nodes = nodes_of(np.concatenate([part.score for part in self._first])[:LOOKED_AT])
        group = np.concatenate([part.group for part in self._first])[:LOOKED_AT]
        counts = np.bincount(group, minlength=len(self.groups))
        most = np.sort(np.argsort(-counts, kind="stable")[:MOST_COMPARED]).tolist()
        self._begun = _Begun(self.initial, nodes, most, bool(self._panels))
        first, self._first = self._first, []
        for part in first:
            self._begun.add(part)


def summary_of(
    rows: Iterable[Rows], initial: Mapping[Any, int], *, nodes: FloatArray | None = None
) -> Summary:
    """Return the summary of rows that come in parts, in their order; see `OnePass`."""
    made = OnePass(initial, nodes=nodes)
    for part in rows:
        made.add(part)
    return made.finish()


def summary_of_log(log: DecisionLog) -> Summary:
    """Return the summary of a log in memory."""
    return summary_of([rows_of(log)], dict(zip(log.groups, log.initial.tolist(), strict=True)))


def rows_of(log: DecisionLog) -> Rows:
    """Return the rows of a log in memory."""
    drawn_from = None if log.panel is None else log.drawn_from
    return Rows(log.group, log.score, log.opens, log.chosen, log.panel, drawn_from)


class _Part(NamedTuple):
    """Rows, checked, with all that kernels take."""

    group: IntArray
    score: FloatArray
    opens: BoolArray
    chosen: BoolArray
    panel: FloatArray | None
    drawn_from: FloatArray | None

    @classmethod
    def checked(cls, rows: Rows, groups: int) -> _Part:
        """Return what is there: a kernel that is given anything else writes where it must not."""
        group = _array("group", rows.group, np.int64, None)
        count = len(group)
        if count and not (group.min() >= 0 and group.max() < groups):
            raise InvalidInput("group", f"numbers from 0 to {groups - 1:,}", "others")
        if rows.drawn_from is not None and rows.panel is None:
            raise InvalidInput("drawn_from", "left out unless panels are given", rows.drawn_from)
        every = np.ones(count if rows.opens is None or rows.chosen is None else 0, dtype=np.bool_)
        return cls(
            group,
            _shares("score", rows.score, count),
            every if rows.opens is None else _array("opens", rows.opens, np.bool_, count),
            every if rows.chosen is None else _array("chosen", rows.chosen, np.bool_, count),
            None if rows.panel is None else _shares("panel", rows.panel, count),
            None if rows.drawn_from is None else _shares("drawn_from", rows.drawn_from, count),
        )

    def cut(self) -> Iterable[_Part]:
        """Yield the rows, a few at a time."""
        for start in range(0, len(self.group), AT_ONCE):
            kept = slice(start, start + AT_ONCE)
            columns: list[Any] = [None if array is None else array[kept] for array in self]
            yield _Part(*columns)


class _Begun:
    """Everything that is counted and bet, once the nodes are known."""

    def __init__(
        self, initial: IntArray, nodes: FloatArray, compared: list[int], panels: bool
    ) -> None:
        self._seats = seats_of(initial)
        self.table = TableCount(len(initial), nodes)
        self.pairs = PairCount(initial, nodes)
        self.at_random = RandomPanels(len(initial))
        self.on_record = RecordedPanels(len(initial))
        self.compared = all_pairs(compared)
        self.better = ComparisonBets(initial, self.compared, RATIOS, panels=panels)
        self.overview = Overview(initial)

    def add(self, rows: _Part) -> None:
        """Count and bet on rows that follow those before."""
        for part in rows.cut():
            group, score, opens, chosen, panel, drawn_from = part
            share = np.empty(len(group))
            code_for_rows(shares)(group, chosen, opens, self._seats, share)
            judging = share if panel is None else panel
            self.table.add(group, score, judging)
            self.pairs.add(group, score, chosen, opens)
            self.better.add(group, score, chosen, opens, judging)
            self.overview.add(group, score, chosen, opens)
            if panel is not None:
                self.at_random.add(group, score, panel, share if drawn_from is None else drawn_from)
                self.on_record.add(group, score, panel)


def _array(column: str, values: Any, kind: Any, count: int | None) -> Any:
    """Return a column as kernels were compiled for it."""
    found = np.require(values, kind, ["C", "W"])
    if found.ndim != 1 or (count is not None and len(found) != count):
        raise InvalidInput(column, f"a column of {count:,} rows" if count else "a column", found)
    return found


def _shares(column: str, values: Any, count: int) -> FloatArray:
    """Return a column of numbers from 0 to 1."""
    found: FloatArray = _array(column, values, np.float64, count)
    if count and not (found.min() >= 0.0 and found.max() <= 1.0):  # of nan, both are nan
        raise InvalidInput(column, "numbers from 0 to 1", "others")
    return found
