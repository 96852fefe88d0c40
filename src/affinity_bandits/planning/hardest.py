"""Hard worlds to test a plan in: in each round, the smallest lead that an admitted bias leaves.

While groups take turns, shares are known numbers. Relative to its value at equal shares, 1/K, a
bias f inside the assumptions satisfies, whatever its shape:

- at a share x below 1/K, f(x) >= max((K x)**s, 1 - L (1/K - x)); at one above, f(x) >= 1;
- of two shares x < y, f(y) <= min(f(x) (y/x)**s, f(x) + L (y - x));
- where scores are bounded, no f(x) lifts the best group's mean score above the highest score:
  f(x) <= 1/l if that mean is l at equal shares, on a scale from 0 to 1.

In a hardest world, in every round, each rival is behind the best group by the smallest lead that
these leave at the best group's smallest and largest weight, over levels l between two ends, at the
pass of the round where it is smallest. Where that lead is one, every admitted f, at every such
level, leaves the best group at least as much in the round; where rivals are ahead, a weight in
between can put them further ahead.

A smaller lead does not always mean a later decision. A policy with a leader can name the best group
too early, when the others' handicap still outweighs its lead, and lose time until it leads again;
and scores far from their ends scatter more. So a world may also have a gift, one round in which the
best group is far ahead, and has a level of its own at which scores are drawn. `sifting` looks for
the worst of these worlds, and "enough choices" is judged there. That no admitted f is worse still
is not proven: it is what the benchmark of certificates attacks with thousands of f.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.displays import one_line
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.outcomes import Outcome, Tick, counted, in_threads
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.round import RoundKernels
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, next_normal
from affinity_bandits.simulation.environment import key_words

plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound

NO_LIMIT = 1e300
"""Stands for a limit where none is assumed."""
SMALLEST_WEIGHT = 1e-300
FEW_RUNS = 8


class World(NamedTuple):
    """A hardest world as numbers; the best group is the last. Weights are 1 at equal shares."""

    groups: int
    least_mean: float  # of the best group at equal shares, on the scale that policies see
    largest_mean: float
    difference: float  # by which every other group's is smaller
    steepness: float
    lipschitz: float
    highest: float  # no mean score is above this
    sigma: float  # 0: scores of 0 and 1
    slack: int  # by how much the committee can differ between two pulls that are compared
    drawn_at: float = 0.0  # the mean at equal shares that scores are drawn for; 0: the hardest
    gift: int = -1  # the round in which the best group is far ahead; -1: none


@dataclass(frozen=True)
class HardWorld:
    """A hardest world in words and numbers.

    Attributes:
        favoured: who has the head start.
        initial: members of each group at the start.
        world: the rest.
    """

    favoured: str
    initial: tuple[int, ...]
    world: World

    __repr__ = one_line

    def __str__(self) -> str:
        return self.favoured


def hard_worlds(assumptions: Assumptions) -> list[HardWorld]:
    """Return the hardest worlds of stated assumptions, in a fixed order."""
    given = assumptions.on_unit_scale()
    groups = given.groups
    world = World(
        groups=groups,
        least_mean=given.smallest_difference,
        largest_mean=given.best_mean,
        difference=given.smallest_difference,
        steepness=given.steepness,
        lipschitz=NO_LIMIT if given.lipschitz is None else given.lipschitz,
        highest=1.0 if given.bounded else NO_LIMIT,
        sigma=0.0 if given.bounded else given.sigma,
        # The l-th pulls of two groups lie within one pass, or further apart by what is in flight.
        slack=groups - 1 + 2 * (given.in_flight - math.ceil(given.in_flight / groups)),
    )
    return [HardWorld(favoured, initial, world) for favoured, initial in initial_members(given)]


def rivals_ahead(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees that are hardest for the best group."""
    groups, ahead = assumptions.groups, 1 + assumptions.head_start
    if ahead == 1:
        return [("nobody has a head start", (1,) * groups)]
    one = ("one rival has the whole head start", (ahead, *(1,) * (groups - 1)))
    every = ("all rivals have the whole head start", (*(ahead,) * (groups - 1), 1))
    return [one] if groups == 2 else [one, every]


def initial_members(assumptions: Assumptions) -> list[tuple[str, tuple[int, ...]]]:
    """Return the initial committees: one member of each group, and every head start."""
    groups, ahead = assumptions.groups, 1 + assumptions.head_start
    nobody = ("nobody has a head start", (1,) * groups)
    if ahead == 1:
        return [nobody]
    best = ("the best group has the whole head start", (*(1,) * (groups - 1), ahead))
    return [nobody, *rivals_ahead(assumptions), best]


