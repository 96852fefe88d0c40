"""Upper confidence bounds: UCB1, MOSS, KL-UCB and LUCB."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel
from affinity_bandits.model.feedback import UNIT_INTERVAL, Feedback
from affinity_bandits.policies.bound_tree import (
    BoundTree,
    bound_again,
    bound_all,
    empty_tree,
    find_largest,
    pulls_ahead,
)
from affinity_bandits.policies.contracts import StepPolicy, check_size
from affinity_bandits.policies.state import SumsState, add_feedback, counts, reals

MANY = 128
"""From so many arms on, UCB1 finds the largest index in a tree."""


class UCB1State(NamedTuple):
    """Means and 1/sqrt(pulls), so that an index takes one product and one sum."""

    exploration: float
    clock: IntArray  # [0]: pulls made
    leader: IntArray  # [0]: the arm chosen last
    pulls: FloatArray  # whole numbers, but only ever divided by
    sums: FloatArray
    means: FloatArray
    inverse_roots: FloatArray
    tree: BoundTree  # of no arms, with fewer than `MANY`


@dataclass(frozen=True)
class UCB1(StepPolicy):
    """Upper confidence bounds, the classic.

    Each arm once, then the largest mean_i + sqrt(c log t / T_i): Equation (UCB), with c = 2.

    Args:
        exploration: the constant c.
    """

    name: ClassVar[str] = "ucb1"
    exploration: float = 2.0

    def __post_init__(self) -> None:
        self._check(checks.number, "exploration", low=0.0)

    @property
    def assumes(self) -> Feedback:
        """Theorem 1 of Auer, Cesa-Bianchi, Fischer 2002, for [0, 1] and c = 2.

        Its proof needs that a bound fails with probability t**-4 at most, that is
        c >= 8 sigma**2.
        """
        return Feedback(sigma=math.sqrt(self.exploration / 8.0))

    def start(self, arms: int, horizon: int) -> UCB1State:
        check_size(arms, horizon)
        return UCB1State(
            exploration=self.exploration,
            clock=counts(1),
            leader=counts(1),
            pulls=reals(arms),
            sums=reals(arms),
            means=reals(arms),
            inverse_roots=reals(arms),
            tree=empty_tree(arms if arms >= MANY else 0),
        )

    @staticmethod
    def select(state: UCB1State, rng: np.random.Generator) -> int:
        made = state.clock[0]
        means = state.means
        arms = len(means)
        if made < arms:
            return int(made)
        width = math.sqrt(state.exploration * math.log(made + 1.0))
        inverse_roots = state.inverse_roots
        tree = state.tree
        if len(tree.leaders) > 0:
            if width > tree.width[0]:
                later = made + 1.0 + pulls_ahead(arms, made + 1.0)
                reach = math.sqrt(state.exploration * math.log(later))
                bound_all(tree, means, inverse_roots, reach)
            return find_largest(tree, means, inverse_roots, width)
        # Usually the last choice still leads. Checking only that needs no running maximum, so the
        # loop is vectorized.
        leader = state.leader[0]
        highest = means[leader] + width * inverse_roots[leader]
        not_below = 0
        for arm in range(arms):
            if means[arm] + width * inverse_roots[arm] >= highest:
                not_below += 1
        if not_below == 1:
            return int(leader)
        best = 0
        highest = means[0] + width * inverse_roots[0]
        for arm in range(1, arms):
            index = means[arm] + width * inverse_roots[arm]
            if index > highest:
                highest = index
                best = arm
        state.leader[0] = best
        return best

    @staticmethod
    def update(state: UCB1State, arm: int, feedback: float) -> None:
        state.clock[0] += 1
        pulls = state.pulls[arm] + 1.0
        total = state.sums[arm] + feedback
        state.pulls[arm] = pulls
        state.sums[arm] = total
        state.means[arm] = total / pulls
        state.inverse_roots[arm] = 1.0 / math.sqrt(pulls)
        if state.tree.width[0] >= 0.0:
            bound_again(state.tree, state.means, state.inverse_roots, arm)


class MOSSState(NamedTuple):
    """Sums and indices, which change only when an arm is pulled."""

    scale: float
    share_of_horizon: float  # n / K
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    indices: FloatArray


@dataclass(frozen=True)
class MOSS(StepPolicy):
    """Minimax-optimal bounds for a known horizon.

    After each arm once, the largest mean_i + sqrt(c max(0, log(n / (K T_i))) / T_i) (Audibert,
    Bubeck 2009).

    Args:
        scale: the constant c: 1 in the original, for values in [0, 1].
    """

    name: ClassVar[str] = "moss"
    scale: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "scale", low=0.0)

    @property
    def assumes(self) -> Feedback:
        """The source, for [0, 1] and c = 1.

        Its proof needs Hoeffding's maximal inequality alone, which asks for c >= 4 sigma**2.
        """
        return Feedback(sigma=0.5 * math.sqrt(self.scale))

    def start(self, arms: int, horizon: int) -> MOSSState:
        check_size(arms, horizon)
        return MOSSState(
            self.scale, horizon / arms, counts(1), counts(arms), reals(arms), reals(arms)
        )

    @staticmethod
    def select(state: MOSSState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        if made < len(state.indices):
            return int(made)
        best = 0
        for arm in range(1, len(state.indices)):
            if state.indices[arm] > state.indices[best]:
                best = arm
        return best

    @staticmethod
    def update(state: MOSSState, arm: int, feedback: float) -> None:
        add_feedback(state, arm, feedback)
        pulls = float(state.pulls[arm])
        surplus = max(0.0, math.log(state.share_of_horizon / pulls))
        state.indices[arm] = state.sums[arm] / pulls + math.sqrt(state.scale * surplus / pulls)


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
    assumes = UNIT_INTERVAL  # Theorem 1 of the source, which has c = 3
    log_log_factor: float = 0.0

    def __post_init__(self) -> None:
        self._check(checks.number, "log_log_factor", low=0.0)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(log_log_factor=3.0)]

    def start(self, arms: int, horizon: int) -> SumsState:
        check_size(arms, horizon)
        return SumsState(self.log_log_factor, counts(1), counts(arms), reals(arms))

    @staticmethod
    def select(state: SumsState, rng: np.random.Generator) -> int:
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        level = math.log(made + 1.0)
        if state.setting > 0.0 and level > 1.0:
            level += state.setting * math.log(level)
        best = 0
        best_index = -1.0
        for arm in range(arms):
            mean = min(1.0, max(0.0, state.sums[arm] / state.pulls[arm]))
            index = bernoulli_upper_bound(mean, level / state.pulls[arm])
            if index > best_index:
                best_index = index
                best = arm
        return best

    update = staticmethod(add_feedback)


@kernel
def bernoulli_upper_bound(mean: float, distance: float) -> float:
    """Return the largest q in [mean, 1] with kl(mean, q) <= distance.

    Newton's method from the right, where kl is convex, starting from Pinsker's inequality.
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


