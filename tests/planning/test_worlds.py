"""A plan's example is inside its assumptions, and its scores are the worst for who bets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import Bernoulli, Constant, Gaussian, PiecewisePower
from affinity_bandits.planning import Assumptions, example, hard_worlds
from affinity_bandits.planning.worlds import smallest_weight, two_scores

ROUNDING = 1e-12
ABOUT_NOTHING = 1e-9
SHARES = np.exp(np.linspace(np.log(1e-4), 0.0, 120))


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
        initial_lead=draw(st.sampled_from([0, 1, 100]) | st.integers(0, 10**9)),
        steepness=draw(
            st.sampled_from([0.0, 1e-300, 0.27, 1.0, 2.0, 3.0, 100.0]) | st.floats(0.0, 20.0)
        ),
        lipschitz=draw(st.none() | st.sampled_from([0.0, 0.25, 1.0, 2.0]) | st.floats(0.0, 10.0)),
        noise=noise,
        sigma=draw(st.floats(0.1, 10.0)),
        largest_mean=largest,
        failure=0.05,
    )


@pytest.mark.slow
@settings(max_examples=200)
@given(wanted=assumptions())
def test_the_example_is_inside_the_assumptions(wanted: Assumptions) -> None:
    bandit = example(wanted)
    bias, equal = bandit.bias, 1.0 / wanted.groups
    assert bias.weight(equal) == pytest.approx(1.0)
    means = sorted(bandit.true_means)  # the scores at equal shares
    assert means[0] >= 0.0
    assert means[-1] <= wanted.best_mean * (1.0 + ROUNDING)
    assert means[-1] - means[-2] >= wanted.smallest_difference - 1e-9
    assert max(bandit.initial_pulls) - min(bandit.initial_pulls) <= wanted.initial_lead
    assert bandit.noise == (Bernoulli() if wanted.bounded else Gaussian(wanted.sigma))
    assert bandit.memory is None
    # The steepness between neighbors on a grid bounds that between any two points of it.
    weights = np.array([bias.weight(share) for share in SHARES])
    seen = weights > 1e-290  # smaller weights have lost their digits
    slopes = np.diff(np.log(weights[seen])) / np.diff(np.log(SHARES[seen]))
    assert slopes.min(initial=0.0) >= -1e-9  # never decreasing
    assert slopes.max(initial=0.0) <= wanted.steepness + 1e-9
    if wanted.lipschitz is not None:
        slopes = np.diff(weights) / np.diff(SHARES)
        assert slopes.max() <= wanted.lipschitz * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize("groups", [2, 5])
def test_it_reaches_the_edges(groups: int, noise: str) -> None:
    wanted = Assumptions(
        groups, 1000, 0.2, initial_lead=30, steepness=2.5, noise=noise, largest_mean=0.75
    )
    bandit = example(wanted)
    assert isinstance(bandit.bias, PiecewisePower)
    assert bandit.bias.steepness == pytest.approx(2.5)
    assert max(bandit.true_means) == 0.75
    assert sorted(bandit.true_means)[-2] == pytest.approx(0.55)
    # The best group has the fewest members, and the rivals the whole initial lead.
    best = bandit.best_arms[0]
    assert bandit.initial_pulls[best] == 1
    assert max(bandit.initial_pulls) == 31


def test_it_has_the_smallest_weights_there_are_below_equal_shares() -> None:
    wanted = Assumptions(3, 1000, 0.2, steepness=1.5)
    bias, world = example(wanted).bias, hard_worlds(wanted)[0].world
    for share in (1e-6, 0.01, 0.2, 1 / 3):
        assert bias.weight(share) == pytest.approx(smallest_weight(world, share))
    bonus = replace(wanted, bonus=0.2, steepness=None)
    assert example(bonus).bias.weight(0.0) == pytest.approx(1.0 / 1.2)
    assert smallest_weight(hard_worlds(bonus)[0].world, 0.0) == pytest.approx(1.0 / 1.2)


def test_without_a_head_start_or_steepness_there_is_none() -> None:
    assert example(Assumptions(2, 1000, 0.2, initial_lead=0)).initial_pulls == (1, 1)
    assert example(Assumptions(2, 1000, 0.2, steepness=0.0)).bias == Constant()


@given(
    mean=st.floats(0.0, 1.0),
    spread=st.floats(1e-3, 0.5),
    best=st.booleans(),
)
def test_two_scores_have_the_mean_and_the_spread_as_far_as_it_can_be_had(
    mean: float, spread: float, best: bool
) -> None:
    world = hard_worlds(Assumptions(2, 1000, 0.2, spread=spread))[0].world
    low, high, chance = two_scores(world, mean, best)
    assert 0.0 <= low <= high <= 1.0 + ABOUT_NOTHING
    assert 0.0 <= chance <= 1.0
    assert low + chance * (high - low) == pytest.approx(mean)
    variance = chance * (1.0 - chance) * (high - low) ** 2
    assert variance == pytest.approx(min(spread**2, mean * (1.0 - mean)), abs=1e-12)
    assert (low == 0.0) if best else (high == 1.0)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    others=st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 1.0)), min_size=2, max_size=6),
    centre=st.floats(0.05, 0.95),
    part=st.floats(0.05, 1.0),
    best=st.booleans(),
)
def test_no_scores_of_that_mean_and_spread_win_less_for_a_bet(
    others: list[tuple[float, float]], centre: float, part: float, best: bool
) -> None:
    """Bets are on the best group scoring above a centre and on others scoring below it."""
    scores, weights = np.array(others).T
    weights /= weights.sum()
    mean = float(scores @ weights)
    spread = float(np.sqrt(weights @ (scores - mean) ** 2))
    if spread < 1e-3:
        return
    stake = part * 0.9 / max(centre, 1.0 - centre) * (1.0 if best else -1.0)
    world = hard_worlds(Assumptions(2, 1000, 0.2))[0].world._replace(spread=spread)
    low, high, chance = two_scores(world, mean, best)
    worst = (1.0 - chance) * np.log1p(stake * (low - centre))
    worst += chance * np.log1p(stake * (high - centre))
    assert worst <= weights @ np.log1p(stake * (scores - centre)) + ABOUT_NOTHING
