"""Make a plan: choose the policy, search the worst worlds, measure verdict and costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.progress import show_progress
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.blocks import plan_blocks
from affinity_bandits.planning.enough import (
    LARGEST_HORIZON,
    decided_enough,
    far_enough,
    sufficient_horizon,
)
from affinity_bandits.planning.judges_differ import wrong_if_judges_differ
from affinity_bandits.planning.otherwise import costs_otherwise
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.plan import Plan, costliest
from affinity_bandits.planning.policy import PlannedBlocks, check_promise, policy_for
from affinity_bandits.planning.reach import horizons_around, measure_reach
from affinity_bandits.planning.runs import Tick, hardest_outcomes
from affinity_bandits.planning.target import aim
from affinity_bandits.planning.worlds import (
    hard_worlds,
)
from affinity_bandits.planning.worst_worlds import worst_worlds
from affinity_bandits.policies import RoundPolicy

SIFTING, HARDEST, REACH, SUFFICIENT, FAR, OTHERWISE, DIFFERING, AIMED = 0, 2, 4, 5, 6, 7, 8, 9
# Offsets of seeds, so that no run is used for two purposes. Sifting and aiming take two each.
SEEDS = 11
HARDEST_RUNS = 300
FURTHER = 5  # `costs_otherwise` searches up to so many times the choices


def make_plan(
    assumptions: Assumptions,
    *,
    policy: RoundPolicy | PlannedBlocks | None = None,
    seed: int = 0,
    progress: bool | Callable[[float], None] | None = None,
) -> Plan:
    """Return a plan for stated assumptions.

    The policy is elimination with a head start, whose failure probability has a proven bound for
    every nonnegative, nondecreasing bias that all groups share, the one for the assumed judges, or
    your own policy with such a bound. The verdict, the detectable difference and the cost are
    measured in the hardest worlds of the assumptions, and those of neutral blocks in a world of
    judges.

    Args:
        assumptions: the assumptions.
        policy: a policy of your own, on scores mapped to [0, 1], with `judged_by` and a `failure`.
            By giving it you promise that it drops the best group with at most that probability,
            for every nondecreasing bias and the assumed judges: the plan states this as proven.
            Default: `policy_for(assumptions)`.
        seed: seed of all runs.
        progress: True for a bar, None for a bar on a terminal, False for silence, or a function
            that is called with the part done.

    >>> from affinity_bandits.planning import Assumptions, make_plan
    >>> plan = make_plan(Assumptions(groups=2, horizon=100_000, smallest_difference=0.3))
    >>> plan.enough, plan.failure
    (True, 0.05)
    """
    if not isinstance(assumptions, Assumptions):
        raise InvalidInput("assumptions", "assumptions of a plan", assumptions)
    seed = checks.integer("seed", seed, low=0, high=2**62)
    own = SEEDS * seed
    usual = policy is None
    if policy is None:
        policy = policy_for(assumptions)
    check_promise(policy, assumptions)
    with show_progress(1.0, wanted=progress) as bar:
        if isinstance(policy, PlannedBlocks):
            plan = plan_blocks(assumptions, policy, seed, own, bar.tick)
        else:
            plan = _plan_rounds(assumptions, policy, seed, own, bar.tick)
        if usual:  # a policy of one's own is run in no worlds but those that it was made for
            length = math.ceil(plan.enough_choices or assumptions.horizon)
            rows = wrong_if_judges_differ(assumptions, plan.policy, length, own + DIFFERING)
            plan = replace(plan, if_judges_differ=tuple(rows))
        bar.tick(0.1)
    return plan


def _plan_rounds(
    assumptions: Assumptions,
    policy: RoundPolicy,
    seed: int,
    own: int,
    tick: Tick,
) -> Plan:
    """Return the plan of a round policy; `own` is the first of its seeds."""
    points = horizons_around(assumptions)
    horizon = assumptions.horizon
    part = 0.3 / (len(hard_worlds(assumptions)) * HARDEST_RUNS)  # of the work, for a run
    far = far_enough(assumptions, policy, own + FAR, lambda done: tick(0.03 * done))
    if far is not None:
        policy = aim(assumptions, policy, far, own + AIMED, lambda done: tick(0.03 * done))
    worlds = worst_worlds(
        assumptions, policy, far or horizon, own + SIFTING, lambda done: tick(0.3 * done)
    )
    hardest = hardest_outcomes(
        worlds, policy, horizon, HARDEST_RUNS, own + HARDEST, lambda runs: tick(part * runs)
    )
    costly = worlds[costliest(hardest)]
    needed: Outcome | None = hardest[costliest(hardest)]
    asked = sorted({horizon, *points})
    reach = measure_reach(assumptions, costly, policy, asked, own + REACH)
    tick(0.1)
    detectable, sufficient = reach[asked.index(horizon)].detectable, None
    if all(map(decided_enough, hardest)):
        if detectable is not None:  # fewer runs than the verdict's may give a larger one
            detectable = min(detectable, assumptions.smallest_difference)
    else:
        needed = found = None
        if far is not None:
            found = sufficient_horizon(worlds, policy, horizon, far, own + SUFFICIENT)
        if found is not None:
            sufficient, then = found
            needed = then[costliest(then)]
        detectable = _not_below(assumptions, detectable, sufficient)
    tick(0.1)
    limit = min(LARGEST_HORIZON, FURTHER * max(horizon, sufficient or 0))
    otherwise = costs_otherwise(assumptions, policy, costly, limit, own + OTHERWISE)
    if not assumptions.identified:  # costs would only hold for judges who are alike
        needed, detectable, sufficient, otherwise, reach = None, None, None, [], []
    return Plan(
        assumptions=assumptions,
        policy=policy,
        worlds=tuple(worlds),
        hardest=tuple(hardest),
        detectable=detectable,
        sufficient=sufficient,
        needed=needed,
        otherwise=tuple(otherwise),
        reach=tuple(one for one in reach if one.horizon in points),
        seed=seed,
    )


def _not_below(
    assumptions: Assumptions, detectable: float | None, sufficient: int | None
) -> float | None:
    """Return a detectable difference that is larger than the one that is not always detected.

    The choices that are needed are about inversely proportional to its square.
    """
    if detectable is None or sufficient is None:
        return detectable
    least = assumptions.smallest_difference * math.sqrt(sufficient / assumptions.horizon)
    return min(max(detectable, least), assumptions.best_mean - assumptions.lowest)
