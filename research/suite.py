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

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    Power,
    Sigmoid,
)
from affinity_bandits.model.bias import Bias
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
FAVORED = (10, 100, 1000)
"""Initial pulls of the favored groups; all others have 10."""

INITIAL_LEAD = 1000
"""An upper bound on the differences of initial pulls, which holds on the whole suite."""


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
    favored = FAVORED[(j + i + 2 * noise) % len(FAVORED)]
    spread_out = (i + j) % 2 == 1
    means = [best - GAPS[gap]] * (groups - 1) + [best]
    if spread_out:
        # The runner-up stays at the gap; the others lie evenly between it and nothing.
        means = [(best - GAPS[gap]) * (1.0 - 0.9 * k / (groups - 1)) for k in range(groups - 1)] + [
            best
        ]
    # The favored are a third of the groups, those that come next to the best first.
    initial = [favored if k < max(1, groups // 3) else 10 for k in range(groups)]
    name = (
        f"K={groups} f={bias} {NOISES[noise]} gap={GAPS[gap]:g} T0={favored}:10 "
        f"{'spread' if spread_out else 'tied'} best={best:g} n={HORIZONS[horizon]:.0e}"
    )
    return Instance(
        name,
        AffinityBandit(means, bias=bias, initial_pulls=initial, noise=NOISES[noise]),
        HORIZONS[horizon],
    )
