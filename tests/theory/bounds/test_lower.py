"""The lower bound, and its comparison with the upper one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from affinity_bandits import AffinityBandit, Clipped, Constant, Custom, Plateau, Power, Sigmoid
from affinity_bandits.model.bias import Bias
from affinity_bandits.theory import (
    bound_ratio,
    finite_horizon_pulls,
    growth_exponent,
    lai_robbins,
    lower_bound,
    polylog_factor,
    regret_bound,
)

LOWER_EXAMPLE = AffinityBandit(
    [0.3, 0.6, 0.5, 0.6], bias=Power(1.0), initial_pulls=[100, 10, 7, 30], noise="gaussian"
)


def many_arms(arms: int, bias: Bias) -> AffinityBandit:
    means = [0.6, *(0.3 + 0.2 * i / arms for i in range(arms - 1))]
    return AffinityBandit(means, bias=bias, noise="gaussian")


def test_lai_robbins_is_the_classical_formula() -> None:
    found = lai_robbins(LOWER_EXAMPLE, 10**6)
    log_n = 6 * math.log(10)
    assert found.regret == pytest.approx(2 * log_n / 0.3 + 2 * log_n / 0.1)
    assert found.pulls == pytest.approx([2 * log_n / 0.09, 0.0, 2 * log_n / 0.01, 0.0])
    assert found.regret == pytest.approx(LOWER_EXAMPLE.regret(found.pulls))


@pytest.mark.parametrize("n", [10**6, 10**12, 10**300])
@pytest.mark.parametrize(("C", "a", "eps"), [(1.0, 0.5, 0.5), (30.0, 0.2, 1.0), (1e-3, 0.9, 0.1)])
def test_finite_horizon_pulls_are_the_papers(n: int, C: float, a: float, eps: float) -> None:
    found = finite_horizon_pulls(LOWER_EXAMPLE, n, constant=C, exponent=a, eps=eps)
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
    assert np.all(finite_horizon_pulls(LOWER_EXAMPLE, 1, constant=C, eps=eps) == 0.0)


def test_the_finite_bound_approaches_its_leading_term() -> None:
    log_n = 1e9
    found = finite_horizon_pulls(LOWER_EXAMPLE, constant=5.0, eps=0.5, log_horizon=log_n)
    leading = lower_bound(LOWER_EXAMPLE, eps=0.5, log_horizon=log_n).outside
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
    found = lower_bound(LOWER_EXAMPLE, 10**6, arms=[2])
    assert found.arms == (2,)
    assert found.alpha == pytest.approx(1 / 24)
    assert found.in_set[0] == 0.0


def test_eps_left_out_is_the_largest() -> None:
    assert lower_bound(LOWER_EXAMPLE, 10).eps == pytest.approx(0.4 / 0.3)


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


def test_horizons_beyond_floats_and_of_one_pull() -> None:
    assert math.isfinite(lower_bound(LOWER_EXAMPLE, 10**300).regret)
    assert math.isfinite(lai_robbins(LOWER_EXAMPLE, log_horizon=1e100).regret)
    assert lower_bound(LOWER_EXAMPLE, 1).regret == 0.0
    blind = AffinityBandit([0.3, 0.6], bias=Constant(0.0), noise="gaussian")
    assert lower_bound(blind, 10).regret == math.inf
    assert lower_bound(blind, 1).regret == 0.0


@pytest.mark.parametrize(
    ("bias", "exponent"),
    [
        (Power(1.0), 1.0),
        (Power(10.0), 10.0),
        (Clipped(Power(2.0), high=0.5), 2.0),
        (Clipped(Power(2.0), low=0.1), 2.0),
        (Constant(0.3), 0.0),
        (Sigmoid(), 1 / (1 + math.e)),  # d log f / d log x = x / (1 + exp(x)), largest at x = 1
        (Custom(lambda x: max(0.0, x - 0.5), 1.0), math.inf),
    ],
    ids=str,
)
def test_the_exponents_of_known_biases(bias: Bias, exponent: float) -> None:
    assert growth_exponent(bias, 10) == pytest.approx(exponent, rel=1e-3)


def test_the_counterexample_has_a_huge_exponent_that_grows_with_the_arms() -> None:
    few, more = growth_exponent(Plateau(3, 1.5), 3), growth_exponent(Plateau(10, 1.5), 10)
    assert 1e3 < few < more
    assert more > 1e6


@pytest.mark.parametrize("bias", [Power(1.0), Power(2.0), Sigmoid()])
def test_the_inequality_holds_with_the_exponent_found(bias: Power) -> None:
    growth = growth_exponent(bias, 20)
    for x in (1 / 300, 0.01, 0.2):
        for mu in (1.001, 1.5, 3.0, 0.99 / x):
            if mu * x <= 1.0:
                assert bias.weight(mu * x) <= mu**growth * bias.weight(x) * (1 + 1e-9)


def test_the_factor_is_the_proofs() -> None:
    assert polylog_factor(100, 2.0) == pytest.approx((15 * math.log(100)) ** 4)
    assert polylog_factor(100, 1.0, constant=6.0) == pytest.approx((90 * math.log(100)) ** 2)
    assert polylog_factor(100, 0.0) == 1.0
    assert polylog_factor(100, 1e6) == math.inf


def test_the_factor_bounds_the_weights_that_the_two_bounds_have() -> None:
    """f(beta'/K)**-2 against f(1/(15 K))**-2, with the lower bound's own beta'."""
    for alpha in (1.0, 2.0):
        bandit = AffinityBandit([0.6] + [0.4] * 4999, bias=Power(alpha), noise="gaussian")
        lower = lower_bound(bandit, 10**9)
        constant = lower.beta_prime / math.log(5000)
        ratio = (lower.weight / bandit.bias.weight(1 / 75_000)) ** 2
        factor = polylog_factor(5000, growth_exponent(bandit.bias, 5000), constant=constant)
        assert ratio <= factor * (1 + 1e-6)


def test_the_ratio_is_upper_over_lower() -> None:
    bandit = AffinityBandit(
        [0.4, 0.6, 0.5], bias=Power(1.0), initial_pulls=[10, 1, 3], noise="gaussian"
    )
    found = bound_ratio(bandit, 10**9, exponent=0.6, eps=0.5)
    assert found.upper == regret_bound(bandit, 10**9).value
    assert found.lower == lower_bound(bandit, 10**9, exponent=0.6, eps=0.5).regret
    assert found.ratio == pytest.approx(found.upper / found.lower)
    assert found.holds
    assert 1.0 < bound_ratio(bandit, 10**300).ratio < 1e7


def test_the_finite_bound_with_the_bias_is_the_first_line_of_equation_31() -> None:
    """5,000 arms, f = x, C = 5, a = 1/2: nothing up to n = 1e30, and far above (30) at 1e100."""
    bandit = AffinityBandit([0.6] + [0.3] * 4_999, Power(1.0), noise="gaussian")
    rest: dict[str, Any] = {"constant": 5.0, "eps": 0.5}
    for log10_n in (6, 12, 30):
        log_n = log10_n * math.log(10.0)
        found = finite_horizon_pulls(bandit, log_horizon=log_n, biased=True, **rest)
        assert np.all(found == 0.0)
    log_n = 100 * math.log(10.0)
    proven = lower_bound(bandit, eps=0.5, log_horizon=log_n)
    found = finite_horizon_pulls(bandit, log_horizon=log_n, biased=True, **rest)
    gap = float(bandit.gaps[-1])
    c, n_zero = proven.alpha / 4, math.ceil(proven.n_zero)
    log_root = math.log(gap) + log_n / 2 - math.log(5.0)
    inner = (c - math.exp(-log_root)) * (math.log(0.5) + log_root) - math.log(2.0)
    inner -= (1.5 * gap) ** 2 / 2 * n_zero
    assert found[-1] == pytest.approx(proven.weight**-2 * 2 / (1.5 * gap) ** 2 * inner)
    plain = finite_horizon_pulls(bandit, log_horizon=log_n, **rest)
    assert found[-1] > 5 * plain[-1]
    # Case 2' is larger here; the leading terms are those of Theorem D.1.
    far = finite_horizon_pulls(bandit, log_horizon=1e9, biased=True, **rest)
    assert far[1:] == pytest.approx(
        lower_bound(bandit, eps=0.5, log_horizon=1e9).in_set[1:], rel=1e-4
    )
