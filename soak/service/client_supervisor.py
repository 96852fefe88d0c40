"""The parent of all clients: python -m soak.service.client_supervisor DIRECTORY COUNT.

It loads what they need once and forks, so that a killed client is back at once. Being the parent
it knows that a number still belongs to its child. It takes a command a line, "kill 3", "pause 3 5"
(whichever was just given a lease), "wake 3" or "finish", and answers each with a line of JSON; at
the end of its input it kills its clients and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from soak.service.client import Client, Setup

PATIENCE = 60.0
"""Longest that clients may take to finish what they are at."""


SECONDS_FOR_A_LEASE = 2.0
"""Longest wait for a client that is to be paused to be given something."""


class Nursery:
    """The clients, as child processes of this one.

    Args:
        directory: with the setup, and for the journals.
        count: how many clients.
    """

    def __init__(self, directory: Path, count: int) -> None:
        self._directory = directory
        self._setup = Setup.load(directory / "setup.json")
        self._born = 0
        self._pids: dict[int, int] = {}
        # A client that is told to finish before it can listen finishes once it can.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        for number in range(count):
            self._start(number)

    def kill(self, number: int) -> dict[str, Any]:
        """SIGKILL a client and start it again; return whether it died of the signal."""
        os.kill(self._pids[number], signal.SIGKILL)
        code = self._ended(number)
        self._start(number)
        return {"landed": code == -signal.SIGKILL, "code": code}

    def pause(self, *numbers: int) -> dict[str, Any]:
        """SIGSTOP whichever of these clients is first seen with a fresh lease; return which."""
        until = time.monotonic() + SECONDS_FOR_A_LEASE
        while time.monotonic() < until:
            for number in numbers:
                if b'"leased"' in _last_line(self._directory / journal_name(number)):
                    os.kill(self._pids[number], signal.SIGSTOP)
                    _, status = os.waitpid(self._pids[number], os.WUNTRACED)
                    if os.WIFSTOPPED(status):
                        return {"landed": True, "number": number}
                    self._start(number)
            time.sleep(0.01)
        return {"landed": False}

    def wake(self, number: int) -> dict[str, Any]:
        """SIGCONT a client."""
        os.kill(self._pids[number], signal.SIGCONT)
        return {"landed": True}

    def finish(self) -> dict[str, Any]:
        """Tell every client to end; return the exit codes other than 0."""
        for pid in self._pids.values():
            os.kill(pid, signal.SIGTERM)
        codes = [self._ended(number, PATIENCE) for number in sorted(self._pids)]
        self._pids.clear()
        return {"landed": True, "codes": [code for code in codes if code]}

    def close(self) -> None:
        """Kill the clients that are left."""
        for number, pid in self._pids.items():
            os.kill(pid, signal.SIGKILL)
            self._ended(number)

    def _ended(self, number: int, patience: float | None = None) -> int:
        pid = self._pids[number]
        if patience is not None:
            until = time.monotonic() + patience
            while time.monotonic() < until:
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    return os.waitstatus_to_exitcode(status)
                time.sleep(0.01)
            os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _start(self, number: int) -> None:
        self._born += 1
        chance = random.Random(f"{self._setup.seed}/{number}/{self._born}")
        pid = os.fork()
        if pid:
            self._pids[number] = pid
            return
        code = 1
        try:
            os.close(0)  # the nursery's commands are not the client's
            client = Client(self._setup, self._directory / journal_name(number), chance)
            signal.signal(signal.SIGTERM, lambda *_: setattr(client, "over", True))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            client.run()
            code = 0
        except BaseException:  # a child must not go on as a second nursery
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)


def journal_name(number: int) -> str:
    """Return the name of a client's journal, which is that of its successors too."""
    return f"client-{number:02d}.journal"


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 10_000))
        return file.read().rstrip().rpartition(b"\n")[2]


class Clients:
    """The supervisor as seen from outside: a process that takes commands."""

    def __init__(self, directory: Path, count: int, environment: dict[str, str]) -> None:
        self.errors = directory / "clients.err"
        with self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "soak.service.client_supervisor",
                    str(directory),
                    str(count),
                ],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
                start_new_session=True,  # so that Ctrl-C is ours alone to handle
            )

    def do(self, command: str) -> dict[str, Any]:
        """Send a command; return its result."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\n")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the clients' parent ended: {self.errors.read_text()[-2000:]}")
        said: dict[str, Any] = json.loads(line)
        return said

    def close(self) -> None:
        """End the supervisor and every client."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(30)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()


def main() -> None:
    """Carry out commands from standard input until it ends."""
    nursery = Nursery(Path(sys.argv[1]), int(sys.argv[2]))
    try:
        for line in sys.stdin:
            name, *numbers = line.split()
            answer = getattr(nursery, name)(*map(int, numbers))
            print(json.dumps(answer), flush=True)
    finally:
        nursery.close()


if __name__ == "__main__":
    main()
