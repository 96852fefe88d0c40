"""Summaries of a sweep's cells, as far as they are finished, computed one at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits.displays import Interval, one_line
from affinity_bandits.errors import InvalidInput
from affinity_bandits.experiments.axes import axes_of, is_number
from affinity_bandits.experiments.spec import Planned, canonical
from affinity_bandits.experiments.store import Store, result_of
from affinity_bandits.experiments.sweep import Sweep
from affinity_bandits.experiments.tables import pyarrow_modules

"""A figure with the ends of its interval."""
MEASURES = {
    "regret": ("regret", "regret_low", "regret_high"),
    "regret_runs": ("regret_median", "regret_5_percent", "regret_95_percent"),
    "wrong_arm": ("wrong_arm", "wrong_arm_low", "wrong_arm_high"),
    "undecided": ("undecided", "undecided_low", "undecided_high"),
}
"""What is known of a cell, and the columns of a table that hold it."""
ENDINGS = (".parquet", ".csv")
SPEC = "spec.json"
BATCH = 10_000
"""Rows of a table that are held in memory at once."""


class CellSummary(NamedTuple):
    """The figures of a cell, as far as it is finished.

    Attributes:
        identity: of the cell.
        place: where it lies on each axis.
        replicates: how many of those asked for are finished.
        regret: mean regret at the horizon; None if nothing is finished.
        regret_runs: regret of the median run, and of the two runs between which lie 90% of all.
        wrong_arm: how often the verdict was wrong, as `Result.wrong_arm` has it.
        undecided: how often there was none; None if the policy never decides.
        engine: "rounds" or "steps"; empty if nothing is finished.
        code: digests of the user's own code in it, as text; empty if there is none.
    """

    identity: str
    place: tuple[int, ...]
    replicates: int
    regret: Interval | None = None
    regret_runs: Interval | None = None
    wrong_arm: Interval | None = None
    undecided: Interval | None = None
    engine: str = ""
    code: str = ""

    def __repr__(self) -> str:
        return one_line(self)


class Finished(NamedTuple):
    """How much of a sweep is finished.

    Attributes:
        done: replicates, of all cells.
        total: replicates that are asked for, of all cells.
        by_value: the two for each value of each axis, in the order of the axis.
    """

    done: int
    total: int
    by_value: dict[str, list[tuple[int, int]]]

    def __repr__(self) -> str:
        return one_line(self)


def summarise(planned: Planned, store: Store, replicates: int, level: float = 0.95) -> CellSummary:
    """Summarise the finished ones of a cell's first `replicates` replicates.

    Raises:
        InvalidInput: one of the cell's files is damaged.
    """
    found = store.finished(planned.identity)
    wanted = 0 if found is None else int((found.replicates < replicates).sum())
    if found is None or wanted == 0:
        return CellSummary(planned.identity, planned.place, 0)
    (row,) = result_of(planned, found, wanted).summary(level)
    return CellSummary(
        planned.identity,
        planned.place,
        wanted,
        row.regret,
        row.regret_runs,
        row.wrong_arm,
        row.undecided,
        row.engine,
        _code(json.loads(planned.text)),
    )


def cell_summaries(sweep: Sweep, store: Store, level: float = 0.95) -> Iterator[CellSummary]:
    """Yield the summary of every cell, reading one at a time."""
    for planned in sweep.planned():
        yield summarise(planned, store, sweep.replicates, level)


def earlier_code(sweep: Sweep, store: Store) -> Iterator[Planned]:
    """Yield cells of the store that differ from the sweep's in the user's own code alone.

    They are what the sweep had before a policy or function was edited. They are never counted or
    drawn with the cells of the code as it stands.
    """
    places, current = {}, set()
    for planned in sweep.planned():
        content = json.loads(planned.text)
        if content.pop("code", None) is not None:
            places[canonical(content)] = planned.place
            current.add(planned.identity)
    if not places:  # nothing but built-in code, which is never edited: spare a look at the store
        return
    for kept in store.kept():
        content = kept.content
        if content.pop("code", None) is not None and kept.identity not in current:
            place = places.get(canonical(content))
            if place is not None:
                yield Planned(kept.identity, kept.text, place)


def finished(sweep: Sweep, store: Store) -> Finished:
    """Count what is finished by the names of files, without reading them."""
    counts = {key: [[0, 0] for _ in values] for key, values in sweep.axes.items()}
    done = 0
    for planned in sweep.planned():
        there = store.count(planned.identity, sweep.replicates)
        done += there
        for key, index in zip(sweep.axes, planned.place, strict=True):
            counts[key][index][0] += there
            counts[key][index][1] += sweep.replicates
    return Finished(
        done,
        len(sweep) * sweep.replicates,
        {key: [(some, of) for some, of in values] for key, values in counts.items()},
    )


def keep_spec(sweep: Sweep, store: Store) -> list[str] | None:
    """Save a sweep in its store, for readers who have the store but not the sweep's file.

    Cells are their content, so one store can hold several sweeps; the latest is the one kept.

    Returns:
        The keys in which the one kept before differs, or None if there was none.
    """
    new = sweep.to_json()
    before = None
    if SPEC in store.files.names(""):
        try:
            before = json.loads(store.files.read(SPEC))
        except ValueError:  # somebody has been writing by hand; nothing depends on it
            before = {}
    if before != json.loads(json.dumps(new)):
        store.files.write(SPEC, (json.dumps(new, indent=1) + "\n").encode())
    return None if before is None else _differing(before, new)


def write_table(sweep: Sweep, store: Store, path: str | Path, level: float = 0.95) -> int:
    """Write one row for each cell to a .parquet or .csv file; return how many.

    A cell of which nothing is finished has 0 replicates and no figures. If the sweep has code of
    the user's own, what there is of earlier code follows, and a column tells codes apart.
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise InvalidInput("out", "a file that ends in .parquet or .csv", str(path))
    rows = _rows(sweep, store, level)
    if path.suffix == ".csv":
        return _write_csv(path, _columns(sweep), rows)
    return _write_parquet(path, _columns(sweep), rows)


