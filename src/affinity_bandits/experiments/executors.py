"""Who does the work: this process, or several. Both do it through `run_shard`, the only way."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol

from affinity_bandits.errors import AffinityError
from affinity_bandits.experiments.spec import Shard
from affinity_bandits.experiments.store import Store

Done = Callable[[Shard], None]


class Executor(Protocol):
    """Runs shards into a store, in any order; what is finished is reported as it is."""

    def run(self, shards: Iterable[Shard], root: Path, done: Done) -> None:
        """Run every shard and write it to the store at `root`."""


def run_shard(shard: Shard, root: Path) -> None:
    """Run one shard and write it. There is no second way to run a cell."""
    from affinity_bandits.simulation import simulate

    result = simulate(
        shard.cell.bandit,
        shard.cell.policy,
        shard.cell.horizon,
        shard.count,
        shard.cell.stream_seed,
        checkpoints=shard.cell.checkpoints,
        engine=shard.cell.engine,
        first_replicate=shard.first,
        progress=False,
    )
    if not result.complete:  # an interrupt inside: half a shard must not look like a whole one
        raise KeyboardInterrupt
    Store(root).write(shard, result)


class SerialExecutor:
    """One shard after the other, in this process."""

    def run(self, shards: Iterable[Shard], root: Path, done: Done) -> None:
        """Run every shard and write it to the store at `root`."""
        for shard in shards:
            run_shard(shard, root)
            done(shard)


class ProcessExecutor:
    """Several processes, started afresh (spawn); the work of one that dies is queued again.

    Args:
        workers: how many.
        most_deaths: how many deaths of workers in a row, with nothing finished in between, are
            taken for a fault of the work rather than of the machine.
    """

    def __init__(self, workers: int = 2, most_deaths: int = 5) -> None:
        self.workers = workers
        self.most_deaths = most_deaths

    def run(self, shards: Iterable[Shard], root: Path, done: Done) -> None:
        """Run every shard and write it to the store at `root`."""
        waiting = list(shards)
        deaths = 0
        while waiting:
            before = len(waiting)
            waiting = self._until_a_worker_dies(waiting, root, done)
            deaths = deaths + 1 if len(waiting) == before else 0
            if deaths >= self.most_deaths:
                raise AffinityError(
                    f"workers died {deaths} times without finishing anything; the next piece of "
                    f"work is {waiting[0].name}"
                )

    def _until_a_worker_dies(self, shards: list[Shard], root: Path, done: Done) -> list[Shard]:
        """Return what is left when a worker has died, or nothing."""
        left = {shard.name: shard for shard in shards}
        queue = iter(shards)
        running: dict[Future[Any], Shard] = {}
        pool = ProcessPoolExecutor(self.workers, mp_context=multiprocessing.get_context("spawn"))
        try:
            while True:
                # A short queue: what is handed out is lost when a worker dies.
                while len(running) < 2 * self.workers:
                    shard = next(queue, None)
                    if shard is None:
                        break
                    running[pool.submit(run_shard, shard, root)] = shard
                if not running:
                    return []
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    shard = running.pop(future)
                    future.result()
                    del left[shard.name]
                    done(shard)
        except BrokenProcessPool:
            return list(left.values())
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
