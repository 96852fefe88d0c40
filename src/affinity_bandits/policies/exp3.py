"""EXP3 in its loss-based form, and what the EXP3 family shares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.kernels import FloatArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.step import StepPolicy


class ExponentialState(NamedTuple):
    """Scores (the higher, the likelier) and the probabilities of the last choice."""

    rate: float
    mixing: float
    implicit: float
    scores: FloatArray
    probabilities: FloatArray


def draw_exponential(state: ExponentialState, rng: np.random.Generator) -> int:
    """Draw an arm with p_i = (1 - mixing) exp(rate s_i) / sum + mixing / K; keep the p_i.

    Scores are taken relative to the largest, so nothing overflows. One uniform number a draw;
    the arm is the first at which the running sum of the p_i passes it.
    """
    arms = len(state.scores)
    highest = state.scores[0]
    for arm in range(1, arms):
        highest = max(highest, state.scores[arm])
    total = 0.0
    for arm in range(arms):
        state.probabilities[arm] = math.exp(state.rate * (state.scores[arm] - highest))
        total += state.probabilities[arm]
    for arm in range(arms):
        state.probabilities[arm] = (1.0 - state.mixing) * state.probabilities[
            arm
        ] / total + state.mixing / arms
    threshold = rng.random()
    passed = 0.0
    for arm in range(arms - 1):
        passed += state.probabilities[arm]
        if threshold < passed:
            return arm
    return arms - 1


@dataclass(frozen=True)
class EXP3(StepPolicy):
    """EXP3 on losses, the modern form.

    On losses 1 - Y, without mixing (after Auer et al. 1995).

    p_i is proportional to exp(-eta L_i), where L_i sums (1 - Y) / p_i over the pulls of arm i.

    Args:
        rate: eta; None for sqrt(2 log K / (n K)). The paper does not say which it used.
    """

    name: ClassVar[str] = "exp3"
    randomised: ClassVar[bool] = True
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.rate is not None:
            self._set(rate=checks.number("rate", self.rate, low=0.0, open_low=True))

    @property
    def assumes(self) -> Feedback:
        """Losses in [0, 1]: Bubeck, Cesa-Bianchi 2012, Theorem 3.1."""
        return UNIT_INTERVAL

    def start(self, arms: int, horizon: int) -> ExponentialState:
        check_size(arms, horizon)
        rate = standard_rate(arms, horizon) if self.rate is None else self.rate
        return ExponentialState(rate, 0.0, 0.0, reals(arms), reals(arms))

    @staticmethod
    def select(state: ExponentialState, rng: np.random.Generator) -> int:
        return draw_exponential(state, rng)

    @staticmethod
    def update(state: ExponentialState, arm: int, feedback: float) -> None:
        state.scores[arm] -= (1.0 - feedback) / (state.probabilities[arm] + state.implicit)


def standard_rate(arms: int, horizon: int) -> float:
    """Return eta = sqrt(2 log K / (n K))."""
    return math.sqrt(2.0 * math.log(arms) / (horizon * arms))
