"""Discrete scores: tilted probabilities, and a list of two scores that is a coin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Bernoulli,
    Ordinal,
    Power,
)
from affinity_bandits.model.noise.discrete import tilt


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
