"""Numbers on the errata page that no function of the package recomputes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Gaussian, Power, simulate
from affinity_bandits.policies import UCB1, Elimination
from affinity_bandits.theory import worst_case_regret_bound


def between_polynomials(x: float) -> float:
    """A nondecreasing, 2-Lipschitz f with x^2 <= f(x) <= x that touches x^2 at 1/16, 1/512, ...

    Below a touching point t it rises from the one before, s = t^2 / 2, with slope 2, to t^2.
    """
    touch = 1.0 / 16.0
    highest = 1.0
    while x <= touch:
        highest, touch = touch * touch, touch * touch / 2.0
    return min(x, touch * touch + 2.0 * (x - touch), highest)


def test_a_weight_between_polynomials_need_not_be_polylogarithmic() -> None:
    """f(log K / K) / f(1 / (15 K)) would have to be at most a power of log K."""
    points = np.geomspace(1e-9, 1.0, 20_001)
    weights = np.array([between_polynomials(float(x)) for x in points])
    assert (weights <= points * (1 + 1e-12)).all()
    assert (weights >= points**2 * (1 - 1e-12)).all()
    slopes = np.diff(weights) / np.diff(points)
    assert slopes.min() >= -1e-9
    assert slopes.max() <= 2.0 + 1e-6
    ratios, touch = [], 1.0 / 16.0
    for _ in range(3):
        touch = touch * touch / 2.0
        groups = 1.0 / (15.0 * touch)
        wide = between_polynomials(math.log(groups) / groups)
        ratios.append((groups, wide / between_polynomials(touch)))
    groups, found = zip(*ratios, strict=True)
    assert groups == pytest.approx([34.1, 34_953, 3.665e10], rel=1e-3)
    assert found == pytest.approx([22_481, 2**20, 2**40], rel=1e-4)
    # The exponent of log K that would be needed grows without bound; for x^2 it is about 2.
    needed = [math.log(ratio) / math.log(math.log(arms)) for arms, ratio in ratios]
    assert needed == pytest.approx([7.9, 5.9, 8.7], abs=0.1)


def test_the_ratio_of_remark_d2_is_of_the_order_of_k_to_the_90() -> None:
    """log(((b' - b)/K + K^-10)^10 / K^-100) / log K, with b' - b = 1."""
    for arms in (10.0, 100.0, 1_000.0):
        ratio = 10.0 * math.log(1.0 / arms + arms**-10) + 100.0 * math.log(arms)
        assert ratio / math.log(arms) == pytest.approx(90.0, abs=1e-6)


@pytest.mark.parametrize("horizon", [10**6, 10**12])
def test_algorithm_1_is_not_consistent_for_means_above_1(horizon: int) -> None:
    """Means 20.4 and 20.9 have a gap of .5, but biased scores differ by 20 times the shares."""
    bandit = AffinityBandit([20.4, 20.9], Power(1.0), [101, 1], noise=Gaussian(1.0))
    found = simulate(bandit, Elimination(), horizon, 50, progress=False, checkpoints=1)
    assert int(found.wrong_arm.sum()) == 50
    fair = AffinityBandit([0.4, 0.9], Power(1.0), [1, 1], noise=Gaussian(1.0))
    assert simulate(fair, Elimination(), horizon, 50, progress=False).wrong_arm.sum() == 0


def test_the_second_bound_of_theorem_4_1_is_not_that_of_the_appendix() -> None:
    """K = 2, T0 = (1, 900), f = x, n = 1e9: f(1 / (15 K))^-1 against f(T0_min / (t0 + K - 1))^-1.

    Algorithm 2 first pulls each arm once, so T0 = (2, 901) when its rounds begin.
    """
    bandit = AffinityBandit([0.4, 0.6], Power(1.0), [1, 900])
    proven = worst_case_regret_bound(bandit, 10**9).value
    assert proven == pytest.approx(8.43e9, rel=0.001)
    root = (proven - 2.0) * 2.0 / 904.0
    assert 2.0 + root * 30.0 == pytest.approx(5.6e8, rel=0.001)


@pytest.mark.slow
def test_ucb_fails_from_equal_starts_as_well() -> None:
    """Remark E.2: with a probability that does not fall with n, about .245 from (10, 10).

    400 runs: a binomial with p = .245 is between 66 and 130 with probability above 1 - 1e-4.
    """
    for horizon in (10_000, 100_000):
        bandit = AffinityBandit([0.9, 0.8], Power(1.0), [10, 10])
        wrong = simulate(bandit, UCB1(), horizon, 400, progress=False, checkpoints=1).wrong_arm
        assert 66 <= int(wrong.sum()) <= 130
