"""The processes of the service, which are killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

import affinity_bandits

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0  # longest that a server may take to be ready where nobody disturbs it
AFFINITY = "from affinity_bandits.cli import main; main()"


def environment(dsn: str) -> dict[str, str]:
    """Return the environment in which child processes find the package and the database."""
    above = Path(affinity_bandits.__file__).parents[1]
    path = os.pathsep.join((str(ROOT), str(above)))
    return os.environ | {"PYTHONPATH": path, "AFFINITY_DSN": dsn, "PYTHONUNBUFFERED": "1"}


class Servers:
    """Servers, one a port, kept running.

    Args:
        directory: for what they print.
        ports: where they listen, on the loopback.
        admin_ports: where each says whether it is ready.
        variables: their environment.
    """

    def __init__(
        self,
        directory: Path,
        ports: list[int],
        admin_ports: list[int],
        variables: dict[str, str],
    ) -> None:
        self.ended = 0
        """How many ended without being killed."""
        self.output = directory / "servers.out"
        self._ports = ports
        self._admin_ports = dict(zip(ports, admin_ports, strict=True))
        self._variables = variables
        self._lock = threading.Lock()
        self._http = httpx.Client(trust_env=False, verify=False, timeout=5.0)
        self._processes: list[subprocess.Popen[bytes]] = []
        for port in ports:
            self._processes.append(self._start(port))

    def kill(self, place: int) -> bool:
        """SIGKILL a server and start it again; return whether it died of the signal."""
        with self._lock:
            process = self._processes[place]
            process.kill()
            landed = process.wait() == -9
            self.ended += not landed
            self._processes[place] = self._start(self._ports[place])
            return landed

    def keep(self) -> None:
        """Start again those that ended by themselves, as a supervisor would."""
        with self._lock:
            for place, process in enumerate(self._processes):
                if process.poll() is not None:
                    self.ended += 1
                    self._processes[place] = self._start(self._ports[place])

    def wait(self) -> None:
        """Wait until all are ready.

        Raises:
            RuntimeError: they did not become so.
        """
        until = time.monotonic() + PATIENCE
        for place in range(len(self._ports)):
            while not self.ready(place):
                if time.monotonic() > until:
                    raise RuntimeError(f"a server was never ready: {self.said()}")
                self.keep()
                time.sleep(0.1)

    def ready(self, place: int) -> bool:
        """Return whether a server says that it can work."""
        try:
            port = self._admin_ports[self._ports[place]]
            said = self._http.get(f"http://127.0.0.1:{port}/readyz")
        except httpx.TransportError:
            return False
        return said.status_code == 200

    def close(self) -> None:
        """Kill them all."""
        self._http.close()
        for process in self._processes:
            process.kill()
            process.wait()

    def said(self) -> str:
        """Return the end of what they printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-3000:]

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        with self.output.open("ab") as output:
            return subprocess.Popen(
                [
                    *(sys.executable, "-c", AFFINITY, "serve", "--quiet"),
                    *("--port", str(port), "--admin-port", str(self._admin_ports[port])),
                ],
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C is ours alone to handle
            )
