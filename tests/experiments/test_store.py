"""The store keeps a file per task; on an object store it is the same, by few requests.

The object store is a real HTTP server that speaks S3, on loopback.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import Store, Sweep, run_cells, write_table
from affinity_bandits.experiments.summaries import count_finished
from tests.experiments.driver import EachShard

SWEEP = Sweep(
    {"policy": ["ucb1", "elimination"]},
    {"bandit.true_means": [0.4, 0.6], "horizon": 300},
    replicates=12,
    shard_size=5,
)


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one line for each request to the server."""
    return tmp_path_factory.mktemp("moto") / "requests"


@pytest.fixture(scope="module")
def bucket(requests: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with requests.open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        from pyarrow import fs

        options = f"region=us-east-1&scheme=http&endpoint_override=127.0.0.1%3A{port}"
        filesystem, _ = fs.FileSystem.from_uri(
            f"s3://key:secret@sweeps/?{options}&allow_bucket_creation=true"
        )
        filesystem.create_dir("sweeps")
        yield f"s3://key:secret@sweeps/{{}}?{options}"
    finally:
        server.kill()
        server.wait()


def small_cells(count: int) -> Sweep:
    cells = {"bandit.initial_pulls": [[10, 10 + i] for i in range(count)]}
    fixed = {"bandit.true_means": [0.4, 0.6], "horizon": 50, "policy": "uniform"}
    return Sweep(cells, fixed, replicates=1)


@pytest.mark.slow
def test_a_sweep_into_a_bucket_is_the_same_and_mended(bucket: str, tmp_path: Path) -> None:
    store = Store(bucket.format("first"))
    assert run_cells(SWEEP, store, EachShard()).run == 24
    local = Store(tmp_path)
    run_cells(SWEEP, local)
    whole = store.content_hash()
    assert whole == local.content_hash()
    name = f"runs/{store.files.names('runs')[0]}"
    store.files.write(name, store.files.read(name)[:-20])
    with pytest.raises(InvalidInput, match="undamaged"):
        store.content_hash()
    mended = run_cells(SWEEP, store)
    assert mended.aside == [name]
    assert mended.run in (2, 5)  # what was in that file
    assert mended.found + mended.run == 24
    assert store.content_hash() == whole


@pytest.mark.slow
@pytest.mark.parametrize(("option", "most"), [("", 1), ("&allow_delayed_open=false", 3)])
def test_a_task_is_written_by_few_requests(
    bucket: str, requests: Path, option: str, most: int
) -> None:
    """Planning lists three folders: outcomes, failures and what takes long.

    Without the option, the negative control, writing takes three.
    """
    store = Store(bucket.format(f"few{len(option)}") + option)
    before = count(requests)
    assert run_cells(small_cells(20), store, EachShard()).run == 20
    assert count(requests) - before == 3 + 20 * most


@pytest.mark.slow
def test_a_thousand_cells_are_resumed_and_exported_by_few_requests(
    bucket: str, requests: Path, tmp_path: Path
) -> None:
    """One to list each folder, and two per file: its size first. A file per cell is the control."""
    sweep = small_cells(1000)
    store = Store(bucket.format("thousand"))
    run_cells(sweep, store)
    files = len(store.files.names("runs"))
    assert files <= 5
    before = count(requests)
    assert run_cells(sweep, store).found == 1000
    assert count(requests) - before == 3 + 2 * files
    before = count(requests)
    assert count_finished(sweep, store).done == 1000
    assert count(requests) - before == 1 + 2 * files
    before = count(requests)
    assert write_table(sweep, store, tmp_path / "cells.csv") == 1000
    assert count(requests) - before == 1 + 4 * files
    apart = Store(bucket.format("apart"))
    run_cells(small_cells(30), apart, EachShard())
    before = count(requests)
    assert run_cells(small_cells(30), apart).found == 30
    assert count(requests) - before == 3 + 2 * 30


def count(requests: Path) -> int:
    """Return how many requests there were."""
    return requests.read_text(encoding="utf-8").count(" HTTP/1.")


@pytest.mark.parametrize(("each", "files"), [(False, 3), (True, 600)])
def test_many_cells_are_few_files(tmp_path: Path, each: bool, files: int) -> None:
    """A file per cell is the negative control."""
    sweep, store = small_cells(600), Store(tmp_path)
    assert run_cells(sweep, store, EachShard() if each else None).run == 600
    found = [path.name for path in tmp_path.rglob("*")]
    assert "runs" in found
    assert files <= len(found) - 1 <= files if each else len(found) - 1 <= files


def test_a_store_knows_what_was_written_since_it_last_looked(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Store(tmp_path)
    assert list(store.kept()) == []
    run_cells(small_cells(2), other)
    first = list(store.kept())
    assert len(first) == 2
    run_cells(small_cells(3), other)
    assert len(list(store.kept())) == 3
    assert len(store.result(first[0]).replicates) == 1
    next((tmp_path / "runs").iterdir()).unlink()
    assert len(list(store.kept())) < 3
