"""Run a shard, write it and report on it: the only way to run a cell."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from affinity_bandits.experiments.spec import Cell, Shard, canonical
from affinity_bandits.experiments.store import Store

Task = Sequence[Shard]
"""What is handed to a worker at once."""

_warm: set[tuple[str, ...]] = set()
_checked: set[str] = set()
"""Own code that was found to be what it should be when this process first ran it. Once is enough,
and twice would find fault with a table that the code itself fills while it runs."""


class Report(NamedTuple):
    """What became of a shard."""

    shard: Shard
    seconds: float
    error: str | None  # None: it is in the store


def run_shard(shard: Shard, root: str) -> None:
    """Run one shard and write it."""
    from affinity_bandits.simulation import simulate

    cell = shard.planned.cell()
    if cell.code and canonical(cell.code) not in _checked:
        cell.check_code()
        _checked.add(canonical(cell.code))
    warm_up(cell)
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
    Store(root).write(shard, result)


def run_task(task: Task, root: str) -> list[Report]:
    """Run shards one after the other; one that fails by its own fault does not stop the rest.

    A shard that is there already is not run again: a task that is handed out anew after its worker
    died goes on where that one stopped.
    """
    store = Store(root)
    reports = []
    for shard in task:
        began = time.perf_counter()
        error = None
        if not store.has(shard):
            try:
                run_shard(shard, root)
            except Exception as fault:  # whatever it is, it belongs to this shard
                error = f"{type(fault).__name__}: {fault}"
        reports.append(Report(shard, time.perf_counter() - began, error))
    return reports


def warm_up(cell: Cell) -> None:
    """Compile a cell's loop once per machine, in whichever worker comes first.

    Machine code is cached on disk. Without the lock, all workers of a machine would compile the
    same loop at once.
    """
    key = (
        cell.policy.name,
        type(cell.bandit.bias).__name__,
        type(cell.bandit.noise).__name__,
        str(cell.bandit.mechanism),
        str(cell.bandit.counts_pulls),
        cell.engine,
        canonical(cell.code),
    )
    if key in _warm:
        return
    from affinity_bandits.simulation import simulate

    with _machine_lock():
        simulate(cell.bandit, cell.policy, 1, 1, checkpoints=1, engine=cell.engine, progress=False)
    _warm.add(key)


@contextlib.contextmanager
def _machine_lock() -> Iterator[None]:
    import platformdirs

    try:
        directory = Path(platformdirs.user_cache_dir("affinity-bandits", ensure_exists=True))
        lock = (directory / "compiling.lock").open("w")
    except OSError:  # without it, work may be done twice, and comes out the same
        yield
        return
    with lock as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released with the process, however it ends
        yield
