"""A sweep's content is the same whoever runs it, on how many machines, cut as they like."""

from __future__ import annotations

import gc
import importlib.util
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.experiments import (
    ProcessExecutor,
    SerialExecutor,
    Store,
    Sweep,
    run_cells,
)
from affinity_bandits.experiments.executors import Executor
from affinity_bandits.experiments.ray_executor import RayExecutor

pytestmark = pytest.mark.one_at_a_time("ray")
REPLICATES = 40


def sweep(shard_size: int | None = None) -> Sweep:
    return Sweep(
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
        replicates=REPLICATES,
        shard_size=shard_size,
    )


def content(root: Path, executor: Executor, shard_size: int | None) -> str:
    store = Store(root)
    summary = run_cells(sweep(shard_size), store, executor)
    assert (summary.run, summary.failed) == (REPLICATES * len(sweep()), 0)
    return store.content_hash()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return content(tmp_path_factory.mktemp("serial"), SerialExecutor(), None)


@pytest.mark.slow
@pytest.mark.parametrize("shard_size", [1, 17, 1000])
def test_cut_as_one_likes(tmp_path: Path, expected: str, shard_size: int) -> None:
    assert content(tmp_path, SerialExecutor(), shard_size) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "shard_size"), [(1, None), (2, 17), (4, 1000)])
def test_in_processes(tmp_path: Path, expected: str, workers: int, shard_size: int | None) -> None:
    assert content(tmp_path, ProcessExecutor(workers), shard_size) == expected


def test_ray_is_installed_where_the_checks_run() -> None:
    assert importlib.util.find_spec("ray") is not None


@pytest.mark.nightly_but("2-None")
@pytest.mark.slow
@pytest.mark.parametrize(("workers", "shard_size"), [(1, 17), (2, None)])
def test_on_ray(tmp_path: Path, expected: str, workers: int, shard_size: int | None) -> None:
    assert content(tmp_path, RayExecutor(workers=workers), shard_size) == expected


@pytest.fixture
def two_nodes() -> Iterator[Any]:
    """Two raylets of one core each, which share nothing but this machine's disk."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    try:
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.shutdown()
        # Ray does not wait for what it kills, and Popen complains of it when it is collected.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            del cluster
            gc.collect()


@pytest.mark.nightly
@pytest.mark.slow
def test_on_two_ray_nodes(tmp_path: Path, expected: str, two_nodes: Any) -> None:
    import ray

    ray.init(two_nodes.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        assert len(ray.nodes()) == 2
        assert content(tmp_path / "given", RayExecutor(client=ray), 17) == expected
    finally:
        ray.shutdown()
    assert content(tmp_path / "address", RayExecutor(two_nodes.address), 5) == expected
    # Without an address it is a cluster of its own, although another runs here.
    assert content(tmp_path / "own", RayExecutor(workers=1), 17) == expected


def test_adding_replicates_and_cells_runs_only_what_is_new(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fixed = {"bandit.true_means": [0.4, 0.6], "policy": "ucb1"}
    small = Sweep({"horizon": [100, 200]}, fixed, 10)
    assert run_cells(small, store).run == 20
    more = Sweep({"horizon": [100, 200, 300]}, small.fixed, 25, shard_size=4)
    summary = run_cells(more, store)
    assert (summary.found, summary.run) == (20, 55)
    assert run_cells(more, store).run == 0
    other = Store(tmp_path / "afresh")
    run_cells(more, other)
    assert other.content_hash() == store.content_hash()
