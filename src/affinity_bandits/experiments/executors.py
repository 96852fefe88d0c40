"""Executors: run shards in this process or in several."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, Protocol

from affinity_bandits.base import checks, workers
from affinity_bandits.base.errors import NotSupported
from affinity_bandits.base.progress import begin_delay, end_delay, forward_delays
from affinity_bandits.base.workers import Worker
from affinity_bandits.experiments.cells import Cell, Shard
from affinity_bandits.experiments.cutting import TASK_SECONDS, Task
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.work import Report, Sent, received, run_task, to_send

Done = Callable[[Report], None]  # called with the report on every shard


class Executor(Protocol):
    """Runs tasks in any order, writes their shards to a store and reports on each shard."""

    def task_seconds(self) -> float:
        """Return how long a task should take."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task; `tasks` is consumed only as fast as tasks are run."""


class SerialExecutor:
    """Runs one shard after the other in this process, without a time limit."""

    def task_seconds(self) -> float:
        return TASK_SECONDS

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        for task in tasks:
            for report in run_task(task, root, math.inf):
                done(report)


SHUTDOWN_SECONDS = 3.0  # seconds that workers have after Ctrl-C to finish their tasks
MOST_WORKERS = 60 if sys.platform == "win32" else 100_000  # Windows waits for 63 pipes at most
MAX_CRASHES = 3  # workers that a shard may kill before it is reported as failed
PIECES = 16  # tasks that replace one whose worker died
LEAST_SECONDS = 1.0  # of a time limit: starting and writing take part of it


class Retries:
    """Decides what to do with the shards of a task whose worker died.

    They run again in smaller tasks, in the end one per task. A shard whose workers keep dying, or
    that exceeded the time limit, is reported as failed.

    Args:
        root: of the store, where workers note why they end.
        done: called with the reports of failed shards.
    """

    def __init__(self, root: str, done: Done) -> None:
        self._store = Store(root)
        self._done = done
        self._crashes: Counter[str] = Counter()

    def after(self, task: Task, cause: str = "killed, or out of memory") -> list[Task]:
        """Return the tasks to run in place of one whose worker died."""
        limits = {note.shard: note.limit for note in self._store.slow() if note.limit is not None}
        self._store.forget_slow(task)
        again: list[Shard] = []
        for shard in task:
            self._crashes[shard.name] += len(task) == 1  # else, another one may be to blame
            if shard.name in limits:
                limit = limits[shard.name]
                error = f"took longer than its time limit, {limit:g} seconds"
                self._done(Report(shard, limit, f"{error} (set another with --time-limit)"))
            elif self._crashes[shard.name] < MAX_CRASHES:
                again.append(shard)
            else:
                error = f"its worker died {MAX_CRASHES} times: {cause}"
                self._done(Report(shard, 0.0, error))
        size = math.ceil(len(again) / PIECES)
        return [tuple(again[at : at + size]) for at in range(0, len(again), size or 1)]


def check_limit(time_limit: float | None) -> float | None:
    """Check a time limit."""
    if time_limit is None:
        return None
    return checks.number("time_limit", time_limit, low=LEAST_SECONDS)


