"""Every example is inside the assumptions, and reaches their edges."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits import Bernoulli, Constant, Gaussian, PiecewisePower
from affinity_bandits.model.bias import Bias
from affinity_bandits.planning import Assumptions, Example, examples, hard_worlds
from affinity_bandits.planning.worlds import smallest_weight

ROUNDING = 1e-12
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
        head_start=draw(st.sampled_from([0, 1, 100]) | st.integers(0, 10**9)),
        steepness=draw(
            st.sampled_from([0.0, 1e-300, 0.27, 1.0, 2.0, 3.0, 100.0]) | st.floats(0.0, 20.0)
        ),
        lipschitz=draw(st.none() | st.sampled_from([0.0, 0.25, 1.0, 2.0]) | st.floats(0.0, 10.0)),
        noise=noise,
        sigma=draw(st.floats(0.1, 10.0)),
        largest_mean=largest,
        failure=0.05,
    )


def biases(found: Iterable[Example]) -> list[Bias]:
    return list(dict.fromkeys(example.bandit.bias for example in found))


@pytest.mark.slow
@settings(max_examples=60)
@given(wanted=assumptions())
def test_every_example_is_inside_the_assumptions(wanted: Assumptions) -> None:
    found = examples(wanted)
    assert len({example.bandit for example in found}) == len(found) > 0
    assert len({str(example) for example in found}) == len(found)
    for example in found:
        bandit = example.bandit
        fair = bandit.bias.weight(1.0 / wanted.groups)
        *rivals, best = (mean * fair for mean in bandit.true_means)  # scores at equal shares
        assert bandit.arms == wanted.groups
        assert bandit.best_arms == (wanted.groups - 1,)
        assert min(rivals) >= 0.0
        assert best <= wanted.best_mean * (1.0 + ROUNDING)
        assert best - max(rivals) >= wanted.smallest_difference - 1e-9
        assert max(bandit.initial_pulls) - min(bandit.initial_pulls) <= wanted.head_start
        assert bandit.noise == (Bernoulli() if wanted.bounded else Gaussian(wanted.sigma))
        assert bandit.memory is None
    # The steepness between neighbors on a grid bounds that between any two points of it.
    for bias in biases(found):
        weights = np.array([bias.weight(share) for share in SHARES])
        seen = weights > 1e-290  # smaller weights have lost their digits
        slopes = np.diff(np.log(weights[seen])) / np.diff(np.log(SHARES[seen]))
        assert slopes.min(initial=0.0) >= -1e-9  # never decreasing
        assert slopes.max(initial=0.0) <= wanted.steepness + 1e-9
        if wanted.lipschitz is not None:
            slopes = np.diff(weights) / np.diff(SHARES) / bias.weight(1.0 / wanted.groups)
            assert slopes.max() <= wanted.lipschitz * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize("groups", [2, 5])
def test_some_example_reaches_every_edge(groups: int, noise: str) -> None:
    wanted = Assumptions(
        groups, 1000, 0.2, head_start=30, steepness=2.5, noise=noise, largest_mean=0.75
    )
    bandits = [example.bandit for example in examples(wanted)]
    steepest = [b.bias.steepness for b in bandits if isinstance(b.bias, PiecewisePower)]
    assert max(steepest) == pytest.approx(2.5)
    fair = [bandit.bias.weight(1.0 / groups) for bandit in bandits]
    levels = {round(b.true_means[-1] * f, 9) for b, f in zip(bandits, fair, strict=True)}
    assert max(levels) == 0.75
    for bandit, weight in zip(bandits, fair, strict=True):  # the first is as close as can be
        difference = weight * (bandit.true_means[-1] - bandit.true_means[0])
        assert difference == pytest.approx(0.2, abs=1e-9)
    initial = {bandit.initial_pulls for bandit in bandits}
    ones = (1,) * (groups - 1)
    assert initial == {(1, *ones), (31, *ones), (31,) * (groups - 1) + (1,), (*ones, 31)}


def test_the_ramp_up_to_equal_shares_has_the_smallest_weights_there_are() -> None:
    wanted = Assumptions(3, 1000, 0.2, steepness=1.5)
    (ramp,) = [
        b for b in biases(examples(wanted)) if b.weight(1 / 3) == b.weight(1.0) != b.weight(0.1)
    ]
    world = hard_worlds(wanted)[0].world
    for share in (1e-6, 0.01, 0.2, 1 / 3):
        relative = ramp.weight(share) / ramp.weight(1 / 3)
        assert relative == pytest.approx(smallest_weight(world, share))


def test_without_a_head_start_or_steepness_there_is_none() -> None:
    found = examples(Assumptions(2, 1000, 0.2, head_start=0))
    assert {example.bandit.initial_pulls for example in found} == {(1, 1)}
    assert {example.favoured for example in found} == {"nobody has a head start"}
    found = examples(Assumptions(2, 1000, 0.2, steepness=0.0))
    assert set(biases(found)) == {Constant(), Constant(0.3)}


def test_a_slope_leaves_out_steeper_biases() -> None:
    everything = biases(examples(Assumptions(2, 1000, 0.2, steepness=3.0)))
    gentle = biases(examples(Assumptions(2, 1000, 0.2, steepness=3.0, lipschitz=1.0)))
    kept = [bias for bias in everything if bias.lipschitz <= bias.weight(0.5)]
    assert gentle == kept != everything


def test_scores_are_said_on_the_scale_they_were_given_on() -> None:
    wanted = Assumptions(2, 1000, 1.0, lowest=1.0, highest=5.0, largest_mean=4.0, steepness=0.0)
    said = {example.level for example in examples(wanted)}
    assert "the best group scores 4 at equal shares" in said
    assert "the best group scores 2.2 at equal shares" in said  # all cut to 0.3 of four stars
