"""Run a policy in hardest worlds: the compiled loop, and what is counted of its runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.planning.hardest import (
    NO_LIMIT,
    HardWorld,
    World,
    largest_weight,
    smallest_lead,
    smallest_weight,
    two_scores,
)
from affinity_bandits.planning.outcomes import Outcome, Tick, in_threads, most, parallel
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.round import RoundKernels
from affinity_bandits.policies.state import pack
from affinity_bandits.policies.tallies import add_score
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, next_normal
from affinity_bandits.simulation.environment import key_words
from affinity_bandits.simulation.layouts import laid_out

plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
meet: Function = unbound
fewest_seats: Function = unbound

NEVER = 2**62
"""Stands for a number of choices that is never reached."""
AT_ONCE = 5
"""Runs that a thread makes without being asked to stop."""
FEWEST = 1e-6
"""Stands for no member at all, so that every ratio of shares is a number."""
UNEVEN = math.sqrt(2.0)
"""Where not all join, of the best group so many times the part that was stated do, of the others as
many times fewer: one group's join at most twice as often as another's."""
GIFT_ENDS = 2
"""A gift ends at the latest when there have been so many times the choices before it."""


class Runs(NamedTuple):
    """What became of each run in a hardest world.

    Attributes:
        decided: after how many choices the best group was left alone; `NEVER` if it was not.
        lost: after how many it was dropped; `NEVER` if it was not.
        pulls: of each group until then, or until the horizon, [run, group].
    """

    decided: IntArray
    lost: IntArray
    pulls: IntArray

    def within(self, horizon: int) -> Outcome:
        """Return the counts that a smaller horizon would have given, pulls of a group excepted."""
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

    def needed(self, part: float) -> int:
        """Return the choices within which that part of runs is decided; `NEVER` if it is not."""
        ends = np.minimum(self.decided, self.lost)
        return int(np.sort(ends)[math.ceil(part * len(ends)) - 1])


class Room(NamedTuple):
    """Arrays that a run works in: the kernel makes none, as counting references takes its time."""

    seen: FloatArray
    counted: FloatArray
    leads: FloatArray
    members: FloatArray
    joins: FloatArray
    told: IntArray
    read: Words


def new_room(groups: int, each: int) -> Room:
    """Return arrays for so many groups, of each of which a round tells so many numbers."""
    return Room(
        seen=np.zeros(groups * each),
        counted=np.zeros((2, each)),
        leads=np.zeros(groups),
        members=np.zeros(groups),
        joins=np.zeros(groups),
        told=np.zeros(groups, dtype=np.int64),
        read=np.zeros(1, dtype=np.uint64),
    )


def run_hardest(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Runs:
    """Run a policy in a hardest world, in threads: the compiled loop releases the GIL.

    Each run has a stream of its own, so how many threads there are changes nothing. An interrupt
    waits for the few runs that have begun.
    """
    ends = [*range(0, replicates, AT_ONCE), replicates]

    def some(ends: tuple[int, int]) -> Runs:
        return _run_some(hard, policy, horizon, range(*ends), seed)

    found = parallel(some, list(pairwise(ends)))
    return Runs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _run_some(hard: HardWorld, policy: RoundPolicy, horizon: int, runs: range, seed: int) -> Runs:
    """Run the replicates with these numbers."""
    groups = len(hard.initial)
    state = pack(policy.start(groups, horizon))
    pulls = np.zeros((len(runs), groups), dtype=np.int64)
    decided = np.full(len(runs), NEVER, dtype=np.int64)
    lost = np.full(len(runs), NEVER, dtype=np.int64)
    _bound(policy.kernels())(
        hard.world,
        np.array(hard.initial, dtype=np.int64),
        laid_out(state.state),  # as the simulator has it, so that kernels are compiled once
        state.whole,
        state.whole.copy(),
        state.real,
        state.real.copy(),
        np.array(policy.nodes),
        new_room(groups, max(1, len(policy.nodes))),
        key_words(seed, "round"),
        runs.start,
        horizon,
        pulls,
        decided,
        lost,
    )
    return Runs(decided, lost, pulls)


def hardest_outcome(
    hard: HardWorld, policy: RoundPolicy, horizon: int, replicates: int, seed: int
) -> Outcome:
    """Run a policy in a hardest world and count."""
    return run_hardest(hard, policy, horizon, replicates, seed).within(horizon)


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


def hardest_rounds(
    world: World,
    initial: IntArray,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    nodes: FloatArray,
    room: Room,
    key: Words,
    first_run: int,
    horizon: int,
    out: IntArray,
    decided: IntArray,
    lost: IntArray,
) -> None:
    """Run replicates until the best group is left alone, is dropped, or the horizon is reached.

    Worse groups among themselves may be alike: there is nothing to find. A kernel, in the manner of
    the simulator's round loop.

    `nodes` are those of the policy; none if it is told sums.
    """
    arms = len(initial)
    best = world.best
    each = max(1, len(nodes))
    seen, counted, leads, members, joins, told, read = room
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        committee = 0.0
        for arm in range(arms):
            members[arm] = max(FEWEST, float(initial[arm]))
            committee += members[arm]
        read[0] = 0
        stream = Stream(key, np.uint64(first_run + j), read)
        clock = 0
        led = False
        while clock < horizon and min(decided[j], lost[j]) == NEVER:
            for arm in range(arms):
                told[arm] = int(members[arm])
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
            # Shares move one way within a round, so what is largest is so at its first or last
            # pass; where only some join, nearly so. The best group comes last in a pass, and out of
            # order to its disadvantage.
            end = committee
            for arm in range(arms):
                joins[arm] = 0.0
            for position in range(size):
                arm = planned.arms[position]
                if world.joining == 1.0:
                    joins[arm] = repetitions
                elif world.joining > 0.0:
                    # Of the best group more are taken on, so that the others fall behind.
                    often = UNEVEN if arm == best else 1.0 / UNEVEN
                    part = min(1.0, often * world.joining)
                    joins[arm] = next_binomial(stream, repetitions, part)
                end += max(0.0, joins[arm] - world.joining)
            first = members[best] / (committee + world.slack)
            last = members[best] + max(0.0, joins[best] - world.joining)
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
                late = (members[arm] + max(0.0, joins[arm] - world.joining)) / end
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
            # Others that are pulled without it get their head start over it: it leads.
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
                members[arm] += joins[arm]
                committee += joins[arm]
                out[j, arm] += repetitions
            clock += size * repetitions
            absorb(state, seen[: size * each])
            left = 0
            for arm in range(arms):
                left += 1 if candidate(state, arm) else 0
            if not candidate(state, best):
                lost[j] = clock
            elif left == 1:
                decided[j] = clock


@lru_cache(maxsize=64)
def _bound(kernels: RoundKernels) -> Function:
    """Return `hardest_rounds` for a policy, compiled."""
    return compiled(bind(hardest_rounds, **kernels._asdict()), inlined=False)
