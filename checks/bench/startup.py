"""How long a user waits before anything happens: `python -m checks.bench.startup --json`.

Times are of the processor, in fresh processes, the shortest of several taken in turn: a busy
machine makes users wait longer, and the package has no part in that.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.bench.measure import main

POLICY = "from affinity_bandits import AffinityBandit, UCB1"
"""Loads the model and all policies."""
COMMAND = "from affinity_bandits.cli import main; main()"
SMALL = ("simulate", "--means", "0.4,0.6", "--horizon", "1e4", "--replicates", "10")
FIRST = (
    *("simulate", "--means", "0.4,0.6", "--bias", "power", "--initial-pulls", "100,10"),
    *("--policy", "ucb1", "--policy", "elimination", "--horizon", "1e6", "--replicates", "50"),
    *("--plot", "regret.png"),
)
"""The README's first command."""
FURTHER = """
import json, time
from affinity_bandits import AffinityBandit, Power, simulate
from affinity_bandits.policies import POLICIES

bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
took = {}
for name in ["ucb1", "elimination", *sorted(POLICIES)]:
    before = time.process_time()
    simulate(bandit, name, 100, 1, progress=False)
    took.setdefault(name, time.process_time() - before)
print(json.dumps(took))
"""
"""Compiles every policy, one that chooses after every feedback and one with rounds first."""
REPETITIONS = 7
FRESH = 3


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
        **first_uses(),
    }


def first_uses(repetitions: int = FRESH) -> dict[str, float]:
    """Return what first uses take, each time with nothing compiled: caches are new.

    `first_simulate_cpu_s` is all that the README's first command takes, and
    `further_policy_cpu_s` the most that a policy takes once another of its kind was compiled.
    """
    command = min(fresh(program(COMMAND, *FIRST))[0] for _ in range(repetitions))
    runs = [json.loads(fresh(program(FURTHER))[1]) for _ in range(repetitions)]
    least_of = {name: min(run[name] for run in runs) for name in runs[0]}
    further = {name: least_of[name] for name in least_of if name not in ("ucb1", "elimination")}
    return {
        "startup.first_simulate_cpu_s": command,
        "startup.further_policy_cpu_s": max(further.values()),
        "startup.first_step_policy_cpu_s": least_of["ucb1"],
        "startup.first_round_policy_cpu_s": least_of["elimination"],
        **{f"startup.further_policy_cpu_s.{name}": further[name] for name in sorted(further)},
    }


def fresh(command: list[str]) -> tuple[float, str]:
    """Return the processor time of a command with new caches, in a new folder, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "cache")
        caches = {"XDG_CACHE_HOME": str(home), "NUMBA_CACHE_DIR": str(home / "numba")}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, capture_output=True, check=True, cwd=folder, env=os.environ | caches, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stdout


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
