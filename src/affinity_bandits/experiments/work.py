"""Run a shard and write it; cut cells into shards of about a second."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from affinity_bandits.experiments.cells import Cell, Shard, canonical
from affinity_bandits.experiments.store import Store
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation import Result
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
    unwritten: bool = False  # whether the store was at fault


def run_shard(shard: Shard) -> Result:
    """Run one shard and return its outcome."""
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
    return result


def run_task(task: Task, root: str, time_limit: float | None = None) -> Iterator[Report]:
    """Run the missing shards of a task; if one fails, the rest still run.

    Args:
        task: the shards.
        root: of the store.
        time_limit: seconds that a shard may take. One that takes longer ends this process. By
            default, `usual_limit` of each.
    """
    store = Store(root)
    with _Watch(store, time_limit) as watch:
        for shard in task:
            began = time.perf_counter()
            watch.begin(shard)
            error, unwritten = None, False
            if not store.has(shard):
                try:
                    result = run_shard(shard)
                except Exception as fault:  # a user's code may raise anything
                    error = f"{type(fault).__name__}: {fault}"
                else:
                    try:
                        store.write(shard, result)
                    except OSError as fault:
                        error, unwritten = f"{type(fault).__name__}: {fault}", True
            yield Report(shard, time.perf_counter() - began, error, unwritten)


WATCH_SECONDS = 1.0
"""How often a running shard is looked at."""
SLOW_SECONDS = 30.0
"""After how long it is noted in the store."""
LEAST_LIMIT = 3600.0
LIMIT_FACTOR = 100.0


def usual_limit(shard: Shard) -> float:
    """Return the seconds that a shard may take by default: many times what it should."""
    cell = shard.planned.cell()
    return LEAST_LIMIT + LIMIT_FACTOR * _first_guess(cell) * shard.count


class _Watch:
    """Notes shards that take long in the store, and ends the process at a shard's limit.

    The note says why the process ended. Compiled loops release Python's lock, so a thread can
    watch them.
    """

    def __init__(self, store: Store, time_limit: float | None) -> None:
        self._store = store
        self._limit = time_limit
        self._current: tuple[Shard, float] | None = None
        self._before = 0  # replicates that were finished before it
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def begin(self, shard: Shard) -> None:
        """Take the time of a shard from now on."""
        if self._current is not None:
            self._before += self._current[0].count
        self._current = shard, time.monotonic()

    def _look(self) -> None:
        noted: Shard | None = None
        while not self._ended.wait(WATCH_SECONDS):
            if self._current is None:
                continue
            shard, began = self._current
            if noted is not None and noted is not shard:
                self._forget(noted)
                noted = None
            passed = time.monotonic() - began
            limit = usual_limit(shard) if self._limit is None else self._limit
            if noted is None and passed > min(SLOW_SECONDS, limit):
                noted = shard
                self._note(shard, passed)
            if passed > limit:
                self._note(shard, passed, limit)
                os._exit(1)
        if noted is not None:
            self._forget(noted)

    def _note(self, shard: Shard, passed: float, limit: float | None = None) -> None:
        with contextlib.suppress(OSError):
            self._store.note_slow(shard, time.time() - passed, self._before, limit)

    def _forget(self, shard: Shard) -> None:
        with contextlib.suppress(OSError):
            self._store.forget_slow([shard])


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
    gaps: Iterable[tuple[Cell, range]],
    guess: Guess,
    shard_size: int | None,
    task_seconds: Callable[[], float] = lambda: TASK_SECONDS,
) -> Iterator[Task]:
    """Yield tasks for the missing replicates.

    Args:
        gaps: the missing replicates.
        guess: how long they take.
        shard_size: replicates per shard; by default as many as take as long as a task.
        task_seconds: returns how long the next task should take.
    """
    task: list[Shard] = []
    load = 0.0
    for cell, gap in gaps:
        at = gap.start
        while at < gap.stop:
            each, seconds = guess.seconds(cell), task_seconds()
            size = shard_size or _shard_size(cell, each, seconds)
            shard = Shard(cell, at, min(size, gap.stop - at))
            at += shard.count
            task.append(shard)
            load += shard.count * each + SHARD_OVERHEAD
            if load >= seconds:
                yield tuple(task)
                task, load = [], 0.0
    if task:
        yield tuple(task)


def _shard_size(cell: Cell, each: float, seconds: float) -> int:
    replicate_bytes = 8 * cell.bandit.arms * (len(cell.checkpoints) + 2)
    return max(1, min(round(seconds / each), SHARD_BYTES // replicate_bytes, 10**7 - 1))


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
