"""Shares of the replicates that are run at once: compiled ones in threads, others in processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pickle import PicklingError
from typing import NamedTuple, Self

import numpy as np

from affinity_bandits.base.errors import NotSupported
from affinity_bandits.base.workers import Worker, answer_calls, in_threads, unsendable
from affinity_bandits.kernels.compile import runs_interpreted
from affinity_bandits.kernels.kernel import IntArray
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.policies import RoundPolicy, StepPolicy
from affinity_bandits.simulation.engines import Engine, Tick, engine_for


class Asked(NamedTuple):
    """The arguments of `engine_for`: what an engine in another process is made from."""

    bandit: AffinityBandit
    policy: StepPolicy | RoundPolicy
    horizon: int
    seed: int
    checkpoints: IntArray
    wanted: str


def run_replicates(asked: Asked, first: int, count: int) -> tuple[IntArray, IntArray]:
    """Run replicates `first`, `first` + 1, ... and return what `Engine.run` fills in."""
    engine, _ = engine_for(*asked)
    pulls = np.zeros((count, len(asked.checkpoints), asked.bandit.arms), dtype=np.int64)
    ends = np.zeros((count, asked.bandit.arms + 1), dtype=np.int64)
    engine.run(first, pulls, ends, lambda _: None)
    return pulls, ends


class RemoteEngine:
    """An engine in another process, for one thread of this one."""

    def __init__(self, name: str, asked: Asked, worker: Worker) -> None:
        self.name = name
        self._asked = asked
        self._worker = worker

    def compile(self) -> None:
        """Do nothing: the other process does it."""

    def run(self, first: int, out: IntArray, candidates: IntArray, tick: Tick) -> None:
        named = f"policy {str(self._asked.policy)!r}, or what it plays with,"
        try:
            found = self._worker.call(run_replicates, self._asked, first, len(out))
        except PicklingError as error:
            raise unsendable(named, error, "use this process alone (n_jobs=1)") from None
        except EOFError:
            raise NotSupported(
                f"a process with {self._asked.policy} ended: it was killed, ran out of memory, or "
                "could not import the script, which must call simulate below "
                "'if __name__ == \"__main__\":' (or use n_jobs=1)"
            ) from None
        out[:], candidates[:] = found
        tick(float(len(out)))


class Jobs:
    """Engines for shares of the replicates, one set per job.

    Compiled loops release Python's lock, so they run in threads. Each job has a process for the
    engines that hold the lock.

    Args:
        engines: those of the first job, compiled.
        asked: what they were made from.
        count: the number of jobs.
    """

    def __init__(self, engines: Sequence[Engine], asked: Sequence[Asked], count: int) -> None:
        self._stopped = threading.Event()
        self._ticking = threading.Lock()
        self._workers: list[Worker] = []
        self._sets = [list(engines)]
        if count > 1:
            self._sets = [self._copies(engines, asked) for _ in range(count)]

    def _copies(self, engines: Sequence[Engine], asked: Sequence[Asked]) -> list[Engine]:
        copies: list[Engine] = []
        holds_lock = [runs_interpreted() or engine.name == "python" for engine in engines]
        if any(holds_lock):
            self._workers.append(Worker(answer_calls))
        for engine, wanted, remote in zip(engines, asked, holds_lock, strict=True):
            copy: Engine
            if remote:
                copy = RemoteEngine(engine.name, wanted, self._workers[-1])
            else:
                copy, _ = engine_for(*wanted)
                copy.compile()
            copies.append(copy)
        return copies

    def run(
        self, block: slice, run: Callable[[int, Engine, slice, Tick], None], tick: Tick
    ) -> None:
        """Call `run` for each engine of every job, with the job's share of a block.

        `tick` is called from several threads, never from two at once.
        """

        def counted(done: float) -> None:
            with self._ticking:
                if self._stopped.is_set():
                    raise KeyboardInterrupt
                tick(done)

        def run_share(share: tuple[list[Engine], slice]) -> None:
            engines, part = share
            for place, engine in enumerate(engines):
                run(place, engine, part, counted)

        ends = np.linspace(block.start, block.stop, len(self._sets) + 1).astype(int).tolist()
        parts = [slice(first, last) for first, last in pairwise(ends)]
        shares = [(own, part) for own, part in zip(self._sets, parts, strict=True)]
        shares = [(own, part) for own, part in shares if part.stop > part.start]
        list(in_threads(run_share, shares, len(shares), self._stop))

    def _stop(self) -> None:
        self._stopped.set()
        for worker in self._workers:
            worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
