"""What theorems assume of feedback and committees, what they refuse, and their public names."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from affinity_bandits import AffinityBandit, Constant, Gaussian, Power, theory
from affinity_bandits.base.errors import InvalidInput, NotSupported
from affinity_bandits.policies import ListedSchedule, PublishedSchedule
from tests.support.processes import run_python

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
    assert caught.type.__module__ == "affinity_bandits.base.errors"


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


BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0))
NORMAL_BANDIT = AffinityBandit([0.3, 0.6, 0.5, 0.6], bias=Power(1.0), noise="gaussian")
LISTED = ListedSchedule([(10, 0.5), (20, 0.05)])


def gaussian(*means: float, **settings: Any) -> AffinityBandit:
    return AffinityBandit(means, noise=settings.pop("noise", Gaussian()), **settings)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    (theory.active_sets, (BANDIT,), {"schedule": LISTED, "log_horizon": 3.0}, NotSupported, "give"),
    (theory.active_sets, (BANDIT, 10, "published"), {}, InvalidInput, "must be a schedule"),
    (theory.rounds_that_fit, (2, 10), {"active": 3}, InvalidInput, "active must be a whole number"),
    (theory.mean_weight, (BANDIT, 0, [[0, 1]], [10**291]), {}, NotSupported, "beyond floating"),
    *(
        (theory.mean_weight, (BANDIT, *history), {}, InvalidInput, message)
        for *history, message in (
            (2, [[0, 1]], [3], "arm must be a whole number from 0 to 1"),
            (1, [[0, 1], [0]], [3, 3], "arm must be active in the last round"),
            (0, [[0], [0, 1]], [3, 3], r"sets\[1\] must be a nonempty part of the set before it"),
            (0, [[]], [3], r"sets\[0\] must be a nonempty"),
            (0, [[0, 1]], [3, 3], r"lengths must be as long as sets \(1\)"),
            (0, [[0, 1]], [0], r"lengths\[0\] must be a whole number of at least 1"),
            (0, [[0, 7]], [2], r"sets\[0\]\[1\] must be a whole number from 0 to 1"),
        )
    ),
    (theory.regret_bound, (BANDIT, 9, PublishedSchedule(4.0)), {}, InvalidInput, "at least 5"),
    (theory.regret_bound, (BANDIT, 9, LISTED), {}, NotSupported, "published schedules, not for"),
    (theory.regret_bound, (BANDIT, 9), {"discard_first": 1}, InvalidInput, "true or false"),
    *(
        (
            function,
            (gaussian(0.9, 0.1, bias=Constant(2.0), mechanism="scaled", noise="bernoulli"), 1000),
            {},
            InvalidInput,
            r"bias must be at most 1 everywhere.*got 2\.0",
        )
        for function in (theory.simplified_regret_bounds, theory.worst_case_regret_bound)
    ),
    (
        theory.bias_error_bound,
        (AffinityBandit([0.4, 0.6], memory=9), [[0, 1]], [5]),
        {},
        NotSupported,
        "memory",
    ),
    (theory.lower_bound, (gaussian(0.5, 1.0), 100), {}, InvalidInput, "true_means must be below 1"),
    (theory.lower_bound, (gaussian(0.5, 0.5), 100), {}, InvalidInput, "below the largest"),
    (theory.lower_bound, (NORMAL_BANDIT, 100), {"exponent": 1.0}, InvalidInput, "exponent must be"),
    (
        theory.lower_bound,
        (NORMAL_BANDIT, 100),
        {"arms": [0, 1]},
        InvalidInput,
        "list of suboptimal arms",
    ),
    (
        theory.lower_bound,
        (NORMAL_BANDIT, 10),
        {"eps": 1.5},
        InvalidInput,
        "eps must be a number in",
    ),
    (
        theory.lower_bound,
        (NORMAL_BANDIT, 10),
        {"eps": 0.0},
        InvalidInput,
        r"eps must be a number in \(0, 1\.333",
    ),
    (
        theory.lower_bound,
        (gaussian(0.4, 0.6, bias=Constant(2.0)), 9),
        {},
        InvalidInput,
        "at most 1",
    ),
    (
        theory.finite_horizon_pulls,
        (NORMAL_BANDIT, 100),
        {"constant": 0.0},
        InvalidInput,
        "constant",
    ),
    (theory.horizon_condition, ([0.4, 0.6], 10), {}, InvalidInput, "must be an AffinityBandit"),
    (theory.horizon_condition, (BANDIT,), {"log_horizon": -0.1}, InvalidInput, "log_horizon"),
    (theory.horizon_condition, (BANDIT,), {}, InvalidInput, "unless log_horizon is, and not both"),
    (theory.horizon_condition, (BANDIT, 9), {"log_horizon": 1.0}, InvalidInput, "not both"),
    (
        theory.horizon_condition,
        (AffinityBandit([0.4, 0.6], memory=50), 100),
        {},
        NotSupported,
        "remembers its last 50 members",
    ),
    *(
        (function, (gaussian(0.4, 1.6), *rest), {}, InvalidInput, r"true_means\[1\].*got 1\.6")
        for function, rest in (
            (theory.horizon_condition, (100,)),
            (theory.smallest_log_horizon, ()),
        )
    ),
    *(
        (theory.horizon_condition, (BANDIT, horizon), {}, InvalidInput, "horizon must be a whole")
        for horizon in (0, 1.5, math.inf, math.nan, "100", True)
    ),
    (theory.ucb_linear_regret, (10,), {}, InvalidInput, r"initial_pulls\[0\] must be a whole"),
    (theory.ucb_linear_regret, (), {"means": (0.8, 0.9)}, InvalidInput, r"means\[1\]"),
    (theory.ucb_linear_regret, (), {"delta": 0.0}, InvalidInput, "delta"),
    (theory.bound_ratio, (gaussian(0.4, 0.6), 1), {}, InvalidInput, "horizon must be above 1"),
    (theory.polylog_factor, (1, 1.0), {}, InvalidInput, "arms must be"),
    (theory.polylog_factor, (100, 1.0), {"constant": 1e-3}, InvalidInput, "15 c log K lies in"),
    (theory.polylog_factor, (100, math.inf), {}, InvalidInput, "growth"),
    (theory.growth_exponent, (abs, 3), {}, InvalidInput, "bias must be a bias model"),
    (theory.outcome_index, ((0, 1, 0),), {}, InvalidInput, "outcome must be four numbers"),
    (theory.outcome_index, ((0, 1, 0, 2),), {}, InvalidInput, "outcome"),
]


@pytest.mark.parametrize(("function", "given", "named", "error", "message"), CASES)
def test_a_mistake_is_named(
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        function(*given, **named)


WITHOUT_LABEL = {"lai_robbins", "outcome_index"}
"""A bound of others, and a helper."""
SOURCE = r"(Theorem|Appendix|Lemma|Corollary|Definition|Remark|Claim|Equation|Section)s? [A-Z0-9(]"


def test_every_function_names_its_source() -> None:
    for name in theory.__all__:
        function = getattr(theory, name)
        if inspect.isfunction(function) and name not in WITHOUT_LABEL:
            assert re.search(SOURCE, function.__doc__ or ""), name


@pytest.mark.slow
def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ["numba", "scipy", "xarray", "matplotlib", "affinity_bandits.simulation"]
    code = (
        f"import sys, affinity_bandits.theory; print(*(m for m in {heavy!r} if m in sys.modules))"
    )
    assert run_python("-c", code).stdout.split() == []
