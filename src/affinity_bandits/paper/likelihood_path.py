"""One path of a policy, weighed: its likelihood in two environments, and the arm's weights.

A kernel, compiled at its first use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, bind, unbound
from affinity_bandits.policies.step import StepKernels
from affinity_bandits.simulation.environment import BanditArrays, Committee, feedback, share_of

select: Function = unbound
update: Function = unbound
weight: Function = unbound


def weigh(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    noise: FloatArray,
    arm: int,
    other_mean: float,
    level: float,
    power: float,
    lag: int,
    out: FloatArray,
) -> None:
    """Play one path and weigh it; a kernel.

    Writes, first when the arm's share exceeds the level and then at the end: the log-likelihood
    ratio, the sum of the arm's weights to the power, and the pulls of all other arms. `lag` shifts
    the pull at which the weight is taken; 0 is right.
    """
    total = float(arena.total_initial)
    ratio, weights, others = 0.0, 0.0, 0.0
    stopped = False
    for t in range(len(noise)):
        chosen = select(state, rng)
        share = share_of(arena, committee, total, chosen)
        w = weight(arena.code, arena.parameters, share)
        seen = feedback(arena, chosen, w, noise[t], 0.0)
        if chosen == arm:
            ratio += ((seen - other_mean * w) ** 2 - (seen - arena.means[arm] * w) ** 2) / 2.0
            members = arena.initial[arm] + committee.pulls[arm]
            lagged = (members + lag) / (total + lag)
            weights += weight(arena.code, arena.parameters, lagged) ** power
        else:
            others += 1.0
        update(state, chosen, seen)
        committee.pulls[chosen] += 1
        total += 1.0
        last = t == len(noise) - 1
        if last or (not stopped and share_of(arena, committee, total, arm) > level):
            row = 1 if stopped else 0
            for filled in range(row, 2 if last else 1):
                out[filled, 0] = ratio
                out[filled, 1] = weights
                out[filled, 2] = others
            stopped = True


def bound_weigh(kernels: StepKernels, bias_kernel: Function) -> Function:
    """Return `weigh`, compiled for a policy and a bias."""
    from affinity_bandits.simulation.compiled import compiled

    return compiled(
        bind(
            weigh,
            select=compiled(kernels.select, called=False),
            update=compiled(kernels.update, called=False),
            weight=compiled(bias_kernel, called=False),
        ),
        allocates=True,
    )
