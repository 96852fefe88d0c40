"""Executors: the work of a worker that dies is run again, or reported if it keeps dying."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.base.progress import with_delay
from affinity_bandits.experiments import (
    Cell,
    Executor,
    Experiment,
    ProcessExecutor,
    RayExecutor,
    Store,
    executors,
    run_cells,
)
from affinity_bandits.policies import EXP3, UCB1, Elimination, Uniform
from tests.experiments.driver import Deadly, Sleepy

BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0))


def deadly(folder: Path, times: int) -> Experiment:
    policies = [UCB1(), Deadly(deaths=str(folder / "deaths"), times=times), EXP3()]
    return Experiment([Cell(BANDIT, policy, 200) for policy in policies], 1)


EXECUTORS = [
    pytest.param(lambda: ProcessExecutor(2), id="processes"),
    pytest.param(
        lambda: RayExecutor(workers=2),
        id="ray",
        marks=[pytest.mark.nightly, pytest.mark.one_at_a_time("ray")],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_shard_whose_worker_died_once_is_run_again(
    tmp_path: Path, executor: Callable[[], Executor]
) -> None:
    summary = run_cells(deadly(tmp_path, 1), Store(tmp_path / "store"), executor())
    assert (summary.run, summary.failed) == (3, 0)
    assert (tmp_path / "deaths").read_bytes() == b"x"


@pytest.mark.slow
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_cell_that_keeps_killing_workers_is_reported_and_the_rest_is_run(
    tmp_path: Path, executor: Callable[[], Executor]
) -> None:
    store = Store(tmp_path / "store")
    summary = run_cells(deadly(tmp_path, 10**6), store, executor())
    assert (summary.run, summary.failed) == (2, 1)
    assert "worker" in store.failures()[0]["error"]
    assert 3 <= len((tmp_path / "deaths").read_bytes()) <= 5


@pytest.mark.slow
def test_without_running_it_again_the_work_of_a_dead_worker_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""
    monkeypatch.setattr(executors.Retries, "after", lambda *_: [])
    summary = run_cells(deadly(tmp_path, 1), Store(tmp_path / "store"), ProcessExecutor(2))
    assert summary.run < 3


@pytest.mark.slow
def test_a_cell_beyond_its_time_limit_fails_and_the_rest_is_run(tmp_path: Path) -> None:
    policies = [Uniform(), Sleepy(seconds=600.0), Elimination()]
    cells = Experiment([Cell(BANDIT, policy, 200) for policy in policies], 1)
    store = Store(tmp_path)
    summary = run_cells(cells, store, ProcessExecutor(1, time_limit=10.0))
    assert (summary.run, summary.failed) == (2, 1)
    assert "took longer than its time limit, 10 seconds" in next(iter(summary.errors.values()))
    assert store.slow() == []


def test_what_workers_waited_for_is_not_said_once_they_are_gone() -> None:
    """As after Ctrl-C while two of them compile."""
    shown = executors._Delays()
    shown.show("first", "compiling")
    shown.show("second", "starting")
    assert with_delay("at work") == "at work; starting"
    shown.show("second", "")
    assert with_delay("at work") == "at work; compiling"
    shown.end()
    assert with_delay("at work") == "at work"
