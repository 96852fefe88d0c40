"""The loop that runs a policy in a hardest world, round by round, compiled."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.planning.worlds import (
    NO_LIMIT,
    WorldLimits,
    largest_weight,
    smallest_lead,
    smallest_weight,
    two_scores,
)
from affinity_bandits.policies.contracts import RoundKernels, add_score
from affinity_bandits.simulation.draws import Stream, Words, next_binomial, next_normal

plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
meet: Function = unbound

NEVER = 2**62  # the number of choices of an event that does not happen
FEWEST = 1e-6  # replaces 0 members, so that every ratio of shares is finite
BUCKETS = 8  # those who begin to judge later are counted by when they were chosen, so finely
GIFT_ENDS = 2  # A gift ends at the latest after so many times the choices before it


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


class Start(NamedTuple):
    """A policy's state, the buffers that its arrays are views of, and what a run begins with."""

    state: Any
    whole: IntArray
    whole_start: IntArray
    real: FloatArray
    real_start: FloatArray


class Ends(NamedTuple):
    """How each run ends; see `runs.Runs`."""

    decided: IntArray
    lost: IntArray
    pulls: IntArray


def hardest_rounds(
    world: WorldLimits,
    initial: IntArray,
    start: Start,
    nodes: FloatArray,
    scratch: Scratch,
    key: Words,
    first_run: int,
    horizon: int,
    ends: Ends,
) -> None:
    """Run replicates until all rivals, or the best group, are dropped, or until the horizon.

    A kernel like the round loop of the simulator. `nodes` is empty if the policy takes sums.
    """
    groups = len(initial)
    state, leads = start.state, scratch.leads
    for j in range(len(ends.decided)):
        committee = begin_run(initial, start, scratch)
        stream = Stream(key, np.uint64(first_run + j), scratch.read)
        clock = 0
        led = False
        while clock < horizon and min(ends.decided[j], ends.lost[j]) == NEVER:
            count_judges(scratch)
            meet(state, scratch.told)
            planned = plan(state)
            arms, repetitions = planned.arms, planned.repetitions
            size = len(arms)
            if repetitions > (horizon - clock) // size:
                left = horizon - clock
                for position in range(size):
                    more = left // size + (1 if position < left % size else 0)
                    ends.pulls[j, arms[position]] += more
                break
            end = draw_joins(stream, world, arms, repetitions, committee, scratch)
            mean, least, high, present = find_leads(world, arms, committee, end, scratch)
            # The best group leads if others are pulled without it, to use their lead.
            led = led or (clock >= world.gift and not present)
            if 0 <= world.gift <= clock <= GIFT_ENDS * world.gift and not led:
                mean, least = min(world.highest, world.largest_mean * high), 0.0
                for position in range(size):
                    leads[position] = 0.0 if arms[position] == world.best else mean
            if world.sigma == 0.0:
                mean = min(mean, 1.0 + min(least, 0.0))
            draw_scores(stream, world, arms, repetitions, mean, nodes, scratch)
            for position in range(size):
                ends.pulls[j, arms[position]] += repetitions
            clock += size * repetitions
            committee = let_begin(world, arms, clock, committee, scratch)
            absorb(state, scratch.seen[: size * max(1, len(nodes))])
            left = 0
            for arm in range(groups):
                left += 1 if candidate(state, arm) else 0
            if not candidate(state, world.best):
                ends.lost[j] = clock
            elif left == 1:
                ends.decided[j] = clock


def begin_run(initial: IntArray, start: Start, scratch: Scratch) -> float:
    """Set the state and the committee to what a run begins with; return the committee's size."""
    for i in range(len(start.whole)):
        start.whole[i] = start.whole_start[i]
    for i in range(len(start.real)):
        start.real[i] = start.real_start[i]
    committee = 0.0
    for arm in range(len(initial)):
        scratch.members[arm] = max(FEWEST, float(initial[arm]))
        committee += scratch.members[arm]
        for bucket in range(len(scratch.since)):
            scratch.waiting[bucket, arm] = 0.0
    scratch.read[0] = 0
    return committee


def count_judges(scratch: Scratch) -> None:
    """Count who judges the next round, as the policy is told."""
    groups = len(scratch.members)
    for arm in range(groups):
        scratch.told[arm] = int(scratch.members[arm])
        coming = 0.0  # nobody begins within a round: all on their way come later
        for bucket in range(len(scratch.since)):
            coming += scratch.waiting[bucket, arm]
        scratch.told[2 * groups + arm] = int(coming)


def joins_within(world: WorldLimits, arm: int, scratch: Scratch) -> float:
    """Return how many of an arm join before its last choice of the round is scored."""
    soon = 1.0 if world.begin_after == 0 else 0.0
    return float(soon * max(0.0, scratch.joins[arm] - world.joining))


