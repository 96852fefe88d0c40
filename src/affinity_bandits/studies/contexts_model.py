"""Arrivals of several types before one committee: the model, and runs of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits import checks
from affinity_bandits.bias import Bias
from affinity_bandits.errors import InvalidInput
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies.round import RoundPolicy
from affinity_bandits.policies.tallies import add_score, seen_size
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.streams import generator, policy_generator, stream_key
from affinity_bandits.studies.contexts_policies import TypedPolicy

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
    """Groups are chosen for arrivals that have a type; everybody chosen joins one committee.

    The score of group i for an arrival of type c has the mean means[i][c] * f(share of i), the
    share being that before the choice.

    Args:
        means: the true value of each group for each type, [group][type].
        bias: f.
        initial: members of each group in the beginning.
        types: with "drawn", the probability of each type; else types in an order, which begins
            anew when it ends.
        arrivals: "drawn": types are independent of all else. "listed": they come in the order
            given. "by turn": the order begins anew with every pass of a policy that goes by
            rounds, which is what an adversary can do who knows when a pass begins.
        sigma: 0: scores are 0 or 1. Else they are Gaussian with this standard deviation.
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
        """The true value of each group on average over types, as often as they come."""
        table = np.array(self.means)
        if self.arrivals == "drawn":
            return np.asarray(table @ np.array(self.types))
        return np.asarray(table[:, np.array(self.types, dtype=np.int64)].mean(axis=1))


class World(NamedTuple):
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


class Notes(NamedTuple):
    """What is written down of a run."""

    choices: IntArray  # [note, group]: so far
    table: IntArray  # [group, type]: choices in all
    scores: FloatArray  # [group, type]: their sum
    kept: IntArray  # per group: 1 if it was not dropped
    decided: IntArray  # [0]: arrivals when one group was left; -1: never


class TypedRuns(NamedTuple):
    """What came of several runs; the fields of `Notes` with the run in front."""

    choices: IntArray
    table: IntArray
    scores: FloatArray
    kept: IntArray
    decided: IntArray


def judge(world: World, notes: Notes, clock: int, arm: int, kind: int) -> float:
    """Return the score of a choice, and let it join; a kernel."""
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


def note(world: World, notes: Notes, clock: int) -> None:
    """Write down the choices so far, if they are asked for now; a kernel."""
    if clock % world.every == 0:
        for arm in range(len(world.members)):
            notes.choices[clock // world.every - 1, arm] = notes.table[arm].sum()


def play_steps(world: World, notes: Notes, state: Any, rng: np.random.Generator) -> None:
    """Choose for one arrival after the other, knowing its type; a kernel."""
    for clock in range(len(world.kinds)):
        kind = world.kinds[clock]
        arm = pick(state, kind, rng)
        score = judged(world, notes, clock, arm, kind)
        learn(state, kind, arm, score)
        note(world, notes, clock + 1)


class Room(NamedTuple):
    """What a round is counted in."""

    nodes: FloatArray  # scores that are counted; none: sums are enough
    seen: FloatArray  # of each group, as its policy is told
    places: IntArray  # whose turns come in a pass


def play_rounds(
    world: World,
    notes: Notes,
    state: Any,
    room: Room,
    shuffles: bool,
    rng: np.random.Generator,
) -> None:
    """Go by rounds that do not look at types, each pass in an order of its own; a kernel."""
    arms = len(world.members)
    nodes, seen, places = room
    size = seen_size(nodes)
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


def left(state: Any, arms: int) -> int:
    """Return how many groups were not dropped; a kernel."""
    count = 0
    for arm in range(arms):
        count += 1 if candidate(state, arm) else 0
    return count


def _loop(bias: Bias, policy: TypedPolicy | RoundPolicy) -> Function:
    """Return the loop of a policy, compiled."""
    scores = bind(judge, weight=bias.kernel)
    if not isinstance(policy, RoundPolicy):
        loop = bind(play_steps, judged=scores, **policy.kernels()._asdict())
        return compiled(loop, inlined=False)
    kernels = policy.kernels()
    loop = bind(
        play_rounds,
        judged=scores,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        candidates=bind(left, candidate=kernels.candidate),
    )
    return compiled(loop, inlined=False)


def simulate_types(
    bandit: TypedBandit,
    policy: TypedPolicy | RoundPolicy,
    horizon: int,
    runs: int,
    seed: int = 0,
    *,
    shuffles: bool = True,
    notes: int = 1,
) -> TypedRuns:
    """Return runs of a policy; each depends on (bandit, policy, horizon, seed, run) alone.

    Args:
        bandit: the arrivals, and what is scored.
        policy: one that looks at types, or one that goes by rounds and does not.
        horizon: how many arrive.
        runs: how many.
        seed: of the random numbers.
        shuffles: whether the groups of a pass come in an order drawn at random.
        notes: how often choices are noted, at even distances; a divisor of the horizon.
    """
    horizon = checks.integer("horizon", horizon, low=1, high=10**8)
    runs = checks.integer("runs", runs, low=1, high=10**7)
    notes = checks.integer("notes", notes, low=1, high=horizon)
    if horizon % notes:
        raise InvalidInput("notes", f"a divisor of the horizon ({horizon})", notes)
    means = np.array(bandit.means)
    groups, types = means.shape
    outcome = TypedRuns(
        np.zeros((runs, notes, groups), dtype=np.int64),
        np.zeros((runs, groups, types), dtype=np.int64),
        np.zeros((runs, groups, types)),
        np.ones((runs, groups), dtype=np.int64),
        np.full((runs, 1), -1, dtype=np.int64),
    )
    listed = np.array(bandit.types[:0], dtype=np.int64)
    if bandit.arrivals != "drawn":
        listed = np.array(bandit.types, dtype=np.int64)
    loop = _loop(bandit.bias, policy)
    keys = [stream_key(seed, role) for role in ("noise", "type")]
    for run in range(runs):
        noises, draws = (generator(key, run) for key in keys)
        noise = noises.standard_normal(horizon) if bandit.sigma > 0 else noises.random(horizon)
        if bandit.arrivals == "drawn":
            kinds = np.searchsorted(np.cumsum(bandit.types)[:-1], draws.random(horizon), "right")
        else:
            kinds = np.resize(listed, horizon)
        world = World(
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
        written = Notes(*(field[run] for field in outcome))
        rng = policy_generator(seed, policy.to_json(), run)
        if isinstance(policy, RoundPolicy):
            nodes = np.array(policy.nodes)
            room = Room(nodes, np.zeros(groups * max(1, len(nodes))), np.zeros_like(world.members))
            loop(world, written, policy.start(groups, horizon), room, shuffles, rng)
        else:
            loop(world, written, policy.start(groups, types, horizon), rng)
    return outcome
