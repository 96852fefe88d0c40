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
from unittest.mock import ANY

import pyarrow as arrow
import pytest
from pyarrow import parquet

from affinity_bandits.base.errors import AffinityError, InvalidInput
from affinity_bandits.experiments import Experiment, Store, Sweep, run_cells, snapshot
from tests.experiments.driver import LONG, SMALL, EachShard

MANY = Sweep(
    {"policy": ["ucb1", "exp3"], "horizon": [100, 150, 200, 250]},
    {"bandit.true_means": [0.4, 0.6]},
    replicates=2,
)
SHORT = 0.05
"""Seconds of a task that is a single shard of `LONG`."""


def start(store: Path, *limits: str, seconds: float = SHORT) -> subprocess.Popen[str]:
    words = [str(store), str(seconds), *limits]
    command = [sys.executable, "-m", "tests.experiments.driver", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(driver: subprocess.Popen[str]) -> list[int]:
    """Return how many replicates were found and run, and how many shards failed."""
    output, _ = driver.communicate(timeout=120)
    assert driver.returncode == 0
    return [int(word) for word in output.split()]


def files(store: Path) -> list[Path]:
    return sorted(store.glob("runs/*.parquet"))


def wait_until(met: Callable[[], Any], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < until
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for_files(driver: subprocess.Popen[str], store: Path, count: int) -> None:
    wait_until(lambda: driver.poll() is not None or len(files(store)) >= count)


def kill_a_driver(store: Path, delay: float, seconds: float) -> None:
    """Kill a driver some time after its first file; its workers must end, too."""
    driver = start(store, seconds=seconds)
    wait_for_files(driver, store, len(files(store)) + 1)
    time.sleep(delay)
    workers = children(driver.pid) if driver.poll() is None else []
    driver.kill()
    driver.communicate()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 20.0)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [SHORT, 0.3])
@pytest.mark.parametrize("kills", [1, pytest.param(30, marks=pytest.mark.nightly)])
def test_a_killed_driver_is_replaced_by_the_next(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], kills: int, seconds: float
) -> None:
    """While it runs tasks of one shard, and of several."""
    for kill in range(kills):
        kill_a_driver(tmp_path, 0.02 * (kill % 6), seconds)
    there = Store(tmp_path).snapshot()
    assert there.damaged == []
    kept = sum(there.count(cell.identity, 8) for cell in LONG.planned())
    assert kept >= (len(files(tmp_path)) if seconds == SHORT else 2)
    summary = run_cells(LONG, Store(tmp_path))
    assert summary.found == kept
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
        wait_for_files(driver, tmp_path, enough)
        commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in children(driver.pid)}
        workers = [pid for pid in commands if b"spawn_main" in commands[pid].read_bytes()]
        for pid in workers[:1]:
            os.kill(pid, signal.SIGKILL)
    assert answer(driver) == [0, 32, 0]
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


@pytest.mark.slow
def test_two_drivers_share_a_store(tmp_path: Path, undisturbed: Callable[[Sweep], str]) -> None:
    other = start(tmp_path)
    wait_until(lambda: files(tmp_path))
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
    assert said.startswith("the last 5 files could not be written to")
    assert "File too large; when this is mended, run the same command again" in said
    assert files(tmp_path) == []
    assert len(Store(tmp_path).failures()) == 5
    assert run_cells(LONG, Store(tmp_path)).run == 32
    assert Store(tmp_path).content_hash() == undisturbed(LONG)


@pytest.mark.parametrize("lasting", [True, False])
def test_only_failures_to_write_in_a_row_stop_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    """Every second write that fails is the negative control."""
    real, calls = Store.write, []

    def write(store: Store, finished: Any) -> None:
        calls.append(finished)
        if lasting or len(calls) % 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(store, finished)

    monkeypatch.setattr(Store, "write", write)
    fixed = {"bandit.true_means": [0.4, 0.6], "horizon": 20, "policy": "uniform"}
    sweep = Sweep({"bandit.initial_pulls": [[10, 10 + i] for i in range(12)]}, fixed, 1)
    if not lasting:
        assert run_cells(sweep, Store(tmp_path), EachShard()).failed == 6
        return
    with pytest.raises(AffinityError, match="No space left on device; when this is mended"):
        run_cells(sweep, Store(tmp_path), EachShard())
    assert len(calls) == 5


