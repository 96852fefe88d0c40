"""Policies for arrivals of several types: some that are deceived, and a safe comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from affinity_bandits.base import checks
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.bias import Bias
from affinity_bandits.model.streams import generator, policy_generator, stream_key
from affinity_bandits.policies import HeadStartElimination
from affinity_bandits.policies.contracts import RoundKernels, RoundPolicy, StepPolicy, add_score
from affinity_bandits.policies.state import reals
from affinity_bandits.policies.wealth import BettingState, bet_on_leader
from affinity_bandits.simulation.intervals import proportion_interval

select: Function = unbound
update: Function = unbound


class TypedKernels(NamedTuple):
    """The functions that a loop calls at every arrival."""

    pick: Function  # (state, type, rng): the group that is chosen
    learn: Function  # (state, type, group, score): what came of it


@kernel
def pick_of_type(states: Any, kind: int, rng: np.random.Generator) -> int:
    """Return the choice of the policy of this type."""
    return int(select(states[kind], rng))


@kernel
def learn_of_type(states: Any, kind: int, arm: int, score: float) -> None:
    """Tell the policy of this type alone."""
    update(states[kind], arm, score)


@dataclass(frozen=True)
class PerType:
    """A separate policy for each type.

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


@kernel
def pick_by_features(state: LinUCBState, kind: int, rng: np.random.Generator) -> int:
    """Return the group with the largest upper bound, the first of equal ones."""
    best, highest = 0, -math.inf
    at = state.groups + kind
    for arm in range(state.groups):
        # x has a one at the group and a one at the type.
        spread = state.inverse[arm, arm] + state.inverse[at, at] + 2.0 * state.inverse[arm, at]
        index = state.weights[arm] + state.weights[at] + state.width * math.sqrt(spread)
        # Groups with the same scores have equal bounds, which rounding must not order.
        if index > highest + 1e-9:
            best, highest = arm, index
    return best


@kernel
def learn_by_features(state: LinUCBState, kind: int, arm: int, score: float) -> None:
    """Add a choice to the regression, by the formula of Sherman and Morrison."""
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

    The features are one-hot: one for the group, one for the type. With one regression per group it
    would equal `PerType`.

    Args:
        width: of the confidence bounds, in standard deviations (alpha in their paper).
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


@kernel
def bet_half_counts(state: BettingState, passes: int, seen: FloatArray) -> None:
    """Settle the bets with half of each score."""
    for place in range(len(seen)):
        seen[place] *= 0.5
    bet_on_leader(state, passes, seen)
    for place in range(len(seen)):
        seen[place] *= 2.0


@dataclass(frozen=True)
class HalfCountHeadStart(HeadStartElimination):
    """The elimination with a head start, for passes with dependent scores.

    Each score counts half in the bets, so a pass multiplies a wealth by the square root of the
    usual factor. This is at most 1 + kappa (y_j - y_i) / 2 (arithmetic-geometric mean inequality),
    whose expectation needs only the means of the two scores.

    Against an adversary the order of a pass must be random: `simulate_types` draws it, `simulate`
    and the live service do not.
    """

    name: ClassVar[str] = "head-start-half-counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bounded:
            raise InvalidInput("bounded", "true: unbounded scores need a sigma instead", False)
        if self.in_flight not in (None, 1):
            raise InvalidInput("in_flight", "left out, or 1", self.in_flight)

    def kernels(self) -> RoundKernels:
        kernels = super().kernels()
        return kernels._replace(absorb=bind(kernels.absorb, bet_on_leader=bet_half_counts))


def sigma_of_passes(sigma: float, highest: float) -> float:
    """Return the sigma to give the elimination if scores are unbounded.

    The difference of two scores of a pass varies by noise and by the order of the pass. Its mean
    lies between -highest and highest, so it is subGaussian with variance 2 sigma**2 + highest**2
    (Hoeffding).

    Args:
        sigma: of the noise of one score.
        highest: an upper bound on true values times f(1).
    """
    return math.sqrt(sigma**2 + highest**2 / 2.0)


weight: Function = unbound
judged: Function = unbound
pick: Function = unbound
learn: Function = unbound
plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
candidates: Function = unbound

