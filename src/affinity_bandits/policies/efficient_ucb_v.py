"""Efficient-UCBV."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.kernels import FloatArray, IntArray
from affinity_bandits.policies.policy import check_size
from affinity_bandits.policies.state import counts, reals
from affinity_bandits.policies.step import StepPolicy


class EfficientUCBVState(NamedTuple):
    """Two moments an arm, who is active, and the phase."""

    rho: float
    log_psi_horizon: float  # log(psi n)
    last_phase: int
    clock: IntArray
    phase: IntArray  # [0]: m
    phase_end: IntArray  # [0]: N_m
    active: IntArray  # 1 or 0
    left: IntArray  # [0]: how many are active
    pulls: IntArray
    sums: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class EfficientUCBV(StepPolicy):
    """UCB with variance estimates that drops arms.

    Efficient-UCBV of Mukherjee, Naveen, Sudarsanam, Ravindran 2018.

    With eps_m = 2**-m and s_i = sqrt(rho (V_i + 2) log(psi n eps_m) / (4 T_i)): after each arm
    once, pull the active arm with the largest mean_i + s_i; then drop every active arm with
    mean_i + s_i < max_j (mean_j - s_j); when t reaches N_m and m <= floor(log2(n / e) / 2), the
    phase m + 1 begins, with N_{m+1} = t + (active arms) ceil(log(psi n eps_{m+1}**2) /
    (2 eps_{m+1})). Logarithms that would be negative count as 0.

    Args:
        rho: scale of the confidence width; 1/2 in the source.
        psi: inside the logarithm; None for n / K**2, the source's choice.
    """

    name: ClassVar[str] = "efficient-ucb-v"
    eliminates: ClassVar[bool] = True
    rho: float = 0.5
    psi: float | None = None

    def __post_init__(self) -> None:
        self._set(rho=checks.number("rho", self.rho, low=0.0, open_low=True))
        if self.psi is not None:
            self._set(psi=checks.number("psi", self.psi, low=0.0, open_low=True))

    @property
    def assumes(self) -> Feedback:
        """The source: values in [0, 1]."""
        return UNIT_INTERVAL

    def start(self, arms: int, horizon: int) -> EfficientUCBVState:
        check_size(arms, horizon)
        psi = horizon / arms**2 if self.psi is None else self.psi
        log_psi_horizon = math.log(psi) + math.log(horizon)
        return EfficientUCBVState(
            rho=self.rho,
            log_psi_horizon=log_psi_horizon,
            last_phase=math.floor(0.5 * math.log2(max(1.0, horizon / math.e))),
            clock=counts(1),
            phase=counts(1),
            phase_end=counts(1, arms * phase_length(log_psi_horizon, 0)),
            active=counts(arms, 1),
            left=counts(1, arms),
            pulls=counts(arms),
            sums=reals(arms),
            squares=reals(arms),
        )

    @staticmethod
    def select(state: EfficientUCBVState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        level = max(0.0, state.log_psi_horizon - state.phase[0] * math.log(2.0))
        best = -1
        best_index = -math.inf
        for arm in range(arms):
            if state.active[arm] == 1:
                mean = state.sums[arm] / state.pulls[arm]
                index = mean + half_width(state, arm, mean, level)
                if index > best_index:
                    best_index = index
                    best = arm
        return best

    @staticmethod
    def update(state: EfficientUCBVState, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        state.pulls[arm] += 1
        state.sums[arm] += feedback
        state.squares[arm] += feedback * feedback
        made = state.clock[0]
        arms = len(state.pulls)
        if made <= arms or state.left[0] == 1:
            return
        level = max(0.0, state.log_psi_horizon - state.phase[0] * math.log(2.0))
        floor = -math.inf
        for i in range(arms):
            if state.active[i] == 1:
                mean = state.sums[i] / state.pulls[i]
                floor = max(floor, mean - half_width(state, i, mean, level))
        for i in range(arms):
            if state.active[i] == 1:
                mean = state.sums[i] / state.pulls[i]
                if mean + half_width(state, i, mean, level) < floor:
                    state.active[i] = 0
                    state.left[0] -= 1
        if made >= state.phase_end[0] and state.phase[0] <= state.last_phase:
            state.phase[0] += 1
            length = phase_length(state.log_psi_horizon, state.phase[0])
            state.phase_end[0] = made + state.left[0] * length

    @staticmethod
    def candidate(state: EfficientUCBVState, arm: int) -> bool:
        return bool(state.active[arm] == 1)


def half_width(state: EfficientUCBVState, arm: int, mean: float, level: float) -> float:
    """Return s_i of the class docstring."""
    pulls = state.pulls[arm]
    variance = max(0.0, state.squares[arm] / pulls - mean * mean)
    return math.sqrt(state.rho * (variance + 2.0) * level / (4.0 * pulls))


def phase_length(log_psi_horizon: float, phase: int) -> int:
    """Return n_m = ceil(log(psi n eps_m**2) / (2 eps_m)), at least 0."""
    surplus = max(0.0, log_psi_horizon - 2.0 * phase * math.log(2.0))
    return math.ceil(0.5 * surplus * 2.0**phase)
