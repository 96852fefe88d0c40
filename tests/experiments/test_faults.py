"""Whatever disturbs a sweep, its results in the end are those of an undisturbed run.

Real processes are killed, writes fail, files are damaged, cells kill their workers. Each guard is
also taken away once, and the same check must then find a fault.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.progress import with_delay
from affinity_bandits.experiments import (
    Cell,
    Executor,
    Experiment,
    ProcessExecutor,
    RayExecutor,
    Store,
    Sweep,
    executors,
    run_cells,
    work,
)
from affinity_bandits.experiments.store import LocalFiles, from_bytes
from affinity_bandits.policies import EXP3, UCB1
from tests.experiments.driver import LONG, Deadly

SMALL = Sweep(
    {"policy": ["ucb1", "exp3"]},
    {"bandit.true_means": [0.4, 0.6], "horizon": 200},
    replicates=2,
)
BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0))


def start(store: Path, *limits: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.experiments.driver", str(store), *limits]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answer(driver: subprocess.Popen[str]) -> list[int]:
    """Return how many replicates were found and run, and how many shards failed."""
    output, _ = driver.communicate(timeout=120)
    assert driver.returncode == 0
    return [int(word) for word in output.split()]


def shards(store: Path) -> list[Path]:
    return sorted(store.glob("??/*/*.parquet"))


def wait_until(met: Callable[[], Any], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < until
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sweep], str]:
    """The content of a store in which a sweep was run in peace."""

    def content(sweep: Sweep) -> str:
        store = Store(tmp_path_factory.getbasetemp() / f"undisturbed-{len(sweep)}")
        run_cells(sweep, store)  # runs nothing the second time
        return store.content_hash()

    return content


def wait_for_shards(driver: subprocess.Popen[str], store: Path, count: int) -> None:
    wait_until(lambda: driver.poll() is not None or len(shards(store)) >= count)


def kill_a_driver(store: Path, delay: float) -> None:
    """Kill a driver some time after its first shard; its workers must end, too."""
    driver = start(store)
    wait_for_shards(driver, store, len(shards(store)) + 1)
    time.sleep(delay)
    workers = children(driver.pid) if driver.poll() is None else []
    driver.kill()
    driver.communicate()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 20.0)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.nightly)])
def test_a_killed_driver_is_replaced_by_the_next(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], kills: int
) -> None:
    for kill in range(kills):
        kill_a_driver(tmp_path, 0.02 * (kill % 6))
    summary = run_cells(LONG, Store(tmp_path))
    assert summary.found > 0
    assert (summary.found + summary.run, summary.failed) == (32, 0)
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


@pytest.mark.nightly
@pytest.mark.slow
def test_the_work_of_killed_workers_is_run_again(
    tmp_path: Path, undisturbed: Callable[[Sweep], str]
) -> None:
    """At moments that the worker does not choose, unlike those of `Deadly`."""
    driver = start(tmp_path)
    for enough in range(1, 20):
        wait_for_shards(driver, tmp_path, enough)
        commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in children(driver.pid)}
        workers = [pid for pid in commands if b"spawn_main" in commands[pid].read_bytes()]
        for pid in workers[:1]:
            os.kill(pid, signal.SIGKILL)
    assert answer(driver) == [0, 32, 0]
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


@pytest.mark.slow
def test_two_drivers_share_a_store(tmp_path: Path, undisturbed: Callable[[Sweep], str]) -> None:
    other = start(tmp_path)
    wait_until(lambda: shards(tmp_path))
    assert run_cells(LONG, Store(tmp_path)).failed == 0
    assert answer(other)[2] == 0
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


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
    tmp_path: Path, executor: Callable[[], Executor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("affinity_bandits.experiments.ray_executor.RETRIES", 1)
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
    monkeypatch.setattr(executors, "_retry", lambda *_: [])
    summary = run_cells(deadly(tmp_path, 1), Store(tmp_path / "store"), ProcessExecutor(2))
    assert summary.run < 3


def test_a_combination_that_makes_no_cell_is_reported_and_the_rest_is_run(tmp_path: Path) -> None:
    axes = {"bandit.initial_pulls": [[100, 10], [1, 2, 3], [10, 100]]}
    sweep = Sweep(axes, {**SMALL.fixed, "policy": "ucb1"}, replicates=4)
    summary = run_cells(sweep, Store(tmp_path))
    assert (summary.run, summary.failed) == (8, 1)
    assert "initial_pulls must be as long as" in next(iter(summary.errors.values()))


def test_an_error_of_a_shard_is_reported_and_the_rest_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = work.run_shard

    def fail_the_first(shard: Any, root: str) -> None:
        if shard.planned.policy.name == "ucb1":
            raise ZeroDivisionError("by design")
        real(shard, root)

    with monkeypatch.context() as patch:
        patch.setattr(work, "run_shard", fail_the_first)
        summary = run_cells(SMALL, Store(tmp_path))
        assert (summary.run, summary.failed) == (2, 1)
        assert set(summary.errors.values()) == {"ZeroDivisionError: by design"}
    assert run_cells(SMALL, Store(tmp_path)).run == 2
    assert Store(tmp_path).failures() == []


CALLS = [(Path, "mkdir"), (Path, "open"), (os, "fsync"), (Path, "replace"), (Path, "unlink")]
CALLS += [(os, "open")]  # of the directory, to sync it


class FailingCalls:
    """Let one filesystem call of `LocalFiles.write` fail, or all from that one on."""

    def __init__(self, at: int, lasting: bool, patch: pytest.MonkeyPatch) -> None:
        self.at = at
        self.lasting = lasting
        self.calls = 0
        self.failed = ""
        self.inside = False
        real = LocalFiles.write

        def write(files: LocalFiles, name: str, content: bytes) -> None:
            self.inside = True
            try:
                real(files, name, content)
            finally:
                self.inside = False

        patch.setattr(LocalFiles, "write", write)
        for owner, name in CALLS:
            patch.setattr(owner, name, self._may_fail(getattr(owner, name), name))

    def _may_fail(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.calls += self.inside
            if self.inside and (self.calls == self.at or (self.lasting and self.calls > self.at)):
                self.failed = self.failed or name
                raise OSError(errno.ENOSPC, f"injected into {name}")
            return real(*given, **named)

        return call


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
def test_any_call_of_a_write_may_fail(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], lasting: bool
) -> None:
    whole = undisturbed(SMALL)
    failed = set()
    for at in range(1, 100):
        store = Store(tmp_path / str(at))
        with pytest.MonkeyPatch.context() as patch:
            faults = FailingCalls(at, lasting, patch)
            summary = run_cells(SMALL, store)
        store.content_hash()  # nothing is torn
        missing = 4 - sum(store.count(cell.identity, 2) for cell in SMALL.planned())
        assert summary.failed > 0 or missing == 0
        assert run_cells(SMALL, store).failed == 0
        assert store.content_hash() == whole
        if not faults.failed:
            break
        failed.add(faults.failed)
    assert failed == {name for _, name in CALLS}


@pytest.mark.slow
def test_a_full_disk_is_reported_and_the_sweep_goes_on_with_room(
    tmp_path: Path, undisturbed: Callable[[Sweep], str]
) -> None:
    assert answer(start(tmp_path, "2000")) == [0, 0, 32]
    assert shards(tmp_path) == []
    assert len(Store(tmp_path).failures()) == 32
    assert run_cells(LONG, Store(tmp_path)).run == 32
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


def test_a_write_that_is_not_atomic_leaves_a_torn_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""

    def write(files: LocalFiles, name: str, content: bytes) -> None:
        path = Path(files.root, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(LocalFiles, "write", write)
    assert run_cells(SMALL, Store(tmp_path)).failed == 2
    with pytest.raises(InvalidInput, match="undamaged"):
        Store(tmp_path).content_hash()


def flip_a_bit(shard: Path, chance: random.Random) -> None:
    content = bytearray(shard.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    shard.write_bytes(content)


def cut(shard: Path, chance: random.Random) -> None:
    shard.write_bytes(shard.read_bytes()[: chance.randrange(shard.stat().st_size)])


def take_another(shard: Path, _: random.Random) -> None:
    """Put another cell's undamaged shard in its place, under that shard's checksum."""
    other = next(path for path in shards(shard.parents[2]) if path.parent != shard.parent)
    checksum = other.name.rpartition("-")[2]
    shard.with_name(f"{shard.name.rpartition('-')[0]}-{checksum}").write_bytes(other.read_bytes())
    shard.unlink()


def rename(shard: Path, _: random.Random) -> None:
    """Let a shard claim other replicates than it holds."""
    first, count, checksum = shard.name.split("-")
    shard.rename(shard.with_name(f"{int(first) + 1:09d}-{count}-{checksum}"))


DAMAGES = [flip_a_bit, cut, take_another, rename]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("times", [3, pytest.param(200, marks=pytest.mark.nightly)])
def test_damaged_files_are_moved_aside_and_run_again(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], damage: Any, times: int
) -> None:
    store = Store(tmp_path)
    chance = random.Random(times)
    run_cells(SMALL, store)
    for _ in range(times):
        damage(chance.choice(shards(tmp_path)), chance)
        with pytest.raises(InvalidInput, match="undamaged"):
            store.content_hash()
        assert len(run_cells(SMALL, store).aside) >= 1
        assert store.content_hash() == undisturbed(SMALL)


def test_without_checks_a_foreign_file_is_taken_for_a_result(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""
    store = Store(tmp_path)
    run_cells(SMALL, store)
    take_another(shards(tmp_path)[0], random.Random())
    monkeypatch.setattr(
        Store, "_load", lambda self, _, piece: from_bytes(self.files.read(piece.name))
    )
    summary = run_cells(SMALL, store)
    assert (summary.found, summary.aside) == (4, [])
    assert store.content_hash() != undisturbed(SMALL)


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
