"""Whole rounds drawn at once have the same distribution as the same pulls one by one.

Both engines run R = 4000 replicates on independent streams, and for every arm three quantities
are compared: its last round's mean feedback (two-sample Kolmogorov-Smirnov), and its final pulls
and the round it was dropped in (chi-square on the table of counts).

Tolerance: about 75 settings x 3 arms x 3 quantities = 700 tests; each fails below p = 1e-7, so
that the chance that correct code fails anywhere, over the choice of the fixed seeds, is about
1e-4. Power: at p = 1e-7 and R = 4000 the KS test sees a difference of distribution functions of
sqrt(log(2e7) / R) = 0.065, which is a shift of a mean by 0.16 standard deviations. The planted
error at the end shifts them by more, and is caught.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from affinity_bandits import AffinityBandit, Clipped, Gaussian, Ordinal, Power, Sigmoid
from affinity_bandits.model import round_sums
from affinity_bandits.policies import (
    Elimination,
    ExploreThenCommit,
    HeadStartElimination,
    ListedSchedule,
    RoundPolicy,
    SequentialHalving,
    SuccessiveRejects,
    Uniform,
    WeightedUCB,
)
from affinity_bandits.simulation import draws
from tests.support.simulation_helpers import (
    SMALLEST_P,
    outcomes_by_rounds,
    outcomes_by_steps,
    smallest_p,
)

REPLICATES = 4000
HORIZON = 400

POLICIES = [
    Elimination(ListedSchedule([(10, 0.12), (40, 0.06), (60, 0.03)])),
    HeadStartElimination(10, sigma=0.3, failure=0.4),  # rounds in which not every arm takes part
    Uniform(),
    ExploreThenCommit(30),
    SuccessiveRejects(),
    SequentialHalving(),
    WeightedUCB(Power(1.0), (9, 3, 1), sigma=0.3, growth=0.3),  # rounds of one arm
]
# Small sigma: a wrong share shows in the mean of a round, and noise would hide it.
LAWS = [
    ("bernoulli", "gated"),
    ("bernoulli", "shifted"),
    (Gaussian(0.3), "shifted"),
    (Gaussian(0.3), "scaled"),
    (Gaussian(0.3), "gated"),
    (Gaussian([0.1, 0.3, 0.5]), "scaled"),
]
BIASES = [Power(1.0), Power(2.0), Sigmoid(), Clipped(Power(1.0), low=0.2, high=0.45)]


# Biases take turns, so that every two of policy, law and bias meet.
SETTINGS = [
    pytest.param(policy, law, bias, id=f"{policy.name}-{law[0]}-{law[1]}-{bias}")
    for i, policy in enumerate(POLICIES)
    for j, law in enumerate(LAWS)
    for bias in BIASES[(i + j) % len(BIASES) :][:1]
]


def test_every_two_of_policy_law_and_bias_meet() -> None:
    for one, other in combinations(range(3), 2):
        met = {(str(given.values[one]), str(given.values[other])) for given in SETTINGS}
        kinds = (POLICIES, LAWS, BIASES)
        assert len(met) == len(kinds[one]) * len(kinds[other])


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "law", "bias"), SETTINGS)
def test_rounds_have_the_law_of_steps(
    policy: RoundPolicy, law: tuple[object, str], bias: object
) -> None:
    noise, mechanism = law
    bandit = AffinityBandit(
        [0.5, 0.62, 0.55],
        bias=bias,  # type: ignore[arg-type]
        initial_pulls=[9, 3, 1],
        noise=noise,  # type: ignore[arg-type]
        mechanism=mechanism,
    )
    by_steps = outcomes_by_steps(bandit, policy, HORIZON, REPLICATES, seed=11)
    by_rounds = outcomes_by_rounds(bandit, policy, HORIZON, REPLICATES, seed=12)
    assert smallest_p(by_steps, by_rounds) > SMALLEST_P


@pytest.mark.nightly_but("1 to 5")
@pytest.mark.slow
@pytest.mark.parametrize("noise", ["bernoulli", Ordinal(5), Ordinal([0, 1, 10])], ids=str)
def test_counts_of_scores_have_the_law_of_steps(noise: object) -> None:
    """A policy that has scores counted, at nodes that hold them or lie around them."""
    bandit = AffinityBandit(
        [0.5, 0.62, 0.55],
        bias=Power(2.0),
        initial_pulls=[9, 3, 1],
        noise=noise,  # type: ignore[arg-type]
    )
    policy = HeadStartElimination(10, bounded=True, failure=0.4)
    by_steps = outcomes_by_steps(bandit, policy, HORIZON, REPLICATES, seed=11)
    by_rounds = outcomes_by_rounds(bandit, policy, HORIZON, REPLICATES, seed=12)
    assert smallest_p(by_steps, by_rounds) > SMALLEST_P


def one_pull_late(code, parameters, a, b, k, at):  # type: ignore[no-untyped-def]
    """The share as it would be if a pull counted itself."""
    return weight(code, parameters, (a + at + 1.0) / (b + k * at + 1.0))


weight = None


@pytest.mark.slow
@pytest.mark.parametrize("law", [LAWS[0], LAWS[3]], ids=lambda law: f"{law[0]}-{law[1]}")
def test_a_share_that_is_off_by_one_pull_is_caught(
    law: tuple[object, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: the same check fails when each pull counts itself.

    Over the last round of 60 pulls of 3 arms the share moves by less than 0.01, so the check
    looks at a first round of 30, and takes 20,000 replicates because a Bernoulli mean spreads
    more: the KS test then sees a shift of 0.07 standard deviations.
    """
    noise, mechanism = law
    bandit = AffinityBandit(
        [0.5, 0.62, 0.55],
        bias=Power(1.0),
        initial_pulls=[9, 3, 1],
        noise=noise,  # type: ignore[arg-type]
        mechanism=mechanism,
    )
    policy = ExploreThenCommit(30)
    by_steps = outcomes_by_steps(bandit, policy, 100, 20_000, seed=11)
    assert smallest_p(by_steps, outcomes_by_rounds(bandit, policy, 100, 20_000, 12)) > SMALLEST_P
    monkeypatch.setattr(round_sums, "weight_at", one_pull_late)
    monkeypatch.setattr(draws, "weight_at", one_pull_late)
    planted = outcomes_by_rounds(bandit, policy, 100, 20_000, seed=12)
    assert smallest_p(by_steps, planted) < SMALLEST_P
