"""Quantiles of Beta noise against scipy's, and normal noise with a spread for each arm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from affinity_bandits import AffinityBandit, Gaussian, InvalidInput, simulate, simulate_log
from affinity_bandits.model.noise.continuous import beta_quantile


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    mean=st.floats(1e-6, 1.0 - 1e-6),
    size=st.floats(-2.0, 4.0),
    step=st.integers(0, 2**53 - 2**34),
)
def test_beta_quantiles_are_scipys(mean: float, size: float, step: int) -> None:
    p = step / 2**53  # uniform numbers are such steps; between 0 and the first there is none
    a, b = mean * 10.0**size, (1.0 - mean) * 10.0**size
    found = beta_quantile(a, b, p)
    assert 0.0 <= found <= 1.0
    expected = float(special.betaincinv(a, b, p))
    if math.isnan(expected):  # scipy gives up on some that are next to 0
        assert found < 1e-30
        expected = found
    exponent = (
        (a - 1.0) * math.log(max(expected, 1e-300))
        + (b - 1.0) * math.log1p(-min(expected, 1.0 - 1e-16))
        - special.betaln(a, b)
    )
    slope = math.exp(min(exponent, 600.0))
    # Both are as good as the probability is, whose last digit moves a flat quantile far.
    assert found == pytest.approx(expected, abs=1e-13 + 1e-11 / max(slope, 1e-3))


def test_beta_quantiles_at_the_ends() -> None:
    assert beta_quantile(2.0, 3.0, 0.0) == 0.0
    assert beta_quantile(1e-9, 1.0, 0.5) == 0.0
    assert beta_quantile(1.0, 1.0, 0.25) == pytest.approx(0.25, abs=1e-15)
    assert beta_quantile(1.0, 1e-6, 0.9) == pytest.approx(1.0)


SIGMAS = [0.2, 0.0, 1.5]


def of_spread(mechanism: str, sigmas: list[float]) -> list[float]:
    """Return for each arm the probability of a spread as far from its sigma as what was drawn.

    Weights are 1, so that scores are normal whatever the mechanism. 3,000 scores an arm: a sigma
    that is wrong by 15% is seen below 1e-4 with probability .99.
    """
    bandit = AffinityBandit([0.5, 0.4, 0.3], noise=Gaussian(SIGMAS), mechanism=mechanism)
    log = simulate_log(bandit, "uniform", horizon=9000, seed=3)
    found = []
    for arm, sigma in enumerate(sigmas):
        of_arm = log.score[log.arm == arm] - bandit.true_means[arm]
        squares = float(np.sum(of_arm**2))
        if sigma == 0.0:
            found.append(float(squares < 1e-20))
            continue
        below = stats.chi2.cdf(squares / sigma**2, len(of_arm))
        found.append(2.0 * min(below, 1.0 - below))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", Gaussian.mechanisms)
def test_every_arm_has_its_own(mechanism: str) -> None:
    assert min(of_spread(mechanism, SIGMAS)) > 1e-4


@pytest.mark.slow
def test_those_of_other_arms_are_told_apart() -> None:
    assert max(of_spread("shifted", SIGMAS[::-1])[::2]) < 1e-4


def test_one_for_each_that_is_the_same_for_all_gives_the_same_bits() -> None:
    alike, one = (
        simulate(
            AffinityBandit([0.5, 0.4], bias="power", initial_pulls=[9, 3], noise=Gaussian(sigma)),
            "ucb1",
            horizon=500,
            replicates=3,
        )
        for sigma in ([0.7, 0.7], 0.7)
    )
    assert np.array_equal(alike.regret, one.regret)


@pytest.mark.parametrize("sigma", [[0.1], [0.1, 0.2, 0.3], [], [0.1, -0.2]])
def test_a_wrong_list_is_refused(sigma: list[float]) -> None:
    with pytest.raises(InvalidInput, match="sigma"):
        AffinityBandit([0.5, 0.4], noise=Gaussian(sigma))
