"""Run the shards of a task and write them together."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from affinity_bandits.experiments.cells import Shard, canonical
from affinity_bandits.experiments.cutting import SHARD_BYTES, Task
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.watch import Watch
from affinity_bandits.simulation import Result

WRITE_SECONDS = 5.0
"""After how long the finished shards of a task are written, though it goes on."""

# Own code that this process has compared with its digest. It is compared once, because code may
# change a module's variables while it runs.
_checked: set[str] = set()


class Report(NamedTuple):
    """The outcome of a shard.

    Attributes:
        shard: the shard.
        seconds: how long it ran.
        error: None if it is in the store.
        unwritten: if the store did not take it, the first shard of the file that it was in.
    """

    shard: Shard
    seconds: float
    error: str | None
    unwritten: str = ""


Sent = tuple[int, float, str | None, str]
"""A report as a worker sends it: the shard's place in its task, which the driver has."""


def to_send(reports: Iterable[Report], task: Task) -> list[Sent]:
    """Return reports on the shards of a task without the shards, whose pickles are large."""
    places = {id(shard): place for place, shard in enumerate(task)}
    return [(places[id(report.shard)], *report[1:]) for report in reports]


def received(sent: Iterable[Sent], task: Task) -> list[Report]:
    """Return the reports that a worker has sent."""
    return [
        Report(task[place], seconds, error, unwritten) for place, seconds, error, unwritten in sent
    ]


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
    """Run the shards of a task; if one fails, the rest still run.

    They are written to one file at the end. A task that takes long, or much memory, writes what it
    has several times. A shard is reported when it is in the store.

    Args:
        task: the shards.
        root: of the store.
        time_limit: seconds that a shard may take. One that takes longer ends this process. By
            default, `usual_limit` of each.
    """
    store = Store(root)
    finished = Finished(store)
    try:
        with Watch(store, time_limit, finished.write_old) as watch:
            for shard in task:
                began = time.perf_counter()
                watch.begin(shard)
                try:
                    result = run_shard(shard)
                except Exception as fault:  # a user's code may raise anything
                    error = f"{type(fault).__name__}: {fault}"
                    yield Report(shard, time.perf_counter() - began, error)
                else:
                    finished.add(shard, result, time.perf_counter() - began)
                yield from finished.take_reports()
    finally:  # after an interrupt, too
        finished.write()
    yield from finished.take_reports()


class Finished:
    """Shards that are finished and not yet written, of two threads: that which runs, and `Watch`.

    Args:
        store: where to write them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: list[tuple[Shard, Result, float]] = []
        self._bytes = 0
        self._since = 0.0
        self._reports: list[Report] = []
        self._lock = threading.Lock()

    def add(self, shard: Shard, result: Result, seconds: float) -> None:
        """Hold a shard; write those held before if all were too large together."""
        size = result.pulls.nbytes + result.candidates.nbytes + result.decided_at.nbytes
        if self._bytes + size > SHARD_BYTES:
            self.write()
        with self._lock:
            if not self._held:
                self._since = time.monotonic()
            self._held.append((shard, result, seconds))
            self._bytes += size

    def write(self) -> None:
        """Write what is held to one file."""
        with self._lock:
            held, self._held, self._bytes = self._held, [], 0
            if not held:
                return
            error, file = None, ""
            try:
                self._store.write([(shard, result) for shard, result, _ in held])
            except OSError as fault:
                error, file = f"{type(fault).__name__}: {fault}", held[0][0].name
            self._reports += [Report(shard, seconds, error, file) for shard, _, seconds in held]

    def write_old(self, now: bool = False) -> None:
        """Write what is held if it is old, or if it must be now."""
        if self._held and (now or time.monotonic() - self._since > WRITE_SECONDS):
            self.write()

    def take_reports(self) -> list[Report]:
        """Return the reports on shards since the last call."""
        with self._lock:
            reports, self._reports = self._reports, []
        return reports
