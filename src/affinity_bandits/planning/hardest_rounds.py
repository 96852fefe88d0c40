"""The loop that runs a policy in a hardest world, round by round, compiled."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.planning.worlds import (
    NO_LIMIT,
    WorldLimits,
    largest_weight,
    smallest_lead,
    smallest_weight,
    two_scores,
)
from affinity_bandits.policies.contracts import RoundKernels, add_score
from affinity_bandits.simulation.compile import compile_kernel
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
def bound_rounds(kernels: RoundKernels, checked: bool) -> Function:
    """Return `hardest_rounds` for a policy, compiled; `checked` is that of `compile_kernel`."""
    loop = bind(
        hardest_rounds,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        meet=kernels.meet,
    )
    return compile_kernel(loop, inlined=False, checked=checked)