ARRIVALS = ("drawn", "listed", "by turn")


@dataclass(frozen=True)
class TypedBandit:
    """A bandit whose arrivals have types; everybody chosen joins one committee.

    The score of group i for type c has the mean means[i][c] * f(share of i before the choice).

    Args:
        means: true values, [group][type].
        bias: f.
        initial: initial members of each group.
        types: with "drawn", the probability of each type; else a sequence of types, repeated.
        arrivals: "drawn": types are independent. "listed": they follow the sequence. "by turn": the
            sequence restarts with every pass of a round policy, as an adversary could arrange.
        sigma: standard deviation of Gaussian scores; 0 for scores of 0 and 1.
    """

    means: Sequence[Sequence[float]]
    bias: Bias
    initial: Sequence[int]
    types: Sequence[float]
    arrivals: str = "drawn"
    sigma: float = 0.0

    def __post_init__(self) -> None:
        rows = [
            checks.numbers_list("means", row, low=0.0, high=1e9)
            for row in checks.sequence("means", self.means, "a list of each group's true values")
        ]
        if len(rows) < 2 or not rows[0] or len({len(row) for row in rows}) != 1:
            raise InvalidInput("means", "a row for each of two groups or more, alike long", rows)
        initial = checks.integers_list("initial", self.initial, low=1)
        if len(initial) != len(rows):
            raise InvalidInput("initial", f"as long as there are groups ({len(rows)})", initial)
        checks.choice("arrivals", self.arrivals, ARRIVALS)
        sigma = checks.number("sigma", self.sigma, low=0.0)
        highest = max(map(max, rows)) * self.bias.bounds[1]
        if sigma == 0.0 and highest > 1.0:
            raise InvalidInput("means", "at most 1 times f(1) where scores are 0 or 1", highest)
        last = len(rows[0]) - 1
        if self.arrivals == "drawn":
            types = checks.numbers_list("types", self.types, low=0.0, high=1.0)
            if len(types) != last + 1 or abs(sum(types) - 1.0) > 1e-9:
                raise InvalidInput("types", "a probability for each type, 1 in all", types)
        else:
            types = checks.numbers_list("types", self.types, low=0.0, high=last)
            if not types or any(one != int(one) for one in types):
                raise InvalidInput("types", f"types from 0 to {last}, in an order", types)
        for name, value in (("means", tuple(rows)), ("initial", initial), ("types", types)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "sigma", sigma)

    @property
    def averages(self) -> FloatArray:
        """Each group's true value averaged over the types, by their frequency."""
        table = np.array(self.means)
        if self.arrivals == "drawn":
            return np.asarray(table @ np.array(self.types))
        return np.asarray(table[:, np.array(self.types, dtype=np.int64)].mean(axis=1))


class TypedWorld(NamedTuple):
    """A bandit as kernels read it, and the random numbers of one run."""

    means: FloatArray  # [group, type]
    code: int
    parameters: FloatArray
    sigma: float
    members: IntArray  # per group; changes
    kinds: IntArray  # the type of each arrival
    turns: IntArray  # types by the turn of a pass; none: they come as in `kinds`
    noise: FloatArray  # a number for each arrival
    every: int  # after so many arrivals choices are noted


class TypedNotes(NamedTuple):
    """The record of one run; of several runs, with the run as the first dimension."""

    choices: IntArray  # [note, group]: so far
    table: IntArray  # [group, type]: choices in all
    scores: FloatArray  # [group, type]: their sum
    kept: IntArray  # per group: 1 if it was not dropped
    decided: IntArray  # [0]: arrivals when one group was left; -1: never


@kernel
def judge(world: TypedWorld, notes: TypedNotes, clock: int, arm: int, kind: int) -> float:
    """Return the score of a choice and add it to the committee."""
    share = world.members[arm] / world.members.sum()
    mean = world.means[arm, kind] * weight(world.code, world.parameters, share)
    if world.sigma > 0.0:
        score = mean + world.sigma * world.noise[clock]
    else:
        score = 1.0 if world.noise[clock] < mean else 0.0
    world.members[arm] += 1
    notes.table[arm, kind] += 1
    notes.scores[arm, kind] += score
    return float(score)


