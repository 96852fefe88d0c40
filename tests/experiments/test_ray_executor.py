"""The executor on Ray: what it makes of a cluster's answers, and of one that Ray is connected to.

The answers are those of a stand-in for Ray; `test_ray_faults.py` causes them on real clusters.
"""

from __future__ import annotations

import logging
import pickle
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from affinity_bandits import AffinityBandit
from affinity_bandits.base.errors import AffinityError, InvalidInput
from affinity_bandits.experiments import (
    Cell,
    RayExecutor,
    Report,
    Shard,
    Store,
    executors,
    ray_executor,
)
from affinity_bandits.experiments.files import leave_token
from affinity_bandits.policies import Uniform
from tests.experiments.conftest import content

CELL = Cell(AffinityBandit([0.4, 0.6]), Uniform(), 20)


class RayError(Exception):
    """Of the stand-in."""


FAULTS = {
    name: type(name, (RayError,), {})
    for name in (
        "WorkerCrashedError",
        "OutOfMemoryError",
        "NodeDiedError",
        "ObjectLostError",
        "LocalRayletDiedError",
        "RayTaskError",
    )
}


class Ray:
    """A stand-in for Ray that runs each task here, when its result is asked for.

    Args:
        cores: what the cluster has at each look; the last stays.
        fail: returns the name of a fault for a call, which is counted from 0, or nothing.
    """

    exceptions = SimpleNamespace(RayError=RayError, **FAULTS)

    def __init__(self, cores: list[int], fail: Callable[[int], str] = lambda _: "") -> None:
        self.cores = cores
        self.fail = fail
        self.most_in_flight = 0
        self.options: dict[str, Any] = {}
        self._sent: list[tuple[Any, ...]] = []
        self._got = -1
        self._asked = 0

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(gcs_address="")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cores.pop(0) if len(self.cores) > 1 else self.cores[0])}

    def remote(self, **options: Any) -> Any:
        self.options = options

        def send(*arguments: Any) -> int:
            self._sent.append(arguments)
            return len(self._sent) - 1

        return lambda work: SimpleNamespace(remote=send)

    def wait(self, references: list[int], num_returns: int, timeout: float) -> Any:
        self.most_in_flight = max(self.most_in_flight, len(references))
        return references[:1], references[1:]

    def last(self) -> list[int]:
        """Return the replicates of the task that is asked for."""
        return [shard.first for shard in pickle.loads(self._sent[self._asked][0])]

    def get(self, reference: int) -> Any:
        self._got += 1
        self._asked = reference
        fault = self.fail(self._got)
        if fault:
            raise FAULTS[fault]("last\nno module named pyarrow")
        return ray_executor.run_sent(*self._sent[reference])

    def cancel(self, reference: int, force: bool) -> None:
        return


def run(ray: Any, root: Path, tasks: list[int], **more: Any) -> list[Report]:
    """Run tasks of so many shards each; return the reports."""
    reports: list[Report] = []
    store = Store(root)
    first = iter(range(10**6))
    queue = iter([tuple(Shard(CELL, next(first), 1) for _ in range(count)) for count in tasks])
    token = more.get("token") or leave_token(store.files)
    RayExecutor()._run(ray, queue, store.root, token, reports.append)
    return reports


@pytest.mark.parametrize(("look", "most"), [(0.0, 18), (1e9, 3)])
def test_machines_that_join_later_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: float, most: int
) -> None:
    """Without a second look at the cluster, a negative control, they are not."""
    monkeypatch.setattr(ray_executor, "LOOK_SECONDS", look)
    ray = Ray([1, 1, 6])
    assert len(run(ray, tmp_path, [1] * 40)) == 40
    assert ray.most_in_flight == most


@pytest.mark.parametrize(
    ("fault", "words"),
    [("WorkerCrashedError", "killed, or out of memory"), ("OutOfMemoryError", "out of memory")],
)
def test_a_shard_is_given_up_after_three_deaths_of_its_worker(
    tmp_path: Path, fault: str, words: str
) -> None:
    ray = Ray([1], lambda call: fault)
    (report,) = run(ray, tmp_path, [1])
    assert report.error is not None
    assert report.error.startswith("its worker died 3 times: ")
    assert report.error.endswith(words)
    assert ray._got == 2  # three calls
    assert ray.options["max_retries"] == 0  # Ray itself would go on


