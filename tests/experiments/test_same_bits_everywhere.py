"""A sweep's content is the same whoever runs it, on how many machines, cut as they like."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from affinity_bandits.experiments import (
    Executor,
    ProcessExecutor,
    RayExecutor,
    SerialExecutor,
    Store,
    Sweep,
    run_cells,
)

RAY = [pytest.mark.nightly, pytest.mark.one_at_a_time("ray")]


def content(root: Path, executor: Executor, shard_size: int | None) -> str:
    sweep = Sweep(
        axes={
            "policy": ["ucb1", "exp3", "elimination"],
            "bandit.bias": ["constant", {"name": "power", "alpha": 2.0}],
        },
        fixed={
            "bandit.true_means": [0.4, 0.6],
            "bandit.initial_pulls": [100, 10],
            "horizon": 500,
            "checkpoints": [100],
        },
        replicates=40,
        shard_size=shard_size,
    )
    summary = run_cells(sweep, Store(root), executor)
    assert (summary.run, summary.failed) == (240, 0)
    return Store(root).content_hash()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return content(tmp_path_factory.mktemp("serial"), SerialExecutor(), None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("executor", "shard_size"),
    [
        pytest.param(SerialExecutor, 17, id="serial"),
        pytest.param(lambda: ProcessExecutor(2), 17, id="processes"),
        pytest.param(lambda: RayExecutor(workers=2), None, id="ray", marks=RAY),
    ],
)
def test_whoever_runs_it(
    tmp_path: Path, expected: str, executor: Callable[[], Executor], shard_size: int | None
) -> None:
    assert content(tmp_path, executor(), shard_size) == expected


@pytest.mark.nightly
@pytest.mark.one_at_a_time("ray")
@pytest.mark.slow
def test_a_cluster_that_ray_is_connected_to_is_used_and_left_alone(
    tmp_path: Path, expected: str
) -> None:
    import ray

    ray.init("local", num_cpus=1, log_to_driver=False, logging_level=logging.ERROR)
    try:
        assert content(tmp_path, RayExecutor(), 17) == expected
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_adding_replicates_and_cells_runs_only_what_is_new(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fixed = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1"}
    small = Sweep({"horizon": [100, 200]}, fixed, 10)
    assert run_cells(small, store).run == 20
    more = Sweep({"horizon": [100, 200, 300]}, fixed, 25, shard_size=4)
    summary = run_cells(more, store)
    assert (summary.found, summary.run) == (20, 55)
    afresh = Store(tmp_path / "afresh")
    run_cells(more, afresh)
    assert afresh.content_hash() == store.content_hash()
