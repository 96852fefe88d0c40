"""Summaries of a sweep's cells, as far as they are finished."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from affinity_bandits._version import __version__
from affinity_bandits.base.displays import Interval, one_line
from affinity_bandits.base.tables import TableFile
from affinity_bandits.experiments.cells import Cell, canonical, identity_of
from affinity_bandits.experiments.outcomes import Kept, result_of
from affinity_bandits.experiments.snapshot import Snapshot
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.sweep import Sweep, axes_of, is_number

# Attributes of a summary, with the columns of a table for the estimate and its interval.
MEASURES = {
    "regret": ("regret", "regret_low", "regret_high"),
    "regret_runs": ("regret_median", "regret_5_percent", "regret_95_percent"),
    "wrong_arm": ("wrong_arm", "wrong_arm_low", "wrong_arm_high"),
    "undecided": ("undecided", "undecided_low", "undecided_high"),
    "decided_at": ("decided_at_median", "decided_at_5_percent", "decided_at_95_percent"),
}
SPEC = "spec.json"
OWN_CODE = "own-code"
"""The folder with the cells of sweeps that name the user's own code."""


_IDENTITY = re.compile("[0-9a-f]{32}")


class CellSummary(NamedTuple):
    """Estimates for a cell, from its finished replicates.

    Attributes:
        identity: of the cell.
        place: index of its value on each axis.
        replicates: how many of those asked for are finished.
        regret: mean regret at the horizon; None before the first finished replicate.
        regret_runs: median regret of the runs, and the interval that holds 90% of the runs.
        wrong_arm: how often the verdict was wrong; see `Result.wrong_arm`.
        undecided: how often a run was undecided; None if the policy never decides.
        decided_at: see `SummaryRow.decided_at`.
        simple_regret: mean gap of the arms that the runs recommend.
        engine: "rounds" or "steps"; empty before the first finished replicate.
        code: digests of the user's own code, as text, possibly empty.
    """

    identity: str
    place: tuple[int, ...]
    replicates: int
    regret: Interval | None = None
    regret_runs: Interval | None = None
    wrong_arm: Interval | None = None
    undecided: Interval | None = None
    decided_at: Interval | None = None
    simple_regret: float | None = None
    engine: str = ""
    code: str = ""

    def __repr__(self) -> str:
        return one_line(self)


class FinishedCounts(NamedTuple):
    """How much of a sweep is finished.

    Attributes:
        done: finished replicates, of all cells.
        total: replicates that are asked for, of all cells.
        by_value: the two for each value of each axis.
    """

    done: int
    total: int
    by_value: dict[str, list[tuple[int, int]]]

    def __repr__(self) -> str:
        return one_line(self)


def summarize(
    identity: str, place: tuple[int, ...], there: Snapshot, replicates: int, level: float = 0.95
) -> CellSummary:
    """Summarize the finished ones of a cell's first `replicates` replicates; its code may be gone.

    Raises:
        InvalidInput: a file of the store is damaged.
    """
    found = there.finished(identity)
    wanted = 0 if found is None else int((found.replicates < replicates).sum())
    if found is None or wanted == 0:
        return CellSummary(identity, place, 0)
    cell = Kept(identity, found.text)
    (row,) = result_of(cell, found, wanted).summary(level)
    return CellSummary(
        identity,
        place,
        wanted,
        row.regret,
        row.regret_runs,
        row.wrong_arm,
        row.undecided,
        row.decided_at,
        row.simple_regret,
        row.engine,
        " ".join(f"{part} {digest}" for part, digest in cell.content.get("code", {}).items()),
    )


def cell_summaries(sweep: Sweep, store: Store, level: float = 0.95) -> Iterator[CellSummary]:
    """Yield the summary of every cell, reading one at a time."""
    there = store.snapshot()
    for identity, place in _identities(sweep, store):
        yield summarize(identity, place, there, sweep.replicates, level)


