"""Run one case in a process that can be killed: python -m soak.driver ..."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import affinity_bandits
from affinity_bandits.experiments import (
    Executor,
    ProcessExecutor,
    SerialExecutor,
    Store,
    ray_executor,
    run_cells,
)
from soak import poison
from soak.cases import CASES
from soak.guards import GUARDS
from soak.processes import MARK, Process, kill, living, stop_marked

ROOT = Path(__file__).parents[1]
PATIENCE = 180.0
"""Longest that any driver may take to finish by itself."""
GRACE = 10.0
"""How long what a killed driver has left behind may take to end."""
EXECUTORS = ("serial", "processes", "ray")


class Driver:
    """A driver in a session of its own, and all that it starts.

    Args:
        case: the name of what to run.
        executor: one of `EXECUTORS`, with two workers.
        store: where to.
        scratch: a directory for its output and, with Ray, Ray's files; its name must be short,
            because Ray's sockets are in it.
        options: further arguments of `main`.
    """

    def __init__(self, case: str, executor: str, store: Path, scratch: Path, *options: str) -> None:
        self.mark = uuid.uuid4().hex
        self.output = scratch / f"{self.mark[:12]}.out"
        above = Path(affinity_bandits.__file__).parents[1]
        environment = os.environ | {
            MARK: self.mark,
            # Ray's workers are started in another directory.
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(above))),
            "RAY_TMPDIR": str(scratch / "ray"),
            "RAY_USAGE_STATS_ENABLED": "0",
            poison.DEATHS: str(self.deaths_file(store)),
        }
        command = ["--case", case, "--executor", executor, "--store", str(store), *options]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "soak.driver", *command],
                cwd=ROOT,
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @staticmethod
    def deaths_file(store: Path) -> Path:
        """Return where the deaths of poisoned workers are counted."""
        return store.with_name(f"{store.name}.deaths")

    def ended(self, seconds: float) -> bool:
        """Return whether it ends within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def kill(self) -> bool:
        """SIGKILL the driver, and nothing else; return whether it was still running."""
        process: Process | None = living().get(self.process.pid)
        landed = process is not None and kill(process)
        self.process.wait(10)
        return landed and self.process.returncode == -9

    def answer(self) -> dict[str, Any]:
        """Wait until it ends by itself and return its summary.

        Raises:
            RuntimeError: it took too long, or said no summary.
        """
        if not self.ended(PATIENCE):
            self.stop(0.0)
            raise RuntimeError(f"a driver did not end within {PATIENCE:.0f} s: {self.said()}")
        last = self.said().strip().rpartition("\n")[2]
        if self.process.returncode != 0 or not last.startswith("{"):
            raise RuntimeError(f"a driver ended with {self.process.returncode}: {self.said()}")
        answer: dict[str, Any] = json.loads(last)
        return answer

    def said(self) -> str:
        """Return the end of what it printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")[-4000:]

    def stop(self, patience: float) -> list[str]:
        """Stop whatever is left of it; return what had to be killed."""
        stopped = stop_marked(self.mark, patience)
        self.process.wait(10)
        return stopped


def main() -> None:
    """Run a case and print what `run_cells` returned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", required=True, choices=CASES)
    parser.add_argument("--executor", required=True, choices=EXECUTORS)
    parser.add_argument("--store", required=True)
    parser.add_argument("--largest-file", type=int, help="bytes after which writing fails")
    parser.add_argument("--retries", type=int, help="of Ray, instead of its executor's")
    parser.add_argument("--control", choices=GUARDS, help="take out a guard")
    given = parser.parse_args()
    executor: Executor = SerialExecutor()
    if given.executor == "processes":
        executor = ProcessExecutor(2)
    if given.executor == "ray":
        executor = ray_executor.RayExecutor(workers=2)
    if given.control is not None:
        executor = GUARDS[given.control](executor, given.store)
    if given.retries is not None:
        ray_executor.RETRIES = given.retries
    if given.largest_file is not None:
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (given.largest_file, hard))
    summary = run_cells(CASES[given.case]().cells, Store(given.store), executor)
    fields = ("found", "run", "failed")
    first = next(iter(summary.errors.values()), "")[:200]
    print(json.dumps({name: getattr(summary, name) for name in fields} | {"error": first}))


if __name__ == "__main__":
    main()
