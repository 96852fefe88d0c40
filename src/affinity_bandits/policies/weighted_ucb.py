"""Upper confidence bounds from feedback weighted by a known bias, in rounds, for ever."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import Feedback
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.known_bias import (
    KnownBias,
    check_bias,
    checked_initial_pulls,
    initial_committee,
)
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.round import Round, RoundKernels, RoundPolicy
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.round_sums import bound_sums

round_weights: Function = unbound


class WeightedUCBState(NamedTuple):
    """Information and weighted sums of each arm, and the committee as the policy counts it."""

    growth: float
    sigma: float
    code: int
    parameters: FloatArray
    breakpoints: FloatArray
    smooth: int
    initial: int  # members before the first pull
    arms: IntArray  # 0, 1, ..., of which a round's only arm is a part
    committee: IntArray  # initial and own pulls of each arm
    total: IntArray  # [0]: all of them
    information: FloatArray  # per arm: V, the sum over its rounds of (sum of W)**2 / pulls
    sums: FloatArray  # per arm: the sum over its rounds of feedback times the round's mean W


@dataclass(frozen=True)
class WeightedUCB(RoundPolicy):
    """UCB on feedback weighted by a known bias; needs no horizon.

    A round pulls the arm with the largest index alone, until its members have grown by the part
    `growth`. If s is the sum of a round's feedback and w that of its weights f(share), over m
    pulls, the arm has V = sum of w**2 / m and U = sum of s w / m over its rounds, and after t
    pulls the index U / V + sigma sqrt((V + 1) (2 log t + log(1 + V))) / V, infinite if V = 0.
    If x**e <= f(x) <= 1, its regret at every n is of the order n**(2e/(2e+1))
    up to a power of the logarithm, and without a horizon no exponent is smaller (the study of the
    horizon).

    Args:
        bias: the model f, which no policy could know in practice.
        initial_pulls: the committee before the first pull; one of each group if left out.
        sigma: subGaussian constant of the noise.
        growth: by which part an arm's pulls grow in a round, between 0 and 1; smaller is closer to
            deciding at every pull.
    """

    name: ClassVar[str] = "weighted-ucb"
    information: ClassVar[str] = "feedback, bias and initial pulls"
    told: ClassVar[Mapping[str, str]] = {"bias": "bias", "initial_pulls": "initial pulls"}
    rule: ClassVar[str] = (
        "The group that could be the best, as far as its scores show once the known bias is undone,"
        " is chosen for a while; none is ever dropped."
    )
    bias: KnownBias
    initial_pulls: Sequence[int] | None = None
    sigma: float = 1.0
    growth: float = 0.05

    def __post_init__(self) -> None:
        check_bias(self.bias)
        self._set(
            sigma=checks.number("sigma", self.sigma, low=0.0, open_low=True),
            growth=checks.number("growth", self.growth, low=0.0, high=1.0),
            initial_pulls=checked_initial_pulls(self.initial_pulls),
        )

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    @property
    def assumes(self) -> Feedback:
        """SubGaussian noise with the constant it is told."""
        return Feedback(sigma=self.sigma)

    def start(self, arms: int, horizon: int) -> WeightedUCBState:
        check_size(arms, horizon)
        initial = initial_committee(self.initial_pulls, arms)
        return WeightedUCBState(
            growth=self.growth,
            sigma=self.sigma,
            code=self.bias.code,
            parameters=self.bias.parameters,
            breakpoints=np.array(self.bias.breakpoints, dtype=np.float64),
            smooth=int(self.bias.smooth),
            initial=sum(initial),
            arms=np.arange(arms, dtype=np.int64),
            committee=np.array(initial, dtype=np.int64),
            total=counts(1, sum(initial)),
            information=reals(arms),
            sums=reals(arms),
        )

    @staticmethod
    def plan(state: WeightedUCBState) -> Round:
        arm = highest(state)
        return Round(state.arms[arm : arm + 1], round_length(state, arm))

    @staticmethod
    def absorb(state: WeightedUCBState, sums: FloatArray) -> None:
        arm = highest(state)
        pulls = round_length(state, arm)
        weights, _ = round_weights(
            state.code,
            state.parameters,
            state.breakpoints,
            state.smooth != 0,
            float(state.committee[arm]),
            float(state.total[0]),
            1.0,
            pulls,
        )
        state.information[arm] += weights * weights / pulls
        state.sums[arm] += sums[0] * weights / pulls
        state.committee[arm] += pulls
        state.total[0] += pulls

    def kernels(self) -> RoundKernels:
        absorb = bind(WeightedUCB.absorb, round_weights=bound_sums(self.bias.kernel))
        return RoundKernels(self.plan, absorb, self.candidate)

    def to_json(self) -> dict[str, Any]:
        data = super().to_json()
        if self.initial_pulls is not None:
            data["initial_pulls"] = list(self.initial_pulls)
        return data


def round_length(state: Any, arm: int) -> int:
    """Return how often the arm is pulled in its next round; a kernel."""
    return max(1, int(state.growth * state.committee[arm]))


def highest(state: WeightedUCBState) -> int:
    """Return the arm with the largest index, the lowest number among equals; a kernel."""
    logarithm = 2.0 * math.log(max(1, state.total[0] - state.initial))
    best = 0
    largest = -math.inf
    for arm in range(len(state.arms)):
        known = state.information[arm]
        if known <= 0.0:
            return arm
        spread = math.sqrt((known + 1.0) * (logarithm + math.log(1.0 + known)))
        index = (state.sums[arm] + state.sigma * spread) / known
        if index > largest:
            best = arm
            largest = index
    return best
