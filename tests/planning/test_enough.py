"""Do plans keep what they promise: the failure that is proven, and "enough"?"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from affinity_bandits import AffinityBandit, Constant, Custom, PiecewisePower
from affinity_bandits.model.bias import Bias
from affinity_bandits.planning import Assumptions, Plan, example, hard_worlds, make_plan
from affinity_bandits.planning.enough import decided_enough
from affinity_bandits.planning.policy import policy_for
from affinity_bandits.planning.runs import hardest_outcomes
from research.outcomes import outcomes

from .assumed import TOO_SHORT, outcome_in

RUNS = 500


def fifth_and_share(share: float) -> float:
    return 0.2 + 0.8 * share


GENTLE: list[Bias] = [
    Custom(fifth_and_share, 0.8, "0.2 + 0.8 x"),
    PiecewisePower([1e-6, 1.0], [1e-6**0.9, 1.0]),  # x**0.9
    Constant(0.3),
]


@pytest.fixture(scope="module")
def gentle() -> Plan:
    """A plan for biases below x, as an in-group rater has who scores 10 to 50% higher."""
    return make_plan(Assumptions(2, 10**6, 0.1, initial_lead=1000, steepness=0.9), progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("bias", GENTLE, ids=str)
def test_a_plan_for_a_gentle_bias_is_not_fooled_by_one(bias: Bias, gentle: Plan) -> None:
    """At most 5% wrong, and at most 5% undecided where the plan says enough, of 500 runs.

    The scores at equal shares differ by 0.1, and the rival has the whole initial lead. A plan that
    just keeps 5% passes if at most 5% + 4 standard errors fail; measured are none at all. A plan
    that was tried on no bias of such a steepness failed in 88% and 100% of runs on the first two.
    """
    given = gentle.assumptions
    fair = bias.weight(0.5)
    bandit = AffinityBandit(
        [1.0 - 0.1 / fair, 1.0], bias=bias, initial_pulls=[1 + given.initial_lead, 1]
    )
    (one,) = outcomes([bandit], gentle.policy, given.horizon, RUNS, seed=21)
    allowed = 0.05 + 4.0 * math.sqrt(0.05 * 0.95 / RUNS)
    assert one.wrong / RUNS <= allowed
    assert gentle.enough
    assert one.undecided_rate <= allowed


@pytest.mark.slow
def test_a_plan_that_was_told_of_no_head_start_is_deceived_by_one() -> None:
    """The negative control: outside its assumptions a plan does fail, on a bias just as gentle."""
    given = Assumptions(2, 10**6, 0.1, initial_lead=0, steepness=0.9)
    fair = AffinityBandit([0.9, 1.0], bias=GENTLE[1], initial_pulls=[1, 1])
    unfair = replace(fair, initial_pulls=[1001, 1])
    kept, broken = outcomes([fair, unfair], policy_for(given), 10**6, RUNS, seed=21)
    assert kept.wrong / RUNS <= given.failure
    assert broken.wrong / RUNS > 0.5


@pytest.mark.slow
def test_a_number_that_is_said_to_suffice_is_enough_and_the_planned_one_is_not() -> None:
    """The number is seen to be enough on runs of its own, and here on others.

    At most 5% fail with 95% confidence in either: a number at which a third of the failures
    allowed occur passes both. The one found is rounded up to two digits, well above it.
    """
    plan = make_plan(TOO_SHORT, progress=False)
    assert not plan.enough
    assert plan.sufficient is not None
    assert plan.sufficient > TOO_SHORT.horizon
    again = make_plan(replace(TOO_SHORT, horizon=plan.sufficient), progress=False)
    assert again.enough
    assert again.sufficient is None
    half = hardest_outcomes(list(plan.worlds), plan.policy, plan.sufficient // 2, 300, seed=5)
    assert not all(map(decided_enough, half))


@pytest.mark.slow
def test_not_even_the_largest_horizon_may_suffice() -> None:
    huge = Assumptions(2, 4 * 10**14, 1e-9, noise="gaussian", sigma=1e3)
    plan = make_plan(huge, progress=False)
    assert not plan.enough
    assert plan.sufficient is None


@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize("initial_lead", [10**4, 10**9])
def test_the_steepest_bias_and_the_largest_head_start_end_in_an_outcome(
    noise: str, initial_lead: int
) -> None:
    """Weights so small that a multiple of them is no number would mean nothing, or never end."""
    given = Assumptions(3, 10**4, 0.3, initial_lead=initial_lead, steepness=100.0, noise=noise)
    for hard in hard_worlds(given):
        found = outcome_in(hard, policy_for(given), given.horizon, 5, seed=1)
        assert found.wrong == 0
        if hard.initial[-1] == 1 < hard.initial[0]:
            assert found.undecided == 5
    assert outcomes([example(given)], policy_for(given), 10**4, 2, 1)
