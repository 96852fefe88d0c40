"""The fastest single-purpose loops for UCB1 with f(x) = x that we could write by hand.

They do the work of `simulate` and nothing else: no policy object, no choice of bias, noise or
memory, no checkpoints, no saved state. They read the same random numbers. For two arms every
number lives in a register; for more, means and 1/sqrt(pulls) are kept in arrays, which at 32 arms
is three times as fast as computing them at every choice, and the running maximum is sought only
when the last choice no longer leads.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from affinity_bandits.kernels.compile import compiled_part
from affinity_bandits.simulation import draws

CHUNK = 1024
fill_uniform = compiled_part(draws.fill_uniform, allocates=True)
fill_normal = compiled_part(draws.fill_normal, allocates=True)


@numba.njit(error_model="numpy", inline="always")
def bernoulli(noise: float, mean: float, weight: float) -> float:
    """Return gated Bernoulli feedback."""
    return 1.0 if noise < mean * weight else 0.0


@numba.njit(error_model="numpy", inline="always")
def gaussian(noise: float, mean: float, weight: float) -> float:
    """Return shifted Gaussian feedback."""
    return mean + noise + mean * (weight - 1.0)


def two_arms(fill: Any, feedback: Any) -> Any:
    """Compile the loop for two arms."""

    @numba.njit(error_model="numpy")
    def play(means: Any, initial: Any, horizon: int, key: Any, replicate: Any) -> Any:
        noise = np.empty(CHUNK)
        a0, a1 = means[0], means[1]
        c0, c1 = float(initial[0]), float(initial[1])
        n0, n1, s0, s1 = 0.0, 0.0, 0.0, 0.0
        m0, m1, r0, r1 = 0.0, 0.0, 0.0, 0.0
        clock = 0
        while clock < horizon:
            size = min(CHUNK, horizon - clock)
            fill(noise[:size], key, replicate, clock)
            for i in range(size):
                total = c0 + c1
                if clock >= 2:
                    width = math.sqrt(2.0 * math.log(clock + 1.0))
                    second = m1 + width * r1 > m0 + width * r0
                else:
                    second = clock == 1
                if second:
                    s1 += feedback(noise[i], a1, c1 / total)
                    n1 += 1.0
                    c1 += 1.0
                    m1 = s1 / n1
                    r1 = 1.0 / math.sqrt(n1)
                else:
                    s0 += feedback(noise[i], a0, c0 / total)
                    n0 += 1.0
                    c0 += 1.0
                    m0 = s0 / n0
                    r0 = 1.0 / math.sqrt(n0)
                clock += 1
        return np.array([n0, n1])

    return play


@numba.njit(cache=True, error_model="numpy")
def leading_arm(mean: Any, inverse_root: Any, width: float, leader: int) -> int:
    """Return the arm with the largest index, asking first whether it is still the leader."""
    highest = mean[leader] + width * inverse_root[leader]
    not_below = 0
    for j in range(len(mean)):
        if mean[j] + width * inverse_root[j] >= highest:
            not_below += 1
    if not_below == 1:
        return leader
    arm = 0
    highest = mean[0] + width * inverse_root[0]
    for j in range(1, len(mean)):
        index = mean[j] + width * inverse_root[j]
        if index > highest:
            highest = index
            arm = j
    return arm


def many_arms(fill: Any, feedback: Any) -> Any:
    """Compile the loop for any number of arms."""

    @numba.njit(error_model="numpy")
    def play(means: Any, initial: Any, horizon: int, key: Any, replicate: Any) -> Any:
        arms = len(means)
        noise = np.empty(CHUNK)
        committee = initial.astype(np.float64)
        total = committee.sum()
        pulls, sums = np.zeros(arms), np.zeros(arms)
        mean, inverse_root = np.zeros(arms), np.zeros(arms)
        arm = 0
        clock = 0
        while clock < horizon:
            size = min(CHUNK, horizon - clock)
            fill(noise[:size], key, replicate, clock)
            for i in range(size):
                if clock >= arms:
                    width = math.sqrt(2.0 * math.log(clock + 1.0))
                    arm = leading_arm(mean, inverse_root, width, arm)
                else:
                    arm = clock
                sums[arm] += feedback(noise[i], means[arm], committee[arm] / total)
                pulls[arm] += 1.0
                committee[arm] += 1.0
                total += 1.0
                mean[arm] = sums[arm] / pulls[arm]
                inverse_root[arm] = 1.0 / math.sqrt(pulls[arm])
                clock += 1
        return pulls

    return play


LOOPS = {
    ("bernoulli", 2): two_arms(fill_uniform, bernoulli),
    ("gaussian", 2): two_arms(fill_normal, gaussian),
    ("bernoulli", 32): many_arms(fill_uniform, bernoulli),
    ("gaussian", 32): many_arms(fill_normal, gaussian),
}
"""Compiled loops by noise and number of arms."""
