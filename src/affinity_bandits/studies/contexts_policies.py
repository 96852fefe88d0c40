"""Policies for arrivals of several types: those that are deceived, and a comparison that is not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, bind, unbound
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.policies.bets import BettingState, bet_on_leader
from affinity_bandits.policies.betting_rounds import end_round, passes_to_come
from affinity_bandits.policies.leading import put_in_order, takes_the_lead
from affinity_bandits.policies.round import RoundKernels
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.step import StepPolicy

select: Function = unbound
update: Function = unbound
absorb_whole: Function = unbound


class TypedKernels(NamedTuple):
    """The functions that a loop calls at every arrival."""

    pick: Function  # (state, type, rng): the group that is chosen
    learn: Function  # (state, type, group, score): what came of it


def pick_of_type(states: Any, kind: int, rng: np.random.Generator) -> int:
    """Return the choice of the policy of this type; a kernel."""
    return int(select(states[kind], rng))


def learn_of_type(states: Any, kind: int, arm: int, score: float) -> None:
    """Tell the policy of this type alone; a kernel."""
    update(states[kind], arm, score)


@dataclass(frozen=True)
class PerType:
    """A policy of its own for each type, which knows nothing of the others.

    Args:
        policy: any that chooses after every score.
    """

    policy: StepPolicy

    def to_json(self) -> dict[str, Any]:
        return {"name": "per-type", "policy": self.policy.to_json()}

    def start(self, arms: int, types: int, horizon: int) -> Any:
        return tuple(self.policy.start(arms, horizon) for _ in range(types))

    def kernels(self) -> TypedKernels:
        kernels = self.policy.kernels()
        return TypedKernels(
            bind(pick_of_type, select=kernels.select), bind(learn_of_type, update=kernels.update)
        )


class LinUCBState(NamedTuple):
    """Ridge regression on the features of a choice."""

    width: float
    groups: int
    inverse: FloatArray  # [feature, feature]: of 1 + the sum of x x'
    moments: FloatArray  # the sum of score times x
    weights: FloatArray  # their product: the estimate
    column: FloatArray  # room for inverse times x


def pick_by_features(state: LinUCBState, kind: int, rng: np.random.Generator) -> int:
    """Return the group with the largest estimate and width; a kernel."""
    best, highest = 0, -math.inf
    at = state.groups + kind
    for arm in range(state.groups):
        # x has a one at the group and a one at the type.
        spread = state.inverse[arm, arm] + state.inverse[at, at] + 2.0 * state.inverse[arm, at]
        index = state.weights[arm] + state.weights[at] + state.width * math.sqrt(spread)
        if index > highest:
            best, highest = arm, index
    return best


def learn_by_features(state: LinUCBState, kind: int, arm: int, score: float) -> None:
    """Add a choice to the regression, by the formula of Sherman and Morrison; a kernel."""
    at = state.groups + kind
    size = len(state.moments)
    for row in range(size):
        state.column[row] = state.inverse[row, arm] + state.inverse[row, at]
    scale = 1.0 + state.column[arm] + state.column[at]
    state.moments[arm] += score
    state.moments[at] += score
    for row in range(size):
        total = 0.0
        for other in range(size):
            state.inverse[row, other] -= state.column[row] * state.column[other] / scale
            total += state.inverse[row, other] * state.moments[other]
        state.weights[row] = total


@dataclass(frozen=True)
class LinUCB:
    """LinUCB with a ridge of 1 (Li, Chu, Langford, Schapire 2010), one regression for all groups.

    The features of a choice are one-hot: one for its group, one for the type of the arrival. So
    the estimate is a number for the group plus one for the type. With a regression for each
    group and one-hot types alone it would be a mean for each group and type, as `PerType` has it.

    Args:
        width: of confidence bounds, in standard deviations of the regression (their alpha).
    """

    width: float = 1.0 + math.sqrt(math.log(2.0 / 0.05) / 2.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", checks.number("width", self.width, low=0.0))

    def to_json(self) -> dict[str, Any]:
        return {"name": "lin-ucb", "width": self.width}

    def start(self, arms: int, types: int, horizon: int) -> LinUCBState:
        size = arms + types
        return LinUCBState(self.width, arms, np.eye(size), reals(size), reals(size), reals(size))

    def kernels(self) -> TypedKernels:
        return TypedKernels(pick_by_features, learn_by_features)


TypedPolicy = PerType | LinUCB


def absorb_half_counts(state: BettingState, seen: FloatArray) -> None:
    """Settle the bets as if each score had come half a time, and all else as it is; a kernel."""
    if state.moving[0] > 0 or state.leader[0] < 0:
        absorb_whole(state, seen)
        return
    passes = passes_to_come(state)
    for place in range(len(seen)):
        seen[place] *= 0.5
    bet_on_leader(state, passes, seen)
    for place in range(len(seen)):
        seen[place] *= 2.0
    if end_round(state, passes, seen) and takes_the_lead(state, 1.0):
        put_in_order(state)


@dataclass(frozen=True)
class HalfCountHandicap(HandicapElimination):
    """The elimination with a handicap, for passes whose scores depend on each other.

    Each score counts half in the bets, so that a pass multiplies a wealth by the square root of
    what it would. By the inequality of the arithmetic and the geometric mean that is at most
    1 + kappa (y_j - y_i) / 2, whose expectation needs the means of the two scores and no more.

    It does not draw the order of a pass, which must be random against an adversary's types:
    `simulate_types` does, `simulate` and the live service take groups in increasing order.
    """

    name: ClassVar[str] = "handicap-half-counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bounded:
            raise InvalidInput("bounded", "true: unbounded scores need a sigma instead", False)
        if self.judges != "chosen":
            raise InvalidInput("judges", "'chosen'", self.judges)
        if self.memory is not None:
            raise InvalidInput("memory", "left out", self.memory)
        if self.in_flight not in (None, 1):
            raise InvalidInput("in_flight", "left out, or 1", self.in_flight)

    def kernels(self) -> RoundKernels:
        absorb = bind(absorb_half_counts, absorb_whole=HandicapElimination.absorb)
        return RoundKernels(self.plan, absorb, self.candidate)


def sigma_of_passes(sigma: float, highest: float) -> float:
    """Return the sigma that the elimination must be told where scores have no bounds.

    The difference of two scores of a pass varies by their noise, and between the orders of the
    pass: its mean lies between -highest and highest, so that it is subGaussian with the variance
    2 sigma**2 + highest**2 (Hoeffding), and the policy reckons with twice that of one score.

    Args:
        sigma: of the noise of one score, given group, share and type.
        highest: the largest true value times f(1), or more.
    """
    return math.sqrt(sigma**2 + highest**2 / 2.0)
