"""How the tests of `affinity plan` run it: in a process of its own, or inside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from affinity_bandits.planning import Assumptions
from tests.support.quiet import quiet

from .inside import inside

TINY = (
    *("plan", "--groups", "2", "--scale", "yes/no", "--budget", "300", "--difference", "0.5"),
    *("--head-start", "2", "--steepness", "0", "--judges", "committee"),
)
"""A right command line whose plan takes no time; a later option of the same name overrides it."""

ASSUMED = Assumptions(groups=2, horizon=300, smallest_difference=0.5, head_start=2, steepness=0.0)


def command(*arguments: object) -> list[str]:
    code = "from affinity_bandits.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


def surroundings(cache: Path) -> dict[str, str]:
    """Wide enough that no table is folded, the same text everywhere, and a cache of its own."""
    changes = {"COLUMNS": "200", "NO_COLOR": "1", "XDG_CACHE_HOME": str(cache)}
    # Where compiled code is kept must not move with the cache.
    compiled = os.environ.get("NUMBA_CACHE_DIR")
    kept = {} if compiled is None else {"NUMBA_CACHE_DIR": compiled}
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **changes, **kept}


class Runner:
    """Runs the command; the working directory stays, as PYTHONPATH may be relative to it."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    @property
    def kept(self) -> list[Path]:
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

    def refused(self, *arguments: object) -> str:
        """Run a wrong command line and return its complaint, which is a single line."""
        done = self(*arguments)
        assert "Traceback" not in done.stdout + done.stderr
        assert done.returncode == 2
        assert done.stderr.startswith("affinity: ")
        assert done.stderr.endswith("\n")
        assert len(done.stderr.splitlines()) == 1
        return done.stderr


class InsideRunner(Runner):
    """Runs the command in this process; what it lets through would be a traceback."""

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return inside(arguments, surroundings(self.cache))
