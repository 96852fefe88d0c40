"""Logs of decisions from users' files and queries, checked cell by cell, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits import checks, extras
from affinity_bandits.audit.log import ROUNDING, Rows, committee_of
from affinity_bandits.audit.one_pass import Summary, summary_of
from affinity_bandits.audit.reading import values
from affinity_bandits.audit.reading.columns import Columns, Panel, Seats, columns_of
from affinity_bandits.audit.reading.csv_files import CsvFile
from affinity_bandits.audit.reading.exports import export_in, unprotected
from affinity_bandits.audit.reading.files import Source, Watched
from affinity_bandits.audit.reading.moments import Clock
from affinity_bandits.audit.reading.parquet_files import ParquetFile
from affinity_bandits.audit.reading.places import Place, named, places_of
from affinity_bandits.audit.reading.queries import Query, QueryRows
from affinity_bandits.audit.reading.row_ids import MOST_ROWS, RowIds
from affinity_bandits.audit.table import MOST_NODES
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, IntArray

MOST_SORTED = 20_000_000
"""Rows up to which they are sorted, in memory."""
MOST_SEATS = 1_000_000
MANY_ROWS = 1_000_000
"""From which on it is looked first whether there is more than one group."""


def read_log(
    source: str | Path | Query,
    *,
    lowest: float,
    highest: float,
    initial: Mapping[str, int] | None = None,
    group: str | None = None,
    score: str | None = None,
    time: str | None = None,
    in_order: bool = False,
    chosen: str | None = None,
    panel: Panel | None = None,
    drawn_from: Panel | None = None,
    row_id: str | None = None,
    sort: bool = False,
    delimiter: str | None = None,
) -> LogReader:
    """Return what reads a log: a CSV or Parquet file, or what a query returns.

    Columns that are not named are those with an obvious name (`columns.GUESSES`), if there is one.
    A file that `affinity serve export` wrote needs no names, and has the initial committee if it
    was told; answers that did not count are left out.

    Args:
        source: the path of a file, or a `Query`.
        lowest: the lowest score that there is, not the lowest that was given.
        highest: the highest score that there is.
        initial: how many of each group the committee had before the first row. Names are to be
            written as in the file, in the same letter case and with the same spaces.
        group: the column with the names of the groups.
        score: the column with the scores.
        time: the column that says when a row was decided: numbers, or ISO dates or timestamps,
            all written alike, that never fall. Rows of one moment have the same committee.
        in_order: whether rows are in order, one after the other, so that no time is needed.
        chosen: the column that says whether whoever was scored joined the committee: yes or no,
            true or false, 1 or 0. All did if there is none.
        panel: the column with the share of the row's group among those who judged it; or for each
            group the column with how many of it did. `panel_a`, `panel_b` ... are found by name.
        drawn_from: likewise, among those whom the panel was drawn from.
        row_id: the column that says which row it is; no row may come twice.
        sort: whether rows may be in any order of time; up to 20,000,000 are sorted, in memory.
        delimiter: of a CSV file; else comma, semicolon or tab, whichever its header has.

    Raises:
        InvalidInput: what is wrong, in which column, by which rule. What is wrong in a row is found
            when that row is read.
    """
    extras.need("audit", "pyarrow")
    low = checks.number("lowest", lowest)
    high = checks.number("highest", highest, low=low, open_low=True)
    opened = _opened(source, delimiter)
    given = {"group": group, "score": score, "time": time, "chosen": chosen, "row_id": row_id}
    panels = {"panel": panel, "drawn_from": drawn_from}
    says = any(value is not None for value in (*given.values(), *panels.values()))
    export = None if says else export_in(opened)
    if export is not None and initial is None:
        initial = export.initial
    if initial is None:
        rule = "given: how many of each group the committee had before the first row"
        raise InvalidInput("initial", rule, None)
    names, _ = committee_of(initial)
    _told_apart(names)
    columns = (
        columns_of(opened.names, names, given, panels, in_order=in_order)
        if export is None
        else _ordered(export.columns, export.groups, names)
    )
    counts = {name: int(count) for name, count in zip(names, initial.values(), strict=True)}
    settings = Settings(columns, low, high, sort, export is not None)
    return LogReader(opened, counts, settings)


class Settings(NamedTuple):
    """How a log is read.

    Attributes:
        columns: which column is what.
        lowest: score that there is.
        highest: score that there is.
        sort: whether rows are sorted by time.
        exported: whether the service wrote the file.
    """

    columns: Columns
    lowest: float
    highest: float
    sort: bool
    exported: bool


class LogReader:
    """A log that is read, once or again, some rows at a time.

    Attributes:
        initial: the initial committee.
        columns: which column is what.
        warnings: what the user should know of, once all is read.
        left_out: the rows of an export that did not count, once all is read.
    """

    def __init__(self, source: Source, initial: dict[str, int], settings: Settings) -> None:
        self.initial = initial
        self.columns = settings.columns
        self.warnings: list[str] = []
        self.left_out = 0
        self._source = source
        self._settings = settings

    @property
    def nodes(self) -> FloatArray | None:
        """The scores that there can be, if they are few whole numbers; None if it is not known."""
        from pyarrow import types

        low, high = self._settings.lowest, self._settings.highest
        kind = self._source.kind(self.columns.score)
        whole = kind is not None and types.is_integer(kind) and low == int(low)
        if not whole or high != int(high) or high - low >= MOST_NODES:
            return None
        return np.asarray((np.arange(int(low), int(high) + 1) - low) / (high - low))

    def summary(self) -> Summary:
        """Return the summary of the log, in one pass."""
        return summary_of(self, self.initial, nodes=self.nodes)

    def __iter__(self) -> Iterator[Rows]:
        """Yield the rows, in their order, some at a time.

        Raises:
            InvalidInput: a cell, or the file, is wrong.
        """
        if self._source.is_file:
            self._look_for_another_group()
        self.warnings, self.left_out = [], 0
        counts = np.zeros(len(self.initial), dtype=np.int64)
        parts = self._sorted() if self._settings.sort else self._parts()
        for part in parts:
            counts += np.bincount(part.group, minlength=len(counts))
            yield part
        names = list(self.initial)
        present = np.flatnonzero(counts)
        if len(present) == 0:
            raise InvalidInput("the log", "of at least one answer that counted", 0)
        if len(present) == 1:
            raise self._one_group(names[present[0]])
        self.warnings += [
            f"group {name!r} is in the initial committee and in no row"
            for name, count in zip(names, counts, strict=True)
            if count == 0
        ]

    def _look_for_another_group(self) -> None:
        """Raise if all of many rows are of one group, before anything is counted.

        Mostly the first rows have another one, and no more of them are read. In a short file it is
        more helpful to be told what is wrong in a row.
        """
        column = self.columns.group
        found: set[object] = set()
        rows = 0
        for (cells,) in self._source.batches([column], few=[column]):
            rows += len(cells)
            found.update(cells.unique().to_pylist())
            if len(found) > 1 or None in found:
                return
        if rows >= MANY_ROWS:
            raise self._one_group(str(found.pop()))

    def _one_group(self, name: str) -> InvalidInput:
        rule = "of at least two groups, for one alone cannot be compared"
        return InvalidInput(f"column {named(self.columns.group)}", rule, f"{name} in all rows")

    def _parts(self) -> Iterator[Rows]:
        """Yield rows in the order of the file."""
        clock = Clock()
        for part, moments in self._checked(clock):
            opens = None if moments is None else clock.opens(moments)
            yield part._replace(opens=opens)

    def _sorted(self) -> Iterator[Rows]:
        """Yield all rows at once, in the order of their moments."""
        if self.columns.time is None:
            raise InvalidInput("sort", "left out where rows are said to be in order", True)
        clock = Clock(sorts=True)
        parts: list[Rows] = []
        when: list[Any] = []
        rows = 0
        for part, moments in self._checked(clock):
            rows += len(part.group)
            if rows > MOST_SORTED:
                rule = f"left out of a log of more than {MOST_SORTED:,} rows: sort the file"
                raise InvalidInput("sort", rule, True)
            parts.append(part)
            when.append(moments)
        if not parts:
            return
        moments = np.concatenate(when)
        order = np.argsort(moments, kind="stable")
        columns: list[Any] = [
            None if column[0] is None else np.concatenate(column)[order]
            for column in zip(*parts, strict=True)
        ]
        yield Rows(*columns)._replace(opens=clock.opens(moments[order]))

    def _checked(self, clock: Clock) -> Iterator[tuple[Rows, Any]]:
        """Yield rows, and their moments, as the file has them."""
        settings, source = self._settings, self._source
        wanted = self.columns.all
        extra = [name for name in ("total", "counted") if settings.exported]
        ids = RowIds()
        first = 0
        few = [name for name in (self.columns.group, self.columns.chosen) if name is not None]
        for arrays in source.batches([*wanted, *extra], few=few):
            count = len(arrays[0])
            cells = dict(zip([*wanted, *extra], arrays, strict=True))
            where = places_of(first, None, source.where)
            kept = None
            if settings.exported:
                kept = _counted(cells, where)
                self.left_out += count - len(kept)
                where = places_of(first, kept, source.where)
                cells = {name: array.take(_indices(kept)) for name, array in cells.items()}
            first += count
            if kept is not None and len(kept) == 0:
                continue
            if self.columns.row_id is not None:
                ids.add(cells[self.columns.row_id], Place(self.columns.row_id, where))
            yield self._rows(cells, where, clock)
        if self.columns.row_id is not None:
            self._no_row_twice(ids, self.columns.row_id)

    def _rows(self, cells: dict[str, Any], where: Any, clock: Clock) -> tuple[Rows, Any]:
        """Return rows that were read together, and their moments."""
        settings, columns, text = self._settings, self.columns, self._source.text
        low, high = settings.lowest, settings.highest
        known = {name: number for number, name in enumerate(self.initial)}
        read = unprotected if settings.exported and text else None
        group = values.groups(cells[columns.group], Place(columns.group, where), known, read)
        place = Place(columns.score, where)
        slack = ROUNDING * (high - low)
        given = values.numbers(cells[columns.score], place, low, high, text=text, slack=slack)
        moments = None
        if columns.time is not None:
            moments = clock.moments(cells[columns.time], Place(columns.time, where))
        chosen = None
        if columns.chosen is not None:
            chosen = values.flags(cells[columns.chosen], Place(columns.chosen, where))
        mapped = np.clip((given - low) / (high - low), 0.0, 1.0)
        shares = [
            _shares(column, cells, group, where, text=text)
            for column in (columns.panel, columns.drawn_from)
        ]
        return Rows(group, mapped, None, chosen, *shares), moments

    def _no_row_twice(self, ids: RowIds, column: str) -> None:
        """Raise if a row came twice."""
        if ids.too_many:
            self.warnings.append(
                f"of more than {MOST_ROWS:,} rows, none may come twice: not checked, since their"
                f" {named(column)} does not rise"
            )
            return
        found = ids.twice()
        if found is not None:
            before, again = (self._source.where(row) for row in found)
            rule = "another one in every row"
            raise InvalidInput(f"{named(column)} in {again}", rule, f"that of {before}")


def _opened(source: object, delimiter: str | None) -> Source:
    """Return a source by what it is."""
    if isinstance(source, Query):
        extras.need("audit", "asyncpg")
        return QueryRows(source)
    if not isinstance(source, str | Path):
        raise InvalidInput("source", "the path of a file, or a Query", source)
    file = Watched(Path(source))
    if file.check_kind().startswith(b"PAR1"):
        return ParquetFile(file)
    if str(source).lower().endswith((".parquet", ".pq")):
        rule = "a Parquet file that can be read"
        raise InvalidInput(f"file {file.name}", rule, "something else, or the end of one")
    return CsvFile(file, delimiter)


def _told_apart(names: tuple[str, ...]) -> None:
    """Raise if groups have names that differ in letter case or spaces alone."""
    seen: dict[str, str] = {}
    for name in names:
        key = " ".join(name.split()).casefold()
        if key in seen:
            rule = "of names that differ in more than letter case and spaces"
            raise InvalidInput("initial", rule, [seen[key], name])
        seen[key] = name


def _ordered(columns: Columns, exported: list[str], names: tuple[str, ...]) -> Columns:
    """Return the columns of an export, seats in the order of the user's committee."""
    if sorted(exported) != sorted(names):
        raise InvalidInput("initial", f"of the groups {', '.join(exported)}", list(names))
    if not isinstance(columns.panel, Seats):
        return columns
    places = [exported.index(name) for name in names]
    seats = [columns.panel.groups[place] for place in places]
    return columns._replace(panel=Seats(seats, columns.panel.others))


