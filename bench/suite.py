"""The public suite of instances that regret is measured on.

Every number of groups meets every bias under both noises: 6 x 5 x 2 = 60 instances. Gap, initial
pulls, level and shape of the means are dealt out in turn, so that none of them goes with any
other. The horizon is dealt out too and then raised to the first at which Algorithm 1 as published
can finish the round that tells the two best groups apart; where not even 10**12 pulls suffice,
the gap is raised as well. So the suite is not filled with instances on which nobody can decide
anything, and the rule looks at the published schedule alone. Only with 64 groups and f = x**2 is
the largest gap still too small for it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    InGroupBonus,
    Power,
    Sigmoid,
)
from affinity_bandits.bias import Bias
from affinity_bandits.policies import PublishedSchedule

GROUPS = (2, 3, 5, 8, 16, 64)
BIASES: tuple[Bias, ...] = (
    Constant(),
    Power(1.0),
    Power(2.0),
    Sigmoid(),
    Clipped(Power(1.0), low=0.2, high=0.7),
)
NOISES = ("gaussian", "bernoulli")
GAPS = (0.05, 0.1, 0.2, 0.3, 0.5)
HORIZONS = (10**6, 10**8, 10**12)
LEVELS = (0.9, 0.6, 0.75)
"""True means of the best group."""
FAVOURED = (10, 100, 1000)
"""Initial pulls of the favoured groups; all others have 10."""

DRAWN, DRAWN_SEED = 60, 20261117

STEEPNESS = 2.0
HEAD_START = 1000
"""What holds on the whole suite: f no steeper than x**2, initial pulls up to 1000 against 10."""


class Instance(NamedTuple):
    """One instance of the suite."""

    name: str
    bandit: AffinityBandit
    horizon: int


def instances() -> list[Instance]:
    """Return the suite."""
    return [
        _instance(i, j, noise)
        for i in range(len(GROUPS))
        for j in range(len(BIASES))
        for noise in range(len(NOISES))
    ]


def drawn_instances() -> list[Instance]:
    """Return sixty more, drawn by a fixed seed: for looking once, never for choosing a setting.

    Two to 64 groups, f no steeper than x**2, gaps from 0.05 to 0.5, horizons from 10**6 to 10**12,
    means and initial pulls (10 to 1000) of each group its own. Redrawn where Algorithm 1 as
    published could not decide.
    """
    rng = np.random.default_rng(DRAWN_SEED)
    found: list[Instance] = []
    while len(found) < DRAWN:
        groups = int(np.exp(rng.uniform(math.log(2.0), math.log(65.0))))
        power = Power(float(rng.uniform(1.0, STEEPNESS)))
        bonus = float(rng.uniform(0.1, 2.0))
        bias = (power, power, power, InGroupBonus(bonus), Sigmoid())[int(rng.integers(5))]
        gap = float(np.exp(rng.uniform(math.log(0.05), math.log(0.5))))
        horizon = int(10.0 ** rng.uniform(6.0, 12.0))
        best = float(rng.uniform(max(0.55, gap), 0.95))
        # The runner-up is at the gap, the others anywhere below it; who is favoured is chance.
        below = (best - gap) * rng.uniform(0.0, 1.0, groups - 2)
        means = rng.permutation([best, best - gap, *below]).tolist()
        initial = np.exp(rng.uniform(math.log(10.0), math.log(1000.0), groups)).astype(int)
        noise = NOISES[len(found) % 2]
        if not decides(groups, bias, gap, horizon):
            continue
        name = f"{len(found) + 1}: K={groups} f={bias} {noise} gap={gap:.2g} n={horizon:.0e}"
        bandit = AffinityBandit(means, bias=bias, initial_pulls=initial.tolist(), noise=noise)
        found.append(Instance(name, bandit, horizon))
    return found


def decides(groups: int, bias: Bias, gap: float, horizon: int) -> bool:
    """Return whether the published schedule finishes the round that can drop the runner-up.

    With equal shares the feedback of the two differs by f(1/K) times the gap; a tenth is kept for
    noise.
    """
    schedule = PublishedSchedule()
    last = math.floor(-math.log2(0.9 * bias.weight(1.0 / groups) * gap)) + 1
    pulls = sum(schedule.repetitions(r, groups, horizon) for r in range(1, last + 1))
    return groups * pulls <= horizon


def _instance(i: int, j: int, noise: int) -> Instance:
    groups, bias = GROUPS[i], BIASES[j]
    gap = (j + 2 * i + noise) % len(GAPS)
    horizon = (i + j + noise) % len(HORIZONS)
    while not decides(groups, bias, GAPS[gap], HORIZONS[horizon]):
        if horizon + 1 < len(HORIZONS):
            horizon += 1
        elif gap + 1 < len(GAPS):
            gap += 1
        else:
            break
    best = LEVELS[(i + 2 * j + noise) % len(LEVELS)]
    favoured = FAVOURED[(j + i + 2 * noise) % len(FAVOURED)]
    spread_out = (i + j) % 2 == 1
    means = [best - GAPS[gap]] * (groups - 1) + [best]
    if spread_out:
        # The runner-up stays at the gap; the others lie evenly between it and nothing.
        means = [(best - GAPS[gap]) * (1.0 - 0.9 * k / (groups - 1)) for k in range(groups - 1)] + [
            best
        ]
    # The favoured are a third of the groups, those that come next to the best first.
    initial = [favoured if k < max(1, groups // 3) else 10 for k in range(groups)]
    name = (
        f"K={groups} f={bias} {NOISES[noise]} gap={GAPS[gap]:g} T0={favoured}:10 "
        f"{'spread' if spread_out else 'tied'} best={best:g} n={HORIZONS[horizon]:.0e}"
    )
    return Instance(
        name,
        AffinityBandit(means, bias=bias, initial_pulls=initial, noise=NOISES[noise]),
        HORIZONS[horizon],
    )
