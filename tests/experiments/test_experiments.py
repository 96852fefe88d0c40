"""Cells are their content; any split, executor or accident gives the same store."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.experiments import (
    Cell,
    Experiment,
    ProcessExecutor,
    SerialExecutor,
    Shard,
    Store,
    run_experiment,
    work,
)
from affinity_bandits.policies import EXP3, UCB1, Elimination

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
CELLS = (
    Cell(BANDIT, UCB1(), 500, (10, 100)),
    Cell(BANDIT, EXP3(), 500),
    Cell(BANDIT, Elimination(), 10**9, (10**6,)),
)


def contents(root: Path, cells: tuple[Cell, ...], replicates: int) -> list[object]:
    store = Store(root)
    found = [store.read(cell, replicates) for cell in cells]
    return [(result.pulls.tolist(), result.candidates.tolist()) for result in found]


def test_a_cell_is_its_content() -> None:
    again = Cell.from_json(CELLS[0].to_json())
    assert again.identity == CELLS[0].identity
    others = {cell.identity for cell in CELLS}
    changed = [
        Cell(BANDIT, UCB1(), 501, (10, 100)),
        Cell(BANDIT, UCB1(1.0), 500, (10, 100)),
        Cell(BANDIT, UCB1(), 500, (10, 100), seed=1),
        Cell(BANDIT, UCB1(), 500, (10, 101)),
    ]
    assert len(others | {cell.identity for cell in changed}) == 7
    assert len(Experiment((CELLS[0], again, CELLS[1]), 5).cells) == 2


@pytest.mark.slow
@pytest.mark.parametrize("shard_size", [1, 7, 1000])
def test_any_split_gives_the_same_outcomes(tmp_path: Path, shard_size: int) -> None:
    run_experiment(Experiment(CELLS, 20, 1000), Store(tmp_path / "whole"))
    run_experiment(Experiment(CELLS, 20, shard_size), Store(tmp_path / "split"))
    assert contents(tmp_path / "whole", CELLS, 20) == contents(tmp_path / "split", CELLS, 20)


@pytest.mark.slow
def test_processes_give_the_same_outcomes(tmp_path: Path) -> None:
    run_experiment(Experiment(CELLS, 20, 5), Store(tmp_path / "serial"), SerialExecutor())
    run_experiment(Experiment(CELLS, 20, 5), Store(tmp_path / "spawned"), ProcessExecutor(2))
    assert contents(tmp_path / "serial", CELLS, 20) == contents(tmp_path / "spawned", CELLS, 20)


@pytest.mark.slow
def test_what_is_finished_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    real = work.run_shard

    def counted(shard: Shard, root: str) -> None:
        ran.append(shard.name)
        real(shard, root)

    monkeypatch.setattr(work, "run_shard", counted)
    run_experiment(Experiment(CELLS[:2], 20, 10), Store(tmp_path))
    assert len(ran) == 4
    run_experiment(Experiment(CELLS[:2], 20, 10), Store(tmp_path))
    assert len(ran) == 4
    run_experiment(Experiment(CELLS, 40, 10), Store(tmp_path))
    assert len(ran) == 4 + 4 + 4


def test_a_write_that_is_cut_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(handle: int) -> None:
        raise OSError(28, "No space left on device")

    shard = Shard(CELLS[0], 0, 5)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", torn)
        with pytest.raises(OSError, match="No space"):
            work.run_shard(shard, str(tmp_path))
    assert not Store(tmp_path).has(shard)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    work.run_shard(shard, str(tmp_path))
    assert Store(tmp_path).has(shard)


LONG = tuple(Cell(BANDIT, UCB1(), 3_000_000, seed=seed) for seed in range(12))


def kill_a_worker_soon(killed: list[int]) -> threading.Thread:
    """SIGKILL one process of the pool once it has some, from a thread of this one."""

    def watch() -> None:
        for _ in range(600):
            children = multiprocessing.active_children()
            if len(children) >= 2:
                time.sleep(1.0)
                os.kill(children[0].pid or 0, signal.SIGKILL)
                killed.append(1)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


@pytest.mark.slow
def test_the_work_of_a_killed_worker_is_queued_again(tmp_path: Path) -> None:
    killed: list[int] = []
    thread = kill_a_worker_soon(killed)
    run_experiment(Experiment(LONG, 2, 1), Store(tmp_path / "killed"), ProcessExecutor(2))
    thread.join()
    assert killed
    run_experiment(Experiment(LONG, 2, 1), Store(tmp_path / "calm"))
    assert contents(tmp_path / "killed", LONG, 2) == contents(tmp_path / "calm", LONG, 2)


@pytest.mark.slow
def test_without_the_guard_the_kill_loses_work(tmp_path: Path) -> None:
    """The negative control: one pool without queueing again is left with work undone."""
    killed: list[int] = []
    thread = kill_a_worker_soon(killed)
    tasks = [(Shard(cell, first, 1),) for cell in LONG for first in range(2)]
    left = ProcessExecutor(2)._until_a_worker_dies(
        iter(tasks), str(tmp_path), lambda report: None, 2
    )
    thread.join()
    assert killed
    assert left
    assert not all(Store(tmp_path).has(shard) for (shard,) in tasks)
