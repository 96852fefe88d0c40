"""Run a sweep as a user's program would.

python -m tests.experiments.driver STORE TASK_SECONDS [LIMIT]
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from affinity_bandits.base.errors import AffinityError
from affinity_bandits.experiments import ProcessExecutor, SerialExecutor, Store, Sweep, run_cells
from affinity_bandits.policies import UCB1
from affinity_bandits.policies.ucb import UCB1State

# Shards of some hundredths of a second, so that most kills hit one that is being run.
LONG = Sweep(
    {"bandit.true_means": [[0.4, 0.6], [0.45, 0.6], [0.5, 0.6], [0.55, 0.6]]},
    {"policy": "ucb1", "horizon": 1_000_000, "bandit.bias": "power"},
    replicates=8,
    shard_size=1,
)
SMALL = Sweep(
    {"policy": ["ucb1", "exp3"]},
    {"bandit.true_means": [0.4, 0.6], "horizon": 200},
    replicates=2,
)


class EachShard(SerialExecutor):
    """Every shard is a task, and a file, of its own."""

    def task_seconds(self) -> float:
        return 0.0


class Tasks(ProcessExecutor):
    """Two processes, and tasks that take so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(2)
        self._seconds = seconds

    def task_seconds(self) -> float:
        return self._seconds


@dataclass(frozen=True)
class Deadly(UCB1):
    """UCB1, except that starting it kills the process, as often as it is asked to."""

    name: ClassVar[str] = "deadly"
    deaths: str = ""
    times: int = 0

    def start(self, arms: int, horizon: int) -> UCB1State:
        counter = Path(self.deaths)
        if not counter.exists() or counter.stat().st_size < self.times:
            with counter.open("ab") as file:
                file.write(b"x")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().start(arms, horizon)


@dataclass(frozen=True)
class Sleepy(UCB1):
    """UCB1, except that starting it takes a while, and is on record."""

    name: ClassVar[str] = "sleepy"
    seconds: float = 1.0
    record: str = ""

    def start(self, arms: int, horizon: int) -> UCB1State:
        for what in ("begin", "end"):
            if self.record:
                with Path(self.record).open("a", encoding="ascii") as file:
                    file.write(f"{time.time()} {what}\n")
            if what == "begin":
                time.sleep(self.seconds)
        return super().start(arms, horizon)


if __name__ == "__main__":
    for limit in sys.argv[3:]:  # as on a full disk, no file can become larger
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        summary = run_cells(LONG, Store(sys.argv[1]), Tasks(float(sys.argv[2])))
    except AffinityError as error:
        sys.exit(str(error))
    print(summary.found, summary.run, summary.failed)
