"""How tests run `affinity`: in a process of its own, or inside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from affinity_bandits.planning import Assumptions
from tests.support.quiet import quiet

from .inside import inside

# A right command line whose plan takes no time; a later option of the same name overrides it.
TINY = (
    *("plan", "--groups", "2", "--scale", "yes/no", "--budget", "300", "--difference", "0.5"),
    *("--initial-lead", "2", "--steepness", "0", "--judges", "committee"),
    *("--favor-gap", "same", "--strictness", "same"),
)

ASSUMED = Assumptions(groups=2, horizon=300, smallest_difference=0.5, initial_lead=2, steepness=0.0)


def command(*arguments: object) -> list[str]:
    code = "from affinity_bandits.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


def surroundings(cache: Path | None = None) -> dict[str, str]:
    """Wide enough that no table is folded, the same text everywhere, and a cache of its own."""
    changes = {"COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    if cache is not None:
        changes["XDG_CACHE_HOME"] = str(cache)
    return os.environ | changes


class Runner:
    """Runs the command; the working directory stays, as PYTHONPATH may be relative to it."""

    def __init__(self, cache: Path | None = None) -> None:
        self.cache = cache

    @property
    def kept(self) -> list[Path]:
        assert self.cache is not None
        return sorted(self.cache.rglob("plans/*"))

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(*arguments),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=300,
            env=surroundings(self.cache),
        )
        return quiet(done)

    def succeeded(self, *arguments: object) -> str:
        done = self(*arguments)
        assert done.stderr == ""
        assert done.returncode == 0
        return done.stdout

    def refused(self, *arguments: object, says: str = "") -> str:
        """Run a wrong command line; return its complaint, one line that has all parts of `says`."""
        done = self(*arguments)
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode == 2
        assert done.stderr.startswith("affinity: ")
        assert done.stderr.endswith("\n")
        assert len(done.stderr.splitlines()) == 1
        assert [part for part in says.split(" | ") if part not in done.stderr] == []
        return done.stderr


class InsideRunner(Runner):
    """Runs the command in this process; what it lets through would be a traceback."""

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return inside(arguments, surroundings(self.cache))
