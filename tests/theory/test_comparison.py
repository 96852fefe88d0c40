"""The ratio of the bounds, and the exponent that governs it."""

from __future__ import annotations

import math

import pytest

from affinity_bandits import AffinityBandit, Clipped, Constant, Custom, Plateau, Power, Sigmoid
from affinity_bandits.errors import InvalidInput
from affinity_bandits.theory import (
    bound_ratio,
    growth_exponent,
    lower_bound,
    polylog_factor,
    regret_bound,
)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0, 3.0, 10.0])
@pytest.mark.parametrize("arms", [2, 100])
def test_powers_have_their_own_exponent(alpha: float, arms: int) -> None:
    assert growth_exponent(Power(alpha), arms) == pytest.approx(alpha, rel=1e-9)


def test_clips_do_not_raise_the_exponent() -> None:
    assert growth_exponent(Clipped(Power(2.0), high=0.5), 10) == pytest.approx(2.0)
    assert growth_exponent(Clipped(Power(2.0), low=0.1), 10) == pytest.approx(2.0)


def test_flat_biases_have_small_exponents() -> None:
    assert growth_exponent(Constant(0.3), 10) == 0.0
    # d log f / d log x = x / (1 + exp(x)), largest at x = 1.
    assert growth_exponent(Sigmoid(), 10) == pytest.approx(1 / (1 + math.e), rel=1e-3)


def test_the_counterexample_has_a_huge_exponent_that_grows_with_the_arms() -> None:
    few, more = growth_exponent(Plateau(3, 1.5), 3), growth_exponent(Plateau(10, 1.5), 10)
    assert 1e3 < few < more
    assert more > 1e6


def test_a_bias_that_leaves_zero_has_no_exponent() -> None:
    assert growth_exponent(Custom(lambda x: max(0.0, x - 0.5), 1.0), 5) == math.inf


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


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidInput, match="horizon must be above 1"):
        bound_ratio(AffinityBandit([0.4, 0.6], noise="gaussian"), 1)
    with pytest.raises(InvalidInput, match="arms must be"):
        polylog_factor(1, 1.0)
    with pytest.raises(InvalidInput, match=r"constant must be such that 15 c log K lies in"):
        polylog_factor(100, 1.0, constant=1e-3)
    with pytest.raises(InvalidInput, match="growth"):
        polylog_factor(100, math.inf)
    with pytest.raises(InvalidInput, match="bias must be a bias model"):
        growth_exponent(lambda x: x, 3)  # type: ignore[arg-type]