def _columns(sweep: Sweep) -> dict[str, type]:
    """Return the columns of a table with their types."""
    columns: dict[str, type] = {"cell": str}
    for axis in axes_of(sweep):
        values = sweep.axes[axis.key]
        if all(isinstance(value, int) and is_number(value) for value in values):
            columns[axis.key] = int
        else:
            columns[axis.key] = float if all(map(is_number, values)) else str
        if axis.numbers is not None:
            columns.setdefault(axis.column, float)
    columns["replicates"] = int
    columns |= dict.fromkeys(chain.from_iterable(MEASURES.values()), float)
    return columns | {"engine": str, "code": str}


def _rows(sweep: Sweep, store: Store, level: float) -> Iterator[dict[str, Any]]:
    axes = axes_of(sweep)
    earlier = (
        summarise(planned, store, sweep.replicates, level) for planned in earlier_code(sweep, store)
    )
    for cell in chain(cell_summaries(sweep, store, level), earlier):
        row: dict[str, Any] = {"cell": cell.identity, "replicates": cell.replicates}
        for axis, index in zip(axes, cell.place, strict=True):
            if axis.numbers is not None:
                row[axis.column] = axis.numbers[index]
            value = sweep.axes[axis.key][index]
            row[axis.key] = value if is_number(value) else axis.labels[index]
        for measure, names in MEASURES.items():
            figure: Interval | None = getattr(cell, measure)
            row |= zip(names, figure or (None, None, None), strict=True)
        yield row | {"engine": cell.engine or None, "code": cell.code or None}


def _write_csv(path: Path, columns: dict[str, type], rows: Iterator[dict[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns))
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    return count


def _write_parquet(path: Path, columns: dict[str, type], rows: Iterator[dict[str, Any]]) -> int:
    arrow, parquet = pyarrow_modules()
    types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    schema = arrow.schema([(name, types[kind]) for name, kind in columns.items()])
    count = 0
    with parquet.ParquetWriter(str(path), schema, compression="zstd") as writer:
        while batch := list(islice(rows, BATCH)):
            made = [
                {
                    name: float(row[name]) if kind is float and row[name] is not None else row[name]
                    for name, kind in columns.items()
                }
                for row in batch
            ]
            writer.write_table(arrow.Table.from_pylist(made, schema=schema))
            count += len(batch)
    return count


def _code(content: dict[str, Any]) -> str:
    return " ".join(f"{part} {digest}" for part, digest in content.get("code", {}).items())


def _differing(before: Any, new: dict[str, Any]) -> list[str]:
    """Return the keys in which two sweeps differ, as their files spell them."""
    if not isinstance(before, dict):
        return sorted(new)
    found = []
    for key in sorted({*before, *new}):
        old, now = before.get(key), json.loads(json.dumps(new.get(key)))
        if isinstance(old, dict) and isinstance(now, dict):
            found += [f"{key}.{k}" for k in sorted({*old, *now}) if old.get(k) != now.get(k)]
        elif old != now:
            found.append(key)
    return found
