"""The executor protocol, and the executor that runs everything in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from affinity_bandits.experiments.spec import Cell
from affinity_bandits.experiments.work import Report, Task, run_task

Done = Callable[[Report], None]
"""Is told what became of every shard, as it is known."""


class Executor(Protocol):
    """Runs tasks in any order, writes their shards to a store and reports on each of them."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    def check(self, cell: Cell) -> None:
        """Refuse, before anything is started, a cell that cannot be sent to the workers."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task; `tasks` is consumed only as fast as they are run."""


class SerialExecutor:
    """One shard after the other, in this process."""

    workers = 1

    def check(self, cell: Cell) -> None:
        """Accept every cell: it stays in this process."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task."""
        for task in tasks:
            for shard in task:
                for report in run_task([shard], root):
                    done(report)
