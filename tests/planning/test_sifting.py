"""The worst of the hardest worlds is found, also where a smaller lead is not what makes it so."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from affinity_bandits import AffinityBandit, Gaussian, PiecewisePower
from affinity_bandits.planning import Assumptions, hard_worlds
from affinity_bandits.planning.hardest import hardest_outcomes
from affinity_bandits.planning.outcomes import outcome
from affinity_bandits.planning.plan import make_plan, planned_policy
from affinity_bandits.planning.reach import decided_enough, detectable
from affinity_bandits.planning.sifting import variants, worst_worlds
from affinity_bandits.planning.stress import HORIZON, stress

STEEP = Assumptions(
    groups=3,
    horizon=330_000,
    smallest_difference=0.11536832687187765,
    head_start=3000,
    steepness=1.4612947675298515,
    noise="gaussian",
    sigma=0.2,
    failure=0.2,
)
"""Here the best group can be named leader too early, lose the lead, and win it back too late."""
RUNS = 400


def steep_instance() -> AffinityBandit:
    foot = 2.776543758329631e-05
    bias = PiecewisePower([foot, 1.0], [foot**STEEP.steepness, 1.0])
    fair = bias.weight(1.0 / 3.0)
    best = 0.88
    means = [(best - STEEP.smallest_difference) / fair] * 2 + [best / fair]
    return AffinityBandit(
        means, bias=bias, initial_pulls=[3001, 3001, 1], noise=Gaussian(STEEP.sigma)
    )


@pytest.mark.slow
def test_an_admitted_instance_that_smallest_leads_alone_would_call_decided_is_not() -> None:
    """All of 400 runs end undecided: where at most 5% did, that would have probability 0."""
    policy, horizon = planned_policy(STEEP), STEEP.horizon
    found = outcome(steep_instance(), policy, horizon, RUNS, seed=3)
    assert found.undecided == RUNS
    plain = hardest_outcomes(hard_worlds(STEEP), policy, horizon, RUNS, seed=4)
    assert all(map(decided_enough, plain))  # what was believed before gifts were tried
    worst = hardest_outcomes(
        worst_worlds(STEEP, policy, horizon, seed=5), policy, horizon, RUNS, seed=4
    )
    assert max(one.undecided for one in worst) == RUNS


MANY = Assumptions(
    groups=6,
    horizon=180_000,
    smallest_difference=0.044397011150302285,
    head_start=100,
    steepness=0.3390044891055592,
)
"""Here scores that scatter more decide: means a little below the highest are worse than those at
it."""


@pytest.mark.slow
def test_means_below_the_highest_are_tried_too() -> None:
    """Plain worlds leave about 4% undecided, the worst about 8%, with a standard deviation of half
    a percent each: the order below is wrong with a probability below 1e-6."""
    policy, horizon = planned_policy(MANY), MANY.horizon
    plain = hardest_outcomes(hard_worlds(MANY), policy, horizon, 2_000, seed=4)
    found = worst_worlds(MANY, policy, horizon, seed=5)
    worst = hardest_outcomes(found, policy, horizon, 2_000, seed=4)
    most = max(one.undecided for one in worst)
    assert most > max(one.undecided for one in plain)
    assert not decided_enough(max(worst, key=lambda one: one.undecided))
    assert any(0.0 < hard.world.drawn_at < 1.0 for hard in found)


@pytest.mark.parametrize("given", [STEEP, MANY])
def test_variants_are_all_different_and_cover_every_level(given: Assumptions) -> None:
    hard = hard_worlds(given)[0]
    found = variants(hard, rounds=7)
    assert found[0] == hard
    assert len(set(found)) == len(found)
    intervals = sorted({(one.world.least_mean, one.world.largest_mean) for one in found[4 + 1 :]})
    if given.bounded:
        narrow = [one for one in intervals if one != (hard.world.least_mean, 1.0)]
        assert narrow[0][0] == given.smallest_difference
        assert narrow[-1][1] == 1.0
        assert all(left[1] == right[0] for left, right in pairwise(narrow))
    assert {one.world.gift for one in found} == {-1, 0, 2, 4, 6}


def test_a_difference_as_large_as_every_mean_leaves_one_level() -> None:
    hard = hard_worlds(replace(MANY, smallest_difference=1.0))[0]
    assert {one.world.least_mean for one in variants(hard, rounds=1)} == {1.0}


@pytest.mark.slow
def test_wrong_assumptions_are_judged_in_the_worst_worlds_too() -> None:
    """Half of twice the choices leave every run undecided, which plain worlds do not show."""
    plan = make_plan(replace(STEEP, horizon=2 * STEEP.horizon), progress=False)
    lines = {(one.assumption, one.factor): one for one in stress(plan, progress=False)}
    assert lines[HORIZON, 2].undecided == 1.0


def test_differences_above_the_means_of_a_world_are_looked_for_too() -> None:
    """With 60 choices only large differences can be told apart: larger than the means of a world
    that is about low ones."""
    given = Assumptions(groups=2, horizon=60, smallest_difference=0.2, head_start=1)
    low = hard_worlds(given)[0]
    low = replace(low, world=low.world._replace(largest_mean=0.3))
    found = detectable(given, low, planned_policy(given), 60, seed=1)
    assert found is not None
    assert 0.3 < found <= 1.0