def flip_a_bit(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def cut(file: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def take_another(file: Path, _: random.Random) -> None:
    """Put another undamaged file in its place."""
    other = next(path for path in files(file.parents[1]) if path != file)
    file.write_bytes(other.read_bytes())


def rename(file: Path, _: random.Random) -> None:
    """Let a file claim another checksum."""
    file.rename(file.with_name(f"{file.stem[::-1]}.parquet"))


def forge(file: Path, _: random.Random) -> None:
    """Write a readable file with one pull more under the name of a right one."""
    table = parquet.read_table(file)
    place = table.schema.get_field_index("pulls")
    more = [[count + 1 for count in counts] for counts in table["pulls"].to_pylist()]
    parquet.write_table(table.set_column(place, "pulls", arrow.array(more)), file)


DAMAGES = [flip_a_bit, cut, take_another, rename, forge]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("times", [3, pytest.param(200, marks=pytest.mark.nightly)])
def test_damaged_files_are_moved_aside_and_run_again(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], damage: Any, times: int
) -> None:
    store = Store(tmp_path)
    chance = random.Random(times)
    run_cells(SMALL, store, EachShard())
    for _ in range(times):
        damage(chance.choice(files(tmp_path)), chance)
        with pytest.raises(InvalidInput, match="undamaged"):
            store.content_hash()
        mended = run_cells(SMALL, store, EachShard())
        assert len(mended.aside) == 1
        assert (mended.found, mended.run) == (3, 1)
        assert store.content_hash() == undisturbed(SMALL)


@pytest.mark.parametrize("damage", [flip_a_bit, cut, forge])
def test_of_a_damaged_file_of_several_cells_only_its_cells_are_run_again(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], damage: Any
) -> None:
    store = Store(tmp_path)
    cells = [planned.cell() for planned in MANY.planned()]
    for some in (cells[:5], cells[5:]):
        before = files(tmp_path)
        run_cells(Experiment(some, 2), store)
    (file,) = {*files(tmp_path)} - {*before}
    damage(file, random.Random(1))
    mended = run_cells(MANY, store)
    assert mended.aside == [f"runs/{file.name}"]
    assert (mended.found, mended.run) == (10, 6)
    assert store.content_hash() == undisturbed(MANY)


def test_without_checks_a_forged_file_is_taken_for_a_result(
    tmp_path: Path, undisturbed: Callable[[Sweep], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control."""
    store = Store(tmp_path)
    run_cells(SMALL, store)
    forge(files(tmp_path)[0], random.Random())
    monkeypatch.setattr(snapshot, "_claimed_checksum", lambda name: ANY)
    summary = run_cells(SMALL, store)
    assert (summary.found, summary.aside) == (4, [])
    assert store.content_hash() != undisturbed(SMALL)


@pytest.mark.slow
def test_a_worker_killed_within_a_task_loses_that_task_alone(
    tmp_path: Path, undisturbed: Callable[[Sweep], str]
) -> None:
    """The driver runs its shards again; none is there twice."""
    driver = start(tmp_path, seconds=0.5)
    wait_for_files(driver, tmp_path, 1)
    commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in children(driver.pid)}
    workers = [pid for pid in commands if b"spawn_main" in commands[pid].read_bytes()]
    os.kill(workers[0], signal.SIGKILL)
    assert answer(driver) == [0, 32, 0]
    there = Store(tmp_path).snapshot()
    assert [there.count(cell.identity, 8) for cell in LONG.planned()] == [8] * 4
    assert there.content_hash() == undisturbed(LONG)
