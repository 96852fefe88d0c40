"""How long a plan takes: `python -m checks.bench.planning --json`.

The real command for 8 groups and 10**8 choices, the first time (machine code is cached, no plan is)
and again; and the same for the story of docs/plan/stories/hiring.md, with every way to judge.
There is no bare engine to compare with: the bar is a person's patience, a minute and a second, or
for the story ten seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from checks.bench.measure import main

YES_NO = ("plan", "--scale", "yes/no", "--judges", "committee")
COMMAND = [*YES_NO, "--groups", "8", "--budget", "1e8", "--difference", "0.1"]
SMALL = [*YES_NO, "--groups", "2", "--budget", "1e4", "--difference", "0.3"]
STORY = [
    *("plan", "--groups", "referrals,agencies,open call", "--scale", "1..5", "--bonus", "20%"),
    *("--committee", "30,10,10", "--joining", "1 in 10", "--difference", "0.3"),
    *("--budget", "2,000 a year"),
]
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
        seconds([*STORY, "--seed", "1"], cache)
        return {
            "plan.first_seconds": seconds(COMMAND, cache),
            "plan.again_seconds": min(seconds(COMMAND, cache) for _ in range(3)),
            "plan.story_seconds": seconds(STORY, cache),
            "plan.story_again_seconds": min(seconds(STORY, cache) for _ in range(3)),
        }


if __name__ == "__main__":
    sys.exit(main(run))
