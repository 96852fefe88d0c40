"""How long a user waits before anything happens: `python -m bench.startup --json`.

Times are of the processor, in fresh processes, the shortest of several taken in turn: a busy
machine makes users wait longer, and the package has no part in that.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from bench.measure import main

POLICY = "from affinity_bandits import AffinityBandit, UCB1"
"""Loads the model and all policies."""
COMMAND = "from affinity_bandits.cli import main; main()"
SMALL = ("simulate", "--means", "0.4,0.6", "--horizon", "1e4", "--replicates", "10")
REPETITIONS = 7


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    nothing, numpy, package, policy, simulate = least(
        program("pass"),
        program("import numpy"),
        program("import affinity_bandits"),
        program(POLICY),
        program(COMMAND, *SMALL),
    )
    return {
        "startup.import_s": package - nothing,
        "startup.numpy_import_s": numpy - nothing,
        "startup.policy_import_s": policy - nothing,
        "startup.policy_import_beyond_numpy_s": policy - numpy,
        "startup.second_simulate_s": simulate,
    }


def program(text: str, *arguments: str) -> list[str]:
    """Return the command that runs some Python."""
    return [sys.executable, "-c", text, *arguments]


def least(*commands: list[str], repetitions: int = REPETITIONS) -> list[float]:
    """Return each command's least processor time in seconds, over runs taken in turn.

    Each is run once before, so that what is compiled at a first use is not measured.
    """
    for command in commands:
        seconds(command)
    rounds = [[seconds(command) for command in commands] for _ in range(repetitions)]
    return [min(times) for times in zip(*rounds, strict=True)]


def seconds(command: list[str]) -> float:
    """Return the processor time of a command, all its threads included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    sys.exit(main(run))
