"""The regret bound of Algorithm 1: its forms, floors of weights, and errors of the bias."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, Constant, Custom, Power
from affinity_bandits.policies import PublishedSchedule
from affinity_bandits.theory import (
    active_sets,
    arm_pull_bound,
    bias_error_bound,
    horizon_condition,
    mean_weight,
    regret_bound,
    round_lengths,
    simplified_regret_bounds,
    weight_floor,
    worst_case_regret_bound,
)
from tests.support.instances import bandits


@st.composite
def nested_sets(draw: st.DrawFn, arms: int, most_rounds: int = 4) -> list[list[int]]:
    sets = [list(range(arms))]
    for _ in range(draw(st.integers(0, most_rounds - 1))):
        sets.append(
            sorted(draw(st.sets(st.sampled_from(sets[-1]), min_size=1, max_size=len(sets[-1]))))
        )
    return sets


EXAMPLE = AffinityBandit(
    [0.4, 0.6, 0.5, 0.6], bias=Power(1.0), initial_pulls=[100, 10, 7, 30], mechanism="gated"
)


def big_log(K: int, n: int) -> float:
    return math.log(12 / math.pi**2 * K**2) + 3 * math.log(n)


@pytest.mark.parametrize("n", [10**3, 10**6, 10**15, 10**300])
@pytest.mark.parametrize("discard", [True, False])
def test_the_instance_dependent_bound_is_the_papers(n: int, discard: bool) -> None:
    found = active_sets(EXAMPLE, n, discard_first=discard)
    total, pulls = 0.0, []
    for i in range(4):
        delta = 0.6 - EXAMPLE.true_means[i]
        if delta <= 0:
            continue
        u = found.last_rounds[i]
        assert u is not None
        assert u >= 2
        fbar = found.weights[u - 2, i]
        total += delta + 2**11 / 3 * big_log(4, n) / (delta * fbar**2)
        pulls.append(1 + 2**11 / 3 * big_log(4, n) * (1 / (delta * fbar)) ** 2)
    bound = regret_bound(EXAMPLE, n, discard_first=discard)
    assert bound.value == pytest.approx(total, rel=1e-12)
    assert bound.holds == horizon_condition(EXAMPLE, n).holds
    arm_bound = arm_pull_bound(EXAMPLE, n, discard_first=discard)
    assert arm_bound.pulls[[0, 2]] == pytest.approx(pulls, rel=1e-12)
    assert np.all(np.isnan(arm_bound.pulls[[1, 3]]))
    assert arm_bound.holds == bound.holds


@pytest.mark.parametrize("n", [10**3, 10**6, 10**15])
def test_the_worst_case_bound_is_the_papers(n: int) -> None:
    T0 = [101, 11, 8, 31]
    f = min(T0) / (sum(T0) + 4 - 1)
    expected = 4 + 2 * math.sqrt(2**11 * n * 4 * big_log(4, n) / (3 * f**2))
    assert worst_case_regret_bound(EXAMPLE, n).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [10**3, 10**6, 10**15])
def test_the_simplified_bounds_are_the_papers(n: int) -> None:
    T0, K = [101, 11, 8, 31], 4
    shares = {
        "own_share": [min(T0[i] / (sum(T0) + i), 1 / K) for i in range(K)],
        "smallest_share": [min(T0) / (sum(T0) + K - 1)] * K,
        "equal_share": [1 / (15 * K)] * K,
    }
    found = simplified_regret_bounds(EXAMPLE, n)
    for name, x in shares.items():
        expected = sum(
            d + 2**11 / 3 * big_log(K, n) / (d * x[i] ** 2) for i, d in ((0, 0.2), (2, 0.1))
        )
        assert getattr(found, name) == pytest.approx(expected, rel=1e-12)


def test_the_equal_share_form_needs_a_small_committee() -> None:
    # 2**7 log(12 * 4 * 1000 / pi**2) = 1086.9 for two arms and n = 1000.
    limit = 2**7 * math.log(12 * 4 * 1000 / math.pi**2)
    for most, given_there in ((math.floor(limit), True), (math.ceil(limit), False)):
        bandit = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[1, most])
        bounds = simplified_regret_bounds(bandit, 1000, discard_first=False)
        floor = weight_floor(bandit, 0, 1000, discard_first=False)
        assert (bounds.equal_share is not None) == given_there
        assert (floor.equal_share is not None) == given_there
        # The discarded pull makes it one more.
        assert simplified_regret_bounds(bandit, 1000).equal_share is None


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False, most_arms=6), n=st.integers(2, 10**15))
def test_the_forms_are_in_order(bandit: AffinityBandit, n: int) -> None:
    tight = regret_bound(bandit, n, tight=True).value * (1 - 1e-8)  # rounding of mean weights
    stated = regret_bound(bandit, n).value * (1 - 1e-8)
    simple = simplified_regret_bounds(bandit, n)
    assert tight <= stated * (1 + 1e-8)
    assert stated <= simple.own_share <= simple.smallest_share
    if simple.equal_share is not None:
        assert tight <= simple.equal_share


def test_the_equal_share_form_can_be_below_the_stated_bound() -> None:
    """It treats u_i = 2 apart: there fbar_i(1) can be below f(1/(15 K)), here f(1/30) = .9."""
    bandit = AffinityBandit(
        [0.0, 1.0], bias=Custom(lambda x: min(27.0 * x, 0.9), 27.0), initial_pulls=[1, 900]
    )
    assert active_sets(bandit, 1000).last_rounds == (2, None)
    equal = simplified_regret_bounds(bandit, 1000).equal_share
    assert equal is not None
    assert regret_bound(bandit, 1000, tight=True).value <= equal < regret_bound(bandit, 1000).value


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    bandit=bandits(memory=False, most_arms=6),
    n=st.integers(1, 10**15),
    offset=st.floats(5.0, 8.0),
)
def test_rounding_up_and_the_discarded_pull_are_covered(
    bandit: AffinityBandit, n: int, offset: float
) -> None:
    """What Algorithm 1 really pulls by the end of round u_i, plus the 1 for bad luck."""
    schedule = PublishedSchedule(offset)
    last = active_sets(bandit, n, schedule).last_rounds
    bound = arm_pull_bound(bandit, n, schedule, tight=True).pulls
    for arm, u in enumerate(last):
        if u is not None:
            played = sum(round_lengths(bandit, n, schedule, rounds=min(u, n)))
            assert 1 + 1 + played <= bound[arm] * (1 + 1e-12)


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False, most_arms=6), n=st.integers(2, 10**15))
def test_floors_are_floors(bandit: AffinityBandit, n: int) -> None:
    """Lemma C.5, on every round that the sets U_r have."""
    found = active_sets(bandit, n)
    for arm in range(bandit.arms):
        floor = weight_floor(bandit, arm, n)
        assert floor.smallest_share <= floor.own_share
        for r, weight in enumerate(found.weights[:, arm], start=1):
            if math.isnan(weight):
                continue
            assert weight >= floor.own_share * (1 - 1e-8)
            if floor.equal_share is not None and 2 <= r <= n:
                assert weight >= floor.equal_share * (1 - 1e-8)


def test_floors_are_the_papers() -> None:
    floor = weight_floor(EXAMPLE, 2, 1000)
    assert floor.own_share == pytest.approx(8 / (151 + 2))
    assert floor.smallest_share == pytest.approx(8 / (151 + 3))
    assert floor.equal_share == pytest.approx(1 / 60)
    assert weight_floor(EXAMPLE, 0, 1000).own_share == 0.25


@settings(max_examples=30, deadline=None)
@given(data=st.data(), bandit=bandits(memory=False, most_arms=6))
def test_bias_errors_stay_below_their_bound(data: st.DataObject, bandit: AffinityBandit) -> None:
    """Lemma C.7, typed in again and on exact mean weights."""
    sets = data.draw(nested_sets(bandit.arms))
    m = data.draw(st.lists(st.integers(1, 10**6), min_size=len(sets), max_size=len(sets)))
    T0 = [pulls + 1 for pulls in bandit.initial_pulls or ()]
    before = sum(T0) + sum(len(A) * length for A, length in zip(sets[:-1], m[:-1], strict=True))
    size = len(sets[-1])
    expected = (
        bandit.bias.lipschitz
        / m[-1]
        * (1 + (1 + (max(T0) - min(T0)) / size) * math.log(1 + size * m[-1] / before))
    )
    bound = bias_error_bound(bandit, sets, m)
    assert bound == pytest.approx(expected, rel=1e-9)
    weights = [mean_weight(bandit, arm, sets, m) for arm in sets[-1]]
    assert max(weights) - min(weights) <= bound + 1e-9


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False, most_arms=6), n=st.integers(2, 10**15))
def test_under_the_condition_bias_errors_are_negligible(bandit: AffinityBandit, n: int) -> None:
    """What the condition is for: mu_1 times the error is at most 2**(-2 r), whoever is left."""
    if not horizon_condition(bandit, n).holds:
        return
    lengths = round_lengths(bandit, n, rounds=5)
    everyone = list(range(bandit.arms))
    for r in range(1, 6):
        # All arms stay, or all but one have gone by the last round.
        for last in (everyone, [0]) if r > 1 else (everyone,):
            error = bias_error_bound(bandit, [*[everyone] * (r - 1), last], lengths[:r])
            assert max(bandit.true_means) * error <= 2.0 ** (-2 * r)


def test_huge_horizons_are_finite() -> None:
    assert math.isfinite(regret_bound(EXAMPLE, 10**300).value)
    assert math.isfinite(worst_case_regret_bound(EXAMPLE, 10**300).value)
    assert worst_case_regret_bound(EXAMPLE, log_horizon=1e6).value == math.inf
    assert math.isfinite(regret_bound(EXAMPLE, log_horizon=1e100).value)
    assert math.isfinite(simplified_regret_bounds(EXAMPLE, log_horizon=1e100).smallest_share)


def test_a_longer_schedule_has_a_larger_constant() -> None:
    six = PublishedSchedule(6.0)
    for arm in (0, 2):
        five_pulls = arm_pull_bound(EXAMPLE, 10**6, tight=True).pulls[arm]
        six_pulls = arm_pull_bound(EXAMPLE, 10**6, six, tight=True).pulls[arm]
        assert six_pulls - 1 == pytest.approx(2 * (five_pulls - 1))


def test_a_weight_above_one_can_make_the_first_round_the_last() -> None:
    bandit = AffinityBandit([0.9, 0.1], bias=Constant(2.0), mechanism="scaled")
    # u = 1: 2**7/3 log(...) 4**1, in both forms.
    expected = 1 + 2**9 / 3 * big_log(2, 1000)
    assert arm_pull_bound(bandit, 1000).pulls[1] == pytest.approx(expected)
    assert arm_pull_bound(bandit, 1000, tight=True).pulls[1] == pytest.approx(expected)


def test_arms_that_never_leave_have_the_floors_bound_or_none() -> None:
    hidden = AffinityBandit([1e-160, 0.0], bias=Power(1.0))
    bound = regret_bound(hidden, 1000)
    assert bound.value == pytest.approx(simplified_regret_bounds(hidden, 1000).own_share, rel=1e-9)
    nothing_seen = AffinityBandit([0.9, 0.1], bias=Constant(0.0))
    assert regret_bound(nothing_seen, 1000).value == math.inf
    assert worst_case_regret_bound(nothing_seen, 1000).value == math.inf
    assert simplified_regret_bounds(nothing_seen, 1000).own_share == math.inf
