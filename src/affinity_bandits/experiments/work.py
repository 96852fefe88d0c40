"""Run a shard and write it; cut cells into shards of about a second."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from affinity_bandits.experiments.cells import Cell, Shard, canonical
from affinity_bandits.experiments.store import Store
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.rounds import round_support

Task = Sequence[Shard]  # what is sent to a worker at once

# Own code that this process has compared with its digest. It is compared once, because code may
# change a module's variables while it runs.
_checked: set[str] = set()


class Report(NamedTuple):
    """The outcome of a shard."""

    shard: Shard
    seconds: float
    error: str | None  # None if the shard is in the store


def run_shard(shard: Shard, root: str) -> None:
    """Run one shard and write it."""
    from affinity_bandits.simulation import simulate

    cell = shard.planned.cell()
    if cell.code and canonical(cell.code) not in _checked:
        cell.check_code()
        _checked.add(canonical(cell.code))
    result = simulate(
        cell.bandit,
        cell.policy,
        cell.horizon,
        shard.count,
        cell.stream_seed,
        checkpoints=cell.checkpoints,
        engine=cell.engine,
        first_replicate=shard.first,
        progress=False,
    )
    if not result.complete:  # an interrupt inside: half a shard must not look like a whole one
        raise KeyboardInterrupt
    Store(root).write(shard, result)


def run_task(task: Task, root: str) -> list[Report]:
    """Run the missing shards of a task; if one fails, the rest still run."""
    store = Store(root)
    reports = []
    for shard in task:
        began = time.perf_counter()
        error = None
        if not store.has(shard):
            try:
                run_shard(shard, root)
            except Exception as fault:  # a user's code may raise anything
                error = f"{type(fault).__name__}: {fault}"
        reports.append(Report(shard, time.perf_counter() - began, error))
    return reports


TASK_SECONDS = 1.0
SHARD_BYTES = 32 * 2**20  # limit on the memory of a shard's pulls
STEP_SECONDS = 40e-9  # first guess for a pull of one arm
ROUND_SECONDS = 50e-6  # first guess for a replicate by whole rounds, for one arm
SHARD_OVERHEAD = 5e-3  # seconds to write a shard


class Guess:
    """Estimates of the seconds per replicate, corrected by measurements."""

    def __init__(self) -> None:
        self._factors: dict[tuple[str, str, bool], float] = {}

    def seconds(self, cell: Cell) -> float:
        """Return an estimate for one replicate of a cell."""
        return _first_guess(cell) * self._factors.get(_kind(cell), 1.0)

    def learn(self, report: Report) -> None:
        """Correct the estimate by how long a finished shard took."""
        cell = report.shard.planned.cell()
        spent = max(report.seconds - SHARD_OVERHEAD, 0.1 * report.seconds)
        factor = min(max(spent / (_first_guess(cell) * report.shard.count), 1e-3), 1e3)
        # The geometric mean: the first shard of a kind may have been slow because it compiled.
        known = self._factors.get(_kind(cell), factor)
        self._factors[_kind(cell)] = (known * factor) ** 0.5


def cut_into_tasks(
    gaps: Iterable[tuple[Cell, range]], guess: Guess, shard_size: int | None
) -> Iterator[Task]:
    """Yield tasks for the missing replicates."""
    task: list[Shard] = []
    load = 0.0
    for cell, gap in gaps:
        at = gap.start
        while at < gap.stop:
            each = guess.seconds(cell)
            size = shard_size or _shard_size(cell, each)
            shard = Shard(cell, at, min(size, gap.stop - at))
            at += shard.count
            task.append(shard)
            load += shard.count * each + SHARD_OVERHEAD
            if load >= TASK_SECONDS:
                yield tuple(task)
                task, load = [], 0.0
    if task:
        yield tuple(task)


def _shard_size(cell: Cell, seconds: float) -> int:
    replicate_bytes = 8 * cell.bandit.arms * (len(cell.checkpoints) + 2)
    return max(1, min(round(TASK_SECONDS / seconds), SHARD_BYTES // replicate_bytes, 10**7 - 1))


def _by_rounds(cell: Cell) -> bool:
    return (
        cell.engine == "auto"
        and isinstance(cell.policy, RoundPolicy)
        and round_support(cell.bandit, cell.policy) is None
    )


def _kind(cell: Cell) -> tuple[str, str, bool]:
    """Return the traits of a cell that determine its speed most."""
    return cell.policy.name, cell.bandit.noise.name, _by_rounds(cell)


def _first_guess(cell: Cell) -> float:
    if _by_rounds(cell):
        return ROUND_SECONDS * cell.bandit.arms
    return STEP_SECONDS * (1 + cell.bandit.arms / 8) * cell.horizon
