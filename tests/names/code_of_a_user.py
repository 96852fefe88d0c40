"""A module as a user would write it: a policy, a bias, a noise and a plain class, without types."""

# mypy: ignore-errors

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import Bias, Noise
from affinity_bandits.model.bias import CUSTOM
from affinity_bandits.policies import StepPolicy
from affinity_bandits.policies.state import counts


class LeastState(NamedTuple):
    pulls: np.ndarray


@dataclass(frozen=True)
class Least(StepPolicy):
    """The arm pulled least."""

    name: ClassVar[str] = "least"
    first: int = 0

    def start(self, arms, horizon):
        return LeastState(counts(arms))

    @staticmethod
    def select(state, rng):
        return state.pulls.argmin()

    @staticmethod
    def update(state, arm, feedback):
        state.pulls[arm] += 1


def ramp(code, parameters, share):
    return min(1.0, parameters[2] * share)


@dataclass(frozen=True)
class Ramp(Bias):
    """f(x) = min(1, s x)."""

    name: ClassVar[str] = "ramp"
    smooth: ClassVar[bool] = False
    slope: float = 2.0
    code = CUSTOM
    kernel = property(lambda self: ramp)
    own_parameters = property(lambda self: (self.slope,))
    lipschitz = property(lambda self: self.slope)

    def to_json(self):
        return {"name": self.name, "slope": self.slope}

    def __str__(self):
        return f"min(1, {self.slope:g} x)"


def two(parameters, mean, u):
    return mean + (2.0 * u - 1.0) * parameters[0] * min(mean, 1.0 - mean)


@dataclass(frozen=True)
class Around(Noise):
    """Uniform around the mean."""

    name: ClassVar[str] = "around"
    part: float = 1.0
    kernel = property(lambda self: two)
    parameters = property(lambda self: np.array([self.part]))

    def subgaussian(self, means, mechanism, least, most):
        return 0.5

    def to_json(self):
        return {"name": self.name, "part": self.part}

    def __str__(self):
        return "uniform around the mean"


class Agent:
    def __init__(self, arms, rng, epsilon=0.1):
        self.sums, self.pulls = np.zeros(arms), np.ones(arms)
        self.rng, self.epsilon = rng, epsilon

    def select(self):
        explore = self.rng.random() < self.epsilon
        return self.rng.integers(len(self.pulls)) if explore else (self.sums / self.pulls).argmax()

    def update(self, arm, feedback):
        self.pulls[arm] += 1
        self.sums[arm] += feedback
