"""Every noise keeps the contract that is offered to third parties, and the contract can be broken.

The means are taken on a grid of 1,000 numbers, whose error is at most half a cell of the quantile
function, 5e-4 of the range, and 2e-3 are allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from affinity_bandits import (
    AffinityBandit,
    Beta,
    Empirical,
    Gaussian,
    Noise,
    NotSupported,
    Ordinal,
)
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.noise import MECHANISMS, NOISES
from affinity_bandits.testing import check_noise
from affinity_bandits.testing.contracts import feedback_law
from tests.model.noise.examples import NOISES as EXAMPLES
from tests.model.noise.examples import named

# Beta's quantiles take seconds.
CHECKED = [
    pytest.param(noise, marks=pytest.mark.slow, id=named(noise))
    if isinstance(noise, Beta)
    else pytest.param(noise, id=named(noise))
    for noise in EXAMPLES
]


@pytest.mark.slow
@pytest.mark.parametrize("noise", CHECKED)
def test_noise_keeps_the_contract(noise: Noise) -> None:
    check_noise(noise)


def test_probabilities_of_each_arm_keep_the_contract() -> None:
    given = Ordinal(probabilities=[[0.1, 0.2, 0.4, 0.2, 0.1], [0.0, 0.5, 0.0, 0.5, 0.0]])
    check_noise(given, given.true_means)


def test_every_noise_and_mechanism_is_checked() -> None:
    assert {type(noise) for noise in EXAMPLES} == set(NOISES.values())
    offered = {mechanism for noise in EXAMPLES for mechanism in noise.mechanisms}
    assert offered == set(MECHANISMS)


@pytest.mark.parametrize("noise", CHECKED)
def test_a_larger_weight_never_makes_high_scores_rarer(noise: Noise) -> None:
    """The monotonicity for which mechanisms were chosen: P(Y > y) rises with the weight."""
    for mechanism in noise.mechanisms:
        if mechanism == "shifted" or not noise.keeps_range:
            continue
        bandit = AffinityBandit([0.55], noise=noise, mechanism=mechanism)
        tails = []
        for weight in (0.1, 0.5, 0.9, 1.0):
            seen, chances = feedback_law(bandit, 0, weight)
            scores = np.linspace(0.0, 0.99, 34)
            tails.append([chances[seen > score + 1e-12].sum() for score in scores])
        assert np.all(np.diff(tails, axis=0) >= -1e-9)


# Noises that break it: each of the checks sees what it is there for.


def low_value(parameters: FloatArray, mean: float, u: float) -> float:
    return 0.9 * mean


def wide_value(parameters: FloatArray, mean: float, u: float) -> float:
    return mean + 3.0 * (u - 0.5)


@dataclass(frozen=True)
class Bare(Noise):
    """A noise that says nothing of how its scores are drawn."""

    name: ClassVar[str] = "bare"


def test_a_noise_without_a_kernel_is_refused_before_it_runs() -> None:
    with pytest.raises(NotSupported, match="noise bare has no kernel"):
        AffinityBandit([0.4, 0.6], noise=Bare())


def broken(name: str = "broken", **members: Any) -> Noise:
    """Return Beta noise with some members replaced."""
    made: Noise = type("Broken", (Beta,), {"name": name, **members})(3.0)
    return made


@pytest.mark.parametrize(
    ("noise", "says"),
    [
        (broken(kernel=property(lambda self: low_value)), "has mean"),
        (broken(kernel=property(lambda self: wide_value)), "leaves its range"),
        (broken(subgaussian=lambda *given: 0.05), "is not 0.05-subGaussian"),
        (broken(nodes=(1.0, 0.0)), "not ascending"),
        (broken(to_json=lambda self: {"name": "broken"}), "not come back"),
        (broken("gaussian"), "not taken .Gaussian has it."),
    ],
)
def test_the_contract_can_be_broken(noise: Noise, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_noise(noise)
    assert "broken" not in NOISES


# Ranges.


def test_scores_are_mapped_from_their_range_and_back() -> None:
    assert Ordinal(5).mapped([1, 3, 5]).tolist() == [0.0, 0.5, 1.0]
    assert Beta(2.0, -10.0, 10.0).mapped(0.0) == 0.5
    assert Empirical([3.0], 1.0, 5.0).as_scores([0.5]).tolist() == [3.0]
    assert Gaussian(1.0).mapped([2.5]).tolist() == [2.5]
    assert Gaussian(1.0).as_scores([2.5]).tolist() == [2.5]
