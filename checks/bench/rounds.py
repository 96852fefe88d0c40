"""Measure a replicate by whole rounds: `python -m checks.bench.rounds --json`.

The bare engine is the least that any exact simulator must do for Algorithm 1 with two arms: for
each round and arm one random number of the right law and one sum of weights in closed form, with
no policy, no state and no checkpoints.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numba
import numpy as np

from affinity_bandits import AffinityBandit, Gaussian, Power, simulate
from affinity_bandits.kernels.compile import compiled_part
from affinity_bandits.policies import Elimination, PublishedSchedule
from affinity_bandits.simulation import draws
from affinity_bandits.simulation.draws import Stream
from affinity_bandits.simulation.environment import key_words
from checks.bench.measure import best_of_interleaved, main

REPLICATES = 10_000
HORIZON = 10**12
next_normal = compiled_part(draws.next_normal)


@numba.njit(cache=True)
def digamma(x: float) -> float:
    """Return the digamma function for x > 0, by recurrence and its asymptotic series."""
    shift = 0.0
    while x < 12.0:
        shift -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse * (1.0 / 252.0)))
    return shift + math.log(x) - 0.5 / x - series


@numba.njit(cache=True)
def bare_rounds(means: Any, initial: Any, repetitions: Any, key: Any, first: int, out: Any) -> None:
    """Algorithm 1 for two arms, f(x) = x, unit Gaussian noise, written out by hand."""
    for j in range(len(out)):
        stream = Stream(key, np.uint64(first + j), np.zeros(1, dtype=np.uint64))
        own = 1.0
        clock = 2.0
        threshold = 0.5
        for r in range(1, len(repetitions)):
            m = float(repetitions[r])
            sums = [0.0, 0.0]
            for arm in range(2):
                a = initial[arm] + own
                b = initial[0] + initial[1] + clock + arm
                drift = 0.5 * (a - 0.5 * b) * (digamma(0.5 * b + m) - digamma(0.5 * b))
                weights = 0.5 * m + drift
                sums[arm] = means[arm] * weights + math.sqrt(m) * next_normal(stream)
            own += m
            clock += 2.0 * m
            if abs(sums[0] - sums[1]) > threshold * m:
                break
            threshold *= 0.5
        out[j] = own


def run() -> dict[str, float]:
    """Return the figures of this benchmark."""
    figures: dict[str, float] = {}
    key = key_words(1, "round")
    gaussian = bandit("gaussian")
    repetitions = np.array(
        [1, *(PublishedSchedule().repetitions(r, 2, HORIZON) for r in range(1, 17))]
    )
    out = np.empty(REPLICATES)

    def package(noise: str, horizon: int = HORIZON) -> Any:
        instance = bandit(noise)
        return lambda: simulate(instance, Elimination(), horizon, REPLICATES, progress=False)

    def bare() -> None:
        bare_rounds(
            np.array(gaussian.true_means),
            np.array(gaussian.initial_pulls, dtype=np.float64),
            repetitions,
            key,
            0,
            out,
        )

    tasks = {"bare": bare, "gaussian": package("gaussian"), "bernoulli": package("bernoulli")}
    for task in tasks.values():
        task()
    suboptimal = simulate(gaussian, Elimination(), HORIZON, REPLICATES).pulls[0, :, -1, 0]
    # Both must do the same work: the same rounds, up to chance at a threshold.
    assert abs(suboptimal.mean() / out.mean() - 1.0) < 0.05
    best = best_of_interleaved(tasks, repetitions=7)
    for noise in ("gaussian", "bernoulli"):
        figures[f"rounds.{noise}.us_per_replicate"] = best[noise] / REPLICATES * 1e6
    figures["rounds.bare.us_per_replicate"] = best["bare"] / REPLICATES * 1e6
    figures["rounds.gaussian.ratio"] = best["gaussian"] / best["bare"]
    return figures | growth()


def growth() -> dict[str, float]:
    """Compare costs at 10**6 and 10**15 pulls where no arm can be dropped, so all rounds run."""
    figures = {}
    for noise in ("gaussian", "bernoulli"):
        instance = AffinityBandit(
            [0.5, 0.5],
            bias=Power(1.0),
            initial_pulls=[100, 10],
            noise=Gaussian() if noise == "gaussian" else "bernoulli",
        )

        def task(horizon: int, instance: AffinityBandit = instance) -> Any:
            return lambda: simulate(instance, Elimination(), horizon, 2000, progress=False)

        tasks = {"small": task(10**6), "large": task(10**15)}
        for warm in tasks.values():
            warm()
        best = best_of_interleaved(tasks, repetitions=7)
        cost = best["large"] / best["small"]
        figures[f"rounds.{noise}.cost_1e15_over_1e6"] = cost
        figures[f"rounds.{noise}.cost_growth_over_round_growth"] = cost / (
            rounds_played(10**15) / rounds_played(10**6)
        )
    return figures


def rounds_played(horizon: int) -> int:
    """Return how many rounds of two arms end within the horizon, the discarded one included."""
    schedule = PublishedSchedule()
    played, clock = 1, 2
    while True:
        clock += 2 * schedule.repetitions(played, 2, horizon)
        if clock > horizon:
            return played
        played += 1


def bandit(noise: str) -> AffinityBandit:
    """Return the instance of the paper's first experiment."""
    return AffinityBandit(
        [0.4, 0.6],
        bias=Power(1.0),
        initial_pulls=[100, 10],
        noise=Gaussian() if noise == "gaussian" else "bernoulli",
    )


if __name__ == "__main__":
    sys.exit(main(run))
