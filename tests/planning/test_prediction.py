"""Predicted failures and costs against sums written out by hand, and against simulated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import pytest
from scipy.stats import norm

from affinity_bandits import AffinityBandit, Bernoulli, Clipped, Constant, Gaussian, Power, Sigmoid
from affinity_bandits.bias import Bias
from affinity_bandits.planning.outcomes import outcome
from affinity_bandits.planning.prediction import predict
from affinity_bandits.policies import CalibratedElimination, PaddedSchedule

from ..naive.biases import naive_bias

HORIZON = 20_000
RUNS = 10_000
SURELY = norm.isf(0.05)


def bold(offset: float, padding: float = 0.0, burn_in: int = 1) -> CalibratedElimination:
    """A policy that decides too early, so that failures are frequent enough to be counted."""
    return CalibratedElimination(PaddedSchedule(offset, padding), burn_in=burn_in)


def biased(
    bias: Bias, head_start: int, means: Sequence[float], noise: Gaussian | Bernoulli
) -> AffinityBandit:
    """The last arm is best; the first has the head start."""
    initial = [1 + head_start] + [1] * (len(means) - 1)
    return AffinityBandit(means, bias=bias, initial_pulls=initial, noise=noise)


def standard_error(probability: float, runs: int = RUNS) -> float:
    return math.sqrt(probability * (1.0 - probability) / runs)


def mean_feedback(
    bandit: AffinityBandit,
    arm: int,
    place: int,
    members: Sequence[int],
    active: int,
    pulls: int,
) -> float:
    """The expected mean of an arm in a round: its true mean times a plain sum of weights."""
    f = naive_bias(bandit.bias.to_json())
    committee = sum(members) + place
    weights = sum(f((members[arm] + i) / (committee + active * i)) for i in range(pulls))
    return bandit.true_means[arm] * weights / pulls


# The prediction, written out.


def literal_prediction(
    bandit: AffinityBandit, policy: CalibratedElimination, horizon: int
) -> tuple[float, float]:
    """Failure and pulls, arm by arm; whoever is pulled in a pass is taken to be asked first."""
    arms = bandit.arms
    best = bandit.best_arms[0]
    active = list(range(arms))
    members = [initial + policy.burn_in for initial in bandit.initial_pulls]
    clock = arms * policy.burn_in
    failure = 0.0
    for number in count(1):
        pulls = policy.schedule.repetitions(number, arms, horizon)
        if clock + len(active) * pulls > horizon:
            return failure, horizon
        # The best arm comes last within a pass, every other first: the worst for the best.
        place = {arm: len(active) - 1 if arm == best else 0 for arm in active}
        mean = {
            arm: mean_feedback(bandit, arm, place[arm], members, len(active), pulls)
            for arm in active
        }
        coins = isinstance(bandit.noise, Bernoulli)
        variance = {
            arm: (mean[arm] * (1.0 - mean[arm]) if coins else bandit.noise.sigma**2) / pulls
            for arm in active
        }
        threshold = policy.schedule.threshold(number)
        staying = []
        for arm in active:
            lag, both = mean[best] - mean[arm], variance[best] + variance[arm]
            margin = threshold + lag
            if arm != best and margin <= 0.0:
                failure += 1.0
            elif arm != best and coins:  # Bernstein
                failure += math.exp(-(margin**2) / 2.0 / (both + margin / (3.0 * pulls)))
            elif arm != best:
                failure += norm.sf(margin / math.sqrt(both))
            if arm == best or lag - threshold < SURELY * math.sqrt(both):
                staying.append(arm)
        for arm in active:
            members[arm] += pulls
        clock += len(active) * pulls
        active = staying
        if failure >= 1.0 or len(active) == 1:
            return min(1.0, failure), clock
    raise AssertionError


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (biased(Power(2.0), 20, [0.5, 1.0], Gaussian(1.0)), bold(-4.0, 8.0, 16)),
        (biased(Sigmoid(), 100, [0.2, 0.9], Gaussian(0.3)), bold(-3.0)),
        (biased(Power(1.0), 20, [0.7, 1.0], Bernoulli()), bold(-2.0)),
        # Arms of several kinds, which leave one after the other.
        (biased(Power(1.5), 9, [0.9, 0.2, 0.2, 0.6, 1.0], Gaussian(0.4)), bold(-1.0, 4.0, 8)),
        # Kinks, a long last round, and a horizon that comes before the end.
        (
            biased(Clipped(Power(3.0), 0.1, 0.4), 40, [0.8, 0.5, 0.85], Gaussian(0.5)),
            bold(-1.0),
        ),
    ],
    ids=["square", "sigmoid", "coins", "five-arms", "clipped"],
)
def test_a_prediction_is_what_plain_sums_give(
    bandit: AffinityBandit, policy: CalibratedElimination
) -> None:
    failure, pulls = literal_prediction(bandit, policy, HORIZON)
    found = predict(bandit, policy, HORIZON)
    assert 1e-6 < failure < 1.0  # neither nothing nor everything
    assert found.failure == pytest.approx(failure, rel=1e-9)
    assert found.pulls == pulls


def test_without_time_for_a_single_round_nothing_can_fail() -> None:
    bandit = biased(Power(2.0), 20, [0.5, 1.0], Gaussian(1.0))
    for policy in (bold(8.0), bold(-8.0, burn_in=HORIZON)):
        assert predict(bandit, policy, HORIZON) == (0.0, HORIZON)


# Two arms with Gaussian feedback: until one is dropped, a round's means are independent normal
# numbers, so what becomes of a run is known exactly.


class Course(NamedTuple):
    """The exact law of a run with two arms."""

    failure: float
    ends: list[int]  # pulls when a round ends
    decided: list[float]  # with which probability only one arm is left then


def exact_course(bandit: AffinityBandit, policy: CalibratedElimination) -> Course:
    burn_in = policy.burn_in if policy.discard_first else 0
    members = [initial + burn_in for initial in bandit.initial_pulls]
    clock, failure, undecided = 2 * burn_in, 0.0, 1.0
    ends, decided = [], []
    for number in count(1):
        pulls = policy.schedule.repetitions(number, 2, HORIZON)
        if clock + 2 * pulls > HORIZON:
            return Course(failure, ends, decided)
        rival, best = (mean_feedback(bandit, arm, arm, members, 2, pulls) for arm in (0, 1))
        spread = bandit.noise.sigma * math.sqrt(2.0 / pulls)
        threshold = policy.schedule.threshold(number)
        wrong = norm.sf((threshold + best - rival) / spread)
        right = norm.sf((threshold - best + rival) / spread)
        failure += undecided * wrong
        undecided *= 1.0 - wrong - right
        members = [own + pulls for own in members]
        clock += 2 * pulls
        ends.append(clock)
        decided.append(1.0 - undecided)
    raise AssertionError


GAUSSIAN = [
    pytest.param(biased(Constant(), 0, [0.5, 1.0], Gaussian(1.0)), bold(-4.0), id="no-bias"),  # 12%
    pytest.param(
        biased(Power(1.0), 20, [0.5, 1.0], Gaussian(1.0)), bold(-4.0, 8.0, 16), id="proportional"
    ),  # 15%
    pytest.param(
        biased(Power(2.0), 20, [0.5, 1.0], Gaussian(1.0)), bold(-4.0, 8.0, 16), id="square"
    ),  # 36%
    pytest.param(
        biased(Power(2.0), 100, [0.5, 1.0], Gaussian(1.0)), bold(-2.0, 16.0, 32), id="far-ahead"
    ),  # 41%
]


@pytest.mark.parametrize(("bandit", "policy"), GAUSSIAN)
def test_a_predicted_failure_bounds_what_is_measured_and_not_by_much(
    bandit: AffinityBandit, policy: CalibratedElimination
) -> None:
    """The prediction adds up chances round by round; in a run, a round must be reached first.

    So predicted over true is one over the part of runs that is still undecided when failures
    happen, on average over failures. Here most failures happen in rounds that more than two runs
    in three reach: the ratio is at most 1.4, and 2 leaves room for 4 standard errors, which are
    below 13% of any of these failure probabilities. A prediction 30% too small or twice as large
    would be noticed.
    """
    exact = exact_course(bandit, policy).failure
    assert 0.05 < exact < 0.5
    four = 4.0 * standard_error(exact)
    assert four < 0.13 * exact
    measured = outcome(bandit, policy, HORIZON, RUNS, seed=1).wrong / RUNS
    assert abs(measured - exact) < four
    predicted = predict(bandit, policy, HORIZON).failure
    assert measured - four <= predicted <= 2.0 * measured
    assert exact <= predicted <= 1.4 * exact


@pytest.mark.parametrize(("bandit", "policy"), GAUSSIAN)
def test_predicted_pulls_are_those_that_19_of_20_runs_need(
    bandit: AffinityBandit, policy: CalibratedElimination
) -> None:
    """The quantile of 10,000 runs is the end of the first round by which 95% have decided.

    It is the predicted one for certain: the parts decided a round earlier and then differ from
    95% by more than 4 standard errors of 0.0022.
    """
    course = exact_course(bandit, policy)
    predicted = predict(bandit, policy, HORIZON).pulls
    last = course.ends.index(int(predicted))
    margin = 4.0 * standard_error(0.95)
    assert course.decided[last - 1] < 0.95 - margin
    assert course.decided[last] > 0.95 + margin
    assert outcome(bandit, policy, HORIZON, RUNS, seed=2).choices_95 == predicted


def test_the_bound_holds_where_the_best_arm_is_asked_last_on_a_small_committee() -> None:
    """Without a head start, whoever is asked second finds itself one of 2 in 5, not 2 in 4.

    True: 5.5%, so 4 standard errors of 20,000 runs are 0.64%.
    """
    bandit = biased(Power(1.0), 0, [0.5, 1.0], Gaussian(0.5))
    policy = bold(-4.0)
    exact = exact_course(bandit, policy).failure
    measured = outcome(bandit, policy, HORIZON, 20_000, seed=3).wrong / 20_000
    four = 4.0 * standard_error(exact, 20_000)
    assert abs(measured - exact) < four
    assert predict(bandit, policy, HORIZON).failure >= measured - four


def test_a_burn_in_that_is_left_out_is_not_predicted() -> None:
    """True: 4.6%; with the burn-in it would be 0.03%."""
    bandit = biased(Power(1.0), 20, [0.5, 1.0], Gaussian(0.5))
    schedule = PaddedSchedule(-4.0, 8.0)
    policy = CalibratedElimination(schedule, discard_first=False, burn_in=100)
    exact = exact_course(bandit, policy).failure
    assert exact > 0.04
    assert predict(bandit, policy, HORIZON).failure >= exact


# Coins.


@pytest.mark.parametrize(
    ("bandit", "policy"),
    [
        (biased(Sigmoid(), 20, [0.7, 1.0], Bernoulli()), bold(-4.0)),  # 12%
        (biased(Power(1.0), 20, [0.7, 1.0], Bernoulli()), bold(-2.0)),  # 18%
        (biased(Power(2.0), 20, [0.7, 1.0], Bernoulli()), bold(-4.0, 8.0, 16)),  # 8%
    ],
    ids=["sigmoid", "proportional", "square"],
)
def test_with_coins_too_failures_are_bounded_and_pulls_are_found(
    bandit: AffinityBandit, policy: CalibratedElimination
) -> None:
    """Bernstein's inequality costs a factor of about ten here, and is still not empty.

    A prediction a tenth as large would be noticed. The pulls may be one round off: the law of
    the coins is taken to be normal there.
    """
    predicted = predict(bandit, policy, HORIZON)
    found = outcome(bandit, policy, HORIZON, RUNS, seed=4)
    measured = found.wrong / RUNS
    assert 0.05 < measured < 0.5
    assert measured - 4.0 * standard_error(measured) <= predicted.failure < 1.0
    assert found.undecided == 0
    ends, clock = [], 2 * policy.burn_in
    for number in range(1, 9):
        clock += 2 * policy.schedule.repetitions(number, 2, HORIZON)
        ends.append(clock)
    assert ends.index(int(predicted.pulls)) - ends.index(int(found.choices_95)) in (0, 1)
