"""The number of choices by which a plan's policy is to decide."""

from __future__ import annotations

import math

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.enough import EIGHTFOLD, LARGEST_HORIZON, round_up
from affinity_bandits.planning.runs import Tick, hardest_outcomes, ignore, run_hardest
from affinity_bandits.planning.worlds import (
    hard_worlds,
)
from affinity_bandits.planning.worst_worlds import FEW_RUNS, vary_means
from affinity_bandits.policies import RoundPolicy

AIM = 0.85  # the target of a policy, as a part of what suffices in 95% of runs without one
AIM_RUNS = 100


def aim(
    assumptions: Assumptions, policy: RoundPolicy, far: int, seed: int, tick: Tick = ignore
) -> RoundPolicy:
    """Return the policy with a target, if it takes one: a part of the choices of 95% of runs.

    Those runs have no target and are in the hardest of the worlds without gifts. `far` is a horizon
    by which most runs are decided.
    """
    if policy.aimed_at(1) == policy:
        return policy
    # Longer than most runs take, so that plans for other horizons have the same target.
    far = min(LARGEST_HORIZON, EIGHTFOLD * far)
    worlds = hard_worlds(assumptions)
    took = 1.0
    for hard in worlds:
        tried = vary_means(hard)
        found = hardest_outcomes(tried, policy, far, FEW_RUNS, seed)
        longest = max(range(len(tried)), key=lambda i: found[i].choices)
        runs = run_hardest(tried[longest], policy, far, AIM_RUNS, seed + 1)
        took = max(took, runs.within(far).choices_95)
        tick(1.0 / len(worlds))
    return policy.aimed_at(round_up(math.ceil(AIM * took)))