def draw_joins(
    stream: Stream,
    world: WorldLimits,
    arms: IntArray,
    repetitions: int,
    committee: float,
    scratch: Scratch,
) -> float:
    """Draw how many of those chosen in a round join; return the committee's size at its end."""
    for arm in range(len(scratch.joins)):
        scratch.joins[arm] = 0.0
    for position in range(len(arms)):
        arm = arms[position]
        if world.joining == 1.0:
            scratch.joins[arm] = repetitions
        elif world.joining > 0.0:
            often = world.uneven if arm == world.best else 1.0 / world.uneven
            part = min(1.0, often * world.joining)
            scratch.joins[arm] = next_binomial(stream, repetitions, part)
        committee += joins_within(world, arm, scratch)
    return committee


def find_leads(
    world: WorldLimits, arms: IntArray, committee: float, end: float, scratch: Scratch
) -> tuple[float, float, float, bool]:
    """Find the smallest lead of the best group over each rival in a round.

    Shares are monotone within a round (nearly, if only some join), so extremes are at its first or
    last pass. The best group comes last in a pass, to its disadvantage.

    Args:
        world: the world.
        arms: those of the round.
        committee: its size when the round begins.
        end: its size when the round ends.
        scratch: its `leads` are set.

    Returns:
        The best group's mean where the smallest lead is attained, that lead, the best group's
        largest weight, and whether the best group is in the round.
    """
    best, members = world.best, scratch.members
    first = members[best] / (committee + world.slack)
    last = members[best] + joins_within(world, best, scratch)
    last /= end + world.slack
    low = smallest_weight(world, min(first, last))
    high = largest_weight(world, max(first, last))
    high = max(low, min(high, world.highest / world.least_mean))
    mean, least = world.largest_mean * low, NO_LIMIT
    present = False
    for position in range(len(arms)):
        arm = arms[position]
        scratch.leads[position] = 0.0
        if arm == best:
            present = True
            continue
        early = members[arm] / committee
        late = (members[arm] + joins_within(world, arm, scratch)) / end
        ratio = max(1.0, early / first, late / last)
        apart = max(0.0, early - first, late - last)
        weight = low
        lead, level = smallest_lead(world, low, ratio, apart)
        # A negative lead grows with the weight, so check both ends.
        other, other_level = smallest_lead(world, high, ratio, apart)
        if other < lead:
            weight, lead, level = high, other, other_level
        lead -= world.favor_gap * max(early, late) + world.strictness
        scratch.leads[position] = lead
        if lead < least:
            least = lead
            mean = weight * (world.drawn_at if world.drawn_at > 0.0 else level)
    return mean, least, high, present


def draw_scores(
    stream: Stream,
    world: WorldLimits,
    arms: IntArray,
    repetitions: int,
    mean: float,
    nodes: FloatArray,
    scratch: Scratch,
) -> None:
    """Draw what a round's arms return, given the best group's mean and the leads, into `seen`."""
    seen, counted = scratch.seen, scratch.counted
    for position in range(len(arms)):
        own = mean - scratch.leads[position]
        if world.sigma > 0.0:
            noise = world.sigma * math.sqrt(float(repetitions)) * next_normal(stream)
            seen[position] = own * repetitions + noise
            continue
        own = min(1.0, max(0.0, own))
        low_score, high_score, chance = two_scores(world, own, arms[position] == world.best)
        highs = float(next_binomial(stream, repetitions, chance))
        lows = repetitions - highs
        if len(nodes) == 0:
            seen[position] = lows * low_score + highs * high_score
            continue
        for node in range(len(nodes)):
            counted[0, node] = counted[1, node] = 0.0
        add_score(nodes, low_score, counted[0], 0)
        add_score(nodes, high_score, counted[1], 0)
        for node in range(len(nodes)):
            seen[position * len(nodes) + node] = lows * counted[0, node] + highs * counted[1, node]


def let_begin(
    world: WorldLimits, arms: IntArray, clock: int, committee: float, scratch: Scratch
) -> float:
    """Let those begin to judge who were chosen long enough ago; return the committee's size."""
    since, waiting = scratch.since, scratch.waiting
    width = max(1, -(-world.begin_after // BUCKETS))
    bucket = clock // width % len(since)
    since[bucket] = clock
    for position in range(len(arms)):
        waiting[bucket, arms[position]] += scratch.joins[arms[position]]
    for bucket in range(len(since)):
        if since[bucket] + world.begin_after <= clock:
            for arm in range(len(scratch.members)):
                scratch.members[arm] += waiting[bucket, arm]
                committee += waiting[bucket, arm]
                waiting[bucket, arm] = 0.0
    return committee


@lru_cache(maxsize=64)
def bound_hardest(kernels: RoundKernels, checked: bool) -> Function:
    """Return `hardest_rounds` for a policy, compiled; `checked` is that of `compile_kernel`."""
    loop = bind(
        hardest_rounds,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        meet=kernels.meet,
    )
    return compile_kernel(loop, inlined=False, checked=checked)
