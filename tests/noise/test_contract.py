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
    Environment,
    Noise,
    NotSupported,
    Ordinal,
    simulate,
)
from affinity_bandits.kernels import FloatArray, Function
from affinity_bandits.noise import MECHANISMS, NOISES
from affinity_bandits.testing import check_noise
from affinity_bandits.testing.noises import feedback_law

from .examples import NOISES as EXAMPLES
from .examples import named

# Beta's quantiles take seconds; `test_gated_scores_are_scores` has it among the quick ones.
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


def test_nodes_are_the_scores_where_they_are_few_and_a_grid_of_17_where_not() -> None:
    assert [len(noise.nodes) for noise in EXAMPLES] == [2, 0, 5, 7, 4, 3, 17, 17, 17, 9, 17, 17]
    assert Ordinal().nodes == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert Beta(3.0, 0.0, 8.0).nodes[:3] == (0.0, 0.5, 1.0)


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


@pytest.mark.parametrize("noise", EXAMPLES, ids=named)
def test_gated_scores_are_scores(noise: Noise) -> None:
    """The reason why scores of a list are gated: nobody ever gave three stars and a half."""
    if noise.law_code(noise.mechanisms[0]) != Ordinal().law_code("gated"):
        return
    bandit = AffinityBandit([0.55], noise=noise)
    seen, _ = feedback_law(bandit, 0, 0.6)
    scores = noise.mapped([noise.lowest, *noise.values])  # type: ignore[attr-defined]
    assert set(seen.tolist()) <= set(scores.tolist())


# Noises that break it: each of the checks sees what it is there for.


def low_value(parameters: FloatArray, mean: float, u: float) -> float:
    return 0.9 * mean


def wide_value(parameters: FloatArray, mean: float, u: float) -> float:
    return mean + 3.0 * (u - 0.5)


@dataclass(frozen=True)
class Low(Beta):
    """Scores whose mean is too low."""

    name: ClassVar[str] = "low"

    @property
    def kernel(self) -> Function:
        return low_value


@dataclass(frozen=True)
class Wide(Beta):
    """Scores that leave their range."""

    name: ClassVar[str] = "wide"

    @property
    def kernel(self) -> Function:
        return wide_value


@dataclass(frozen=True)
class Light(Beta):
    """Scores whose tails are said to be lighter than they are."""

    name: ClassVar[str] = "light"

    def subgaussian(self, *given: object) -> float:
        return 0.05


@dataclass(frozen=True)
class Unsorted(Beta):
    """Scores whose nodes are in no order."""

    name: ClassVar[str] = "unsorted"

    @property
    def nodes(self) -> tuple[float, ...]:
        return (1.0, 0.0)


@dataclass(frozen=True)
class Bare(Noise):
    """A noise that says nothing of how its scores are drawn."""

    name: ClassVar[str] = "bare"


def test_a_noise_without_a_kernel_is_refused_before_it_runs() -> None:
    bandit = AffinityBandit([0.4, 0.6], noise=Bare())
    for use in (lambda: simulate(bandit, "ucb1", 10, 1), lambda: Environment(bandit)):
        with pytest.raises(NotSupported, match="noise bare has no kernel"):
            use()


@pytest.mark.parametrize(
    ("noise", "broken"),
    [
        (Low(10.0), "has mean"),
        (Wide(10.0), "leaves its range"),
        (Light(10.0), "is not 0.05-subGaussian"),
        (Unsorted(10.0), "not ascending"),
    ],
)
def test_the_contract_can_be_broken(
    noise: Noise, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NOISES, noise.name, type(noise))
    with pytest.raises(AssertionError, match=broken):
        check_noise(noise)


class Forgetful(Beta):
    name = "forgetful"

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name}


class Taken(Beta):
    name = "gaussian"


def test_a_noise_that_does_not_come_back_from_its_description_is_seen() -> None:
    """Registered or not; and one that has the name of another."""
    with pytest.raises(AssertionError, match="does not come back from JSON"):
        check_noise(Forgetful(3.0))
    assert "forgetful" not in NOISES
    with pytest.raises(AssertionError, match="Taken is called 'gaussian', as Gaussian is"):
        check_noise(Taken(3.0))
