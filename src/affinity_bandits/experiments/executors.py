"""Who does the work: the protocol, and this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from affinity_bandits.experiments.spec import Cell
from affinity_bandits.experiments.work import Report, Task, run_task

Done = Callable[[Report], None]
"""Is told what became of every shard, as it is known."""


class Executor(Protocol):
    """Runs tasks into a store, in any order, and says what became of every shard."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    def check(self, cell: Cell) -> None:
        """Refuse, before anything is started, a cell that cannot be handed to the workers."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task; `tasks` is taken from only as fast as it is worked off."""


class SerialExecutor:
    """One shard after the other, in this process."""

    workers = 1

    def check(self, cell: Cell) -> None:
        """Take every cell: it stays in this process."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task."""
        for task in tasks:
            for shard in task:
                for report in run_task([shard], root):
                    done(report)
