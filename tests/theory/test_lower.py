"""Lower bounds, against the paper's formulas typed in again, and against the upper ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, Constant, Power, Sigmoid
from affinity_bandits.bias import Bias
from affinity_bandits.errors import InvalidInput
from affinity_bandits.theory import (
    finite_horizon_pulls,
    lai_robbins,
    lower_bound,
    regret_bound,
)

EXAMPLE = AffinityBandit(
    [0.3, 0.6, 0.5, 0.6], bias=Power(1.0), initial_pulls=[100, 10, 7, 30], noise="gaussian"
)


def many_arms(arms: int, bias: Bias) -> AffinityBandit:
    means = [0.6, *(0.3 + 0.2 * i / arms for i in range(arms - 1))]
    return AffinityBandit(means, bias=bias, noise="gaussian")


def test_lai_robbins_is_the_classical_formula() -> None:
    found = lai_robbins(EXAMPLE, 10**6)
    log_n = 6 * math.log(10)
    assert found.regret == pytest.approx(2 * log_n / 0.3 + 2 * log_n / 0.1)
    assert found.pulls == pytest.approx([2 * log_n / 0.09, 0.0, 2 * log_n / 0.01, 0.0])
    assert found.regret == pytest.approx(EXAMPLE.regret(found.pulls))


@pytest.mark.parametrize("n", [10**6, 10**12, 10**300])
@pytest.mark.parametrize(("C", "a", "eps"), [(1.0, 0.5, 0.5), (30.0, 0.2, 1.0), (1e-3, 0.9, 0.1)])
def test_finite_horizon_pulls_are_the_papers(n: int, C: float, a: float, eps: float) -> None:
    found = finite_horizon_pulls(EXAMPLE, n, constant=C, exponent=a, eps=eps)
    root = 10.0 ** (math.log10(n) * (1 - a))
    for i, delta in ((0, 0.3), (2, 0.1)):
        one, two = 1 - C / (delta * root), eps * delta * root / C
        literal = 2 / ((1 + eps) ** 2 * delta**2) * (one * math.log(two) - math.log(2))
        if one > 0 and two > 1:
            assert found[i] == pytest.approx(max(0.0, literal), rel=1e-9)
        else:
            assert found[i] == 0.0
    assert found[1] == found[3] == 0.0


def test_two_negative_factors_are_not_a_lower_bound() -> None:
    """At n = 1 and C = 100 the printed formula promises thousands of pulls within one."""
    delta, eps, C = 0.3, 0.5, 100.0
    printed = (1 - C / delta) * math.log(eps * delta / C) - math.log(2)
    assert 2 / ((1 + eps) ** 2 * delta**2) * printed > 1000
    assert np.all(finite_horizon_pulls(EXAMPLE, 1, constant=C, eps=eps) == 0.0)


def test_the_finite_bound_approaches_its_leading_term() -> None:
    log_n = 1e9
    found = finite_horizon_pulls(EXAMPLE, constant=5.0, eps=0.5, log_horizon=log_n)
    leading = lower_bound(EXAMPLE, eps=0.5, log_horizon=log_n).outside
    assert found == pytest.approx(leading, rel=1e-6)
    assert np.all(found <= leading)


@pytest.mark.parametrize("bias", [Power(1.0), Power(2.0), Sigmoid(), Constant()])
@pytest.mark.parametrize("arms", [2, 9, 4000])
def test_the_constants_are_those_of_the_proof(bias: Bias, arms: int) -> None:
    bandit = many_arms(arms, bias)
    a, eps, n = 0.6, 0.25, 10**9
    found = lower_bound(bandit, n, exponent=a, eps=eps)
    K, A = arms, arms - 1
    gaps = sorted(0.6 - mean for mean in bandit.true_means)[1:]
    alpha, beta = A / (6 * K), 2 * K / A
    edge = bias.weight(min(1.0, beta / K))
    beta_prime = (
        2 * math.log(gaps[-1] / gaps[0]) + math.log(4 * K / alpha) - 2 * math.log(edge)
    ) / alpha
    assert found.alpha == pytest.approx(alpha)
    assert found.beta == pytest.approx(beta)
    assert found.beta_prime == pytest.approx(beta_prime)
    assert found.n_zero == pytest.approx(
        alpha * (1 - a) * math.log(n) / (4 * (1 + eps) ** 2 * gaps[-1] ** 2)
    )
    # 1/gamma < beta < 6/gamma < beta', as the proof says.
    gamma = A / K
    assert 1 / gamma < beta < 6 / gamma < found.beta_prime
    assert found.guaranteed == math.ceil(A / 4)
    assert found.share == min(1.0, found.beta_prime / K)
    assert found.weight == bias.weight(found.share)
    common = (1 - a) * math.log(n) / (1 + eps) ** 2
    member = found.weight**-2 * alpha / 4
    assert found.in_set[1:] == pytest.approx(
        [member * common / (0.6 - mean) ** 2 for mean in bandit.true_means[1:]]
    )
    assert found.outside[1:] == pytest.approx(
        [2 * common / (0.6 - mean) ** 2 for mean in bandit.true_means[1:]]
    )
    assert found.in_set[0] == found.outside[0] == 0.0


def test_the_sum_is_the_least_over_every_set_that_may_be_meant() -> None:
    """A steep f makes membership count with few arms; then try every B'."""
    bandit = AffinityBandit(
        [0.6, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5],
        bias=Clipped(Power(1.0), high=1e-3),
        noise="gaussian",
    )
    found = lower_bound(bandit, 10**9, eps=0.2)
    both = np.maximum(found.in_set, found.outside)
    assert np.all(both[1:] > found.outside[1:])
    assert found.guaranteed == 2
    sums = []
    for size in range(2, 8):
        for chosen in itertools.combinations(range(1, 8), size):
            pulls = found.outside.copy()
            pulls[list(chosen)] = both[list(chosen)]
            sums.append(bandit.regret(pulls))
    assert found.regret == pytest.approx(min(sums))


