"""The guards of the package that `soak.driver --control` can take out."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from affinity_bandits.experiments import Executor, ProcessExecutor, ray_executor, work
from affinity_bandits.experiments.executors import Done
from affinity_bandits.experiments.files import LocalFiles

HALF_WRITTEN = "half-written"
"""The file in a store that says that `straight-writes` is in the middle of a write."""


class NoRequeue(ProcessExecutor):
    """One pool; what it leaves undone when a worker dies is dropped."""

    def run(self, tasks: Iterable[work.Task], root: str, done: Done) -> None:
        self._until_a_worker_dies(iter(tasks), root, done, self.workers)


def _no_requeue(_: Executor, __: str) -> Executor:
    return NoRequeue(2)


def _no_retries(executor: Executor, _: str) -> Executor:
    """Make Ray give up at the first death of a worker, and drop its error."""

    def deaf(ray: Any, *given: Any) -> Iterator[work.Report]:
        with contextlib.suppress(ray.exceptions.RayError):
            yield from ray.get(given[0])

    ray_executor.RETRIES = 0
    vars(ray_executor)["_reports"] = deaf
    return executor


def _straight_writes(executor: Executor, root: str) -> Executor:
    """Write to the final name, in two halves; the third file waits long enough to be killed."""
    written = 0

    def write(files: LocalFiles, name: str, content: bytes) -> None:
        nonlocal written
        written += 1
        target = files.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.write(content[: len(content) // 2])
            file.flush()
            if written == 3:
                (Path(root) / HALF_WRITTEN).touch()
                time.sleep(60)
            file.write(content[len(content) // 2 :])

    mock.patch.object(LocalFiles, "write", write).start()
    return executor


GUARDS: dict[str, Callable[[Executor, str], Executor]] = {
    "no-requeue": _no_requeue,
    "no-retries": _no_retries,
    "straight-writes": _straight_writes,
}
"""By name, what takes a guard out: given the executor and the store, it returns the executor."""
