"""A theorem is evaluated only where feedback is what it assumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Constant, Gaussian, Power, theory
from affinity_bandits.errors import NotSupported

UPPER: dict[str, Callable[[AffinityBandit], Any]] = {
    "horizon_condition": lambda bandit: theory.horizon_condition(bandit, 10**6),
    "smallest_log_horizon": theory.smallest_log_horizon,
    "smallest_horizon": theory.smallest_horizon,
    "arm_pull_bound": lambda bandit: theory.arm_pull_bound(bandit, 10**6),
    "regret_bound": lambda bandit: theory.regret_bound(bandit, 10**6),
    "worst_case_regret_bound": lambda bandit: theory.worst_case_regret_bound(bandit, 10**6),
    "simplified_regret_bounds": lambda bandit: theory.simplified_regret_bounds(bandit, 10**6),
}
LOWER: dict[str, Callable[[AffinityBandit], Any]] = {
    "lower_bound": lambda bandit: theory.lower_bound(bandit, 10**6),
    "finite_horizon_pulls": lambda bandit: theory.finite_horizon_pulls(bandit, 10**6, constant=1.0),
    "bound_ratio": lambda bandit: theory.bound_ratio(bandit, 10**6),
}


def bandit(**settings: Any) -> AffinityBandit:
    return AffinityBandit([0.4, 0.8], **({"bias": Power(1.0)} | settings))


NORMAL = [
    bandit(noise="gaussian"),
    bandit(noise="gaussian", mechanism="scaled", bias=Constant()),
    bandit(noise="gaussian", mechanism="gated", bias=Constant()),
    bandit(noise=Gaussian(2.0), mechanism="scaled", bias=Constant(0.5)),
]
ONLY_SUBGAUSSIAN = [
    *(bandit(mechanism=mechanism) for mechanism in ("gated", "scaled", "shifted")),
    bandit(noise="gaussian", mechanism="scaled"),
    bandit(noise=Gaussian(0.5)),
    bandit(noise=Gaussian(0.5), mechanism="gated"),
]
OUTSIDE = [
    bandit(noise="gaussian", mechanism="gated"),
    bandit(noise=Gaussian(1.01)),
    bandit(noise=Gaussian(1.01), mechanism="scaled"),
    bandit(noise=Gaussian(0.5), mechanism="scaled", bias=Constant(2.5)),
]


def named(bandits: list[AffinityBandit]) -> list[Any]:
    return [
        pytest.param(found, id=f"{found.noise} {found.mechanism} {found.bias}") for found in bandits
    ]


@pytest.mark.parametrize("name", UPPER)
@pytest.mark.parametrize("found", named(OUTSIDE))
def test_upper_bounds_are_refused_beyond_1_subgaussian(name: str, found: AffinityBandit) -> None:
    with pytest.raises(NotSupported, match=r"assumes 1-subGaussian feedback; .* is 1\.\d+-subG"):
        UPPER[name](found)


@pytest.mark.parametrize("name", UPPER)
@pytest.mark.parametrize("found", named(NORMAL + ONLY_SUBGAUSSIAN))
def test_upper_bounds_are_given_where_they_hold(name: str, found: AffinityBandit) -> None:
    UPPER[name](found)


@pytest.mark.parametrize("name", LOWER)
@pytest.mark.parametrize("found", named(ONLY_SUBGAUSSIAN + OUTSIDE))
def test_lower_bounds_are_refused_but_for_n_of_mu_w_and_1(name: str, found: AffinityBandit) -> None:
    # Where f is above 1, that is said first.
    says = r"bias must be at most 1|assumes normal feedback with standard deviation 1; .* here "
    with pytest.raises(Exception, match=says) as caught:
        LOWER[name](found)
    assert caught.type.__module__ == "affinity_bandits.errors"


@pytest.mark.parametrize("name", LOWER)
@pytest.mark.parametrize("found", named(NORMAL))
def test_lower_bounds_are_given_where_they_hold(name: str, found: AffinityBandit) -> None:
    LOWER[name](found)


def test_lai_robbins_asks_only_for_the_true_values() -> None:
    shifted, gated = (bandit(noise="gaussian", mechanism=kind) for kind in ("shifted", "gated"))
    assert theory.lai_robbins(shifted, 100).regret == theory.lai_robbins(gated, 100).regret
    for found in (bandit(), bandit(noise=Gaussian(0.5))):
        with pytest.raises(NotSupported, match=r"Gaussian\(sigma=1\), not"):
            theory.lai_robbins(found, 100)


def test_lemmas_about_shares_ask_nothing_of_the_noise() -> None:
    for found in OUTSIDE:
        theory.weight_floor(found, 0, 10**6)
        theory.mean_weight(found, 0, [[0, 1]], [10])
        theory.bias_error_bound(found, [[0, 1]], [10])
        theory.active_sets(found, 10**6)