def count_finished(sweep: Sweep, store: Store) -> FinishedCounts:
    """Count the finished replicates, without reading their outcomes."""
    snapshot = store.snapshot(checked=False)
    counts = {key: [0] * len(values) for key, values in sweep.axes.items()}
    done = 0
    for identity, place in _identities(sweep, store):
        there = snapshot.count(identity, sweep.replicates)
        done += there
        for key, index in zip(sweep.axes, place, strict=True):
            counts[key][index] += there
    total = len(sweep) * sweep.replicates
    by_value = {
        key: [(some, total // len(found)) for some in found] for key, found in counts.items()
    }
    return FinishedCounts(done, total, by_value)


def keep_spec(sweep: Sweep, store: Store) -> list[str] | None:
    """Save a sweep in its store, for readers of the store.

    A store can hold several sweeps; it keeps the specification of the latest. If a sweep names the
    user's own code, it also keeps which cells that code makes, so that readers need not import it.

    Returns:
        The keys in which the previous specification differs, or None if this is the first.
    """
    new = json.loads(json.dumps(sweep.to_json()))
    before = None
    if SPEC in store.files.names(""):
        try:
            before = json.loads(store.files.read(SPEC))
        except ValueError:  # edited by hand; nothing depends on it
            before = {}
    if before != new:
        store.files.write(SPEC, (json.dumps(new, indent=1) + "\n").encode())
    looked = Sweep.from_json(new)
    if looked.unimported and not sweep.unimported:
        identities = [planned.identity for planned in sweep.planned()]
        store.files.write(_place_of_cells(looked), json.dumps(identities).encode())
    return None if before is None else [key for key in new if before.get(key) != new[key]]


def cells_are_known(sweep: Sweep, store: Store) -> bool:
    """Return whether the cells of a sweep can be found without importing code that it names."""
    return not sweep.unimported or len(_kept_identities(sweep, store)) > 0


def _identities(sweep: Sweep, store: Store) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the identity and the place of every cell of a sweep.

    Cells whose code was not imported are those of the last run with it.
    """
    kept = _kept_identities(sweep, store) if sweep.unimported else []
    for number, planned in enumerate(sweep.planned()):
        known = kept and not isinstance(planned.built, Cell)
        yield kept[number] if known else planned.identity, planned.place


def _kept_identities(sweep: Sweep, store: Store) -> list[str]:
    """Return the identities of all cells that `keep_spec` has kept, or an empty list."""
    try:
        kept = json.loads(store.files.read(_place_of_cells(sweep)))
    except (OSError, ValueError):
        return []
    whole = isinstance(kept, list) and len(kept) == len(sweep)
    return kept if whole and all(_IDENTITY.fullmatch(str(one)) for one in kept) else []


def _place_of_cells(sweep: Sweep) -> str:
    """Return the file with the identities of a sweep's cells, in their order."""
    content = {"axes": sweep.axes, "fixed": sweep.fixed, "seed": sweep.seed, "version": __version__}
    return f"{OWN_CODE}/{identity_of(canonical(content))}.json"


def write_table(sweep: Sweep, store: Store, path: str | Path, level: float = 0.95) -> int:
    """Write one row per cell to a .parquet or .csv file; return how many.

    Estimates are empty before a cell's first finished replicate.
    """
    target = TableFile("out", path)
    columns = _columns(sweep)
    with target.open(columns) as table:
        for row in _rows(sweep, store, level):
            table.add([row[name] for name in columns])
    return table.rows


def _columns(sweep: Sweep) -> dict[str, type]:
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
    return columns | {"simple_regret": float, "engine": str, "code": str}


def _rows(sweep: Sweep, store: Store, level: float) -> Iterator[dict[str, Any]]:
    axes = axes_of(sweep)
    for cell in cell_summaries(sweep, store, level):
        row: dict[str, Any] = {"cell": cell.identity, "replicates": cell.replicates}
        for axis, index in zip(axes, cell.place, strict=True):
            if axis.numbers is not None:
                row[axis.column] = axis.numbers[index]
            value = sweep.axes[axis.key][index]
            row[axis.key] = value if is_number(value) else axis.labels[index]
        for measure, names in MEASURES.items():
            estimate: Interval | None = getattr(cell, measure)
            row |= zip(names, estimate or (None, None, None), strict=True)
        row["simple_regret"] = cell.simple_regret
        yield row | {"engine": cell.engine or None, "code": cell.code or None}