def hardest_outcome(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcome:
    """Run a policy in a hardest world and count."""
    pulls, candidates, _ = _run(hard, policy, horizon, replicates, seed)
    return counted(pulls, candidates, best=len(hard.initial) - 1)


def hardest_outcomes(
    worlds: Sequence[HardWorld],
    policy: RoundPolicy,
    horizon: int,
    replicates: int,
    seed: int,
    tick: Tick | None = None,
) -> list[Outcome]:
    """Run a policy in several worlds, in threads: the compiled loops release the GIL."""
    return in_threads(
        lambda hard: hardest_outcome(hard, policy, horizon, replicates, seed),
        worlds,
        replicates,
        tick,
    )


def rounds_until_decided(hard: HardWorld, policy: RoundPolicy, horizon: int, seed: int) -> int:
    """Return how many rounds a policy plans in a hardest world, the last one without an end."""
    return int(_run(hard, policy, horizon, FEW_RUNS, seed)[2].max())


def _run(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return pulls and candidates, [run, group], and the number of rounds of each run."""
    groups = len(hard.initial)
    state = pack(policy.start(groups, horizon))
    pulls = np.zeros((replicates, groups), dtype=np.int64)
    candidates = np.zeros((replicates, groups), dtype=np.int64)
    rounds = np.zeros(replicates, dtype=np.int64)
    _bound(policy.kernels())(
        hard.world,
        np.array(hard.initial, dtype=np.int64),
        state.state,
        state.whole,
        state.whole.copy(),
        state.real,
        state.real.copy(),
        key_words(seed, "round"),
        horizon,
        pulls,
        candidates,
        rounds,
    )
    return pulls, candidates, rounds


def smallest_weight(world: World, share: float) -> float:
    """Return the smallest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share >= equal:
        return 1.0
    steep = (share / equal) ** world.steepness
    # Not 0: what a rival's is at most is a multiple of it, which may be infinite.
    return float(max(steep, 1.0 - world.lipschitz * (equal - share), SMALLEST_WEIGHT))


def largest_weight(world: World, share: float) -> float:
    """Return the largest weight that an admitted bias can have at a share."""
    equal = 1.0 / world.groups
    if share <= equal:
        return 1.0
    return float(min((share / equal) ** world.steepness, 1.0 + world.lipschitz * (share - equal)))


def smallest_lead(world: World, weight: float, ratio: float, apart: float) -> tuple[float, float]:
    """Return the smallest lead of the best group over a rival, over all levels, and that level.

    With weight w, and a rival whose share is larger by a factor and by a difference, the rival's
    weight is at most some v >= w. At level l the lead is l w - (l - d) min(v, h/l), where h is the
    highest score. Below l = h/v that falls with l; above it is l w - h (1 - d/l), which is convex.

    Args:
        world: the limits.
        weight: of the best group.
        ratio: of the rival's share to the best group's, at least 1.
        apart: their difference.
    """
    d, highest = world.difference, world.highest
    # Beyond any number that matters, so that nothing overflows.
    steep = ratio**world.steepness if world.steepness * math.log(ratio) < 200.0 else 1e86
    rival = min(weight * steep, weight + world.lipschitz * apart)
    top = min(world.largest_mean, highest / weight)  # so large a weight allows no higher level
    turn = highest / rival
    if turn >= top:
        return float(top * weight - (top - d) * rival), top
    level = min(top, max(turn, world.least_mean, math.sqrt(d * highest / weight)))
    return float(level * weight - highest * (1.0 - d / level)), level


def hardest_rounds(
    world: World,
    initial: IntArray,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    key: Words,
    horizon: int,
    out: IntArray,
    candidates: IntArray,
    rounds: IntArray,
) -> None:
    """Run replicates to the horizon; a kernel, in the manner of the simulator's round loop."""
    arms = len(initial)
    best = arms - 1
    sums = np.empty(arms)
    leads = np.empty(arms)
    members = np.empty(arms)
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        committee = 0.0
        for arm in range(arms):
            members[arm] = float(initial[arm])
            committee += members[arm]
        stream = Stream(key, np.uint64(j), np.zeros(1, dtype=np.uint64))
        clock = 0
        number = -1
        while clock < horizon:
            planned = plan(state)
            number += 1
            size = len(planned.arms)
            repetitions = planned.repetitions
            if repetitions > (horizon - clock) // size:
                left = horizon - clock
                for position in range(size):
                    more = left // size + (1 if position < left % size else 0)
                    out[j, planned.arms[position]] += more
                break
            # Shares move one way within a round, so what is largest is so at its first or last
            # pass. The best group comes last in a pass, and out of order to its disadvantage.
            later = float(repetitions - 1)
            end = committee + size * later
            first = members[best] / (committee + world.slack)
            last = (members[best] + later) / (end + world.slack)
            low = smallest_weight(world, min(first, last))
            high = largest_weight(world, max(first, last))
            high = max(low, min(high, world.highest / world.least_mean))
            mean, least = world.largest_mean * low, NO_LIMIT
            for position in range(size):
                arm = planned.arms[position]
                leads[position] = 0.0
                if arm == best:
                    continue
                early = members[arm] / committee
                late = (members[arm] + later) / end
                ratio = max(1.0, early / first, late / last)
                apart = max(0.0, early - first, late - last)
                weight = low
                lead, level = smallest_lead(world, low, ratio, apart)
                # A lead that is none grows with the weight, so both ends of it count.
                other, other_level = smallest_lead(world, high, ratio, apart)
                if other < lead:
                    weight, lead, level = high, other, other_level
                leads[position] = lead
                if lead < least:
                    least = lead
                    mean = weight * (world.drawn_at if world.drawn_at > 0.0 else level)
            if number == world.gift:
                mean, least = min(world.highest, world.largest_mean * high), 0.0
                for position in range(size):
                    leads[position] = 0.0 if planned.arms[position] == best else mean
            if world.sigma == 0.0:
                mean = min(mean, 1.0 + min(least, 0.0))
            for position in range(size):
                own = mean - leads[position]
                if world.sigma == 0.0:
                    own = min(1.0, max(0.0, own))
                    sums[position] = float(next_binomial(stream, repetitions, own))
                else:
                    noise = world.sigma * math.sqrt(float(repetitions)) * next_normal(stream)
                    sums[position] = own * repetitions + noise
            for position in range(size):
                arm = planned.arms[position]
                members[arm] += repetitions
                out[j, arm] += repetitions
            committee += size * repetitions
            clock += size * repetitions
            absorb(state, sums[:size])
        for arm in range(arms):
            candidates[j, arm] = 1 if candidate(state, arm) else 0
        rounds[j] = number + 1


@lru_cache(maxsize=64)
def _bound(kernels: RoundKernels) -> Function:
    """Return `hardest_rounds` for a policy, compiled."""
    return compiled(bind(hardest_rounds, **kernels._asdict()), allocates=True)
