"""Thompson sampling with Beta posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import Feedback
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.step import StepPolicy


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
    randomised: ClassVar[bool] = True
    prior_successes: float = 1.0
    prior_failures: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            prior_successes=checks.number(
                "prior_successes", self.prior_successes, low=0.0, open_low=True
            ),
            prior_failures=checks.number(
                "prior_failures", self.prior_failures, low=0.0, open_low=True
            ),
        )

    @property
    def assumes(self) -> Feedback:
        """Kaufmann, Korda, Munos 2012: coins, with the default prior."""
        return Feedback(law="bernoulli")

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
