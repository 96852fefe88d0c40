"""Every instance that a plan is tried on is inside its assumptions, and reaches their edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affinity_bandits import Bernoulli, Gaussian, Power
from affinity_bandits.bias import Bias
from affinity_bandits.planning import Assumptions, Family, families

ROUNDING = 1e-12
SHARES = np.exp(np.linspace(np.log(1e-4), 0.0, 400))


@st.composite
def assumptions(draw: st.DrawFn) -> Assumptions:
    """Assumptions whose numbers have few digits, so that words can tell them apart."""
    noise = draw(st.sampled_from(["bounded", "gaussian"]))
    largest = draw(st.integers(1, 1000 if noise == "bounded" else 5000)) / 1000
    groups = draw(st.integers(2, 9))
    return Assumptions(
        groups=groups,
        horizon=draw(st.integers(groups, 10**15)),
        smallest_difference=draw(st.integers(1, round(largest * 1000))) / 1000,
        head_start=draw(st.sampled_from([0, 1, 100]) | st.integers(0, 10**9)),
        steepness=draw(st.sampled_from([0.0, 0.27, 1.0, 2.0, 3.0, 100.0]) | st.floats(0.0, 20.0)),
        lipschitz=draw(st.none() | st.sampled_from([0.0, 0.25, 1.0, 2.0]) | st.floats(0.0, 10.0)),
        noise=noise,
        sigma=draw(st.floats(0.1, 10.0)),
        largest_mean=largest,
        failure=0.05,
    )


def biases(found: Iterable[Family]) -> list[Bias]:
    return list(dict.fromkeys(family.bandit.bias for family in found))


def weights(bias: Bias) -> Any:
    return np.array([bias.weight(share) for share in SHARES])


@given(wanted=assumptions())
def test_every_instance_is_inside_the_assumptions(wanted: Assumptions) -> None:
    found = families(wanted)
    assert found
    for family in found:
        bandit = family.bandit
        *rivals, best = bandit.true_means
        assert bandit.arms == wanted.groups
        assert bandit.best_arms == (wanted.groups - 1,)
        assert min(rivals) >= 0.0
        assert best <= wanted.largest_mean
        assert best - max(rivals) >= wanted.smallest_difference - ROUNDING
        assert max(bandit.initial_pulls) - min(bandit.initial_pulls) <= wanted.head_start
        assert bandit.noise == (Bernoulli() if wanted.bounded else Gaussian(wanted.sigma))
        assert bandit.memory is None


@given(wanted=assumptions())
def test_no_bias_is_steeper_than_assumed(wanted: Assumptions) -> None:
    """The steepness between neighbours on a grid bounds that between any two points of it."""
    for bias in biases(families(wanted)):
        found = weights(bias)
        seen = found > 1e-290  # what underflows has lost its digits
        slopes = np.diff(np.log(found[seen])) / np.diff(np.log(SHARES[seen]))
        assert slopes.min(initial=0.0) >= -1e-9  # never decreasing
        assert slopes.max(initial=0.0) <= wanted.steepness + 1e-9


@given(wanted=assumptions())
def test_where_a_lipschitz_constant_is_assumed_no_bias_exceeds_it(wanted: Assumptions) -> None:
    if wanted.lipschitz is None:
        return
    for bias in biases(families(wanted)):
        slopes = np.diff(weights(bias)) / np.diff(SHARES)
        assert slopes.max() <= wanted.lipschitz + 1e-9


@given(wanted=assumptions())
def test_no_two_instances_are_the_same_or_have_the_same_words(wanted: Assumptions) -> None:
    found = families(wanted)
    assert len({family.bandit for family in found}) == len(found)
    assert len({str(family) for family in found}) == len(found)


@pytest.mark.parametrize("smallest", [0.9999999, 0.5])
def test_words_tell_levels_apart_however_close_they_are(smallest: float) -> None:
    found = families(Assumptions(groups=2, horizon=100, smallest_difference=smallest))
    assert len({str(family) for family in found}) == len({family.bandit for family in found})


@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize("groups", [2, 5])
def test_some_instance_reaches_every_edge(groups: int, noise: str) -> None:
    """An instance well inside the assumptions would not be the worst."""
    wanted = Assumptions(
        groups, 1000, 0.2, head_start=30, steepness=2.5, noise=noise, largest_mean=0.75
    )
    bandits = [family.bandit for family in families(wanted)]
    assert Power(2.5) in {bandit.bias for bandit in bandits}
    assert {max(bandit.true_means) for bandit in bandits} >= {0.75, 0.2}
    for bandit in bandits:  # the first is always as close as can be
        assert bandit.true_means[-1] - bandit.true_means[0] == pytest.approx(0.2, abs=ROUNDING)
    initial = {bandit.initial_pulls for bandit in bandits}
    ones = (1,) * (groups - 1)
    assert initial == {(1, *ones), (31, *ones), (31,) * (groups - 1) + (1,), (*ones, 31)}


def test_without_a_head_start_nobody_has_one() -> None:
    found = families(Assumptions(2, 1000, 0.2, head_start=0))
    assert {family.bandit.initial_pulls for family in found} == {(1, 1)}
    assert {family.favoured for family in found} == {"nobody has a head start"}


def test_a_lipschitz_constant_leaves_out_steeper_biases() -> None:
    everything = biases(families(Assumptions(2, 1000, 0.2, steepness=3.0)))
    gentle = biases(families(Assumptions(2, 1000, 0.2, steepness=3.0, lipschitz=1.0)))
    assert Power(3.0) in everything
    assert Power(1.0) in gentle
    assert gentle == [bias for bias in everything if bias.lipschitz <= 1.0] != everything


def test_the_order_is_always_the_same() -> None:
    wanted = Assumptions(3, 1000, 0.2)
    assert families(wanted) == families(wanted)
