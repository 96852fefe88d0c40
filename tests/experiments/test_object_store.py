"""The store on an object store: a real HTTP server that speaks S3, on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.experiments import SerialExecutor, Store, Sweep, run_cells
from affinity_bandits.experiments.store import folder_of

SWEEP = Sweep(
    {"policy": ["ucb1", "elimination"]},
    {"bandit.true_means": [0.4, 0.6], "horizon": 300},
    replicates=12,
    shard_size=5,
)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
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
