"""The store: writes that fail leave nothing torn; on an object store it is the same.

The object store is a real HTTP server that speaks S3, on loopback.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import SerialExecutor, Store, Sweep, run_cells
from affinity_bandits.experiments.store import LocalFiles, folder_of
from tests.experiments.driver import SMALL

CALLS = [(Path, "mkdir"), (Path, "open"), (os, "fsync"), (Path, "replace"), (Path, "unlink")]
CALLS += [(os, "open")]  # of the directory, to sync it

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


@pytest.mark.slow
def test_a_sweep_into_a_bucket_is_the_same_and_mended(bucket: str, tmp_path: Path) -> None:
    store = Store(bucket.format("first"))
    assert run_cells(SWEEP, store, SerialExecutor()).run == 24
    local = Store(tmp_path)
    run_cells(SWEEP, local)
    whole = store.content_hash()
    assert whole == local.content_hash()
    folder = folder_of(next(iter(store.identities())))
    name = f"{folder}/{store.files.names(folder)[0]}"
    store.files.write(name, store.files.read(name)[:-20])
    with pytest.raises(InvalidInput, match="undamaged"):
        store.content_hash()
    mended = run_cells(SWEEP, store)
    assert mended.aside == [name]
    assert mended.found + mended.run == 24
    assert store.content_hash() == whole


@pytest.mark.slow
@pytest.mark.parametrize(("option", "most"), [("", 3.0), ("&allow_delayed_open=false", 5.0)])
def test_a_shard_takes_few_requests(bucket: str, requests: Path, option: str, most: float) -> None:
    """A look when it is planned, one before it runs, and one to write it.

    Without the option, the negative control, writing alone takes three.
    """
    store = Store(bucket.format(f"few{len(option)}") + option)
    cells = {"bandit.initial_pulls": [[10, 10 + i] for i in range(20)]}
    fixed = {"bandit.true_means": [0.4, 0.6], "horizon": 50, "policy": "uniform"}
    before = requests.read_text(encoding="utf-8").count(" HTTP/1.")
    assert run_cells(Sweep(cells, fixed, replicates=1), store).run == 20
    found = (requests.read_text(encoding="utf-8").count(" HTTP/1.") - before) / 20
    assert most - 0.5 <= found <= most + 0.5


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
