"""Run those replicates of a set of cells that are not in the store yet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from affinity_bandits.displays import one_line
from affinity_bandits.errors import AffinityError
from affinity_bandits.experiments.executors import Executor, SerialExecutor
from affinity_bandits.experiments.packing import Guess, packed
from affinity_bandits.experiments.spec import AnyCell, Cell, CellSet, Experiment
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.tables import pyarrow_modules
from affinity_bandits.experiments.work import Report
from affinity_bandits.progress import Progress
from affinity_bandits.simulation import Result

MOST_NAMED = 100
"""Failures and damaged files that a summary keeps by name; all are in the store."""


@dataclass
class Summary:
    """What a run did.

    Attributes:
        found: replicates that were in the store already.
        run: replicates that were run.
        failed: shards that failed by their own fault.
        errors: what the first of them said, by the shard's name.
        aside: damaged or foreign files that were moved aside, the first of them.
    """

    found: int = 0
    run: int = 0
    failed: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    aside: list[str] = field(default_factory=list)

    __repr__ = one_line


def run_cells(
    cells: CellSet,
    store: Store,
    executor: Executor | None = None,
    tell: Callable[[Summary], None] | None = None,
) -> Summary:
    """Run what is missing of a sweep or an experiment.

    Nothing is held in memory that grows with the number of cells or shards: cells are planned,
    compared with the store, cut and handed out one after the other.

    Args:
        cells: what to run.
        store: where finished work is kept; what is there, undamaged, is not run again.
        executor: who does the work; this process if left out.
        tell: is called with the summary whenever it has changed.

    Raises:
        NotSupported: a cell is of code of the user's own that was edited since the cell was made,
            or that cannot be sent to the executor's processes.
    """
    pyarrow_modules()  # said once, not for every shard
    chosen = executor or SerialExecutor()
    summary = Summary()
    guess = Guess()

    def gaps() -> Iterator[tuple[AnyCell, range]]:
        for planned in cells.planned():
            missing, aside = store.missing(planned.identity, cells.replicates)
            summary.found += cells.replicates - sum(len(gap) for gap in missing)
            summary.aside += aside[: MOST_NAMED - len(summary.aside)]
            if tell is not None:
                tell(summary)
            for gap in missing:
                yield planned, gap

    def done(report: Report) -> None:
        guess.learn(report)
        if report.error is None:
            summary.run += report.shard.count
        else:
            summary.failed += 1
            # On a full disk the record fails as its shard did; the summary still has it.
            with contextlib.suppress(OSError):
                store.record_failure(report.shard, report.error)
            if len(summary.errors) < MOST_NAMED:
                summary.errors[report.shard.name] = report.error
        if tell is not None:
            tell(summary)

    if isinstance(cells, Experiment):
        for cell in cells.cells:
            if cell.code and store.count(cell.identity, cells.replicates) < cells.replicates:
                cell.check_code()
                chosen.check(cell)
    store.forget_failures()
    chosen.run(packed(gaps(), guess, cells.shard_size), store.root, done)
    return summary


def run_experiment(
    experiment: Experiment,
    store: Store,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[Cell, Result]:
    """Run what is missing of an experiment and return every cell's outcome.

    Args:
        experiment: what to run.
        store: where finished work is kept; what is there is not run again.
        executor: who does the work; this process if left out.
        progress: is told of every replicate finished, and of those found finished.

    Raises:
        AffinityError: a shard failed.
    """
    told = 0

    def tell(summary: Summary) -> None:
        nonlocal told
        finished = summary.found + summary.run
        if progress is not None and finished > told:
            progress.tick(finished - told)
        told = finished

    summary = run_cells(experiment, store, executor, tell)
    if summary.failed:
        name, error = next(iter(summary.errors.items()))
        raise AffinityError(f"{summary.failed} shards failed; the first is {name}: {error}")
    return {cell: store.read(cell, experiment.replicates) for cell in experiment.cells}
