"""Cut missing replicates into shards, and shards into tasks of about a second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from affinity_bandits.experiments.cells import Cell, Shard
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.simulation.rounds import round_support

Task = Sequence[Shard]  # what is sent to a worker at once, and written to one file

TASK_SECONDS = 1.0
SHARD_BYTES = 32 * 2**20  # limit on the memory of a shard's pulls, and of those not yet written
STEP_SECONDS = 40e-9  # first guess for a pull of one arm
ROUND_SECONDS = 50e-6  # first guess for a replicate by whole rounds, for one arm
SHARD_OVERHEAD = 5e-4  # seconds to begin and to encode a shard


def guess_seconds(cell: Cell) -> float:
    """Return an estimate of the seconds per replicate before anything is measured."""
    if _by_rounds(cell):
        return ROUND_SECONDS * cell.bandit.arms
    return STEP_SECONDS * (1 + cell.bandit.arms / 8) * cell.horizon


class Guess:
    """Estimates of the seconds per replicate, corrected by measurements."""

    def __init__(self) -> None:
        self._factors: dict[tuple[str, str, bool], float] = {}

    def seconds(self, cell: Cell) -> float:
        """Return an estimate for one replicate of a cell."""
        return guess_seconds(cell) * self._factors.get(_kind(cell), 1.0)

    def learn(self, shard: Shard, seconds: float) -> None:
        """Correct the estimate by how long a finished shard took."""
        cell = shard.planned.cell()
        spent = max(seconds - SHARD_OVERHEAD, 0.1 * seconds)
        factor = min(max(spent / (guess_seconds(cell) * shard.count), 1e-3), 1e3)
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
