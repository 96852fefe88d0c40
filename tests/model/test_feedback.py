"""Stated subGaussian constants against the moment generating function itself.

Each law is attacked by a search for the l (and the weight and arm) at which
2 log E[exp(l (Y - E Y))] / l**2 is largest. No stated proxy may lie below what is found; where a
constant is called the best there is, it may not lie above it either.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import (
    AffinityBandit,
    Clipped,
    Constant,
    Gaussian,
    Power,
)
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.feedback import (
    ANYTHING,
    Feedback,
    bernoulli_proxy,
    gated_finite_proxy,
    gated_normal_proxy,
)
from affinity_bandits.simulation import Environment
from tests.policies.test_policies import HALF, ONE, UNIT

TIGHT = 1e-3
"""How far above what is found a constant may lie; the search itself misses less than that."""
ROUNDING = 1e-6
"""Relative error of the search where l is small and the logarithm nearly 0."""


def points(scale: float) -> Any:
    """Both signs of l, from where the variance decides to where the tails do."""
    ahead = np.geomspace(1e-3, 1e3, 301) / scale
    return np.concatenate([-ahead[::-1], ahead])


def coin(p: Any, at: Any) -> Any:
    """log E[exp(l (X - p))] of a coin, for |l| where it does not overflow."""
    return np.logaddexp(np.log1p(-p), np.log(p) + at) - at * p


def gated_normal(mean: float, sigma: float, w: Any, at: Any) -> Any:
    """log E[exp(l (B X - mean w))] with X ~ N(mean, sigma**2) and B ~ Bernoulli(w)."""
    own = at * mean + 0.5 * (at * sigma) ** 2
    return np.logaddexp(np.log1p(-w), np.log(w) + own) - at * mean * w


def searched(generating: Any, scale: float, weights: Any) -> float:
    """The largest 2 log mgf / l**2, refined twice around the best point of a coarse grid."""
    at, spread = points(scale), 1.05
    step = (weights[-1] - weights[0]) / len(weights)
    largest = -math.inf
    for _ in range(3):
        with np.errstate(divide="ignore"):
            values = 2.0 * generating(weights[None, :], at[:, None]) / at[:, None] ** 2
        largest = max(largest, float(values.max()))
        i, j = np.unravel_index(int(np.argmax(values)), values.shape)
        at = at[i] * np.geomspace(1.0 / spread, spread, 41)
        nearby = np.linspace(weights[j] - step, weights[j] + step, 41)
        weights = np.unique(np.clip(nearby, weights[0], weights[-1]))
        spread, step = spread**0.05, 0.05 * step
    return largest


def weights_between(low: float, high: float) -> Any:
    return np.unique(np.linspace(low, high, 33))


# Coins.


@pytest.mark.parametrize("p", [1e-12, 1e-3, 0.1, 0.2499, 0.25, 0.4, 0.4999999, 0.5, 0.75, 1 - 1e-9])
def test_a_coins_proxy_is_the_largest_ratio(p: float) -> None:
    found = searched(coin, 0.1, np.array([p]))
    assert bernoulli_proxy(p) >= found * (1.0 - ROUNDING)
    assert bernoulli_proxy(p) == pytest.approx(found, rel=TIGHT)


def test_a_coins_proxy_falls_on_both_sides_of_a_half() -> None:
    """So that the coin nearest to a fair one is the worst of several."""
    p = np.concatenate([[0.0], np.geomspace(1e-300, 0.5, 2000)])
    found = [bernoulli_proxy(float(x)) for x in p]
    assert np.all(np.diff(found) >= 0.0)
    assert found[-1] == 0.25
    assert [bernoulli_proxy(1.0 - x) for x in (0.0, 0.125, 0.375)] == [
        bernoulli_proxy(x) for x in (0.0, 0.125, 0.375)
    ]


# Gated normal values.


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    mean=st.floats(-1.0, 1.0).flatmap(lambda x: st.sampled_from([x, 10 * x, 100 * x])),
    sigma=st.sampled_from([0.1, 1.0, 3.0]),
    ends=st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)).map(sorted),
)
def test_a_gated_normals_proxy_is_never_too_small_and_hardly_too_large(
    mean: float, sigma: float, ends: list[float]
) -> None:
    low, high = ends
    stated = gated_normal_proxy(mean, sigma, low, high)
    weights = weights_between(low, high)
    found = max(
        searched(lambda w, at: gated_normal(mean, sigma, w, at), scale, weights)
        for scale in (sigma, math.hypot(mean, sigma))
    )
    assert stated >= found * (1.0 - ROUNDING)
    if high > 1e-6:  # else the tails decide only at an l beyond the search
        assert stated <= found * (1.0 + 3 * TIGHT)


def test_one_standard_deviation_of_mean_takes_a_tenth_more() -> None:
    """sigma = mu = 1: the proxy is 1.2037, so sigma is 1.0971; 1 + 1/4 would be safe, too."""
    proxy = gated_normal_proxy(1.0, 1.0, 0.0, 1.0)
    assert proxy == pytest.approx(1.2037, abs=2e-4)
    assert gated_normal(1.0, 1.0, 0.286, 3.5) > 0.5 * 3.5**2 * 1.2
    assert 1.0 < proxy < 1.25


def test_a_mean_nearer_to_0_takes_no_more() -> None:
    """So that the largest |mean| decides, whatever the range of weights."""
    for low, high in ((0.0, 1.0), (0.9, 1.0), (0.0, 0.05), (0.3, 0.6)):
        means = np.linspace(0.0, 12.0, 60)
        found = [gated_normal_proxy(float(mean), 1.0, low, high) for mean in means]
        # The bound itself is tight to a part in ten thousand only.
        assert np.all(np.diff(found) >= -2e-4 * np.array(found[1:]))


def test_edges_of_gates() -> None:
    assert gated_normal_proxy(5.0, 1.0, 0.0, 0.0) == 0.0  # never open
    assert gated_normal_proxy(5.0, 2.0, 1.0, 1.0) == 4.0  # always open
    assert gated_normal_proxy(0.0, 2.0, 0.0, 1.0) == pytest.approx(4.0)
    assert gated_normal_proxy(6.0, 0.0, 0.0, 1.0) == 9.0  # a coin worth 6
    assert gated_normal_proxy(6.0, 0.0, 0.0, 0.1) == pytest.approx(36.0 * bernoulli_proxy(0.1))
    assert gated_normal_proxy(1e9, 1e-9, 0.0, 1.0) == pytest.approx(2.5e17)


# A bandit's feedback, whatever its mechanism.

BIASES: list[Bias] = [Power(1.0), Constant(0.4), Clipped(Power(1.0), low=0.2, high=0.7)]
ABOVE_ONE: list[Bias] = [Constant(3.0)]
MEANS = [(0.4, 0.9), (0.0, 1.0)]


def bandits() -> Iterable[AffinityBandit]:
    for mechanism in ("gated", "scaled", "shifted"):
        for bias in BIASES + ABOVE_ONE * (mechanism != "gated"):
            for means in MEANS:
                yield AffinityBandit(means, bias=bias, mechanism=mechanism)
            for noise in (Gaussian(1.0), Gaussian(0.1)):
                yield AffinityBandit((-3.0, 2.0), bias=bias, noise=noise, mechanism=mechanism)


BANDITS = list(bandits())


def log_generating(bandit: AffinityBandit, mean: float, w: Any, at: Any) -> Any:
    """The law of one feedback around its mean, from the definition of its mechanism."""
    bernoulli = not isinstance(bandit.noise, Gaussian)
    if bandit.mechanism == "gated" and not bernoulli:
        return gated_normal(mean, bandit.sigma, w, at)
    stretch = w if bandit.mechanism == "scaled" else np.ones_like(w)
    if not bernoulli:
        return 0.5 * (at * stretch * bandit.sigma) ** 2
    p = mean * w if bandit.mechanism == "gated" else mean * np.ones_like(w)
    return np.where((p <= 0.0) | (p >= 1.0), 0.0, coin(np.clip(p, 1e-300, 1 - 1e-16), at * stretch))


@pytest.mark.parametrize("bandit", BANDITS, ids=str)
def test_what_a_bandit_states_is_what_it_produces(bandit: AffinityBandit) -> None:
    stated = bandit.feedback.sigma**2
    low, high = bandit.bias.bounds
    worst = 0.0
    for mean in bandit.true_means:
        for scale in (0.1, 1.0, 10.0):
            found = searched(
                lambda w, at, mean=mean: log_generating(bandit, mean, w, at),
                scale,
                weights_between(low, high),
            )
            worst = max(worst, found)
    assert stated >= worst * (1.0 - ROUNDING) - 1e-12
    assert stated <= worst * (1.0 + 3 * TIGHT) + 1e-12


@pytest.mark.parametrize("bandit", BANDITS, ids=str)
def test_feedback_keeps_to_the_stated_bounds_and_law(bandit: AffinityBandit) -> None:
    """Pulled by hand so that shares go to both ends of their range."""
    remembering = AffinityBandit(
        bandit.true_means,
        bias=bandit.bias,
        noise=bandit.noise,
        mechanism=bandit.mechanism,
        memory=7,
    )
    stated = remembering.feedback
    assert stated == bandit.feedback
    environment = Environment(remembering, seed=3)
    seen = np.array([environment.pull(arm) for arm in [0] * 60 + [1] * 300 + [0] * 60])
    slack = 1e-12
    assert np.all((seen >= stated.low - slack) & (seen <= stated.high + slack))
    if stated.law == "bernoulli":
        assert set(seen) <= {0.0, 1.0}
    assert stated.bounded == (not isinstance(bandit.noise, Gaussian))


@pytest.mark.parametrize(
    ("settings_of_bandit", "low", "high"),
    [
        ({}, 0.0, 1.0),
        ({"mechanism": "scaled"}, 0.0, 1.0),
        ({"mechanism": "scaled", "bias": Constant(3.0)}, 0.0, 3.0),
        ({"mechanism": "scaled", "bias": Constant(0.3)}, 0.0, 0.3),
        ({"mechanism": "shifted"}, -0.9, 1.0),
        ({"mechanism": "shifted", "bias": Constant()}, 0.0, 1.0),
        ({"mechanism": "shifted", "bias": Constant(2.0)}, 0.4, 1.9),
        ({"mechanism": "shifted", "bias": Clipped(Power(1.0), low=0.5)}, -0.45, 1.0),
        ({"noise": Gaussian(0.0), "mechanism": "gated"}, 0.0, 0.9),
        ({"noise": Gaussian(0.0), "mechanism": "scaled", "bias": Constant(2.0)}, 0.8, 1.8),
    ],
)
def test_bounds_worked_out_by_hand(
    settings_of_bandit: dict[str, Any], low: float, high: float
) -> None:
    found = AffinityBandit([0.4, 0.9], **({"bias": Power(1.0)} | settings_of_bandit)).feedback
    assert (found.low, found.high) == pytest.approx((low, high))


def test_one_arm_alone_has_all_of_the_committee() -> None:
    assert AffinityBandit([0.5], bias=Power(1.0), mechanism="shifted").feedback.low == 0.0
    gated = AffinityBandit([5.0], bias=Power(1.0), noise="gaussian", mechanism="gated")
    assert gated.feedback.law == "normal"
    assert gated.feedback.sigma == 1.0


def test_the_search_sees_a_constant_that_is_too_small() -> None:
    """The negative control: the noise's own sigma, which is what used to be taken for granted."""
    for mean, sigma in ((1.0, 1.0), (3.0, 1.0), (0.9, 0.1)):
        found = searched(
            lambda w, at, mean=mean, sigma=sigma: gated_normal(mean, sigma, w, at),
            math.hypot(mean, sigma),
            weights_between(0.0, 1.0),
        )
        assert found > 1.15 * sigma**2


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


