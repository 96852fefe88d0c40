"""The executor that runs tasks on a Ray cluster. Only this file imports Ray."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterable, Iterator
from typing import Any

from affinity_bandits.base import checks
from affinity_bandits.base.errors import AffinityError, need
from affinity_bandits.base.progress import delay
from affinity_bandits.experiments.executors import Done
from affinity_bandits.experiments.work import Report, Task, run_task

PATIENCE = 10.0  # seconds to wait for a cluster's machine to answer
WINDOW = 3  # tasks in flight for each core: Ray keeps a record of every one
RETRIES = 20  # how often Ray runs a task again whose worker or machine died
MAX_SOLO_CRASHES = 3  # the same for one shard alone, before it is given up


class RayExecutor:
    """Tasks on a Ray cluster; the store must be reachable from all of its machines.

    Args:
        address: of an existing cluster ("auto", or host:port); by default the one that Ray is
            connected to, or else a temporary one of this machine.
        workers: cores to use; by default all of the cluster.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address = address
        self.asked = None if workers is None else checks.integer("workers", workers, low=1)

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
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
        need("ray", "ray")
        import ray

        if self.address is None and ray.is_initialized():
            yield ray
            return
        if self.address is not None:
            _reach(self.address)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            with delay("starting Ray"):
                if self.address is None:
                    # A cluster of our own, even where another runs on this machine.
                    ray.init("local", num_cpus=self.asked, include_dashboard=False, **quiet)
                else:
                    ray.init(self.address, **quiet)
        except Exception as error:  # Ray raises whatever the part that failed raises
            place = self.address or "this machine"
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise AffinityError(
                f"no Ray cluster at {place}: {reason}; without Ray: --executor processes"
            ) from error
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
    """Raise at once if the address is dead; Ray itself keeps trying for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():  # "auto", ray://..., a session's name
        return
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise AffinityError(f"no Ray cluster at {address}: {error}") from None
