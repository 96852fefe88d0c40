"""The chosen schedule is safe where it was predicted to be, no safer, and never needlessly late."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import count, pairwise

import pytest

from affinity_bandits import AffinityBandit, policy_from_json, simulate
from affinity_bandits.errors import InvalidInput
from affinity_bandits.planning import Assumptions, Calibration, calibrate, families
from affinity_bandits.planning.calibration import OFFSET_STEP
from affinity_bandits.planning.prediction import predict
from affinity_bandits.policies import CalibratedElimination, PaddedSchedule, PublishedSchedule

COINS = Assumptions(groups=2, horizon=20_000, smallest_difference=0.3, head_start=20)
NORMAL = replace(COINS, noise="gaussian")
THREE = Assumptions(
    groups=3, horizon=10**5, smallest_difference=0.2, head_start=50, noise="gaussian", sigma=0.5
)
LEVEL = Assumptions(
    groups=4, horizon=10**6, smallest_difference=0.1, head_start=0, steepness=1.0, failure=0.01
)
FAR_AHEAD = Assumptions(
    groups=2,
    horizon=10**8,
    smallest_difference=0.05,
    head_start=10**5,
    steepness=3.0,
    noise="gaussian",
    sigma=0.1,
)
ALL = {"coins": COINS, "normal": NORMAL, "three": THREE, "level": LEVEL, "far-ahead": FAR_AHEAD}

calibrated = cache(calibrate)


def cases(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("assumptions", [ALL[name] for name in names], ids=names)


def failures(policy: CalibratedElimination, assumptions: Assumptions) -> list[float]:
    """What is predicted for a policy, family by family."""
    return [
        predict(family.bandit, policy, assumptions.horizon).failure
        for family in families(assumptions)
    ]


def ends(policy: CalibratedElimination, assumptions: Assumptions) -> list[int]:
    """Pulls of each arm when a round ends, up to the first that the horizon cuts off."""
    found, pulls = [], policy.burn_in
    for number in count(1):
        if assumptions.groups * pulls >= assumptions.horizon:
            return found
        pulls += policy.schedule.repetitions(number, assumptions.groups, assumptions.horizon)
        found.append(pulls)
    raise AssertionError


def later(one: list[int], other: list[int]) -> bool:
    """Whether a round ends later, among those that the other has time for."""
    return any(a > b for a, b in zip(one, other, strict=False))


PUBLISHED = CalibratedElimination(PublishedSchedule())


@cases(*ALL)
def test_the_chosen_schedule_is_predicted_to_be_safe_on_every_family(
    assumptions: Assumptions,
) -> None:
    found = calibrated(assumptions)
    predicted = failures(found.policy, assumptions)
    assert max(predicted) <= assumptions.failure
    assert [one.failure for one in found.predicted] == predicted
    assert predicted[found.binding] == max(predicted)


@cases("normal", "three", "level")
def test_with_an_offset_smaller_by_one_step_it_would_not_be(assumptions: Assumptions) -> None:
    policy = calibrated(assumptions).policy
    schedule = replace(policy.schedule, offset=policy.schedule.offset - OFFSET_STEP)
    assert max(failures(replace(policy, schedule=schedule), assumptions)) > assumptions.failure


@cases("coins", "normal", "three", "level")
def test_no_round_ends_later_than_published_where_the_published_schedule_is_safe(
    assumptions: Assumptions,
) -> None:
    # Then one that is safe and not later exists: the published schedule itself.
    assert max(failures(PUBLISHED, assumptions)) <= assumptions.failure
    policy = calibrated(assumptions).policy
    assert not later(ends(policy, assumptions), ends(PUBLISHED, assumptions))


def test_a_schedule_that_is_cheaper_but_later_is_not_taken() -> None:
    wanted = Assumptions(
        groups=2, horizon=10**5, smallest_difference=0.1, head_start=2000, steepness=1.0
    )
    cheaper = CalibratedElimination(PaddedSchedule(-7.875, 500.0), burn_in=1000)
    assert max(failures(cheaper, wanted)) <= wanted.failure
    assert later(ends(cheaper, wanted), ends(PUBLISHED, wanted))
    sooner = CalibratedElimination(PaddedSchedule(3.5, 2000 * 2.0**-2.5), burn_in=708)
    assert max(failures(sooner, wanted)) <= wanted.failure
    assert not later(ends(sooner, wanted), ends(PUBLISHED, wanted))
    assert not later(ends(calibrate(wanted).policy, wanted), ends(PUBLISHED, wanted))


@cases("far-ahead")
def test_rounds_may_end_later_where_the_published_schedule_is_deceived(
    assumptions: Assumptions,
) -> None:
    assert max(failures(PUBLISHED, assumptions)) > 0.5
    policy = calibrated(assumptions).policy
    assert later(ends(policy, assumptions), ends(PUBLISHED, assumptions))


def test_a_smaller_tolerated_failure_is_kept_too_and_never_costs_less() -> None:
    costs = []
    for failure in (0.2, 0.05, 1e-3, 1e-6):
        found = calibrate(NORMAL, failure=failure)
        assert max(one.failure for one in found.predicted) <= failure
        costs.append(sum(one.pulls for one in found.predicted))
    assert all(bolder <= safer for bolder, safer in pairwise(costs))
    assert costs[0] < costs[-1]


def test_only_the_families_given_need_to_be_safe() -> None:
    everything = families(NORMAL)
    unbiased = [family for family in everything if family.bias == "no bias"]
    found = calibrate(NORMAL, unbiased)
    assert len(found.predicted) == len(unbiased)
    assert max(one.failure for one in found.predicted) <= NORMAL.failure
    assert max(failures(found.policy, NORMAL)) > NORMAL.failure


def test_the_same_assumptions_give_the_same_schedule() -> None:
    assert calibrate(COINS) == calibrated(COINS)


def test_the_policy_carries_its_assumptions() -> None:
    found = calibrated(THREE)
    assert isinstance(found, Calibration)
    assert found.policy.assumptions == THREE


@pytest.mark.parametrize("lipschitz", [None, 2.5])
def test_a_saved_policy_keeps_its_assumptions(lipschitz: float | None) -> None:
    given = replace(NORMAL, lipschitz=lipschitz, failure=1e-12, sigma=0.1)
    policy = replace(calibrated(NORMAL).policy, assumptions=given)
    again = policy_from_json(json.loads(json.dumps(policy.to_json(), allow_nan=False)))
    assert again == policy
    assert again.assumptions == given


@pytest.mark.parametrize("arms", [1, 3])
def test_it_refuses_any_other_number_of_arms(arms: int) -> None:
    policy = calibrated(COINS).policy
    with pytest.raises(InvalidInput, match="arms must be 2, for which the policy was calibrated"):
        policy.start(arms, 1000)
    with pytest.raises(InvalidInput, match="arms"):
        simulate(AffinityBandit([0.5] * arms), policy, 1000, replicates=1)
    assert policy.start(2, 1000).left[0] == 2


def test_without_assumptions_it_takes_any_number_of_arms() -> None:
    policy = replace(calibrated(COINS).policy, assumptions=None)
    assert policy.start(7, 1000).left[0] == 7