def _counted(cells: dict[str, Any], where: Any) -> IntArray:
    """Return the places of the answers that counted; totals among them are refused."""
    counted = values.flags(cells["counted"], Place("counted", where))
    total = values.flags(cells["total"], Place("total", where))
    rule = "no: an audit needs every score, not the sum of several"
    Place("total", where).none_of(counted & total, rule, lambda row: "yes")
    return np.flatnonzero(counted)


def _indices(places: IntArray) -> Any:
    import pyarrow as arrow

    return arrow.array(places)


def _shares(
    column: str | Seats | None, cells: dict[str, Any], group: IntArray, where: Any, *, text: bool
) -> FloatArray | None:
    """Return the share of each row's own group among those who sat."""
    if column is None:
        return None
    if isinstance(column, str):
        return values.numbers(cells[column], Place(column, where), 0.0, 1.0, text=text)
    seats = np.empty((len(column.all), len(group)))
    for number, name in enumerate(column.all):
        array = cells[name]
        if name == column.others:
            array = array.fill_null("0" if text else 0)
        place = Place(name, where)
        seats[number] = values.numbers(array, place, 0.0, MOST_SEATS, text=text)
        broken = seats[number] != np.floor(seats[number])
        place.none_of(broken, "a whole number of seats", lambda row: array[row].as_py())  # noqa: B023
    total = seats.sum(axis=0)
    own = seats[group, np.arange(len(group))]
    place = Place(column.groups[0], where)
    place.none_of(total == 0.0, "of a panel with at least one seat", lambda row: 0)
    return np.asarray(own / total)