def test_the_shards_of_a_task_that_died_are_told_apart(tmp_path: Path) -> None:
    """One of five kills its worker each time: once in the batch, three times alone."""
    calls = []

    def fail(call: int) -> str:
        calls.append(call)
        return "WorkerCrashedError" if call == 0 or call in (1, 6, 7) else ""

    reports = run(Ray([1], fail), tmp_path, [5])
    assert sorted(report.error is None for report in reports) == [False, True, True, True, True]
    assert len(calls) == 8


@pytest.mark.parametrize(("pieces", "calls", "deaths"), [(16, 34, 6), (400, 403, 4)])
def test_a_large_task_that_died_runs_again_in_few_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int, calls: int, deaths: int
) -> None:
    """One of 400 kills its worker: each time that a task has it. One per task is the control."""
    monkeypatch.setattr(executors, "PIECES", pieces)
    ray = Ray([1])
    monkeypatch.setattr(ray, "fail", lambda call: "WorkerCrashedError" if 7 in ray.last() else "")
    reports = run(ray, tmp_path, [400])
    assert [report.shard.first for report in reports if report.error is not None] == [7]
    assert len(reports) == 400
    assert ray._got + 1 == calls
    assert len(Store(tmp_path).snapshot().listed) == calls - deaths


def test_lost_machines_do_not_count_as_crashes(tmp_path: Path) -> None:
    lost = ["NodeDiedError", "ObjectLostError"]
    ray = Ray([1], lambda call: lost[call % 2] if call < 10 else "")
    assert [report.error for report in run(ray, tmp_path / "some", [2])] == [None, None]
    always = run(Ray([1], lambda call: lost[call % 2]), tmp_path / "all", [2])
    assert [report.error for report in always] == ["its machine was lost 20 times"] * 2


def test_what_no_machine_can_run_is_an_error_with_its_cause(tmp_path: Path) -> None:
    with pytest.raises(AffinityError, match="cannot run tasks: no module named pyarrow; install"):
        run(Ray([1], lambda call: "RayTaskError"), tmp_path, [1])
    with pytest.raises(AffinityError, match="run the same command again"):
        run(Ray([1], lambda call: "LocalRayletDiedError"), tmp_path, [1])


def test_a_store_without_the_drivers_token_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidInput, match="store must be a place that all machines"):
        run(Ray([1]), tmp_path, [1], token=leave_token(Store(tmp_path / "other").files))


def test_a_head_that_is_gone_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was never reached, a control, is not missed."""
    monkeypatch.setattr(ray_executor, "HEAD_PATIENCE", 0.0)
    monkeypatch.setattr(ray_executor, "LOOK_SECONDS", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        ray = Ray([1])
        context = SimpleNamespace(gcs_address=address)
        monkeypatch.setattr(ray, "get_runtime_context", lambda: context)
        cluster = ray_executor._Cluster(ray, None)
        assert cluster.cores() == 1
    with pytest.raises(AffinityError, match=f"Ray's head at {address} is gone; finished work is"):
        cluster.cores()
    assert ray_executor._Cluster(ray, None).cores() == 1


@pytest.mark.parametrize(("cores", "seconds"), [(8, 1.0), (600, 6.0), (10**5, 60.0)])
def test_tasks_are_longer_with_more_cores(tmp_path: Path, cores: int, seconds: float) -> None:
    executor = RayExecutor()
    token = leave_token(Store(tmp_path).files)
    executor._run(Ray([cores]), iter([]), str(tmp_path), token, lambda _: None)
    assert executor.task_seconds() == seconds


@pytest.mark.parametrize(
    ("name", "path", "sent"),
    [
        ("mine", "/x/mine.py", ["/x/mine.py"]),
        ("a", "/x/a/__init__.py", ["/x/a"]),
        ("a.b", "/x/a/b.py", ["/x/a"]),
        ("a.b", "/x/a/b/__init__.py", ["/x/a"]),
        ("__main__", "/x/script.py", []),
        ("fast", "/x/fast.so", []),
    ],
)
def test_modules_of_ones_own_are_sent_as_ray_takes_them(
    monkeypatch: pytest.MonkeyPatch, name: str, path: str, sent: list[str]
) -> None:
    monkeypatch.setattr(ray_executor, "own_files", lambda: {name: Path(path)})
    assert list(ray_executor._own_modules()) == sent


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
