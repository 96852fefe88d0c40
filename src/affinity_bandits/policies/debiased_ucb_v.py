"""UCB-V on debiased feedback: a policy that is told the bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits import checks
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.known_bias import (
    KnownBias,
    check_bias,
    checked_initial_pulls,
    initial_committee,
)
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepKernels, StepPolicy
from affinity_bandits.policies.ucb_v import UCBV

weight: Function = unbound


class DebiasedUCBVState(NamedTuple):
    """Two moments and the largest sample an arm, and the committee as the policy counts it."""

    c: float
    zeta: float
    code: int
    parameters: FloatArray
    clock: IntArray
    committee: IntArray  # initial and own pulls of each arm
    total: IntArray  # [0]: all of them
    pulls: IntArray
    sums: FloatArray
    squares: FloatArray
    bounds: FloatArray  # b, per arm: the largest sample so far


@dataclass(frozen=True)
class DebiasedUCBV(StepPolicy):
    """UCB-V on debiased feedback.

    Runs on Z = Y / W with W known and b estimated (Section 3, Figure 4).

    The bound b of each arm is the largest absolute sample seen from it, as Z has no bound known
    beforehand, and at least `smallest_bound`. Without that floor an arm whose first sample is 0
    has an index of 0 and is never pulled again. A weight of 0 carries no information: such
    feedback counts as Z = 0.

    Args:
        bias: the model f, which no policy could know in practice.
        initial_pulls: the committee before the first pull; one of each group if left out.
        c: weight of the range term.
        zeta: exploration rate.
        smallest_bound: what b starts from; 1 is the range of the true values in Figure 4.
    """

    name: ClassVar[str] = "debiased-ucb-v"
    information: ClassVar[str] = "feedback, bias and initial pulls"
    told: ClassVar[Mapping[str, str]] = {"bias": "bias", "initial_pulls": "initial pulls"}
    bias: KnownBias
    initial_pulls: Sequence[int] | None = None
    c: float = 1.0
    zeta: float = 1.2
    smallest_bound: float = 1.0

    def __post_init__(self) -> None:
        check_bias(self.bias)
        self._set(
            c=checks.number("c", self.c, low=0.0),
            zeta=checks.number("zeta", self.zeta, low=0.0),
            smallest_bound=checks.number("smallest_bound", self.smallest_bound, low=0.0),
            initial_pulls=checked_initial_pulls(self.initial_pulls),
        )

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    def start(self, arms: int, horizon: int) -> DebiasedUCBVState:
        check_size(arms, horizon)
        initial = initial_committee(self.initial_pulls, arms)
        return DebiasedUCBVState(
            c=self.c,
            zeta=self.zeta,
            code=self.bias.code,
            parameters=self.bias.parameters,
            clock=counts(1),
            committee=np.array(initial, dtype=np.int64),
            total=counts(1, sum(initial)),
            pulls=counts(arms),
            sums=reals(arms),
            squares=reals(arms),
            bounds=reals(arms, self.smallest_bound),
        )

    select = staticmethod(UCBV.select)

    @staticmethod
    def update(state: DebiasedUCBVState, arm: int, feedback: float) -> None:
        share = state.committee[arm] / state.total[0]
        known = weight(state.code, state.parameters, share)
        sample = feedback / known if known > 0.0 else 0.0
        state.clock[0] += 1
        state.committee[arm] += 1
        state.total[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += sample
        state.squares[arm] += sample * sample
        state.bounds[arm] = max(state.bounds[arm], abs(sample))

    def kernels(self) -> StepKernels:
        update = bind(DebiasedUCBV.update, weight=self.bias.kernel)
        return StepKernels(self.select, update, self.candidate)

    def to_json(self) -> dict[str, Any]:
        data = super().to_json()
        if self.initial_pulls is not None:
            data["initial_pulls"] = list(self.initial_pulls)
        return data