# The order of kinds of feedback.

KINDS = [
    ANYTHING,
    UNIT,
    HALF,
    ONE,
    Feedback(sigma=0.1),
    Feedback(low=-1.0, high=1.0),
    Feedback(low=0.25, high=0.75),
    Feedback(law="bernoulli"),
    Feedback(sigma=1.0, law="normal"),
    Feedback(sigma=0.5, law="normal"),
]


def test_covering_is_an_order() -> None:
    for one in KINDS:
        assert one.covers(one)
        assert ANYTHING.covers(one)
        for other in KINDS:
            if one.covers(other) and other.covers(one):
                assert one == other
            for third in KINDS:
                if one.covers(other) and other.covers(third):
                    assert one.covers(third)


@pytest.mark.parametrize(
    ("assumed", "produced"),
    [
        (UNIT, ANYTHING),
        (UNIT, HALF),
        (UNIT, Feedback(low=-1e-6, high=1.0)),
        (UNIT, Feedback(low=0.0, high=1.0 + 1e-6)),
        (ONE, ANYTHING),
        (ONE, Feedback(sigma=1.0 + 1e-6)),
        (HALF, Feedback(low=-1.0, high=1.0)),
        (Feedback(law="bernoulli"), UNIT),
        (Feedback(sigma=1.0, law="normal"), ONE),
        (Feedback(sigma=1.0, law="normal"), Feedback(sigma=0.5, law="normal")),
    ],
)
def test_what_is_not_covered_is_named(assumed: Feedback, produced: Feedback) -> None:
    assert not assumed.covers(produced)
    assert assumed.missing(produced)


def test_rounding_is_no_difference() -> None:
    assert Feedback(sigma=0.3).covers(Feedback(sigma=0.1 + 0.2))
    assert UNIT.covers(Feedback(low=-1e-17, high=1.0 + 2e-16))


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"low": 1.0, "high": 0.0}, "high"),
        ({"low": math.nan}, "high"),
        ({"sigma": -1.0}, "sigma"),
        ({"sigma": math.nan}, "sigma"),
        ({"law": "poisson"}, "law"),
    ],
)
def test_nonsense_is_refused_by_name(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidInput, match=parameter):
        Feedback(**settings)
