"""Thompson sampling with Beta and with Gaussian posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.feedback import Feedback
from affinity_bandits.policies.contracts import StepPolicy, check_size
from affinity_bandits.policies.state import SumsState, add_feedback, counts, reals


class ThompsonBetaState(NamedTuple):
    """The two parameters of each arm's Beta posterior."""

    successes: FloatArray
    failures: FloatArray


@dataclass(frozen=True)
class ThompsonBeta(StepPolicy):
    """Thompson sampling with Beta posteriors.

    Draw a mean from each arm's posterior and play the largest (Thompson 1933).

    Feedback y, cut to [0, 1], adds y to the first parameter and 1 - y to the second, which for
    y in {0, 1} is Bayes' rule.

    Args:
        prior_successes: first parameter of every arm's prior.
        prior_failures: second parameter of every arm's prior.
    """

    name: ClassVar[str] = "thompson-beta"
    assumes = Feedback(law="bernoulli")  # Kaufmann, Korda, Munos 2012, with the default prior
    randomized: ClassVar[bool] = True
    prior_successes: float = 1.0
    prior_failures: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "prior_successes", "prior_failures", low=0.0, open_low=True)

    def start(self, arms: int, horizon: int) -> ThompsonBetaState:
        check_size(arms, horizon)
        return ThompsonBetaState(
            reals(arms, self.prior_successes), reals(arms, self.prior_failures)
        )

    @staticmethod
    def select(state: ThompsonBetaState, rng: np.random.Generator) -> int:
        best = 0
        best_draw = -1.0
        for arm in range(len(state.successes)):
            draw = rng.beta(state.successes[arm], state.failures[arm])
            if draw > best_draw:
                best_draw = draw
                best = arm
        return best

    @staticmethod
    def update(state: ThompsonBetaState, arm: int, feedback: float) -> None:
        value = min(1.0, max(0.0, feedback))
        state.successes[arm] += value
        state.failures[arm] += 1.0 - value


@dataclass(frozen=True)
class ThompsonGaussian(StepPolicy):
    """Thompson sampling with Gaussian posteriors.

    Each arm once, then the largest draw from N(mean_i, sigma**2 / T_i): a flat prior.

    Args:
        sigma: the standard deviation the policy believes in.
    """

    name: ClassVar[str] = "thompson-gaussian"
    randomized: ClassVar[bool] = True
    sigma: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "sigma", low=0.0, open_low=True)

    @property
    def assumes(self) -> Feedback:
        """Korda, Kaufmann, Munos 2013, for normal values of known variance."""
        return Feedback(sigma=self.sigma, law="normal")

    def start(self, arms: int, horizon: int) -> SumsState:
        check_size(arms, horizon)
        return SumsState(self.sigma, counts(1), counts(arms), reals(arms))

    @staticmethod
    def select(state: SumsState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        best = 0
        best_draw = -math.inf
        for arm in range(arms):
            pulls = float(state.pulls[arm])
            spread = state.setting / math.sqrt(pulls)
            draw = state.sums[arm] / pulls + spread * rng.standard_normal()
            if draw > best_draw:
                best_draw = draw
                best = arm
        return best

    update = staticmethod(add_feedback)
