"""A task's shards are in one file; what is finished is written though the rest fails or lasts."""

from __future__ import annotations

import errno
import pickle
import threading
import time
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit
from affinity_bandits.experiments import Cell, Report, Shard, Store, run_task, watch, work
from affinity_bandits.experiments.work import received, to_send
from affinity_bandits.policies import Uniform
from affinity_bandits.simulation import Result
from tests.experiments.driver import Sleepy

BANDIT = AffinityBandit([0.4, 0.6])


def cells(count: int) -> list[Shard]:
    return [Shard(Cell(BANDIT, Uniform(), 100 + i), 0, 3) for i in range(count)]


def finished(store: Store) -> list[int]:
    """Return the horizons of the cells in the store."""
    return sorted(kept.content["horizon"] for kept in store.kept())


def test_a_task_is_one_file(tmp_path: Path) -> None:
    reports = list(run_task(cells(50), str(tmp_path)))
    assert [report.error for report in reports] == [None] * 50
    store = Store(tmp_path)
    assert finished(store) == [100 + i for i in range(50)]
    (file,) = store.snapshot().listed
    assert [path.name for path in tmp_path.rglob("*")] == ["runs", file]


@pytest.mark.parametrize("bad", [0, 2, 4])
def test_neighbors_of_a_cell_that_fails_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: int
) -> None:
    real = work.run_shard

    def run(shard: Shard) -> Result:
        if shard.planned.cell().horizon == 100 + bad:
            raise ZeroDivisionError("by design")
        return real(shard)

    monkeypatch.setattr(work, "run_shard", run)
    reports = {report.shard: report.error for report in run_task(cells(5), str(tmp_path))}
    wrong = [shard.planned.cell().horizon for shard, error in reports.items() if error is not None]
    assert wrong == [100 + bad]
    store = Store(tmp_path)
    assert finished(store) == [100 + i for i in range(5) if i != bad]
    assert len(store.snapshot().listed) == 1


@pytest.mark.parametrize(("size", "files"), [(2**25, 1), (200, 5)])
def test_results_that_wait_are_bounded_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, files: int
) -> None:
    """Of 3 replicates: 6 counts, 6 candidates, 3 times, so two shards are more than 200 bytes."""
    monkeypatch.setattr(work, "SHARD_BYTES", size)
    assert len(list(run_task(cells(5), str(tmp_path)))) == 5
    assert len(Store(tmp_path).snapshot().listed) == files


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.1, 1e9])
def test_results_do_not_wait_for_a_neighbor_that_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Without a limit, the negative control, they are written when the task is over."""
    monkeypatch.setattr(watch, "WATCH_SECONDS", 0.02)
    monkeypatch.setattr(work, "WRITE_SECONDS", seconds)
    list(run_task(cells(1), str(tmp_path / "first")))  # compiles
    sleepy = Shard(Cell(BANDIT, Sleepy(seconds=3.0), 50), 0, 1)
    store, seen = Store(tmp_path), []
    looking = threading.Timer(2.0, lambda: seen.append(finished(store)))
    looking.start()
    reports = list(run_task([*cells(2), sleepy, *cells(3)[2:]], str(tmp_path)))
    looking.join()
    assert [report.error for report in reports] == [None] * 4
    assert seen == [[100, 101] if seconds < 1.0 else []]
    assert finished(store) == [50, 100, 101, 102]


def test_an_interrupt_loses_only_the_running_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = work.run_shard

    def run(shard: Shard) -> Result:
        if shard.planned.cell().horizon == 103:
            raise KeyboardInterrupt
        return real(shard)

    monkeypatch.setattr(work, "run_shard", run)
    with pytest.raises(KeyboardInterrupt):
        list(run_task(cells(5), str(tmp_path)))
    assert finished(Store(tmp_path)) == [100, 101, 102]


def test_shards_that_the_store_does_not_take_are_reported_with_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(store: Store, held: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "write", write)
    task = cells(3)
    reports = list(run_task(task, str(tmp_path)))
    assert {report.unwritten for report in reports} == {task[0].name}
    assert all("No space left" in str(report.error) for report in reports)


def test_reports_are_sent_without_their_shards_and_come_back_whole() -> None:
    task = cells(3)
    reports = [Report(shard, i / 2, "bad" if i else None) for i, shard in enumerate(task)]
    sent = to_send(reversed(reports), task)
    assert len(pickle.dumps(sent)) < 100 < len(pickle.dumps(reports))
    assert received(pickle.loads(pickle.dumps(sent)), task) == reports[::-1]


def test_the_time_of_a_shard_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing is not in it, as estimates of the next tasks follow from it."""
    real = Store.write

    def write(store: Store, held: list[tuple[Shard, Result]]) -> None:
        time.sleep(0.5)
        real(store, held)

    list(run_task(cells(1), str(tmp_path / "first")))  # compiles
    monkeypatch.setattr(Store, "write", write)
    assert sum(report.seconds for report in run_task(cells(3), str(tmp_path))) < 0.4