class LUCBState(NamedTuple):
    """Sums and counts, the arm that waits for its turn, and the arm committed to."""

    delta: float
    sigma: float
    clock: IntArray
    pulls: IntArray
    sums: FloatArray
    waiting: IntArray  # [0]: the second arm of the pair under way, or -1
    chosen: IntArray  # [0]: the arm committed to, or -1


@dataclass(frozen=True)
class LUCB(StepPolicy):
    """Leader against closest rival, then the winner.

    After each arm once, in pairs: the arm h with the largest mean, then the arm l with the largest
    mean_i + U_i among the others, with U_i = sqrt(2 sigma**2 log(5 K t**4 / (4 delta)) / T_i) at
    the t pulls before the pair (Kalyanakrishnan et al. 2012). Once mean_h - U_h > mean_l + U_l,
    arm h for good.

    Args:
        delta: the allowed probability of a wrong winner.
        sigma: the subGaussian constant of the feedback; 1/2 for values in [0, 1].
    """

    name: ClassVar[str] = "lucb"
    eliminates: ClassVar[bool] = True
    delta: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        self._check(checks.number, "delta", low=0.0, high=1.0, open_low=True, open_high=True)
        self._check(checks.number, "sigma", low=0.0, open_low=True)

    @property
    def assumes(self) -> Feedback:
        """Kalyanakrishnan et al. 2012, for [0, 1] and sigma = 1/2.

        Its proof needs Hoeffding's inequality alone.
        """
        return Feedback(sigma=self.sigma)

    def start(self, arms: int, horizon: int) -> LUCBState:
        check_size(arms, horizon)
        return LUCBState(
            delta=self.delta,
            sigma=self.sigma,
            clock=counts(1),
            pulls=counts(arms),
            sums=reals(arms),
            waiting=counts(1, -1),
            chosen=counts(1, 0 if arms == 1 else -1),
        )

    @staticmethod
    def select(state: LUCBState, rng: np.random.Generator) -> int:
        if state.chosen[0] >= 0:
            return int(state.chosen[0])
        made = state.clock[0]
        arms = len(state.pulls)
        if made < arms:
            return int(made)
        if state.waiting[0] >= 0:
            return int(state.waiting[0])
        leader = 0
        for arm in range(1, arms):
            if state.sums[arm] / state.pulls[arm] > state.sums[leader] / state.pulls[leader]:
                leader = arm
        time = float(made)
        level = math.log(1.25 * arms * time * time * time * time / state.delta)
        scale = 2.0 * state.sigma * state.sigma * level
        rival = -1
        rival_index = -math.inf
        for arm in range(arms):
            if arm != leader:
                index = state.sums[arm] / state.pulls[arm] + math.sqrt(scale / state.pulls[arm])
                if index > rival_index:
                    rival_index = index
                    rival = arm
        leader_mean = state.sums[leader] / state.pulls[leader]
        if leader_mean - math.sqrt(scale / state.pulls[leader]) > rival_index:
            state.chosen[0] = leader
        else:
            state.waiting[0] = rival
        return leader

    @staticmethod
    def update(state: LUCBState, arm: int, feedback: float) -> None:
        add_feedback(state, arm, feedback)
        if arm == state.waiting[0]:
            state.waiting[0] = -1

    @staticmethod
    def candidate(state: LUCBState, arm: int) -> bool:
        return bool(state.chosen[0] == -1 or state.chosen[0] == arm)
