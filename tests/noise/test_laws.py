"""Noises one by one: quantiles, tilted probabilities, constants worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Beta,
    Empirical,
    Gaussian,
    InGroupBonus,
    Ordinal,
    Power,
    noise_from_json,
)
from affinity_bandits.noise.beta_quantile import beta_part, beta_quantile
from affinity_bandits.noise.finite import tilted
from affinity_bandits.subgaussian import bernoulli_proxy, gated_finite_proxy

# Beta quantiles.


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


def test_beta_probabilities_are_scipys() -> None:
    for a in (0.01, 0.5, 1.0, 7.0, 900.0):
        for b in (0.02, 1.0, 3.5, 5000.0):
            norm = -special.betaln(a, b)
            for x in np.linspace(0.001, 0.999, 41):
                found = beta_part(a, b, norm, float(x))
                assert found == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


def test_beta_quantiles_at_the_ends() -> None:
    assert beta_quantile(2.0, 3.0, 0.0) == 0.0
    assert beta_quantile(1e-9, 1.0, 0.5) == 0.0
    assert beta_quantile(1.0, 1.0, 0.25) == pytest.approx(0.25, abs=1e-15)
    assert beta_quantile(1.0, 1e-6, 0.9) == pytest.approx(1.0)


# Tilted probabilities.


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=8, unique=True).map(sorted),
    weights=st.lists(st.floats(0.01, 1.0), min_size=8, max_size=8),
    part=st.floats(0.0, 1.0),
)
def test_tilting_gives_the_mean_asked_for(values: Any, weights: Any, part: float) -> None:
    points, shape = np.array(values), np.array(weights[: len(values)])
    mean = values[0] + part * (values[-1] - values[0])
    mean = min(max(mean, values[0]), values[-1])
    (found,) = tilted(points, shape / shape.sum(), np.array([mean]))
    assert found.sum() == pytest.approx(1.0)
    assert np.all(found >= 0.0)
    assert found @ points == pytest.approx(mean, abs=1e-9)


def test_tilting_leaves_a_shape_of_the_right_mean_as_it_is() -> None:
    shape = np.array([0.1, 0.1, 0.2, 0.4, 0.2])
    values = np.linspace(0.0, 1.0, 5)
    (found,) = tilted(values, shape, np.array([shape @ values]))
    np.testing.assert_allclose(found, shape, atol=1e-12)


def test_tilting_two_scores_is_a_coin() -> None:
    found = tilted(np.array([0.0, 1.0]), np.array([0.9, 0.1]), np.array([0.0, 0.25, 1.0]))
    np.testing.assert_allclose(found, [[1.0, 0.0], [0.75, 0.25], [0.0, 1.0]], atol=1e-12)


def test_a_larger_mean_makes_every_high_score_more_likely() -> None:
    means = np.linspace(0.01, 0.99, 60)
    found = Ordinal(shape=[0.3, 0.1, 0.2, 0.1, 0.3]).probabilities_at(means.tolist())
    above = 1.0 - np.cumsum(found, axis=1)[:, :-1]
    assert np.all(np.diff(above, axis=0) > 0.0)


def test_two_scores_and_a_coin_are_the_same_thing() -> None:
    """Ordinal([0, 1]) is Bernoulli by another road, bounds and constant included."""
    coin = AffinityBandit([0.3, 0.8], Power(1.0), noise=Bernoulli()).feedback
    listed = AffinityBandit([0.3, 0.8], Power(1.0), noise=Ordinal([0, 1])).feedback
    assert (listed.low, listed.high) == (coin.low, coin.high)
    assert listed.sigma == pytest.approx(coin.sigma, rel=1e-3)


# Constants.


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    chances=st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6),
    ends=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted),
)
def test_a_gated_lists_proxy_is_never_too_small_and_hardly_too_large(
    chances: Any, ends: Any
) -> None:
    values = np.linspace(0.0, 1.0, len(chances))
    law = np.array(chances) / sum(chances)
    low, high = ends
    stated = gated_finite_proxy(values, law, low, high)
    found = 0.0
    for w in np.linspace(low, high, 61):
        ahead = np.geomspace(1e-3, 300.0, 400)
        for at in (ahead, -ahead):
            own = np.log1p(w * (np.exp(np.outer(at, values)) @ law - 1.0)) - at * w * (law @ values)
            found = max(found, float(np.max(2.0 * own / at**2)))
    assert stated >= found * (1.0 - 1e-6) - 1e-9
    if high > 1e-3:
        assert stated <= min(0.25, found * 1.004) + 1e-6


def test_proxies_worked_out_by_hand() -> None:
    coin = np.array([0.0, 1.0])
    for p in (0.5, 0.2, 0.01):
        law = np.array([1.0 - p, p])
        assert gated_finite_proxy(coin, law, 1.0, 1.0) == pytest.approx(
            bernoulli_proxy(p), rel=1e-3
        )
    assert gated_finite_proxy(coin, np.array([0.0, 1.0]), 1.0, 1.0) == 0.0
    assert gated_finite_proxy(coin, np.array([1.0, 0.0]), 0.2, 1.0) == 0.0
    assert gated_finite_proxy(coin, np.array([0.5, 0.5]), 0.0, 0.0) == 0.0


@pytest.mark.slow
def test_of_too_many_laws_half_of_the_width_is_stated() -> None:
    few = AffinityBandit(np.linspace(0.3, 0.7, 800).tolist(), noise=Ordinal()).feedback
    many = AffinityBandit(np.linspace(0.3, 0.7, 801).tolist(), noise=Ordinal()).feedback
    assert few.sigma < 0.36
    assert many.sigma == 0.5


def test_a_betas_constant_does_not_depend_on_its_mean() -> None:
    for bias in (Power(1.0), InGroupBonus(0.3)):
        found = AffinityBandit([0.2, 0.9], bias, noise=Beta(24.0)).feedback.sigma
        assert found == pytest.approx(0.1)


# Ranges.


def test_scores_are_mapped_from_their_range_and_back() -> None:
    assert Ordinal(5).mapped([1, 3, 5]).tolist() == [0.0, 0.5, 1.0]
    assert Beta(2.0, -10.0, 10.0).mapped(0.0) == 0.5
    assert Empirical([3.0], 1.0, 5.0).as_scores([0.5]).tolist() == [3.0]
    assert Gaussian(1.0).mapped([2.5]).tolist() == [2.5]
    assert Gaussian(1.0).as_scores([2.5]).tolist() == [2.5]


def test_probabilities_of_each_arm_are_taken_as_they_are() -> None:
    noise = Ordinal(3, probabilities=[[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    assert noise.true_means == [0.5, 0.5]
    bandit = AffinityBandit(noise.true_means, noise=noise)
    assert bandit.noise.finite_laws([0.5, 0.5]).cumulative.tolist() == [
        [0.5, 0.5, 1.0],
        [0.0, 1.0, 1.0],
    ]


def test_a_noise_is_taken_by_its_name_with_its_settings() -> None:
    bandit = AffinityBandit([0.4, 0.6], noise={"name": "beta", "concentration": 4})
    assert bandit.noise == Beta(4.0)
    assert bandit.mechanism == "redrawn"
    assert AffinityBandit([0.4], noise="ordinal").noise == Ordinal(5)
    assert noise_from_json({"name": "ordinal", "scores": 7}).nodes[-1] == 7.0
    assert AffinityBandit.from_json(bandit.to_json()) == bandit
