"""Faults of a Ray cluster of several nodes: each is named, and what can go on goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from affinity_bandits import AffinityBandit
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.experiments import (
    Cell,
    Experiment,
    RayExecutor,
    Store,
    ray_executor,
    run_cells,
)
from affinity_bandits.experiments.files import leave_token, sees
from affinity_bandits.policies import Elimination, Uniform
from tests.experiments.driver import Sleepy
from tests.experiments.own_code import MINE, loaded
from tests.experiments.ray_cluster import RayCluster, may_hide, ray_cluster

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.one_at_a_time("ray")]
BANDIT = AffinityBandit([0.4, 0.6])
TWO = Experiment([Cell(BANDIT, Uniform(), 100), Cell(BANDIT, Elimination(), 100)], 2)
hides = pytest.mark.skipif(not may_hide(), reason="a node with other files takes root and unshare")


@pytest.fixture(scope="module")
def head() -> Iterator[RayCluster]:
    with ray_cluster() as made:
        yield made


@pytest.fixture
def cluster(head: RayCluster) -> Iterator[RayCluster]:
    yield head
    head.remove_nodes()


def sleepers(record: Path, count: int, seconds: float) -> Experiment:
    return Experiment(
        [Cell(BANDIT, Sleepy(seconds=seconds, record=str(record)), 100 + i) for i in range(count)],
        1,
        1,
    )


def most_at_once(record: Path) -> int:
    lines = sorted(line.split() for line in record.read_text(encoding="ascii").splitlines())
    now = most = 0
    for _, what in lines:
        now += 1 if what == "begin" else -1
        most = max(most, now)
    return most


@hides
def test_a_store_that_workers_do_not_share_is_refused(cluster: RayCluster, tmp_path: Path) -> None:
    root = tmp_path / "store"
    root.mkdir()
    node = cluster.add(hide=root)
    with pytest.raises(InvalidInput, match=r"store must be a place that all machines .* share"):
        run_cells(TWO, Store(root), RayExecutor(cluster.address))
    assert list(root.iterdir()) == []
    cluster.kill(node)
    cluster.add()
    assert run_cells(TWO, Store(root), RayExecutor(cluster.address)).run == 4


def test_a_token_is_seen_in_its_store_alone_and_looking_creates_none(tmp_path: Path) -> None:
    token = leave_token(Store(tmp_path / "one").files)
    assert sees(str(tmp_path / "one"), token)
    Store(tmp_path / "other")
    assert not sees(str(tmp_path / "other"), token)
    assert not sees(str(tmp_path / "none"), token)
    assert not (tmp_path / "none").exists()


@hides
def test_own_modules_are_sent_and_a_missing_one_is_named(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second half is a negative control."""
    folder = tmp_path / "code"
    folder.mkdir()
    cluster.add(hide=folder)
    with loaded(folder, MINE) as mine:
        own = Experiment([Cell(BANDIT, mine.Mine(), 100)], 2)
        found = run_cells(own, Store(tmp_path / "store"), RayExecutor(cluster.address))
        assert (found.run, found.failed) == (2, 0)
        here = Store(tmp_path / "here")
        run_cells(own, here)
        assert here.content_hash() == Store(tmp_path / "store").content_hash()
        monkeypatch.setattr(ray_executor, "_own_modules", lambda: [])
        with pytest.raises(NotSupported, match=r"'mine' cannot be sent .*No module named 'mine'"):
            run_cells(own, Store(tmp_path / "other"), RayExecutor(cluster.address))


@pytest.mark.parametrize("retries", [0, 20])
def test_a_cell_that_runs_out_of_memory_fails_in_the_end(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retries: int
) -> None:
    """Ray's own retries, of which it then makes as many as it likes, are the negative control."""
    # A machine on which Ray always finds too little memory.
    cluster.add(RAY_memory_usage_threshold="0.001", RAY_memory_monitor_refresh_ms="100")
    monkeypatch.setattr(ray_executor, "RAY_RETRIES", retries)
    summaries = []

    def run() -> None:
        store = Store(tmp_path / "store")
        cells = sleepers(tmp_path / "record", 1, 60.0)
        with suppress(Exception, SystemExit):  # the control ends without Ray
            summaries.append(run_cells(cells, store, RayExecutor(cluster.address)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30.0 if retries else 120.0)
    if retries:
        import ray

        assert thread.is_alive()
        ray.shutdown()
        thread.join(60.0)
    assert not thread.is_alive()
    if not retries:
        assert summaries[0].failed == 1
        assert "out of memory" in next(iter(summaries[0].errors.values()))


def test_a_cell_beyond_its_time_limit_fails_and_the_rest_is_run(
    cluster: RayCluster, tmp_path: Path
) -> None:
    cluster.add()
    cells = [
        Cell(BANDIT, policy, 100) for policy in (Uniform(), Sleepy(seconds=600.0), Elimination())
    ]
    store = Store(tmp_path)
    found = run_cells(Experiment(cells, 1), store, RayExecutor(cluster.address, time_limit=10.0))
    assert (found.run, found.failed) == (2, 1)
    assert "took longer than its time limit, 10 seconds" in next(iter(found.errors.values()))
    assert store.slow() == []


@pytest.mark.parametrize("looks", [True, False])
def test_machines_that_join_later_are_used(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looks: bool
) -> None:
    """Without a second look at the cluster, a negative control, three tasks are in flight."""
    cluster.add()
    monkeypatch.setattr(ray_executor, "LOOK_SECONDS", 0.5 if looks else 1e9)
    record = tmp_path / "record"

    def join() -> None:
        while not record.exists():
            time.sleep(0.05)
        cluster.add(cores=6)

    joining = threading.Thread(target=join)
    joining.start()
    found = run_cells(
        sleepers(record, 24, 2.0), Store(tmp_path / "store"), RayExecutor(cluster.address)
    )
    joining.join()
    assert found.run == 24
    assert most_at_once(record) > 4 if looks else most_at_once(record) <= 3


def test_a_dead_head_is_said_in_one_sentence(cluster: RayCluster, tmp_path: Path) -> None:
    cluster.add()
    record = tmp_path / "record"
    policy = {"name": "tests.experiments.driver:Sleepy", "seconds": 2.0, "record": str(record)}
    spec = {"policy": [policy], "horizon": [100 + i for i in range(40)]}
    file = tmp_path / "sleep.toml"
    file.write_text(
        f"replicates = 1\nshard_size = 1\n[axes]\nhorizon = {spec['horizon']}\n"
        f'[fixed]\n"bandit.true_means" = [0.4, 0.6]\n'
        f"policy = {{ name = {json.dumps(policy['name'])}, seconds = 2.0, "
        f"record = {json.dumps(policy['record'])} }}\n"
    )
    command = str(Path(sys.executable).with_name("affinity"))
    words = [command, "sweep", "run", str(file), "--own-code"]
    words += ["--executor", "ray", "--address", cluster.address]
    driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not record.exists():
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.1)
    os.kill(cluster.gcs(), signal.SIGKILL)
    began = time.monotonic()
    _, said = driver.communicate(timeout=100)
    assert time.monotonic() - began < 50.0
    assert said.count("run the same command again once the cluster is back") == 1
    assert driver.returncode == 2
