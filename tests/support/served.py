"""`affinity serve` as users start it: a process of its own, whose log is read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

PATIENCE = 60.0
AFFINITY = (sys.executable, "-c", "from affinity_bandits.cli import main; main()")


class Server:
    """`affinity serve` in a process of its own; its log is read all the time, so it never fills."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def url(self) -> str:
        return str(next(json.loads(one)["url"] for one in self.lines if '"listening"' in one))

    def probe(self, path: str = "/readyz") -> httpx.Response:
        """Ask at the admin address."""
        said = next(json.loads(one)["admin"] for one in self.lines if '"listening"' in one)
        return httpx.get(f"{said}{path}", timeout=PATIENCE)

    def is_ready(self) -> bool:
        return self.probe().status_code == 200

    def wait(self) -> int:
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status


@contextmanager
def served(dsn: str, *arguments: str, first: str = "") -> Iterator[Server]:
    """Start a service; `first` is Python that its process runs before anything else."""
    python, flag, command = AFFINITY
    with subprocess.Popen(
        [
            python,
            flag,
            f"{first}\n{command}",
            "serve",
            "--port",
            "0",
            "--admin-port",
            "0",
            *arguments,
        ],
        env=os.environ | {"AFFINITY_DSN": dsn},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        server = Server(process)
        try:
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            server.wait()


def until(what: str, holds: Callable[[], bool]) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if holds():
                return
        except (httpx.HTTPError, StopIteration):
            pass
        time.sleep(0.05)
    raise AssertionError(what)
