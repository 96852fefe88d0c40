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
    Ordinal,
    Power,
)
from affinity_bandits.model.feedback import gated_finite_proxy
from affinity_bandits.model.noise.continuous import beta_quantile
from affinity_bandits.model.noise.discrete import tilt

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
    (found,) = tilt(points, shape / shape.sum(), np.array([mean]))
    assert found.sum() == pytest.approx(1.0)
    assert np.all(found >= 0.0)
    assert found @ points == pytest.approx(mean, abs=1e-9)


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


# Ranges.


def test_scores_are_mapped_from_their_range_and_back() -> None:
    assert Ordinal(5).mapped([1, 3, 5]).tolist() == [0.0, 0.5, 1.0]
    assert Beta(2.0, -10.0, 10.0).mapped(0.0) == 0.5
    assert Empirical([3.0], 1.0, 5.0).as_scores([0.5]).tolist() == [3.0]
    assert Gaussian(1.0).mapped([2.5]).tolist() == [2.5]
    assert Gaussian(1.0).as_scores([2.5]).tolist() == [2.5]
