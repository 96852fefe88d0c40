"""Variance-aware upper confidence bounds, and policies that are told the bias."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.policies.contracts import (
    Policy,
    Round,
    RoundKernels,
    RoundPolicy,
    StepKernels,
    StepPolicy,
    check_size,
)
from affinity_bandits.policies.state import add_feedback, counts, reals


@dataclass(frozen=True)
class ToldBias(Policy):
    """A policy that is told the bias and the initial pulls, unlike any real one."""

    information: ClassVar[str] = "feedback, bias and initial pulls"
    told: ClassVar[Mapping[str, str]] = {"bias": "bias", "initial_pulls": "initial pulls"}
    bias: Any  # a bias model, which policies do not import
    initial_pulls: Sequence[int] | None = None

    def __post_init__(self) -> None:
        wanted = ("code", "parameters", "kernel", "breakpoints", "smooth")
        if isinstance(self.bias, type) or not all(hasattr(self.bias, name) for name in wanted):
            raise InvalidInput("bias", "a bias model such as Power(1.0)", self.bias)
        self._check_optional(checks.integers_list, "initial_pulls", low=1)
        if self.initial_pulls is not None:
            checks.integer("sum of initial_pulls", sum(self.initial_pulls), low=1)

    @classmethod
    def examples(cls) -> list[Self]:
        return []

    def initial_committee(self, arms: int) -> tuple[int, ...]:
        """Return the members of each arm before the first pull; by default, one each.

        Raises:
            InvalidInput: their number differs from that of the arms.
        """
        initial = (1,) * arms if self.initial_pulls is None else tuple(self.initial_pulls)
        if len(initial) != arms:
            rule = f"as long as there are arms ({arms})"
            raise InvalidInput("initial_pulls", rule, f"{len(initial)} entries")
        return initial


weight: Function = unbound


class UCBVState(NamedTuple):
    """Two moments per arm."""

    c: float
    zeta: float
    bounds: FloatArray  # b, per arm
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class UCBV(StepPolicy):
    """Upper confidence bounds with variance estimates.

    UCB-V of Audibert, Munos, Szepesvari 2007: after each arm once, the largest
    mean_i + sqrt(2 V_i E / T_i) + 3 c b E / T_i, with E = zeta log t and V_i the empirical
    variance. On a bandit with `Constant()` bias it is the "true rewards" of Figure 4.

    Args:
        c: weight of the range term; 1 in Corollary 1 of the source.
        zeta: exploration rate; 1.2 in Corollary 1.
        bound: b, the range of the feedback.
    """

    name: ClassVar[str] = "ucb-v"
    c: float = 1.0
    zeta: float = 1.2
    bound: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "c", "zeta", "bound", low=0.0)

    @property
    def assumes(self) -> Feedback:
        """The source: values in [0, b]."""
        return Feedback(low=0.0, high=self.bound)

    def start(self, arms: int, horizon: int) -> UCBVState:
        check_size(arms, horizon)
        return UCBVState(
            c=self.c,
            zeta=self.zeta,
            bounds=reals(arms, self.bound),
            clock=counts(1),
            pulls=counts(arms),
            sums=reals(arms),
            squares=reals(arms),
        )

    @staticmethod
    def select(state: UCBVState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        rate = state.zeta * math.log(made + 1.0)
        best = 0
        best_index = -math.inf
        for arm in range(arms):
            pulls = state.pulls[arm]
            mean = state.sums[arm] / pulls
            variance = max(0.0, state.squares[arm] / pulls - mean * mean)
            spread = math.sqrt(2.0 * variance * rate / pulls)
            index = mean + spread + 3.0 * state.c * state.bounds[arm] * rate / pulls
            if index > best_index:
                best_index = index
                best = arm
        return best

    @staticmethod
    def update(state: UCBVState, arm: int, feedback: float) -> None:
        add_feedback(state, arm, feedback)
        state.squares[arm] += feedback * feedback


class DebiasedUCBVState(NamedTuple):
    """Two moments and the largest sample per arm, and the committee as the policy counts it."""

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
class DebiasedUCBV(ToldBias, StepPolicy):
    """UCB-V on debiased feedback.

    Runs on Z = Y / W with W known and b estimated (Section 3, Figure 4).

    The bound b of each arm is the largest absolute sample so far, at least `smallest_bound`. If the
    weight is 0, Z = 0.

    Args:
        bias: the model f.
        initial_pulls: the committee before the first pull; by default one of each group.
        c: weight of the range term.
        zeta: exploration rate.
        smallest_bound: the initial b; 1 is the range of the true values in Figure 4.
    """

    name: ClassVar[str] = "debiased-ucb-v"
    c: float = 1.0
    zeta: float = 1.2
    smallest_bound: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(checks.number, "c", "zeta", "smallest_bound", low=0.0)

    def start(self, arms: int, horizon: int) -> DebiasedUCBVState:
        check_size(arms, horizon)
        initial = self.initial_committee(arms)
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
        add_feedback(state, arm, sample)
        state.committee[arm] += 1
        state.total[0] += 1
        state.squares[arm] += sample * sample
        state.bounds[arm] = max(state.bounds[arm], abs(sample))

    def kernels(self) -> StepKernels:
        update = bind(DebiasedUCBV.update, weight=self.bias.kernel)
        return StepKernels(self.select, update, self.candidate)


class EfficientUCBVState(NamedTuple):
    """Two moments per arm, the active arms, and the phase."""

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
    once, pull the active arm with the largest mean_i + s_i; then drop active arms with
    mean_i + s_i < max_j (mean_j - s_j). When t reaches N_m and m <= floor(log2(n / e) / 2), phase
    m + 1 begins, with N_{m+1} = t + (active arms) ceil(log(psi n eps_{m+1}**2) / (2 eps_{m+1})).
    Negative logarithms count as 0.

    Args:
        rho: scale of the confidence width; 1/2 in the source.
        psi: inside the logarithm; None for n / K**2, the source's choice.
    """

    name: ClassVar[str] = "efficient-ucb-v"
    assumes = UNIT_INTERVAL  # the source
    eliminates: ClassVar[bool] = True
    rho: float = 0.5
    psi: float | None = None

    def __post_init__(self) -> None:
        self._check(checks.number, "rho", low=0.0, open_low=True)
        self._check_optional(checks.number, "psi", low=0.0, open_low=True)

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
                index = mean + confidence_width(state, arm, mean, level)
                if index > best_index:
                    best_index = index
                    best = arm
        return best

    @staticmethod
    def update(state: EfficientUCBVState, arm: int, feedback: float) -> None:
        add_feedback(state, arm, feedback)
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
                floor = max(floor, mean - confidence_width(state, i, mean, level))
        for i in range(arms):
            if state.active[i] == 1:
                mean = state.sums[i] / state.pulls[i]
                if mean + confidence_width(state, i, mean, level) < floor:
                    state.active[i] = 0
                    state.left[0] -= 1
        if made >= state.phase_end[0] and state.phase[0] <= state.last_phase:
            state.phase[0] += 1
            length = phase_length(state.log_psi_horizon, state.phase[0])
            state.phase_end[0] = made + state.left[0] * length

    @staticmethod
    def candidate(state: EfficientUCBVState, arm: int) -> bool:
        return bool(state.active[arm] == 1)


