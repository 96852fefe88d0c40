"""The horizon condition, against the paper's line typed in again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import AffinityBandit, Constant, Power
from affinity_bandits.model.bias import Bias
from affinity_bandits.theory import horizon_condition, smallest_horizon, smallest_log_horizon
from tests.support.instances import bandits


def literal_sides(bandit: AffinityBandit, n: float) -> tuple[float, float]:
    K, L, mu_1 = bandit.arms, bandit.bias.lipschitz, max(bandit.true_means)
    D = max(bandit.initial_pulls or ()) - min(bandit.initial_pulls or ())
    one = (1 + D / K) * math.log(1 + 2**8 * math.log(12 / math.pi**2 * K**2 * n))
    two = (1 + D) * math.log(13)
    return math.log(n * K), mu_1 * L / 2**5 * (1 + max(one, two))


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False), n=st.integers(1, 10**15))
def test_both_sides_are_the_papers(bandit: AffinityBandit, n: int) -> None:
    left, right = literal_sides(bandit, n)
    found = horizon_condition(bandit, n)
    assert found.left == pytest.approx(left, rel=1e-12)
    assert found.right == pytest.approx(right, rel=1e-12)
    assert found.holds == (found.left >= found.right)
    assert horizon_condition(bandit, log_horizon=math.log(n)) == found


def test_either_term_of_the_maximum_can_be_the_larger() -> None:
    # With an even committee the first one; with an uneven one of many arms the second, which
    # is not divided by their number.
    even = AffinityBandit([0.4, 0.6], bias=Power(1.0))
    inner = math.log(1 + 2**8 * math.log(48 / math.pi**2 * 10**6))
    assert horizon_condition(even, 10**6).right == pytest.approx(0.6 / 32 * (1 + inner))
    uneven = AffinityBandit([0.6] * 50, bias=Power(1.0), initial_pulls=[3000] + [10] * 49)
    assert horizon_condition(uneven, 10**6).right == pytest.approx(
        0.6 / 32 * (1 + 2991 * math.log(13))
    )


@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False), log_n=st.floats(0, 800), further=st.floats(1e-6, 800))
def test_once_met_it_is_met_by_every_larger_horizon(
    bandit: AffinityBandit, log_n: float, further: float
) -> None:
    if horizon_condition(bandit, log_horizon=log_n).holds:
        assert horizon_condition(bandit, log_horizon=log_n + further).holds


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(bandit=bandits(memory=False))
def test_the_smallest_log_horizon_is_where_the_condition_begins(bandit: AffinityBandit) -> None:
    smallest = smallest_log_horizon(bandit)
    assert horizon_condition(bandit, log_horizon=smallest).holds
    if smallest > 0.0:
        assert not horizon_condition(bandit, log_horizon=math.nextafter(smallest, 0.0)).holds


@pytest.mark.slow
@pytest.mark.parametrize("bias", [Power(1.0), Power(2.0), Power(3.0)])
@pytest.mark.parametrize("pulls", [[1, 1], [100, 10], [10, 130]])
def test_the_smallest_whole_horizon_is_found_by_counting_too(bias: Bias, pulls: list[int]) -> None:
    bandit = AffinityBandit([0.3, 0.5], bias=bias, initial_pulls=pulls)
    found = smallest_horizon(bandit)
    assert found is not None
    if found < 10**5:
        n = 1
        while literal_sides(bandit, n)[0] < literal_sides(bandit, n)[1]:
            n += 1
        assert found == n
    assert horizon_condition(bandit, found).holds
    assert found == 1 or not horizon_condition(bandit, found - 1).holds


def test_a_very_uneven_committee_needs_a_horizon_beyond_floating_point() -> None:
    bandit = AffinityBandit([0.9] * 50, bias=Power(2.0), initial_pulls=[10**9] + [10] * 49)
    log_n = smallest_log_horizon(bandit)
    # The second term decides: log(n K) = mu_1 L / 32 (1 + (1 + D) log 13).
    assert log_n == pytest.approx(
        0.9 * 2 / 32 * (1 + (10**9 - 9) * math.log(13)) - math.log(50), rel=1e-12
    )
    assert smallest_horizon(bandit) is None
    assert horizon_condition(bandit, 10**300).holds is False


def test_without_bias_every_horizon_will_do() -> None:
    bandit = AffinityBandit([0.1, 0.9], bias=Constant(), initial_pulls=[10**6, 1])
    assert smallest_log_horizon(bandit) == 0.0
    assert smallest_horizon(bandit) == 1


def test_a_slope_beyond_floating_point_needs_an_infinite_horizon() -> None:
    bandit = AffinityBandit([0.1, 0.9], bias=Power(1e308), initial_pulls=[10**6, 1])
    assert smallest_log_horizon(bandit) == math.inf
    assert smallest_horizon(bandit) is None
