"""The executor that runs tasks on a Ray cluster. Nothing outside this file imports Ray."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from typing import Any

from affinity_bandits import checks
from affinity_bandits.errors import AffinityError, MissingExtra
from affinity_bandits.experiments.executors import Done
from affinity_bandits.experiments.spec import Cell
from affinity_bandits.experiments.work import Report, Task, run_task

PATIENCE = 10.0
"""Seconds to wait for a cluster's machine to answer."""
WINDOW = 3
"""Tasks in flight for each core: Ray keeps a record of every one."""
RETRIES = 20
"""How often Ray runs a task again whose worker or machine died."""
MAX_SOLO_CRASHES = 3
"""The same for one shard alone, before it is given up."""


class RayExecutor:
    """Tasks on a Ray cluster; the store must be reachable from all of its machines.

    Args:
        address: of an existing cluster ("auto", or host:port); left out, a cluster of this
            machine alone is started and stopped again.
        workers: cores to use; all that the cluster has if left out.
        client: a Ray module that is connected already; it is neither started nor stopped.
    """

    def __init__(
        self, address: str | None = None, workers: int | None = None, client: Any = None
    ) -> None:
        self.address = address
        self.asked = None if workers is None else checks.integer("workers", workers, low=1)
        self.client = client

    @property
    def workers(self) -> int:
        """How many tasks run at once, as far as is known before the cluster is asked."""
        return self.asked or os.cpu_count() or 1

    def check(self, cell: Cell) -> None:
        """Accept every cell: Ray sends code that is in no module by value."""

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        """Run every task."""
        with self._connected() as ray:
            cores = self.asked or max(1, int(ray.cluster_resources().get("CPU", 1)))
            remote = ray.remote(num_cpus=1, max_retries=RETRIES)(run_task)
            alone = ray.remote(num_cpus=1, max_retries=MAX_SOLO_CRASHES - 1)(run_task)
            running: dict[Any, Task] = {}
            queue = iter(tasks)
            while True:
                while len(running) < WINDOW * cores:
                    task = next(queue, None)
                    if task is None:
                        break
                    running[remote.remote(task, root)] = task
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1)
                for reference in ready:
                    task = running.pop(reference)
                    for report in _reports(ray, reference, task, alone, root):
                        done(report)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        if self.client is not None:
            yield self.client
            return
        ray = _ray()
        if self.address is not None:
            _reach(self.address)
        try:
            if self.address is None:
                ray.init(
                    "local",  # a cluster of our own, even where another runs on this machine
                    num_cpus=self.asked,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            else:
                ray.init(self.address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise AffinityError(
                f"no Ray cluster at {self.address or 'this machine'}: {error}"
            ) from (error)
        try:
            yield ray
        finally:
            ray.shutdown()


def _reports(ray: Any, reference: Any, task: Task, alone: Any, root: str) -> Iterator[Report]:
    """Yield the reports of a task; if it kept killing workers, run and report its shards singly."""
    try:
        yield from ray.get(reference)
    except ray.exceptions.RayError as fault:
        if len(task) == 1:
            yield Report(task[0], 0.0, f"{type(fault).__name__}: its worker kept dying")
            return
        for shard in task:
            yield from _reports(ray, alone.remote((shard,), root), (shard,), alone, root)


def _reach(address: str) -> None:
    """Raise at once if no cluster answers; Ray itself keeps trying for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():  # "auto", ray://..., a session's name
        return
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise AffinityError(f"no Ray cluster at {address}: {error}") from None


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "ray") from error
    return ray
