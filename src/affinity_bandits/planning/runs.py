"""Simulated runs of a plan's policy in hard worlds, and the search for the worst of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from affinity_bandits.displays import one_line
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.worlds import (
    NO_LIMIT,
    HardWorld,
    WorldLimits,
    hard_worlds,
    largest_weight,
    smallest_lead,
    smallest_weight,
    two_scores,
)
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.contracts import RoundKernels, add_score
from affinity_bandits.policies.kernel_rules import check_own, is_own
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compile import cacheable, compile_kernel
from affinity_bandits.simulation.compile_errors import index_error
from affinity_bandits.simulation.draws import Stream, Words, next_binomial, next_normal
from affinity_bandits.simulation.environment import key_words
from affinity_bandits.simulation.intervals import proportion_interval

Tick = Callable[[float], None]  # called with an amount of work done
LATE = 0.05  # the part of runs that may be late or undecided: 1 in 20
Item = TypeVar("Item")
Made = TypeVar("Made")


def ignore(_: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Outcome:
    """Counts over independent runs of a policy on an instance.

    Attributes:
        replicates: number of runs.
        wrong: runs in which the best group was dropped.
        undecided: runs in which the best group and others were kept.
        choices: mean number of choices until the decision, or the horizon.
        choices_95: choices that suffice in 95% of runs (`most`).
        per_group: mean choices per group until then.
        per_group_95: choices per group that suffice in 95% of runs.
    """

    replicates: int
    wrong: int
    undecided: int
    choices: float
    choices_95: float
    per_group: tuple[float, ...]
    per_group_95: tuple[float, ...]

    __repr__ = one_line

    @property
    def wrong_rate(self) -> tuple[float, float, float]:
        """The part of wrong runs, with a 95% interval (Clopper and Pearson)."""
        return proportion_interval(self.wrong, self.replicates, 0.95)

    @property
    def undecided_rate(self) -> float:
        """The part of undecided runs."""
        return self.undecided / self.replicates


def parallel(
    run: Callable[[Item], Made], items: Sequence[Item], tick: Tick = ignore, work: float = 1.0
) -> list[Made]:
    """Run a function on each item, in threads, and call `tick(work)` after each result."""
    found = [run(item) for item in items[:1]]  # compiles once, before there are threads
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        for one in pool.map(run, items[1:]):
            found.append(one)
            tick(work)
        if items:
            tick(work)
    finally:
        pool.shutdown(cancel_futures=True)  # after an interrupt, start no further item
    return found


def most(values: Any) -> float:
    """Return an upper 95% confidence limit of the 95th percentile (Clopper and Pearson).

    The limit is one of the values. Of fewer than 59 values it is the largest, which has a lower
    confidence.
    """
    return float(np.sort(values)[-1 - max(0, exceptions(len(values)))])


@lru_cache(maxsize=100)
def exceptions(runs: int) -> int:
    """Return how many of some runs may fail if at most 5% of all do, with 95% confidence.

    This is the largest count that has a probability of at most 5% if 5% of runs fail; -1 if even 0
    is likelier. Summed here, because scipy takes longer to load than a plan to read.
    """
    allowed, total = -1, 0.0
    while total <= LATE:
        allowed += 1
        ways = math.lgamma(runs + 1) - math.lgamma(allowed + 1) - math.lgamma(runs - allowed + 1)
        total += math.exp(ways + allowed * math.log(LATE) + (runs - allowed) * math.log1p(-LATE))
    return allowed - 1


plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
meet: Function = unbound

NEVER = 2**62  # the number of choices of an event that does not happen
AT_ONCE = 5  # runs between two checks for an interrupt
FEWEST = 1e-6  # replaces 0 members, so that every ratio of shares is finite
BUCKETS = 8  # those who begin to judge later are counted by when they were chosen, so finely
GIFT_ENDS = 2  # A gift ends at the latest after so many times the choices before it


class Runs(NamedTuple):
    """The outcome of each run in a hardest world.

    Attributes:
        decided: choices until all rivals of the best group were dropped, or `NEVER`.
        lost: choices until the best group was dropped, or `NEVER`.
        pulls: pulls of each group until then, or until the horizon, [run, group].
    """

    decided: IntArray
    lost: IntArray
    pulls: IntArray

    def within(self, horizon: int) -> Outcome:
        """Return the counts for a smaller horizon, except the pulls of each group."""
        ends = np.minimum(self.decided, self.lost)
        choices = np.minimum(ends, horizon)
        return Outcome(
            replicates=len(choices),
            wrong=int((self.lost <= horizon).sum()),
            undecided=int((ends > horizon).sum()),
            choices=float(choices.mean()),
            choices_95=most(choices),
            per_group=tuple(float(part) for part in self.pulls.mean(axis=0)),
            per_group_95=tuple(most(some) for some in self.pulls.T),
        )

    def count_needed(self, part: float) -> int:
        """Return the choices within which that part of runs ends, or `NEVER`."""
        ends = np.minimum(self.decided, self.lost)
        return int(np.sort(ends)[math.ceil(part * len(ends)) - 1])


class Scratch(NamedTuple):
    """Scratch arrays of a run: allocating them inside the kernel is slower."""

    seen: FloatArray
    counted: FloatArray
    leads: FloatArray
    members: FloatArray
    joins: FloatArray
    waiting: FloatArray  # chosen, but not judging yet, [bucket, group]
    since: IntArray  # when the last of each bucket was chosen
    told: IntArray  # members of each group, who begins in the round, who begins later
    read: Words


def new_scratch(groups: int, each: int) -> Scratch:
    """Return the arrays for so many groups with `each` numbers per group and round."""
    return Scratch(
        seen=np.zeros(groups * each),
        counted=np.zeros((2, each)),
        leads=np.zeros(groups),
        members=np.zeros(groups),
        joins=np.zeros(groups),
        waiting=np.zeros((BUCKETS + 2, groups)),
        since=np.zeros(BUCKETS + 2, dtype=np.int64),
        told=np.zeros(3 * groups, dtype=np.int64),
        read=np.zeros(1, dtype=np.uint64),
    )


def run_hardest(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Runs:
    """Run a policy in a hardest world, in threads: the compiled loop releases the GIL.

    Each run has its own random stream, so the result is the same for any number of threads. An
    interrupt waits for the few runs that have begun.
    """
    check_own(policy, len(hard.initial), horizon)
    kernel = _bound(policy.kernels(), is_own(policy))
    groups = len(hard.initial)

    def run(numbers: range) -> Runs:
        state = pack(policy.start(groups, horizon))
        pulls = np.zeros((len(numbers), groups), dtype=np.int64)
        decided = np.full(len(numbers), NEVER, dtype=np.int64)
        lost = np.full(len(numbers), NEVER, dtype=np.int64)
        kernel(
            hard.world,
            np.array(hard.initial, dtype=np.int64),
            cacheable(state.state),  # as the simulator has it, so that kernels are compiled once
            state.whole,
            state.whole.copy(),
            state.real,
            state.real.copy(),
            np.array(policy.nodes),
            new_scratch(groups, max(1, len(policy.nodes))),
            key_words(seed, "round"),
            numbers.start,
            horizon,
            pulls,
            decided,
            lost,
        )
        return Runs(decided, lost, pulls)

    starts = range(0, replicates, AT_ONCE)
    try:
        found = parallel(run, [range(low, min(low + AT_ONCE, replicates)) for low in starts])
    except IndexError as error:
        raise index_error(policy) from error
    return Runs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def hardest_outcomes(
    worlds: Sequence[HardWorld],
    policy: RoundPolicy,
    horizon: int,
    replicates: int,
    seed: int,
    tick: Tick = ignore,
) -> list[Outcome]:
    """Run a policy in several worlds, in threads, and count."""
    return parallel(
        lambda hard: run_hardest(hard, policy, horizon, replicates, seed).within(horizon),
        worlds,
        tick,
        replicates,
    )


def hardest_rounds(
    world: WorldLimits,
    initial: IntArray,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    nodes: FloatArray,
    scratch: Scratch,
    key: Words,
    first_run: int,
    horizon: int,
    out: IntArray,
    decided: IntArray,
    lost: IntArray,
) -> None:
    """Run replicates until all rivals, or the best group, are dropped, or until the horizon.

    A kernel like the round loop of the simulator. `nodes` is empty if the policy takes sums.
    """
    arms = len(initial)
    best = world.best
    each = max(1, len(nodes))
    seen, counted, leads, members, joins, waiting, since, told, read = scratch
    soon = 1.0 if world.begin_after == 0 else 0.0
    width = max(1, -(-world.begin_after // BUCKETS))
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        committee = 0.0
        for arm in range(arms):
            members[arm] = max(FEWEST, float(initial[arm]))
            committee += members[arm]
            for bucket in range(len(since)):
                waiting[bucket, arm] = 0.0
        read[0] = 0
        stream = Stream(key, np.uint64(first_run + j), read)
        clock = 0
        led = False
        while clock < horizon and min(decided[j], lost[j]) == NEVER:
            for arm in range(arms):
                told[arm] = int(members[arm])
                coming = 0.0  # nobody begins within a round: all on their way come later
                for bucket in range(len(since)):
                    coming += waiting[bucket, arm]
                told[2 * arms + arm] = int(coming)
            meet(state, told)
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            if repetitions > (horizon - clock) // size:
                left = horizon - clock
                for position in range(size):
                    more = left // size + (1 if position < left % size else 0)
                    out[j, planned.arms[position]] += more
                break
            # Shares are monotone within a round (nearly, if only some join), so extremes are at
            # its first or last pass. The best group comes last in a pass, to its disadvantage.
            end = committee
            for arm in range(arms):
                joins[arm] = 0.0
            for position in range(size):
                arm = planned.arms[position]
                if world.joining == 1.0:
                    joins[arm] = repetitions
                elif world.joining > 0.0:
                    often = world.uneven if arm == best else 1.0 / world.uneven
                    part = min(1.0, often * world.joining)
                    joins[arm] = next_binomial(stream, repetitions, part)
                end += soon * max(0.0, joins[arm] - world.joining)
            first = members[best] / (committee + world.slack)
            last = members[best] + soon * max(0.0, joins[best] - world.joining)
            last /= end + world.slack
            low = smallest_weight(world, min(first, last))
            high = largest_weight(world, max(first, last))
            high = max(low, min(high, world.highest / world.least_mean))
            mean, least = world.largest_mean * low, NO_LIMIT
            present = False
            for position in range(size):
                arm = planned.arms[position]
                leads[position] = 0.0
                if arm == best:
                    present = True
                    continue
                early = members[arm] / committee
                late = (members[arm] + soon * max(0.0, joins[arm] - world.joining)) / end
                ratio = max(1.0, early / first, late / last)
                apart = max(0.0, early - first, late - last)
                weight = low
                lead, level = smallest_lead(world, low, ratio, apart)
                # A negative lead grows with the weight, so check both ends.
                other, other_level = smallest_lead(world, high, ratio, apart)
                if other < lead:
                    weight, lead, level = high, other, other_level
                lead -= world.favor_gap * max(early, late) + world.strictness
                leads[position] = lead
                if lead < least:
                    least = lead
                    mean = weight * (world.drawn_at if world.drawn_at > 0.0 else level)
            # The best group leads if others are pulled without it, to use their head start.
            led = led or (clock >= world.gift and not present)
            if 0 <= world.gift <= clock <= GIFT_ENDS * world.gift and not led:
                mean, least = min(world.highest, world.largest_mean * high), 0.0
                for position in range(size):
                    leads[position] = 0.0 if planned.arms[position] == best else mean
            if world.sigma == 0.0:
                mean = min(mean, 1.0 + min(least, 0.0))
            for position in range(size):
                own = mean - leads[position]
                if world.sigma == 0.0:
                    own = min(1.0, max(0.0, own))
                    low_score, high_score, chance = two_scores(
                        world, own, planned.arms[position] == best
                    )
                    highs = float(next_binomial(stream, repetitions, chance))
                    lows = repetitions - highs
                    if len(nodes) == 0:
                        seen[position] = lows * low_score + highs * high_score
                    else:
                        for node in range(each):
                            counted[0, node] = counted[1, node] = 0.0
                        add_score(nodes, low_score, counted[0], 0)
                        add_score(nodes, high_score, counted[1], 0)
                        for node in range(each):
                            seen[position * each + node] = (
                                lows * counted[0, node] + highs * counted[1, node]
                            )
                else:
                    noise = world.sigma * math.sqrt(float(repetitions)) * next_normal(stream)
                    seen[position] = own * repetitions + noise
            for position in range(size):
                arm = planned.arms[position]
                out[j, arm] += repetitions
            clock += size * repetitions
            bucket = clock // width % len(since)
            since[bucket] = clock
            for position in range(size):
                waiting[bucket, planned.arms[position]] += joins[planned.arms[position]]
            for bucket in range(len(since)):
                if since[bucket] + world.begin_after <= clock:
                    for arm in range(arms):
                        members[arm] += waiting[bucket, arm]
                        committee += waiting[bucket, arm]
                        waiting[bucket, arm] = 0.0
            absorb(state, seen[: size * each])
            left = 0
            for arm in range(arms):
                left += 1 if candidate(state, arm) else 0
            if not candidate(state, best):
                lost[j] = clock
            elif left == 1:
                decided[j] = clock


@lru_cache(maxsize=64)
def _bound(kernels: RoundKernels, checked: bool) -> Function:
    """Return `hardest_rounds` for a policy, compiled; `checked` is that of `compile_kernel`."""
    loop = bind(
        hardest_rounds,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        meet=kernels.meet,
    )
    return compile_kernel(loop, inlined=False, checked=checked)


# Ends of the intervals of the best group's mean, as parts of the largest mean. They are narrow at
# the top, where leads are smallest and the variance changes fastest.
LEVELS = (0.25, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 1.0)
# Ratio between the numbers of choices after which gifts begin. The effect of a gift depends on
# its size relative to all choices so far.
GIFTS_APART = 3
FEW_RUNS = 8
MORE_RUNS = 40
WITH_GIFTS = 2  # how many of the worst worlds without a gift are tried with all gifts
SERIOUS = 4  # how many worlds without a gift are run again if runs differ much
USUAL_SPREAD = 0.3  # the excess of the 95th percentile over the mean up to which few runs suffice
MOST_TIMES = 6

Tried = list[tuple[HardWorld, Outcome]]


def worst_worlds(
    assumptions: Assumptions, policy: RoundPolicy, horizon: int, seed: int, tick: Tick = ignore
) -> list[HardWorld]:
    """Return, for each initial committee, the world in which the policy takes longest."""
    worlds = hard_worlds(assumptions)
    return [
        worst_of(hard, policy, horizon, seed, lambda part: tick(part / len(worlds)))
        for hard in worlds
    ]


def worst_of(
    hard: HardWorld,
    policy: RoundPolicy,
    horizon: int,
    seed: int,
    tick: Tick = ignore,
) -> HardWorld:
    """Return the variant of a world in which the policy takes longest."""

    def tried(worlds: list[HardWorld], runs: int, seed: int, work: float) -> Tried:
        """Return the worlds with their outcomes, the hardest first."""
        found = hardest_outcomes(
            worlds, policy, horizon, runs, seed, lambda _: tick(work / len(worlds))
        )
        # By the mean, which has less variance than the 95th percentile. The order is stable.
        pairs = zip(worlds, found, strict=True)
        return sorted(pairs, key=lambda one: one[1].choices, reverse=True)

    without = tried(vary_means(hard), FEW_RUNS, seed, 0.4)
    longest = without[0][1].choices_95
    more = _runs(FEW_RUNS, without)
    if more > FEW_RUNS:
        without = tried([one for one, _ in without[:SERIOUS]], more, seed, 0.0)
    if hard.world.joining == 0.0:  # shares never change, so no lead is too early
        tick(0.6)
        return without[0][0]
    gifted = [one for base, _ in without[:WITH_GIFTS] for one in with_gifts(base, longest)]
    with_them = tried(gifted, FEW_RUNS, seed, 0.4)
    last = [without[0][0], *(one for one, _ in with_them[:2])]
    return tried(last, _runs(MORE_RUNS, without), seed + 1, 0.2)[0][0]


def _runs(usual: int, found: Tried) -> int:
    """Return how many runs are needed, given how much those of the hardest world differ."""
    spread = found[0][1].choices_95 / found[0][1].choices - 1.0
    return math.ceil(usual * min(MOST_TIMES, max(1.0, (spread / USUAL_SPREAD) ** 2)))


def vary_means(hard: HardWorld) -> list[HardWorld]:
    """Return a world with every interval of means, the world itself first."""
    world = hard.world
    found = [world]
    if world.sigma == 0.0:  # the variance of Gaussian scores is the same at all means
        least = world.least_mean
        ends = [least, *(world.largest_mean * part for part in LEVELS)]
        ends = [end for end in ends if end >= least]
        found += [
            world._replace(least_mean=low, largest_mean=high, drawn_at=low)
            for low, high in pairwise(ends)
            if low < high
        ]
    return [replace(hard, world=one) for one in found]


def with_gifts(hard: HardWorld, choices: float) -> list[HardWorld]:
    """Return a world with every gift that begins before so many choices."""
    gifts, start = [0], hard.world.groups
    while start < choices:
        gifts.append(start)
        start *= GIFTS_APART
    return [replace(hard, world=hard.world._replace(gift=gift)) for gift in gifts]
