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

from affinity_bandits.base.errors import AffinityError, InvalidInput
from affinity_bandits.experiments import (
    Store,
    Sweep,
    run_cells,
)
from affinity_bandits.experiments.cells import Shard
from affinity_bandits.experiments.store import from_bytes
from affinity_bandits.simulation import Result
from tests.experiments.driver import LONG, SMALL


def start(store: Path, *limits: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.experiments.driver", str(store), *limits]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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


@pytest.mark.slow
def test_a_full_disk_stops_the_sweep_and_it_goes_on_with_room(
    tmp_path: Path, undisturbed: Callable[[Sweep], str]
) -> None:
    driver = start(tmp_path, "2000")
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == 1
    assert said.startswith("the last 5 shards could not be written to")
    assert "File too large; when this is mended, run the same command again" in said
    assert shards(tmp_path) == []
    assert len(Store(tmp_path).failures()) == 5
    assert run_cells(LONG, Store(tmp_path)).run == 32
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


@pytest.mark.parametrize("lasting", [True, False])
def test_only_failures_to_write_in_a_row_stop_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    """Every second write that fails is the negative control."""
    real, calls = Store.write, []

    def write(store: Store, shard: Shard, result: Result) -> None:
        calls.append(shard)
        if lasting or len(calls) % 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(store, shard, result)

    monkeypatch.setattr(Store, "write", write)
    fixed = {"bandit.true_means": [0.4, 0.6], "horizon": 20, "policy": "uniform"}
    sweep = Sweep({"bandit.initial_pulls": [[10, 10 + i] for i in range(12)]}, fixed, 1)
    if not lasting:
        assert run_cells(sweep, Store(tmp_path)).failed == 6
        return
    with pytest.raises(AffinityError, match="No space left on device; when this is mended"):
        run_cells(sweep, Store(tmp_path))
    assert len(calls) == 5


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