@kernel
def confidence_width(state: EfficientUCBVState, arm: int, mean: float, level: float) -> float:
    """Return s_i of the class docstring."""
    pulls = state.pulls[arm]
    variance = max(0.0, state.squares[arm] / pulls - mean * mean)
    return math.sqrt(state.rho * (variance + 2.0) * level / (4.0 * pulls))


@kernel
def phase_length(log_psi_horizon: float, phase: int) -> int:
    """Return n_m = ceil(log(psi n eps_m**2) / (2 eps_m)), at least 0."""
    surplus = max(0.0, log_psi_horizon - 2.0 * phase * math.log(2.0))
    return math.ceil(0.5 * surplus * 2.0**phase)


round_weights: Function = unbound


class WeightedUCBState(NamedTuple):
    """Information and weighted sums per arm, and the committee as the policy counts it."""

    growth: float
    sigma: float
    code: int
    parameters: FloatArray
    breakpoints: FloatArray
    smooth: int
    initial: int  # members before the first pull
    arms: IntArray  # 0, 1, ...: a round's only arm is a slice of it
    committee: IntArray  # initial and own pulls of each arm
    total: IntArray  # [0]: all of them
    information: FloatArray  # per arm: V, the sum over its rounds of (sum of W)**2 / pulls
    sums: FloatArray  # per arm: the sum over its rounds of feedback times the round's mean W


@dataclass(frozen=True)
class WeightedUCB(ToldBias, RoundPolicy):
    """UCB on feedback weighted by a known bias, for any horizon.

    A round pulls only the arm with the largest index, until its members have grown by the part
    `growth`. With s the sum of a round's feedback and w that of its weights f(share) over m pulls,
    V = sum of w**2 / m and U = sum of s w / m over the arm's rounds. After t pulls the index is U /
    V + sigma sqrt((V + 1) (2 log t + log(1 + V))) / V, infinite if V = 0. The study of the horizon
    has its regret.

    Args:
        bias: the model f.
        initial_pulls: the committee before the first pull; by default one of each group.
        sigma: subGaussian constant of the noise.
        growth: the part by which an arm's members grow in a round, from 0 to 1.
    """

    name: ClassVar[str] = "weighted-ucb"
    rule: ClassVar[str] = (
        "The group that could be the best, as far as its scores show once the known bias is undone,"
        " is chosen for a while; none is ever dropped."
    )
    sigma: float = 1.0
    growth: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(checks.number, "sigma", low=0.0, open_low=True)
        self._check(checks.number, "growth", low=0.0, high=1.0)

    @property
    def assumes(self) -> Feedback:
        """SubGaussian noise with the constant it is told."""
        return Feedback(sigma=self.sigma)

    def start(self, arms: int, horizon: int) -> WeightedUCBState:
        check_size(arms, horizon)
        initial = self.initial_committee(arms)
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
        return Round(state.arms[arm : arm + 1], next_length(state, arm))

    @staticmethod
    def absorb(state: WeightedUCBState, sums: FloatArray) -> None:
        arm = highest(state)
        pulls = next_length(state, arm)
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


@kernel
def next_length(state: Any, arm: int) -> int:
    """Return how often the arm is pulled in its next round."""
    return max(1, int(state.growth * state.committee[arm]))


@kernel
def highest(state: WeightedUCBState) -> int:
    """Return the arm with the largest index, the lowest number among equals."""
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
