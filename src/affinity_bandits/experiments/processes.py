"""The executor that runs tasks in several processes on one machine."""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from types import FunctionType
from typing import Any

from affinity_bandits import checks
from affinity_bandits.errors import NotSupported
from affinity_bandits.experiments.executors import Done
from affinity_bandits.experiments.spec import Cell
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.work import Report, Task, run_task

Answer = list[Report] | str
"""What became of a task's shards, or why it could not be loaded."""
WINDOW = 2
"""Tasks handed out for each worker: one that it works on, and one that waits."""
MAX_SHARED_CRASHES = 3
"""Deaths of workers that a task may have been handed out at; then it is run alone."""
SHUTDOWN_SECONDS = 3.0
"""Seconds that workers have after Ctrl-C to finish what they have begun."""
MAX_SOLO_CRASHES = 3
"""How often a task that is run alone may kill its worker before it is given up."""


class ProcessExecutor:
    """Several processes, started by spawn; the work of one that dies is queued again.

    When a worker dies, the pool is lost and made anew. Any task that was handed out may be to
    blame; one that was there at several deaths is run alone, and if its worker keeps dying, its
    shards are reported as failed.

    Args:
        workers: how many; as many as there are cores if left out.
    """

    def __init__(self, workers: int | None = None) -> None:
        cores = os.cpu_count() or 1
        self.workers = cores if workers is None else checks.integer("workers", workers, low=1)

    def check(self, cell: Cell) -> None:
        """Refuse a cell whose code another process could not import.

        Raises:
            NotSupported: says what cannot be sent, and what to do.
        """
        try:
            _Sender(io.BytesIO()).dump(cell)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            raise unsendable(cell, str(error)) from None

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task."""
        queue = iter(tasks)
        again: deque[Task] = deque()
        deaths: Counter[str] = Counter()
        while True:
            lost = self._until_a_worker_dies(_first(again, queue), root, done, self.workers)
            if lost is None:
                return
            for task in lost:
                name = task[0].name
                deaths[name] += 1
                if deaths[name] < MAX_SHARED_CRASHES:
                    again.append(task)
                else:
                    self._alone(task, root, done)

    def _alone(self, task: Task, root: str, done: Done) -> None:
        """Run the shards of a suspicious task one by one, so that no other work dies with them."""
        store = Store(root)
        for shard in task:
            if store.has(shard):  # finished before the worker died
                done(Report(shard, 0.0, None))
                continue
            for _ in range(MAX_SOLO_CRASHES):
                if self._until_a_worker_dies(iter([(shard,)]), root, done, 1) is None:
                    break
            else:
                error = f"its worker died {MAX_SOLO_CRASHES} times: killed, or out of memory"
                done(Report(shard, 0.0, error))

    def _until_a_worker_dies(
        self, tasks: Iterator[Task], root: str, done: Done, workers: int
    ) -> list[Task] | None:
        """Return the tasks that were handed out when a worker died, or None if all are done."""
        running: dict[Future[Answer], Task] = {}
        strangers = multiprocessing.active_children()
        pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_be_a_worker,
        )
        try:
            while True:
                while len(running) < WINDOW * workers:
                    task = next(tasks, None)
                    if task is None:
                        break
                    running[_submit(pool, task, root)] = task
                if not running:
                    return None
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    reports = future.result()
                    task = running.pop(future)
                    if isinstance(reports, str):
                        raise unsendable(task[0].planned.cell(), reports)
                    for report in reports:
                        done(report)
        except BrokenProcessPool:
            return list(running.values())
        except KeyboardInterrupt:
            _let_finish(pool, running, strangers)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def unsendable(cell: Cell, reason: str) -> NotSupported:
    """Return the error to raise for a cell that another process cannot run."""
    parts = {
        "policy": f"policy {str(cell.policy)!r}",
        "bias": f"bias {str(cell.bandit.bias)!r}",
        "bandit": f"noise {str(cell.bandit.noise)!r}",
    }
    named = " and ".join(parts[part] for part in cell.code if part in parts)
    return NotSupported(
        f"{named or 'a cell'} cannot be sent to another process ({reason}): put the code at the "
        f"top level of a module (a .py file) and import it from there, or let this process do the "
        f"work (executor serial, SerialExecutor())"
    )


class _Sender(pickle.Pickler):
    """Pickles as the pool does, and refuses what another process could not import."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | FunctionType) and value.__module__ == "__main__":
            main = sys.modules["__main__"]
            # A script is imported by the workers; a notebook or a prompt is in no file.
            if getattr(main, "__spec__", None) is None and not hasattr(main, "__file__"):
                raise pickle.PicklingError(
                    f"{value.__qualname__} is defined at a prompt or in a notebook"
                )
        return NotImplemented


def _run(content: bytes, root: str) -> Answer:
    """Run a task in a worker; if it cannot be loaded there, report why."""
    try:
        task: Task = pickle.loads(content)
    except Exception as error:  # a module that is not there, a class that its file does not have
        return f"{type(error).__name__}: {error}"
    return run_task(task, root)


def _submit(pool: ProcessPoolExecutor, task: Task, root: str) -> Future[Answer]:
    """Submit a task; if the pool is broken, return a future that has failed."""
    # A worker is started here; until it can ignore Ctrl-C it must not see it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_run, pickle.dumps(task), root)
    except BrokenProcessPool as error:
        broken: Future[Answer] = Future()
        broken.set_exception(error)
        return broken
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _let_finish(
    pool: ProcessPoolExecutor, running: Iterable[Future[Answer]], strangers: list[BaseProcess]
) -> None:
    """Give workers a moment to finish, then end them: one run may take hours.

    What they write is whole or absent, so nothing is lost but their time.
    """
    try:
        pool.shutdown(wait=False, cancel_futures=True)
        wait(running, SHUTDOWN_SECONDS)
    finally:
        for child in multiprocessing.active_children():
            if child not in strangers:
                child.terminate()


def _first(again: deque[Task], queue: Iterator[Task]) -> Iterator[Task]:
    """Yield the tasks to be run again, then the new ones."""
    while True:
        if again:
            yield again.popleft()
            continue
        task = next(queue, None)
        if task is None:
            return
        yield task


def _be_a_worker() -> None:
    """Set up a worker: ignore Ctrl-C, which the driver handles, and end with the driver."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_driver, daemon=True).start()


def _end_with_the_driver() -> None:
    """End when the driver is gone; the queue does not close then, as workers hold it open."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
