"""The plan of neutral blocks, measured in a world of judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.enough import EIGHTFOLD, NEARLY_ALL, decided_enough, round_up
from affinity_bandits.planning.judge_worlds import MOST_SCORES, block_world, run_blocks
from affinity_bandits.planning.otherwise import Otherwise, spreads_otherwise
from affinity_bandits.planning.outcomes import LATE, Outcome
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.policy import PlannedBlocks
from affinity_bandits.planning.reach import FACTOR, Reach, horizons_around
from affinity_bandits.planning.runs import Runs, Tick
from affinity_bandits.planning.target import AIM, AIM_RUNS

FIRST, AIMED, MEASURED, REACHED, OTHERWISE = 0, 1, 2, 3, 4
"""Offsets of seeds, so that no run is used for two purposes."""
FIRST_SCORES = 4_000
FIRST_RUNS = 8
HARDEST_RUNS = 300
FEWEST_RUNS = 60
IN_ALL = 20_000_000
"""Scores of all runs of the verdict, as long as there are enough runs."""
OTHER_RUNS = 60
OTHER_LENGTH = 5
"""Runs under other conditions last up to so many times the choices that are enough."""
HALVED = 3
"""How often the difference is halved; smaller ones take as many choices more as their square."""


def plan_blocks(given: Assumptions, policy: PlannedBlocks, seed: int, own: int, tick: Tick) -> Plan:
    """Return the plan of neutral blocks.

    Args:
        given: the assumptions.
        policy: without a target.
        seed: of the plan.
        own: the first of its seeds.
        tick: called with the part of the work done.
    """
    hard = block_world(given)
    first = _first_runs(given, policy, own + FIRST)
    far = min(MOST_SCORES, EIGHTFOLD * min(MOST_SCORES, first.count_needed(1.0)))
    tick(0.1)
    if policy.target is None and first.count_needed(1.0) < MOST_SCORES:
        runs = run_blocks(hard, policy, far, AIM_RUNS, own + AIMED)
        policy = replace(policy, target=round_up(math.ceil(AIM * runs.within(far).choices_95)))
    tick(0.1)
    usual = max(1.0, first.within(far).choices)
    replicates = max(FEWEST_RUNS, min(HARDEST_RUNS, int(IN_ALL / usual)))
    runs = run_blocks(hard, policy, far, replicates, own + MEASURED)
    tick(0.1)
    outcome, sufficient = runs.within(given.horizon), None
    needed: Outcome | None = outcome
    if not decided_enough(outcome):
        took = runs.count_needed(NEARLY_ALL)
        sufficient = None if took > far else round_up(max(given.horizon + 1, took))
        needed = runs.within(sufficient) if sufficient is not None else None
    sizes = _needed_by_difference(given, policy, far, own + REACHED)
    tick(0.25)
    reach = [_reach_of(given, runs, horizon, sizes) for horizon in horizons_around(given)]
    detectable = _detectable(given, sizes, given.horizon)
    if detectable is not None and outcome is needed:
        detectable = min(detectable, given.smallest_difference)
    elif detectable is not None and sufficient is not None:
        detectable = max(
            detectable, given.smallest_difference * math.sqrt(sufficient / given.horizon)
        )
    otherwise = tuple(_costs_otherwise(given, policy, far, own + OTHERWISE))
    tick(0.25)
    return Plan(
        assumptions=given,
        policy=policy,
        worlds=(hard,),
        hardest=(outcome,),
        detectable=detectable,
        sufficient=sufficient,
        needed=needed,
        otherwise=otherwise,
        reach=tuple(reach),
        seed=seed,
    )


def _first_runs(given: Assumptions, policy: PlannedBlocks, seed: int) -> Runs:
    """Return a few runs, which are as long as it takes to decide them."""
    length = FIRST_SCORES
    while True:
        runs = run_blocks(block_world(given), policy, length, FIRST_RUNS, seed)
        if runs.count_needed(1.0) <= length or length >= MOST_SCORES:
            return runs
        length = min(MOST_SCORES, EIGHTFOLD * length)


def _needed_by_difference(
    given: Assumptions, policy: PlannedBlocks, far: int, seed: int
) -> list[tuple[float, int]]:
    """Return differences, from large to small, and the choices that 95% of runs take for them."""
    largest = given.best_mean - given.lowest
    stated = given.smallest_difference
    factors = range(math.floor(math.log2(largest / stated)), -HALVED - 1, -1)
    found: list[tuple[float, int]] = []
    for power in factors:
        difference = stated * FACTOR**power
        runs = run_blocks(block_world(given, difference), policy, far, OTHER_RUNS, seed)
        took = runs.count_needed(1.0 - LATE)
        if took > far:
            break
        found.append((difference, max(took, found[-1][1] if found else 0)))
    return found


def _detectable(
    given: Assumptions, sizes: Sequence[tuple[float, int]], horizon: int
) -> float | None:
    """Return the smallest difference that 95% of runs detect; None if there is none.

    Between differences that were tried the choices are interpolated; beyond, they grow with the
    inverse square of the difference.
    """
    known = [place for place, (_, took) in enumerate(sizes) if took <= horizon]
    if not known:
        return None
    difference, took = sizes[known[-1]]
    if known[-1] + 1 == len(sizes):
        return difference * math.sqrt(took / horizon)
    following = sizes[known[-1] + 1][1]
    part = math.log(horizon / took) / math.log(following / took)
    return float(difference / FACTOR**part)


def _reach_of(
    given: Assumptions, runs: Runs, horizon: int, sizes: Sequence[tuple[float, int]]
) -> Reach:
    outcome = runs.within(horizon)
    return Reach(
        horizon,
        outcome.wrong / outcome.replicates,
        outcome.undecided_rate,
        outcome.choices,
        outcome.choices_95,
        _detectable(given, sizes, horizon),
    )


def _costs_otherwise(
    given: Assumptions, policy: PlannedBlocks, far: int, seed: int
) -> list[Otherwise]:
    """Return the costs if scores spread otherwise; no favor changes them."""
    limit = min(MOST_SCORES, OTHER_LENGTH * far)
    usual = run_blocks(block_world(given), policy, limit, OTHER_RUNS, seed).count_needed(1.0 - LATE)
    found = []
    for words, changed in spreads_otherwise(given):
        runs = run_blocks(block_world(changed), policy, limit, OTHER_RUNS, seed)
        took = runs.count_needed(1.0 - LATE)
        found.append(Otherwise(words, min(limit, took) / min(limit, usual), took > limit))
    return found
