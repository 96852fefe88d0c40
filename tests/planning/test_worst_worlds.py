"""The worst of the hardest worlds is found, also where a smaller lead is not what makes it so."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from affinity_bandits import AffinityBandit
from affinity_bandits.planning import Assumptions, hard_worlds
from affinity_bandits.planning.enough import decided_enough
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.reach import measure_reach
from affinity_bandits.planning.runs import hardest_outcomes
from affinity_bandits.planning.worst_worlds import vary_means, with_gifts, worst_of, worst_worlds
from research.outcomes import outcome

# Here the best group can be named leader too early, lose the lead, and win it back later.
STEEP = Assumptions(
    groups=3,
    horizon=300_000,
    smallest_difference=0.11536832687187765,
    initial_lead=3000,
    steepness=1.4612947675298515,
    noise="gaussian",
    sigma=0.2,
    failure=0.2,
)
RUNS = 400


@pytest.mark.slow
def test_a_world_in_which_the_best_group_leads_too_early_can_be_the_worst() -> None:
    """With the first committee a gift makes runs longer by a hundredth, both over 1,000 runs."""
    policy, horizon = policy_for(STEEP), STEEP.horizon
    plain = hardest_outcomes(hard_worlds(STEEP), policy, horizon, 1_000, seed=4)
    found = worst_worlds(STEEP, policy, horizon, seed=5)
    worst = hardest_outcomes(found, policy, horizon, 1_000, seed=4)
    assert found[0].world.gift >= 0
    assert worst[0].choices > plain[0].choices


# Here scores that scatter more decide: means in the middle are worse than those at the end, where
# the smallest leads are.
MANY = Assumptions(
    groups=6,
    horizon=90_000,
    smallest_difference=0.044397011150302285,
    initial_lead=100,
    steepness=0.3390044891055592,
)


def middling_instance() -> AffinityBandit:
    """No bias at all, and scores that are 1 about half of the time."""
    means = [0.5 - MANY.smallest_difference / 2] * 5 + [0.5 + MANY.smallest_difference / 2]
    return AffinityBandit(means, initial_pulls=[1] * 6)


@pytest.mark.slow
def test_means_far_below_the_highest_are_tried_too() -> None:
    """All of the runs in plain worlds are decided, fewer than half of those in the worst."""
    policy, horizon = policy_for(MANY), MANY.horizon
    plain = hardest_outcomes(hard_worlds(MANY), policy, horizon, RUNS, seed=4)
    assert max(one.choices_95 for one in plain) < 0.5 * horizon
    # Of the four, the one in which all rivals have the lead: it is the worst of them.
    found = worst_of(hard_worlds(MANY)[2], policy, horizon, seed=5)
    (worst,) = hardest_outcomes([found], policy, horizon, RUNS, seed=4)
    assert not decided_enough(worst)
    assert 0.0 < found.world.drawn_at < 0.9
    # An admitted instance that takes longer than any plain world, and no longer than the worst.
    one = outcome(middling_instance(), policy, horizon, RUNS, seed=3)
    assert one.choices_95 > max(plain_one.choices_95 for plain_one in plain)
    assert one.choices_95 <= worst.choices_95


@pytest.mark.parametrize("given", [STEEP, MANY])
def test_variants_are_all_different_and_cover_every_level_and_time(given: Assumptions) -> None:
    hard = hard_worlds(given)[0]
    found = vary_means(hard)
    assert found[0] == hard
    assert len(set(found)) == len(found)
    assert (len(found) > 1) == given.bounded
    narrow = sorted((one.world.least_mean, one.world.largest_mean) for one in found[1:])
    if given.bounded:
        assert narrow[0][0] == given.smallest_difference
        assert narrow[-1][1] == 1.0
        assert all(left[1] == right[0] for left, right in pairwise(narrow))
    gifts = [one.world.gift for one in with_gifts(hard, 100 * given.groups)]
    assert gifts == [0, *(given.groups * 3**power for power in range(5))]


def test_a_difference_as_large_as_every_mean_leaves_one_level() -> None:
    hard = hard_worlds(replace(MANY, smallest_difference=1.0))[0]
    assert {one.world.least_mean for one in vary_means(hard)} == {1.0}


def test_differences_above_the_means_of_a_world_are_looked_for_too() -> None:
    """With 60 choices only large differences can be told apart: larger than the means of a world
    that is about low ones."""
    given = Assumptions(groups=2, horizon=60, smallest_difference=0.2, initial_lead=1)
    low = hard_worlds(given)[0]
    low = replace(low, world=low.world._replace(largest_mean=0.3))
    (found,) = measure_reach(given, low, policy_for(given), [60], seed=1)
    assert found.detectable is not None
    assert 0.3 < found.detectable <= 1.0