@kernel
def note(world: TypedWorld, notes: TypedNotes, clock: int) -> None:
    """Record the choices so far if a note is due."""
    if clock % world.every == 0:
        for arm in range(len(world.members)):
            notes.choices[clock // world.every - 1, arm] = notes.table[arm].sum()


@kernel
def play_steps(world: TypedWorld, notes: TypedNotes, state: Any, rng: np.random.Generator) -> None:
    """Choose for one arrival after another, given its type."""
    for clock in range(len(world.kinds)):
        kind = world.kinds[clock]
        arm = pick(state, kind, rng)
        score = judged(world, notes, clock, arm, kind)
        learn(state, kind, arm, score)
        note(world, notes, clock + 1)


class PassRoom(NamedTuple):
    """Work arrays of a round."""

    nodes: FloatArray  # scores that are counted; none: sums are enough
    seen: FloatArray  # of each group, as its policy is told
    places: IntArray  # whose turns come in a pass


@kernel
def play_rounds(
    world: TypedWorld,
    notes: TypedNotes,
    state: Any,
    room: PassRoom,
    shuffles: bool,
    rng: np.random.Generator,
) -> None:
    """Play rounds that ignore types, each pass in its own order."""
    arms = len(world.members)
    nodes, seen, places = room
    size = max(1, len(nodes))
    clock = 0
    while clock < len(world.kinds):
        planned = plan(state)
        count = len(planned.arms)
        if count == 1 and notes.decided[0] < 0 and candidates(state, arms) == 1:
            notes.decided[0] = clock
        for place in range(len(seen)):
            seen[place] = 0.0
        repetition = 0
        while repetition < planned.repetitions and clock < len(world.kinds):
            for place in range(count):
                places[place] = place
            if shuffles:
                for place in range(count - 1, 0, -1):
                    other = int(rng.random() * (place + 1))
                    places[place], places[other] = places[other], places[place]
            for turn in range(count):
                if clock == len(world.kinds):
                    break
                place = places[turn]
                kind = world.kinds[clock]
                if len(world.turns) > 0:
                    kind = world.turns[turn % len(world.turns)]
                score = judged(world, notes, clock, planned.arms[place], kind)
                if len(nodes) > 0:
                    add_score(nodes, score, seen, place * size)
                else:
                    seen[place] += score
                clock += 1
                note(world, notes, clock)
            repetition += 1
        if repetition == planned.repetitions and clock < len(world.kinds):
            absorb(state, seen[: count * size])
    for arm in range(arms):
        notes.kept[arm] = 1 if candidate(state, arm) else 0


@kernel
def left(state: Any, arms: int) -> int:
    """Return the number of groups left."""
    count = 0
    for arm in range(arms):
        count += 1 if candidate(state, arm) else 0
    return count


def _loop(bias: Bias, policy: TypedPolicy | RoundPolicy) -> Function:
    scores = bind(judge, weight=bias.kernel)
    if not isinstance(policy, RoundPolicy):
        loop = bind(play_steps, judged=scores, **policy.kernels()._asdict())
        return compile_kernel(loop, inlined=False)
    kernels = policy.kernels()
    loop = bind(
        play_rounds,
        judged=scores,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        candidates=bind(left, candidate=kernels.candidate),
    )
    return compile_kernel(loop, inlined=False)


def simulate_types(
    bandit: TypedBandit,
    policy: TypedPolicy | RoundPolicy,
    horizon: int,
    runs: int,
    seed: int = 0,
    *,
    shuffles: bool = True,
    notes: int = 1,
) -> TypedNotes:
    """Return runs of a policy; each depends on (bandit, policy, horizon, seed, run) alone.

    Args:
        bandit: the arrivals and their scores.
        policy: a policy that uses types, or a round policy.
        horizon: number of arrivals.
        runs: number of runs.
        seed: seed of the random numbers.
        shuffles: whether each pass visits the groups in random order.
        notes: number of equally spaced times at which choices are recorded.
    """
    horizon = checks.integer("horizon", horizon, low=1, high=10**8)
    runs = checks.integer("runs", runs, low=1, high=10**7)
    notes = checks.integer("notes", notes, low=1, high=horizon)
    if horizon % notes:
        raise InvalidInput("notes", f"a divisor of the horizon ({horizon})", notes)
    means = np.array(bandit.means)
    groups, types = means.shape
    outcome = TypedNotes(
        np.zeros((runs, notes, groups), dtype=np.int64),
        np.zeros((runs, groups, types), dtype=np.int64),
        np.zeros((runs, groups, types)),
        np.ones((runs, groups), dtype=np.int64),
        np.full((runs, 1), -1, dtype=np.int64),
    )
    listed = np.array(bandit.types if bandit.arrivals != "drawn" else (), dtype=np.int64)
    loop = _loop(bandit.bias, policy)
    keys = [stream_key(seed, role) for role in ("noise", "type")]
    for run in range(runs):
        noises, draws = (generator(key, run) for key in keys)
        noise = noises.standard_normal(horizon) if bandit.sigma > 0 else noises.random(horizon)
        if bandit.arrivals == "drawn":
            kinds = np.searchsorted(np.cumsum(bandit.types)[:-1], draws.random(horizon), "right")
        else:
            kinds = np.resize(listed, horizon)
        world = TypedWorld(
            means,
            bandit.bias.code,
            bandit.bias.parameters,
            bandit.sigma,
            np.array(bandit.initial, dtype=np.int64),
            kinds.astype(np.int64),
            listed if bandit.arrivals == "by turn" else listed[:0],
            noise,
            horizon // notes,
        )
        written = TypedNotes(*(field[run] for field in outcome))
        rng = policy_generator(seed, policy.to_json(), run)
        if isinstance(policy, RoundPolicy):
            nodes = np.array(policy.nodes)
            room = PassRoom(
                nodes, np.zeros(groups * max(1, len(nodes))), np.zeros_like(world.members)
            )
            loop(world, written, policy.start(groups, horizon), room, shuffles, rng)
        else:
            loop(world, written, policy.start(groups, types, horizon), rng)
    return outcome


class CrossRatio(NamedTuple):
    """An estimate with its confidence interval; nan for empty data."""

    estimate: float
    low: float
    high: float


def cross_ratio(successes: Sequence[Sequence[int]], level: float = 0.95) -> CrossRatio:
    """Return (mu_ic / mu_jc) / (mu_ic' / mu_jc') from counts of scores of 1.

    f cancels in the fraction of a group's scores of 1 that came for the first type, if types are
    drawn and choices ignore them. The interval combines exact intervals of both groups' fractions;
    its coverage is at least `level`.

    Args:
        successes: scores of 1 of group i for the types c and c', and those of group j.
        level: confidence level.

    >>> ratio = cross_ratio([[60, 20], [50, 50]])
    >>> ratio.estimate, round(ratio.low, 2), round(ratio.high, 2)
    (3.0, 1.04, 9.11)
    """
    level = checks.number("level", level, low=0.0, high=1.0, open_low=True, open_high=True)
    table = [checks.integers_list("successes", row, low=0) for row in successes]
    if len(table) != 2 or any(len(row) != 2 for row in table):
        raise InvalidInput("successes", "two rows of two numbers", table)
    each = 0.5 * (1.0 + level)  # so that both hold with the probability `level`
    (low_i, high_i), (low_j, high_j) = (_odds(row, each) for row in table)
    (one, two), (three, four) = table
    across = two * three
    estimate = one * four / across if across else math.inf if one * four else math.nan
    low = 0.0 if low_i == 0.0 or high_j == math.inf else low_i / high_j
    high = math.inf if low_j == 0.0 or high_i == math.inf else high_i / low_j
    return CrossRatio(estimate, low, high)


def _odds(row: Sequence[int], level: float) -> tuple[float, float]:
    """Return the interval of the odds of the first of two types."""
    if sum(row) == 0:
        return 0.0, math.inf
    _, low, high = proportion_interval(row[0], sum(row), level)
    return float(low) / (1.0 - float(low)), math.inf if high == 1.0 else float(high / (1.0 - high))
