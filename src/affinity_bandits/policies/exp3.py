"""The EXP3 family: exponential weights on estimated losses or gains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.kernel import FloatArray, IntArray, kernel
from affinity_bandits.model.feedback import UNIT_INTERVAL
from affinity_bandits.policies.contracts import StepPolicy, check_size
from affinity_bandits.policies.state import counts, reals

MANY = 32
"""From so many arms on, a tree of the weights is faster than a pass over all arms."""
ANYTIME: Literal["anytime"] = "anytime"
RATE_RULE = f"a number above 0, such as 0.05, or {ANYTIME!r}"
LEAST, MOST = 1e-100, 1e100
"""Between these, the sum of all weights is far from where reals end."""


class ExponentialState(NamedTuple):
    """Scores (the higher, the likelier) and what the next choice is drawn from.

    With fewer than `MANY` arms, these are the probabilities of all arms, and `tree` is empty. With
    more, `tree` has the weights exp(rate (s_i - reference)) as leaves: node 1 is their sum, node n
    the sum of nodes 2n and 2n + 1.
    """

    rate: float
    mixing: float
    implicit: float
    anytime: bool  # whether rate and implicit exploration are divided by sqrt(t)
    turn: IntArray  # [0]: t of the next choice, from 1 on
    scores: FloatArray
    probabilities: FloatArray  # with a tree: [0], that of the last choice
    tree: FloatArray
    reference: FloatArray  # [0]: the score of weight 1


@dataclass(frozen=True)
class ExponentialWeights(StepPolicy):
    """A policy that draws arm i with p_i = (1 - mixing) exp(rate s_i) / sum + mixing / K.

    From `MANY` arms on, a choice takes a number of steps that is logarithmic in K, unless the rate
    falls with t, which changes the weights of all arms.
    """

    randomized: ClassVar[bool] = True
    assumes = UNIT_INTERVAL  # the sources; EXP3: Bubeck, Cesa-Bianchi 2012, Theorem 3.1

    def start(self, arms: int, horizon: int) -> ExponentialState:
        check_size(arms, horizon)
        shared = (*self.constants(arms, horizon), self.anytime, counts(1, 1), reals(arms))
        if arms < MANY or self.anytime:
            return ExponentialState(*shared, reals(arms), reals(0), reals(0))
        size = 1 << (arms - 1).bit_length()
        state = ExponentialState(*shared, reals(1), reals(2 * size), reals(1))
        build_tree(state)
        return state

    @property
    def anytime(self) -> bool:
        """Whether the rate falls with t, so that no horizon need be known."""
        return False

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        """Return the rate, the mixing and the implicit exploration, at t = 1 if they fall."""
        raise NotImplementedError

    @staticmethod
    def select(state: ExponentialState, rng: np.random.Generator) -> int:
        """Draw an arm by one uniform number."""
        if len(state.tree) > 0:
            return draw_from_tree(state, rng.random())
        return draw_in_order(state, rng.random())


@kernel
def decline(state: ExponentialState) -> float:
    """Return what rate and implicit exploration are multiplied by at present."""
    return 1.0 / math.sqrt(state.turn[0]) if state.anytime else 1.0


@kernel
def draw_in_order(state: ExponentialState, threshold: float) -> int:
    """Return the first arm at which the sum of the p_i passes a uniform number."""
    arms, rate = len(state.scores), state.rate * decline(state)
    # Relative to the largest score, so that nothing overflows.
    highest = state.scores[0]
    for arm in range(1, arms):
        highest = max(highest, state.scores[arm])
    total = 0.0
    for arm in range(arms):
        state.probabilities[arm] = math.exp(rate * (state.scores[arm] - highest))
        total += state.probabilities[arm]
    for arm in range(arms):
        state.probabilities[arm] = (1.0 - state.mixing) * state.probabilities[
            arm
        ] / total + state.mixing / arms
    passed = 0.0
    for arm in range(arms - 1):
        passed += state.probabilities[arm]
        if threshold < passed:
            return arm
    return arms - 1


@kernel
def draw_from_tree(state: ExponentialState, threshold: float) -> int:
    """Return the same arm, but for rounding, by descending from the root."""
    arms, tree = len(state.scores), state.tree
    size = len(tree) // 2
    weighed = (1.0 - state.mixing) / tree[1]
    uniform = state.mixing / arms
    node, width = 1, size
    while node < size:
        node *= 2
        width //= 2
        passed = weighed * tree[node]
        if uniform > 0.0:
            passed += uniform * min(width, max(0, arms - (node * width - size)))
        # Without a branch: what it does next cannot be predicted, and a processor would wait.
        further = 1 if threshold >= passed else 0
        threshold -= further * passed
        node += further
    arm = node - size
    # Rounding must not lead beyond the last arm, or to one that cannot be drawn.
    while arm >= arms or weighed * tree[size + arm] + uniform == 0.0:
        arm -= 1
    state.probabilities[0] = weighed * tree[size + arm] + uniform
    return arm


@kernel
def build_tree(state: ExponentialState) -> None:
    """Set all weights relative to the largest score."""
    arms, tree = len(state.scores), state.tree
    size = len(tree) // 2
    highest = state.scores[0]
    for arm in range(1, arms):
        highest = max(highest, state.scores[arm])
    state.reference[0] = highest
    for arm in range(arms):
        tree[size + arm] = math.exp(state.rate * (state.scores[arm] - highest))
    for above in range(1, size):
        node = size - above
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@kernel
def add_to_score(state: ExponentialState, arm: int, more: float) -> None:
    """Change the score of the arm that was chosen, and its weight."""
    state.scores[arm] += more
    state.turn[0] += 1
    tree = state.tree
    if len(tree) == 0:
        return
    node = len(tree) // 2 + arm
    exponent = state.rate * (state.scores[arm] - state.reference[0])
    tree[node] = math.exp(min(exponent, 700.0))  # beyond `MOST`, so all are set anew below
    while node > 1:
        node //= 2
        # Sums are made anew, not changed by a difference, so errors do not add up.
        tree[node] = tree[2 * node] + tree[2 * node + 1]
    if not LEAST <= tree[1] <= MOST:
        build_tree(state)


@kernel
def probability_of_choice(state: ExponentialState, arm: int) -> float:
    """Return the probability with which the last choice was made."""
    return float(state.probabilities[0 if len(state.tree) > 0 else arm])


@dataclass(frozen=True)
class EXP3(ExponentialWeights):
    """EXP3 on losses, the modern form.

    On losses 1 - Y (after Auer et al. 1995): p_i is proportional to exp(-eta L_i), where L_i sums
    (1 - Y) / p_i over the pulls of arm i.

    Args:
        rate: eta; None for sqrt(2 log K / (n K)), which is tuned to the horizon n; "anytime" for
            sqrt(log K / (K t)) at choice t (Bubeck, Cesa-Bianchi 2012, Theorem 3.1). The paper
            leaves its choice open.
    """

    name: ClassVar[str] = "exp3"
    rate: float | Literal["anytime"] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.rate, str) and self.rate != ANYTIME:
            raise InvalidInput("rate", RATE_RULE, self.rate)
        if not self.anytime:
            self._check_optional(checks.number, "rate", low=0.0, open_low=True)

    @classmethod
    def examples(cls) -> list[Self]:
        return [cls(), cls(ANYTIME)]

    @property
    def anytime(self) -> bool:
        return self.rate == ANYTIME

    def constants(self, arms: int, horizon: int) -> tuple[float, float, float]:
        if isinstance(self.rate, str):
            return math.sqrt(math.log(arms) / arms), 0.0, 0.0
        rate = math.sqrt(2.0 * math.log(arms) / (horizon * arms))
        return (rate if self.rate is None else self.rate), 0.0, 0.0

    @staticmethod
    def update(state: ExponentialState, arm: int, feedback: float) -> None:
        implicit = state.implicit * decline(state)
        loss = (1.0 - feedback) / (probability_of_choice(state, arm) + implicit)
        add_to_score(state, arm, -loss)


@dataclass(frozen=True)
class EXP3IX(EXP3):
    """EXP3 with implicit exploration.

    As EXP3 on losses, but L_i sums (1 - Y) / (p_i + gamma) (Kocak, Neu, Valko, Munos 2014).

    Args:
        rate: eta; None for sqrt(2 log K / (n K)), "anytime" for sqrt(log K / (K t)) at choice t.
        implicit: gamma; None for eta / 2.
    """

    name: ClassVar[str] = "exp3-ix"
    implicit: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_optional(checks.number, "implicit", low=0.0)
        if self.anytime and self.implicit is not None:
            raise InvalidInput("implicit", f"left out with rate={ANYTIME!r}", self.implicit)

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
        add_to_score(state, arm, feedback / probability_of_choice(state, arm))