@pytest.mark.slow
def test_with_few_arms_only_the_ordinary_bound_is_left() -> None:
    for arms in (2, 10, 60):
        found = lower_bound(many_arms(arms, Power(1.0)), 10**9)
        assert found.share == 1.0
        assert found.regret == pytest.approx(many_arms(arms, Power(1.0)).regret(found.outside))
    many = lower_bound(many_arms(20_000, Power(1.0)), 10**9)
    assert many.share < 0.02
    assert many.regret > 10 * many_arms(20_000, Power(1.0)).regret(many.outside)


def test_a_subset_of_arms_can_be_named() -> None:
    found = lower_bound(EXAMPLE, 10**6, arms=[2])
    assert found.arms == (2,)
    assert found.alpha == pytest.approx(1 / 24)
    assert found.in_set[0] == 0.0


def test_eps_left_out_is_the_largest() -> None:
    assert lower_bound(EXAMPLE, 10).eps == pytest.approx(0.4 / 0.3)
    with pytest.raises(InvalidInput, match="eps must be a number in"):
        lower_bound(EXAMPLE, 10, eps=1.5)
    with pytest.raises(InvalidInput, match="eps"):
        lower_bound(EXAMPLE, 10, eps=0.0)


@pytest.mark.parametrize("bias", [Constant(), Power(1.0), Power(2.0), Sigmoid()])
@pytest.mark.parametrize("pulls", [[1, 1, 1], [30, 1, 5]])
@pytest.mark.parametrize("means", [[0.4, 0.6, 0.5], [0.9, 0.1, 0.89]])
@pytest.mark.parametrize("n", [10**4, 10**9, 10**300])
def test_lower_bounds_are_below_upper_bounds(
    bias: Bias, pulls: list[int], means: list[float], n: int
) -> None:
    bandit = AffinityBandit(means, bias=bias, initial_pulls=pulls, noise="gaussian")
    upper = regret_bound(bandit, n, tight=True)
    if upper.holds:
        for eps in (1e-3, None):
            assert lower_bound(bandit, n, eps=eps, exponent=0.01).regret <= upper.value
            assert lai_robbins(bandit, n).regret <= upper.value


@pytest.mark.slow
def test_lower_is_below_upper_with_many_arms_too() -> None:
    bandit = many_arms(300, Power(2.0))
    upper = regret_bound(bandit, 10**12)
    assert upper.holds
    assert lower_bound(bandit, 10**12, exponent=0.01, eps=1e-3).regret <= upper.value


def test_horizons_beyond_floats_and_of_one_pull() -> None:
    assert math.isfinite(lower_bound(EXAMPLE, 10**300).regret)
    assert math.isfinite(lai_robbins(EXAMPLE, log_horizon=1e100).regret)
    assert lower_bound(EXAMPLE, 1).regret == 0.0
    blind = AffinityBandit([0.3, 0.6], bias=Constant(0.0), noise="gaussian")
    assert lower_bound(blind, 10).regret == math.inf
    assert lower_bound(blind, 1).regret == 0.0


def test_what_the_theorem_does_not_cover_is_refused() -> None:
    with pytest.raises(InvalidInput, match="true_means must be below 1"):
        lower_bound(AffinityBandit([0.5, 1.0], noise="gaussian"), 100)
    with pytest.raises(InvalidInput, match="one at least is below the largest"):
        lower_bound(AffinityBandit([0.5, 0.5], noise="gaussian"), 100)
    with pytest.raises(InvalidInput, match="exponent must be a number in"):
        lower_bound(EXAMPLE, 100, exponent=1.0)
    with pytest.raises(InvalidInput, match="arms must be a list of suboptimal arms"):
        lower_bound(EXAMPLE, 100, arms=[0, 1])
    with pytest.raises(InvalidInput, match="constant"):
        finite_horizon_pulls(EXAMPLE, 100, constant=0.0)
    with pytest.raises(InvalidInput, match="bias must be at most 1"):
        lower_bound(AffinityBandit([0.4, 0.6], bias=Constant(2.0), noise="gaussian"), 100)
