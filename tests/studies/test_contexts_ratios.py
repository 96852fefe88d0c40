"""Ratios across types are covered whatever the bias, if nobody looks at types."""

from __future__ import annotations

import math

import numpy as np
import pytest

from affinity_bandits import PiecewisePower, Power
from affinity_bandits.errors import InvalidInput
from affinity_bandits.policies import UCB1
from affinity_bandits.policies.round import RoundPolicy
from affinity_bandits.studies.contexts_model import TypedBandit, simulate_types
from affinity_bandits.studies.contexts_policies import HalfCountHandicap, PerType, TypedPolicy
from affinity_bandits.studies.contexts_ratios import cross_ratio

RUNS = 300
MEANS = [[0.9, 0.4], [0.5, 0.6]]
TRUTH = (0.9 / 0.5) / (0.4 / 0.6)
STEEP = PiecewisePower([0.3, 0.6], [0.2, 1.0])


def missed(bandit: TypedBandit, policy: TypedPolicy | RoundPolicy) -> int:
    """Return in how many runs the interval misses the truth."""
    runs = simulate_types(bandit, policy, 800, RUNS, seed=2)
    found = [cross_ratio(np.rint(scores).astype(int).tolist()) for scores in runs.scores]
    assert np.median([one.high for one in found]) < math.inf
    return sum(not one.low <= TRUTH <= one.high for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("bias", [Power(1.0), STEEP])
def test_the_interval_covers_whatever_the_bias(bias: Power | PiecewisePower) -> None:
    """Of 300 runs at .95, 36 misses have a probability of 1.4e-6.

    A true rate of .15 has as many with probability .94.
    """
    bandit = TypedBandit(MEANS, bias, [5, 30], [0.3, 0.7])
    policy = HalfCountHandicap(bounded=True, failure=1e-9, initial_pulls=[5, 30])
    assert missed(bandit, policy) < 36


@pytest.mark.slow
def test_it_does_not_where_choices_look_at_types() -> None:
    """The negative control: scores of 1 then tell who was chosen for which type."""
    bandit = TypedBandit(MEANS, Power(1.0), [5, 30], [0.3, 0.7])
    assert missed(bandit, PerType(UCB1())) > 60


@pytest.mark.parametrize(
    ("successes", "estimate", "low", "high"),
    [
        ([[0, 5], [5, 5]], 0.0, 0.0, None),
        ([[5, 0], [5, 5]], math.inf, None, math.inf),
        ([[0, 0], [5, 5]], math.nan, 0.0, math.inf),
    ],
)
def test_what_was_never_seen_is_not_known(
    successes: list[list[int]], estimate: float, low: float | None, high: float | None
) -> None:
    found = cross_ratio(successes)
    assert found.estimate == pytest.approx(estimate, nan_ok=True)
    assert low is None or found.low == low
    assert high is None or found.high == high
    assert found.low < found.high


@pytest.mark.parametrize(
    ("successes", "level", "words"),
    [([[1, 2]], 0.9, "successes must be two rows"), ([[1, 2], [3, 4]], 1.0, "level")],
)
def test_mistakes_are_named(successes: list[list[int]], level: float, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        cross_ratio(successes, level)
