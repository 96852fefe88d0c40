"""How long a plan takes: `python -m bench.planning --json`.

The real command for 8 groups and 10**8 choices, the first time (machine code is cached, no plan is)
and again. There is no bare engine to compare with: the bar is a person's patience, a minute and a
second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from bench.measure import main

COMMAND = ["plan", "--groups", "8", "--horizon", "1e8", "--smallest-difference", "0.1"]
SMALL = ["plan", "--groups", "2", "--horizon", "1e4", "--smallest-difference", "0.3"]
START = "from affinity_bandits.cli import main; main()"


def seconds(arguments: list[str], cache: str) -> float:
    """Return how long a command takes, with plans kept in a given place."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", START, *arguments],
        check=True,
        capture_output=True,
        env=os.environ | {"XDG_CACHE_HOME": cache},
    )
    return time.perf_counter() - began


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    with tempfile.TemporaryDirectory() as cache:
        seconds(SMALL, cache)  # compiles
        return {
            "plan.first_seconds": seconds(COMMAND, cache),
            "plan.again_seconds": min(seconds(COMMAND, cache) for _ in range(3)),
        }


if __name__ == "__main__":
    sys.exit(main(run))
