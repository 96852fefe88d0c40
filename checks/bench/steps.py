"""How close the step engine is to the fastest hand-written loop.

python -m checks.bench.steps --json
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Gaussian, Power, simulate
from affinity_bandits.simulation.environment import key_words
from checks.bench.bare_ucb1 import LOOPS
from checks.bench.measure import best_of_interleaved, main

REPLICATES = 4
SHORT = {100: 20_000, 1_000: 4_000, 10_000: 400}
"""Replicates of each short horizon: enough that what a call of `simulate` costs does not count."""
LONG_RUNS = {"ucb1": 30_000, "exp3": 1_000_000, "exp3-gains": 1_000_000}
"""Horizons with many arms: long enough that what a run of a policy costs does not count."""


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    figures: dict[str, float] = {}
    for noise in ("bernoulli", "gaussian"):
        for arms in (2, 32):
            figures |= ratio(noise, arms, horizon=1_000_000 if arms == 2 else 200_000)
        # A short run, where what `simulate` costs before its first pull is not yet spread out.
        figures |= ratio(noise, 2, horizon=100_000, suffix=".short")
    figures |= short_runs()
    figures |= many_arms()
    figures |= memory()
    return figures


def short_runs() -> dict[str, float]:
    """Measure what a pull costs in many short replicates of two arms, in CPU time."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0))
    figures = {}
    for horizon, replicates in SHORT.items():
        for policy in ("ucb1", "thompson-beta"):

            def task(horizon: int = horizon, count: int = replicates, name: str = policy) -> Any:
                return simulate(bandit, name, horizon, count, checkpoints=1, progress=False)

            task()
            least = min(_cpu_seconds(task) for _ in range(5))
            name = f"steps.{policy}.horizon_{horizon}.ns_per_pull"
            figures[name] = least / (replicates * horizon) * 1e9
    return figures


def _cpu_seconds(task: Callable[[], Any]) -> float:
    before = time.process_time()
    task()
    return time.process_time() - before


def ratio(noise: str, arms: int, horizon: int, suffix: str = "") -> dict[str, float]:
    """Compare `simulate` with the bare loop on the same work and noise."""
    bandit = AffinityBandit(
        np.linspace(0.4, 0.6, arms).tolist(),
        bias=Power(1.0),
        noise=Gaussian() if noise == "gaussian" else "bernoulli",
    )
    bare = LOOPS[noise, arms]
    means = np.array(bandit.true_means)
    initial = np.array(bandit.initial_pulls)
    key = key_words(0, "noise")

    def package() -> Any:
        return simulate(bandit, "ucb1", horizon, REPLICATES, progress=False).pulls[0, :, -1]

    def engine() -> Any:
        return np.array(
            [bare(means, initial, horizon, key, np.uint64(r)) for r in range(REPLICATES)]
        )

    # Both must do the same work, or the comparison says nothing.
    np.testing.assert_array_equal(package(), engine())
    best = best_of_interleaved({"package": package, "bare": engine}, repetitions=15)
    pulls = REPLICATES * horizon
    name = f"steps.{noise}.k{arms}{suffix}"
    return {
        f"{name}.ratio": best["package"] / best["bare"],
        f"{name}.ns_per_pull": best["package"] / pulls * 1e9,
        f"{name}.bare_ns_per_pull": best["bare"] / pulls * 1e9,
    }


def many_arms() -> dict[str, float]:
    """Measure how the cost of a pull grows with the number of arms, in CPU time."""
    sizes = (1_000, 10_000)
    tasks: dict[str, Callable[[], Any]] = {}
    for policy, length in LONG_RUNS.items():
        for arms in sizes:
            bandit = AffinityBandit(np.linspace(0.1, 0.9, arms).tolist(), bias=Power(1.0))

            def task(
                bandit: AffinityBandit = bandit, policy: str = policy, horizon: int = length
            ) -> Any:
                return simulate(bandit, policy, horizon, 1, checkpoints=1, progress=False)

            task()
            tasks[f"{policy}.k{arms}"] = task
    best = {name: min(_cpu_seconds(task) for _ in range(5)) for name, task in tasks.items()}
    figures = {
        f"steps.{name}.ns_per_pull": seconds / LONG_RUNS[name.split(".")[0]] * 1e9
        for name, seconds in best.items()
    }
    small, large = (figures[f"steps.ucb1.k{arms}.ns_per_pull"] for arms in sizes)
    figures["steps.growth_per_arm_1000_to_10000"] = (large / small) / (sizes[1] / sizes[0])
    return figures


def memory() -> dict[str, float]:
    """Measure by how much the process grows when the horizon does."""
    bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0))
    simulate(bandit, "ucb1", 10_000, 1, progress=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    simulate(bandit, "ucb1", 20_000_000, 1, progress=False)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"steps.memory_growth_mib_10k_to_20m_pulls": (after - before) / 1024}


if __name__ == "__main__":
    sys.exit(main(run))
