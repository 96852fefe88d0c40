"""How long a user waits before anything happens: `python -m checks.bench.startup --json`.

`--first` measures first uses only, each in turn without and with machine code that comes with the
package; this takes about fifteen minutes.

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

from affinity_bandits.cli.warm import EXAMPLE
from checks.bench.measure import make_parser, report

POLICY = "from affinity_bandits import AffinityBandit, UCB1"
"""Loads the model and all policies."""
COMMAND = "from affinity_bandits.cli import main; main()"
SMALL = ("simulate", "--means", "0.4,0.6", "--horizon", "1e4", "--replicates", "10")
FIRST = (
    *("simulate", "--means", "0.4,0.6", "--bias", "power", "--initial-pulls", "100,10"),
    *("--policy", "ucb1", "--policy", "elimination", "--horizon", "1e6", "--replicates", "50"),
    *("--plot", "regret.png"),
)
"""The first command of the first steps."""
PLAN = (
    *("plan", "--groups", "referrals, agencies, open call", "--unit", "interview"),
    *("--scale", "1..5", "--bonus", "20%", "--committee", "30,10,10", "--joining", "1 in 10"),
    *("--difference", "0.3", "--budget", "2,000 a year"),
)
"""The plan of the README."""
COMMANDS = {
    "show": ("show", "--out", "loop.html"),
    "show_runs": ("show", "--out", "runs.html", "--horizon", "1e6"),
    "study": FIRST,
    "plan": PLAN,
    "audit": ("audit", "interviews.xlsx", "--people", "people.csv", "--scale", "1..5"),
}
"""First commands of the documentation."""
WITH_PACK = (
    "from pathlib import Path; from affinity_bandits.kernels import pack; "
    "pack.SHIPPED = Path({shipped!r}); "
)
TO_VERDICT = """
import sys, time
from affinity_bandits.base import progress
progress.SOON = progress.EVERY = 0.1
say = sys.stderr.write
def hear(text):
    if "; if " in text:
        print(time.process_time(), flush=True)
        sys.stdout.close()
        import os; os._exit(0)
    return say(text)
sys.stderr.write = hear
"""
"""Ends a plan with its first verdict, and prints the CPU time until then."""
NOTEBOOK = """
from affinity_bandits import AffinityBandit, Power, simulate
bandit = AffinityBandit(true_means=[0.4, 0.6], bias=Power(1.0), initial_pulls=[1000, 20])
policies = ["ucb1", "exp3", "elimination", "head-start-elimination"]
simulate(bandit, policies, horizon=1_000_000, replicates=100).summary()
"""
"""The README's study: a program, so it uses no machine code of the package."""
FURTHER = """
import json, time
from affinity_bandits import AffinityBandit, Power, simulate
from affinity_bandits.policies import POLICIES, MemoryElimination

bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])
told = {"memory-elimination": MemoryElimination(memory=1000)}
took = {}
for name in ["ucb1", "elimination", *sorted(POLICIES)]:
    before = time.process_time()
    simulate(bandit, told.get(name, name), 100, 1, progress=False)
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


def first_commands(repetitions: int = FRESH) -> dict[str, float]:
    """Return the CPU time of first commands with new caches, without and with a pack, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "pack")
        seconds(program(COMMAND, "warm", "--pack", str(made)))
        beginnings = {"": "", ".packed": WITH_PACK.format(shipped=str(made))}
        tasks = {
            f"{name}{kind}": program(text + COMMAND, *words)
            for name, words in COMMANDS.items()
            for kind, text in beginnings.items()
        }
        tasks["notebook"] = program(NOTEBOOK)
        found: dict[str, list[float]] = {}
        for _ in range(repetitions):
            for name, command in tasks.items():
                found.setdefault(name, []).append(fresh(command)[0])
            for kind, text in beginnings.items():
                told = fresh(program(TO_VERDICT + text + COMMAND, *PLAN))[1]
                found.setdefault(f"verdict{kind}", []).append(float(told))
        return {f"startup.first.{name}": min(times) for name, times in found.items()}


def fresh(command: list[str]) -> tuple[float, str]:
    """Return the processor time of a command with new caches, in a new folder, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        for file in EXAMPLE.iterdir():
            Path(folder, file.name).write_bytes(file.read_bytes())
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


def main() -> int:
    """Run this benchmark and report its figures."""
    parser = make_parser(__doc__ or "")
    parser.add_argument("--first", action="store_true", help="measure first commands only")
    arguments = parser.parse_args()
    report(first_commands() if arguments.first else run() | first_commands(), arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
