"""KL-UCB."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepPolicy


class KLUCBState(NamedTuple):
    """Sums and counts; the index is solved afresh at every pull because its level moves."""

    log_log_factor: float
    clock: IntArray
    pulls: IntArray
    sums: FloatArray


@dataclass(frozen=True)
class KLUCB(StepPolicy):
    """Upper confidence bounds by Bernoulli divergence.

    From Garivier, Cappe 2011.

    After each arm once: the largest q in [mean_i, 1] with
    T_i kl(mean_i, q) <= log t + c log log t. Means are cut to [0, 1], where kl is defined.

    Args:
        log_log_factor: the constant c; the authors recommend 0 in practice.
    """

    name: ClassVar[str] = "kl-ucb"
    log_log_factor: float = 0.0

    def __post_init__(self) -> None:
        self._set(log_log_factor=checks.number("log_log_factor", self.log_log_factor, low=0.0))

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(log_log_factor=3.0)]

    @property
    def assumes(self) -> Feedback:
        """Theorem 1 of the source, which has c = 3."""
        return UNIT_INTERVAL

    def start(self, arms: int, horizon: int) -> KLUCBState:
        check_size(arms, horizon)
        return KLUCBState(self.log_log_factor, counts(1), counts(arms), reals(arms))

    @staticmethod
    def select(state: KLUCBState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        level = math.log(made + 1.0)
        if state.log_log_factor > 0.0 and level > 1.0:
            level += state.log_log_factor * math.log(level)
        best = 0
        best_index = -1.0
        for arm in range(arms):
            mean = min(1.0, max(0.0, state.sums[arm] / state.pulls[arm]))
            index = bernoulli_upper_bound(mean, level / state.pulls[arm])
            if index > best_index:
                best_index = index
                best = arm
        return best

    @staticmethod
    def update(state: KLUCBState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback


def bernoulli_upper_bound(mean: float, distance: float) -> float:
    """Return the largest q in [mean, 1] with kl(mean, q) <= distance.

    Newton's method from the right: kl is convex in q there, so the steps never cross the root.
    Pinsker's inequality gives the start.
    """
    if mean >= 1.0 or distance <= 0.0:
        return mean
    if mean <= 0.0:
        return 1.0 - math.exp(-distance)
    # kl(mean, q) >= -entropy(mean) - (1 - mean) log(1 - q): the root lies left of this, too.
    entropy = -mean * math.log(mean) - (1.0 - mean) * math.log(1.0 - mean)
    room = math.exp(-(distance + entropy) / (1.0 - mean))
    q = min(mean + math.sqrt(0.5 * distance), 1.0 - room)
    if q >= 1.0:
        return 1.0
    for _ in range(64):
        excess = (
            mean * math.log(mean / q) + (1.0 - mean) * math.log((1.0 - mean) / (1.0 - q)) - distance
        )
        closer = q - excess * q * (1.0 - q) / (q - mean)
        if not mean < closer < q:
            break
        q = closer
    return q
