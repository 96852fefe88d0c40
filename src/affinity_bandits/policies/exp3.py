"""The EXP3 family: exponential weights on estimated losses or gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.kernels.kernel import FloatArray
from affinity_bandits.model.feedback import UNIT_INTERVAL
from affinity_bandits.policies.contracts import StepPolicy, check_size
from affinity_bandits.policies.state import reals


class ExponentialState(NamedTuple):
    """Scores (the higher, the likelier) and the probabilities of the last choice."""

    rate: float
    mixing: float
    implicit: float
    scores: FloatArray
    probabilities: FloatArray


@dataclass(frozen=True)
class ExponentialWeights(StepPolicy):
    """A policy that draws arm i with p_i = (1 - mixing) exp(rate s_i) / sum + mixing / K."""

    randomized: ClassVar[bool] = True
    assumes = UNIT_INTERVAL  # the sources; EXP3: Bubeck, Cesa-Bianchi 2012, Theorem 3.1

    def start(self, arms: int, horizon: int) -> ExponentialState:
        check_size(arms, horizon)
        return ExponentialState(*self.constants(arms, horizon), reals(arms), reals(arms))

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        """Return the rate, the mixing and the implicit exploration."""
        raise NotImplementedError

    @staticmethod
    def select(state: ExponentialState, rng: np.random.Generator) -> int:
        """Draw the first arm at which the sum of the p_i passes one uniform number."""
        arms = len(state.scores)
        # Relative to the largest score, so that nothing overflows.
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
class EXP3(ExponentialWeights):
    """EXP3 on losses, the modern form.

    On losses 1 - Y (after Auer et al. 1995): p_i is proportional to exp(-eta L_i), where L_i sums
    (1 - Y) / p_i over the pulls of arm i.

    Args:
        rate: eta; None for sqrt(2 log K / (n K)). The paper leaves its choice open.
    """

    name: ClassVar[str] = "exp3"
    rate: float | None = None

    def __post_init__(self) -> None:
        self._check_optional(checks.number, "rate", low=0.0, open_low=True)

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        rate = math.sqrt(2.0 * math.log(arms) / (horizon * arms))
        return (rate if self.rate is None else self.rate), 0.0, 0.0

    @staticmethod
    def update(state: ExponentialState, arm: int, feedback: float) -> None:
        state.scores[arm] -= (1.0 - feedback) / (state.probabilities[arm] + state.implicit)


@dataclass(frozen=True)
class EXP3IX(EXP3):
    """EXP3 with implicit exploration.

    As EXP3 on losses, but L_i sums (1 - Y) / (p_i + gamma) (Kocak, Neu, Valko, Munos 2014).

    Args:
        rate: eta; None for sqrt(2 log K / (n K)).
        implicit: gamma; None for eta / 2.
    """

    name: ClassVar[str] = "exp3-ix"
    implicit: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_optional(checks.number, "implicit", low=0.0)

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        rate, _, _ = super().constants(arms, horizon)
        return rate, 0.0, (0.5 * rate if self.implicit is None else self.implicit)


@dataclass(frozen=True)
class EXP3Gains(ExponentialWeights):
    """EXP3 on gains, as first published.

    p_i = (1 - gamma) w_i / sum(w) + gamma / K, with w_i = exp(gamma G_i / K) and G_i the sum of
    Y / p_i over the pulls of arm i (Auer, Cesa-Bianchi, Freund, Schapire 1995).

    Args:
        mixing: gamma; None for min(1, sqrt(K log K / ((e - 1) n))), the authors' choice for
            gains of at most n.
    """

    name: ClassVar[str] = "exp3-gains"
    mixing: float | None = None

    def __post_init__(self) -> None:
        self._check_optional(checks.number, "mixing", low=0.0, high=1.0, open_low=True)

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        usual = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * horizon)))
        mixing = self.mixing or usual
        return mixing / arms, mixing, 0.0

    @staticmethod
    def update(state: ExponentialState, arm: int, feedback: float) -> None:
        state.scores[arm] += feedback / state.probabilities[arm]
