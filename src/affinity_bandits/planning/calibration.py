"""The shortest schedule of Algorithm 1 that stated assumptions allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from affinity_bandits.planning.families import Family, families
from affinity_bandits.planning.prediction import Prediction, predict
from affinity_bandits.policies import (
    Assumptions,
    CalibratedElimination,
    PaddedSchedule,
    PublishedSchedule,
)

OFFSET_STEP = 0.125
SAFEST, BOLDEST = 64, -64
"""Offsets tried, in steps: 8 to -8."""
PADDINGS = (0.0, *(2.0 ** (k / 4) for k in range(-20, 21)))
"""Paddings tried, as parts of the head start."""
LARGER = 4.0
"""A schedule should also be cheap where differences are this many times the smallest."""


class Calibration(NamedTuple):
    """The chosen schedule and how it was chosen."""

    policy: CalibratedElimination
    predicted: tuple[Prediction, ...]  # per family
    binding: int  # the family on which it is most likely to fail


def calibrate(
    assumptions: Assumptions,
    tried: Sequence[Family] | None = None,
    *,
    failure: float | None = None,
) -> Calibration:
    """Return the cheapest schedule that is predicted to keep the failure probability everywhere.

    For each padding, the smallest offset of `eq:eliminationArmPullsInRound` is found with which
    no family is predicted to fail more often than tolerated. Of these schedules, the one with the
    smallest geometric mean of pulls is taken, over the families and the same with differences
    four times as large; schedules that reach some round later than the published one does are
    taken only if there are no others. A prediction bounds the failure probability as if rivals
    left when they are expected to; simulation certifies it afterwards.

    Args:
        assumptions: what is taken for granted.
        tried: the families; all of them if left out.
        failure: to be kept instead of the assumptions' own.
    """
    cases = list(families(assumptions) if tried is None else tried)
    larger = min(LARGER * assumptions.smallest_difference, assumptions.largest_mean)
    easier = families(replace(assumptions, smallest_difference=larger))
    tolerated = assumptions.failure if failure is None else failure
    found: list[tuple[bool, float, CalibratedElimination]] = []
    for padding in sorted({part * assumptions.head_start for part in PADDINGS}):
        policy = _boldest(assumptions, cases, padding, tolerated)
        if policy is not None:
            costs = [
                math.log(predict(case.bandit, policy, assumptions.horizon).pulls)
                for case in (*cases, *easier)
            ]
            found.append((_later_than_published(policy, assumptions), sum(costs), policy))
    if found:
        _, _, policy = min(found, key=lambda one: one[:2])
    else:  # no schedule is safe: the longest rounds fail least
        policy = _policy(assumptions, SAFEST, PADDINGS[-1] * assumptions.head_start)
    predicted = [predict(case.bandit, policy, assumptions.horizon) for case in cases]
    failures = [one.failure for one in predicted]
    return Calibration(policy, tuple(predicted), failures.index(max(failures)))


def _boldest(
    assumptions: Assumptions, cases: Sequence[Family], padding: float, tolerated: float
) -> CalibratedElimination | None:
    """Return the policy with the smallest offset on the grid that is safe, if any is."""

    def safe(step: int) -> bool:
        policy = _policy(assumptions, step, padding)
        return all(
            predict(case.bandit, policy, assumptions.horizon).failure <= tolerated for case in cases
        )

    low, high = BOLDEST, SAFEST
    if not safe(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return _policy(assumptions, high, padding)


def _later_than_published(policy: CalibratedElimination, assumptions: Assumptions) -> bool:
    """Return whether the end of some round comes after that of the published schedule."""
    groups, horizon = assumptions.groups, assumptions.horizon
    ours, published = policy.burn_in, 1
    number = 0
    while groups * published < horizon:
        number += 1
        ours += policy.schedule.repetitions(number, groups, horizon)
        published += PublishedSchedule().repetitions(number, groups, horizon)
        if ours > published:
            return True
    return False


def _policy(assumptions: Assumptions, step: int, padding: float) -> CalibratedElimination:
    # A burn-in as long as the padding of all rounds before round 2: round r then begins after at
    # least padding * 2**r pulls of each arm.
    return CalibratedElimination(
        PaddedSchedule(step * OFFSET_STEP, padding),
        burn_in=max(1, math.ceil(2.0 * padding)),
        assumptions=assumptions,
    )