class ProcessExecutor:
    """Several processes, started by spawn; a worker that dies is replaced.

    Its shards are run again in smaller tasks. A shard whose workers keep dying is reported as
    failed.

    Args:
        workers: how many; one per core by default.
        time_limit: seconds that a shard may take before it is reported as failed; by default an
            hour and a hundred times the estimate.
    """

    def __init__(self, workers: int | None = None, time_limit: float | None = None) -> None:
        cores = min(os.cpu_count() or 1, MOST_WORKERS)
        chosen = cores if workers is None else workers
        self.workers = checks.integer("workers", chosen, low=1, high=MOST_WORKERS)
        self.time_limit = check_limit(time_limit)

    def task_seconds(self) -> float:
        return TASK_SECONDS

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        fresh = iter(tasks)
        again: deque[Task] = deque()
        retries = Retries(root, done)
        busy: dict[Any, tuple[Worker, Task]] = {}
        idle: list[Worker] = []
        delays = _Delays()
        try:
            while True:
                while len(busy) < self.workers:
                    task = again.popleft() if again else next(fresh, None)
                    if task is None:
                        break
                    worker = idle.pop() if idle else Worker(_work, root, self.time_limit)
                    busy[worker.pipe] = worker, task
                    try:
                        # A dead worker is noticed where it should answer.
                        with contextlib.suppress(BrokenPipeError):
                            worker.pipe.send(task)
                    except (pickle.PicklingError, AttributeError, TypeError) as error:
                        raise unsendable_cell(task[0].planned.cell(), str(error)) from None
                if not busy:
                    return
                for pipe in wait(list(busy)):
                    worker, task = busy[pipe]
                    answer = _receive(worker)
                    delays.show(pipe, answer.words if isinstance(answer, _Delay) else "")
                    if isinstance(answer, _Delay):
                        continue
                    del busy[pipe]
                    if answer is None:
                        again += retries.after(task)
                        continue
                    idle.append(worker)
                    if isinstance(answer, str):
                        raise unsendable_cell(task[0].planned.cell(), answer)
                    for report in received(answer, task):
                        done(report)
        except KeyboardInterrupt:
            # A task may take hours. What workers write is whole or absent, so they can be killed.
            for worker, _ in busy.values():
                worker.pipe.poll(SHUTDOWN_SECONDS / self.workers)
            raise
        finally:
            delays.end()
            for worker in (*idle, *(worker for worker, _ in busy.values())):
                worker.end()


class _Delay(NamedTuple):
    """What a worker waits for, as on a machine's first run; no words if it goes on."""

    words: str


class _Delays:
    """Shows what workers wait for, as if the driver did."""

    def __init__(self) -> None:
        self._shown: dict[Any, str] = {}

    def show(self, pipe: Any, words: str) -> None:
        """Show the words of a worker, in place of its last ones."""
        if before := self._shown.pop(pipe, ""):
            end_delay(before)
        if words:
            self._shown[pipe] = words
            begin_delay(words)

    def end(self) -> None:
        for pipe in list(self._shown):
            self.show(pipe, "")


def _receive(worker: Worker) -> list[Sent] | str | _Delay | None:
    """Return the reports of a task, an error of loading it, a delay, or None if the worker died."""
    try:
        found: list[Sent] | str | _Delay = worker.pipe.recv()
    except (EOFError, OSError):
        worker.end()
        return None
    return found


def _work(pipe: Connection, root: str, time_limit: float | None) -> None:
    """Run tasks until the driver is gone."""
    forward_delays(partial(_send_delay, pipe))
    while True:
        answer: list[Sent] | str
        try:
            task = pipe.recv()
        except EOFError:
            return
        except (
            Exception
        ) as error:  # a module that is not there, a class that its file does not have
            answer = f"{type(error).__name__}: {error}"
        else:
            answer = to_send(run_task(task, root, time_limit), task)
        with contextlib.suppress(BrokenPipeError):
            pipe.send(answer)


def _send_delay(pipe: Connection, words: str) -> None:
    with contextlib.suppress(OSError):
        pipe.send(_Delay(words))


HERE = "let this process do the work (executor serial, SerialExecutor())"


def unsendable_cell(cell: Cell, reason: str, way_out: str = HERE) -> NotSupported:
    """Return the error to raise for a cell that only this process can run."""
    parts = {
        "policy": f"policy {str(cell.policy)!r}",
        "bias": f"bias {str(cell.bandit.bias)!r}",
        "bandit": f"noise {str(cell.bandit.noise)!r}",
    }
    named = " and ".join(parts[part] for part in cell.code if part in parts)
    return workers.unsendable(named or "a cell", reason, way_out)
