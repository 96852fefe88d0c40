"""Measure the load of a sweep's driver on a Ray cluster: `python -m checks.bench.cluster --json`.

The workers sleep, so that two cores can stand for many: the driver sends tasks and takes their
reports as it does for real ones. Measured are finished tasks per second and the driver's CPU time
per task.

In one more run half of the nodes are killed in the middle. Its store must have the content of a run
in peace.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from affinity_bandits import AffinityBandit
from affinity_bandits.experiments import Cell, RayExecutor, Report, SerialExecutor, Shard, Store
from affinity_bandits.experiments.cutting import Task
from affinity_bandits.policies import Uniform
from affinity_bandits.policies.baselines import UniformState
from checks.bench.measure import make_parser, report

WORKERS = (2, 8, 25, 50, 100, 200)
SECONDS = 4.0
"""How long a task sleeps."""
ROUNDS = 4
"""Tasks for each worker."""


@dataclass(frozen=True)
class Sleeping(Uniform):
    """All groups in turn, after a pause."""

    name: ClassVar[str] = "sleeping"
    seconds: float = SECONDS

    def start(self, arms: int, horizon: int) -> UniformState:
        """Wait, as if there were work."""
        time.sleep(self.seconds)
        return super().start(arms, horizon)


def tasks(count: int, seconds: float) -> Iterator[Task]:
    """Yield tasks of one replicate each."""
    cell = Cell(AffinityBandit([0.4, 0.6]), Sleeping(seconds=seconds), 100)
    for i in range(count):
        yield (Shard(cell, i, 1),)


def run_tasks(
    count: int, seconds: float, root: str, kill_at: int = -1, cluster: Any = None
) -> None:
    """Run tasks on the cluster that Ray is connected to; kill a node after so many reports."""
    done: list[Report] = []

    def take(one: Report) -> None:
        assert one.error is None, one.error
        done.append(one)
        if len(done) == kill_at:
            node = cluster.worker_nodes.copy().pop()
            threading.Thread(target=cluster.remove_node, args=(node, False)).start()

    RayExecutor().run(tasks(count, seconds), root, take)
    assert len(done) == count


def run(workers: tuple[int, ...] = WORKERS) -> dict[str, float]:
    """Return the figures of this benchmark."""
    import ray
    from ray.cluster_utils import Cluster

    figures: dict[str, float] = {"cluster.task_seconds": SECONDS}
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        there = 0
        for count in workers:
            cluster.add_node(num_cpus=count - there)
            there = count
            with tempfile.TemporaryDirectory() as root:
                run_tasks(count, 0.5, root)  # starts the processes
            with tempfile.TemporaryDirectory() as root:
                began, spent = time.perf_counter(), time.process_time()
                run_tasks(ROUNDS * count, SECONDS, root)
                passed, spent = time.perf_counter() - began, time.process_time() - spent
            figures[f"cluster.{count}.tasks_per_s"] = ROUNDS * count / passed
            figures[f"cluster.{count}.driver_ms"] = 1000 * spent / (ROUNDS * count)
            print(
                f"{count} workers: {figures[f'cluster.{count}.driver_ms']:.2f} ms", file=sys.stderr
            )
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as other:
            run_tasks(4 * there, 1.0, root, 2 * there, cluster)
            SerialExecutor().run(tasks(4 * there, 1.0), other, lambda _: None)
            same = Store(root).content_hash() == Store(other).content_hash()
            figures["cluster.killed.same"] = float(same)
    finally:
        ray.shutdown()
        cluster.shutdown()
    return figures


if __name__ == "__main__":
    imported = import_module("checks.bench.cluster")  # workers find its policy there alone

    parser = make_parser(__doc__ or "")
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    arguments = parser.parse_args()
    report(imported.run(tuple(arguments.workers)), arguments)
