"""A Ray cluster of several nodes on this machine, some of which see other files than the driver."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 60.0
ATTEMPTS = 4
"""Ray gives its own agents 15 seconds, which are too few for a busy machine."""
RAY = str(Path(sys.executable).with_name("ray"))


class RayCluster:
    """A head without cores, and nodes that are added to it.

    Attributes:
        address: of the head.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder  # paths of sockets are short
        self._started: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"

    def start(self) -> None:
        """Start the head."""
        port = self.address.rpartition(":")[2]
        words = ["--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false"]
        self._head = self._start([*words, f"--temp-dir={self._folder}"], [], {})

    def add(
        self, cores: int = 1, hide: Path | None = None, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start a node.

        Args:
            cores: of the node.
            hide: a directory that the node sees empty.
            variables: of its environment.
        """
        before = [] if hide is None else ["unshare", "--mount", "sh", "-c", HIDDEN, str(hide)]
        words = [f"--address={self.address}", f"--num-cpus={cores}"]
        return self._start(words, before, variables)

    def _start(
        self, words: list[str], before: list[str], variables: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        command = [*before, RAY, "start", "--block", "--node-ip-address=127.0.0.1", *words]
        command += ["--object-store-memory=80000000", "--disable-usage-stats"]
        for _ in range(ATTEMPTS):
            log = self._folder / f"log-{time.monotonic_ns()}"
            with log.open("wb") as output:
                started = subprocess.Popen(
                    command,
                    cwd=self._folder,
                    env={**os.environ, **variables},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            self._started.append(started)
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and started.poll() is None:
                if b"Ray runtime started" in log.read_bytes():
                    return started
                time.sleep(0.05)
            self.kill(self._started.pop())
        raise AssertionError(log.read_text(encoding="utf-8"))

    def gcs(self) -> int:
        """Return the process that keeps the cluster's state, on the head."""
        names = {one: Path(f"/proc/{one}/cmdline").read_bytes() for one in _below(self._head.pid)}
        return next(one for one, words in names.items() if b"gcs_server" in words.split(b"\0")[0])

    def kill(self, node: subprocess.Popen[bytes]) -> None:
        """Kill a node with all its processes."""
        for process in reversed([node.pid, *_below(node.pid)] if node.poll() is None else []):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        node.wait()

    def end(self) -> None:
        """Kill all that was started."""
        self.remove_nodes()
        for node in self._started:
            self.kill(node)

    def remove_nodes(self) -> None:
        """Kill all nodes but the head."""
        while len(self._started) > 1:
            self.kill(self._started.pop())


HIDDEN = 'mount -t tmpfs none "$0" && exec "$@"'


def _below(process: int) -> Iterator[int]:
    """Yield the descendants of a process."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return
    for child in children.split():
        yield int(child)
        yield from _below(int(child))


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """Yield a cluster whose processes end with the block."""
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    # Ray makes tokens for local clusters, which then guard all others of this machine.
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    cluster = RayCluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)


def may_hide() -> bool:
    """Return whether a process can have mounts of its own here."""
    if shutil.which("unshare") is None:
        return False
    words = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
