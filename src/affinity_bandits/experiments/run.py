"""Run those replicates of a set of cells that are missing from the store."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from affinity_bandits.base.displays import one_line
from affinity_bandits.base.errors import AffinityError
from affinity_bandits.base.progress import delay
from affinity_bandits.experiments.cells import Cell, Experiment, Shard
from affinity_bandits.experiments.cutting import Guess, cut_into_tasks
from affinity_bandits.experiments.executors import Executor, SerialExecutor
from affinity_bandits.experiments.parts import WHOLE, Part
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.sweep import Sweep
from affinity_bandits.experiments.work import Report
from affinity_bandits.simulation import Result

MAX_NAMED = 100  # failures and damaged files that a summary lists; all are in the store
MAX_UNWRITTEN = 5  # files in a row that the store does not take before the run stops


@dataclass
class Summary:
    """The outcome of a run.

    Attributes:
        found: replicates that were in the store already.
        run: replicates that were run.
        failed: shards that failed, and combinations of values that are invalid.
        errors: error messages of the first of them, by the shard's name.
        aside: the first of the damaged or foreign files that were moved aside.
    """

    found: int = 0
    run: int = 0
    failed: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    aside: list[str] = field(default_factory=list)

    __repr__ = one_line


def run_cells(
    cells: Experiment | Sweep,
    store: Store,
    executor: Executor | None = None,
    summary: Summary | None = None,
    tick: Callable[[float], object] = bool,
    part: Part = WHOLE,
) -> Summary:
    """Run the missing replicates of a sweep or an experiment, or of a part of it.

    Args:
        cells: the sweep or experiment.
        store: where finished work is kept and reused.
        executor: runs the work; by default this process.
        summary: updated during the run; by default a new one.
        tick: called with the number of replicates that were found in the store or run.
        part: what to run; drivers of different parts may share a store.

    Raises:
        NotSupported: a cell uses the user's own code, which was not imported or cannot be sent to
            the executor's processes.
        AffinityError: the store takes nothing any more, as on a full disk.
    """
    if isinstance(cells, Sweep):
        cells.require_code()
    chosen = executor or SerialExecutor()
    counts = Summary() if summary is None else summary
    guess = Guess()
    unwritten: set[str] = set()
    amount = len(cells) if isinstance(cells, Sweep) else len(cells.cells)

    def own(identity: str) -> list[range]:
        return part.ranges(identity, amount, cells.replicates)

    def fail(shard: Shard, error: str) -> None:
        counts.failed += 1
        # On a full disk the record fails as its shard did; the summary still has it.
        with contextlib.suppress(OSError):
            store.record_failure(shard, error)
        if len(counts.errors) < MAX_NAMED:
            counts.errors[shard.name] = error

    def find_gaps() -> Iterator[tuple[Cell, range]]:
        with delay("reading the store"):
            there = store.snapshot()
        store.move_aside(there.damaged)
        counts.aside += there.damaged[:MAX_NAMED]
        for planned in cells.planned():
            try:
                cell = planned.cell()
            except AffinityError as error:
                whole = Shard(planned, 0, cells.replicates)
                if _contains(own(planned.identity), 0):
                    fail(whole, f"{type(error).__name__}: {error}")
                continue
            wanted = own(cell.identity)
            if not wanted:
                continue
            gaps = there.gaps(cell.identity, cells.replicates)
            missing = [both for gap in gaps for one in wanted if (both := _common(gap, one))]
            found = sum(map(len, wanted)) - sum(map(len, missing))
            counts.found += found
            tick(found)
            for gap in missing:
                yield cell, gap

    def done(report: Report) -> None:
        if report.unwritten:
            unwritten.add(report.unwritten)
        else:
            unwritten.clear()
        if report.error is None:
            guess.learn(report.shard, report.seconds)
            counts.run += report.shard.count
            tick(report.shard.count)
        else:
            fail(report.shard, report.error)
        if len(unwritten) == MAX_UNWRITTEN:
            raise AffinityError(
                f"the last {MAX_UNWRITTEN} files could not be written to {store.root}: "
                f"{report.error}; when this is mended, run the same command again"
            )

    store.forget_records(lambda identity, first: _contains(own(identity), first))
    chosen.run(
        cut_into_tasks(find_gaps(), guess, cells.shard_size, chosen.task_seconds), store.root, done
    )
    return counts


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))


def _contains(ranges: list[range], number: int) -> bool:
    return any(number in one for one in ranges)


def run_experiment(
    experiment: Experiment,
    store: Store,
    executor: Executor | None = None,
    summary: Summary | None = None,
) -> dict[Cell, Result]:
    """Run the missing replicates of an experiment and return every cell's outcome.

    The arguments are those of `run_cells`.

    Raises:
        AffinityError: a shard failed.
    """
    counts = run_cells(experiment, store, executor, summary)
    if counts.failed:
        name, error = next(iter(counts.errors.items()))
        raise AffinityError(f"{counts.failed} shards failed; the first is {name}: {error}")
    return {cell: store.read(cell, experiment.replicates) for cell in experiment.cells}
