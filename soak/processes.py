"""Find and stop the processes that a driver started, by pid and start time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MARK = "SOAK_MARK"
"""The environment variable that everything a driver starts inherits."""


class Process(NamedTuple):
    """A running process; pid and start time together are unique."""

    pid: int
    parent: int
    started: int
    command: str


def living() -> dict[int, Process]:
    """Return every running process."""
    found = (_process(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdigit())
    return {process.pid: process for process in found if process is not None}


def descendants(ancestor: int) -> Iterator[Process]:
    """Yield the running descendants of a process."""
    processes = living()
    for process in processes.values():
        above = process.parent
        while above in processes and above != ancestor:
            above = processes[above].parent
        if above == ancestor:
            yield process


def workers(driver: int) -> list[Process]:
    """Return a driver's workers: those of a pool, and those of Ray that are at work."""
    return sorted(
        process
        for process in descendants(driver)
        if "--multiprocessing-fork" in process.command or process.command.startswith("ray::run_")
    )


def kill(process: Process) -> bool:
    """SIGKILL a process, unless it has ended and its pid belongs to another one by now."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        now = _process(process.pid)
        if now is None or now.started != process.started:
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def marked(mark: str) -> list[Process]:
    """Return the running processes that inherited a mark, orphans included."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in living().values():
        try:
            variables = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables and process.pid != os.getpid():
            found.append(process)
    return found


def stop_marked(mark: str, patience: float) -> list[str]:
    """Wait for the processes with a mark to end; kill the rest and return their names."""
    until = time.monotonic() + patience
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    stopped = []
    for _ in range(100):  # whoever is killed last may have started another just before
        left = marked(mark)
        if not left:
            break
        stopped += [process.command[:60] for process in left if kill(process)]
        time.sleep(0.05)
    return stopped


def _process(pid: int) -> Process | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    parts = text.rpartition(")")[2].split()  # a command's name may hold spaces and brackets
    if parts[0] in "ZX":
        return None
    readable = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return Process(pid, int(parts[1]), int(parts[19]), readable)
