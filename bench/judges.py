"""Is the best group dropped no more often than stated, whoever joins and whoever judges?

`python -m bench.judges [--json]`. Groups of equal value, so that every drop is a mistake, a bias
that is steep where shares lie, and an adversary inside the assumptions of each setting: answers
come in the order that favours the leader most, of the whole committee nobody joins but whoever
helps the leader, and panels are filled in the leader's favour. As controls, what guards the
setting is taken out: the head start for those who may join within a round, the rule that nobody is
compared with a leader who has more seats, and telling the policy at all.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies import HandicapElimination, judged
from affinity_bandits.policies.judged import JudgedState
from affinity_bandits.policies.round import RoundKernels
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, next_normal, next_uniform
from affinity_bandits.simulation.environment import key_words
from affinity_bandits.simulation.intervals import proportion_interval
from bench.measure import main

HORIZON = 6_000
RUNS = 2_000
FAILURE = 0.05
VALUE = 0.9
INITIAL, FAVOURED = 10, 40
SEATS = 6
"""Of a panel, at most, for each group."""
GROUPS = (2, 3, 5)
WINDOWS = (1, 100)
LEASE = 1_000
"""Of panels and strangers: slots that are handed out at once, whose answers come in any order."""
NOISES = {"bernoulli": 0.0, "gaussian.1": 0.1}
SQUARE, RAMP = 0, 1
BIASES = {"x^2": SQUARE, "ramp": RAMP}
RAMP_WIDTH, RAMP_LOW = 0.02, 0.2
NOBODY, LEADERS, TENTH = 0, 1, 2
JOINING = {"leader's": LEADERS, "nobody": NOBODY, "1 in 10": TENTH}
FAVOURING, EVEN, BY_LOT = 0, 1, 2
PANELS = {"favouring": FAVOURING, "even": EVEN, "by lot": BY_LOT}

plan: Function = unbound
absorb: Function = unbound
meet: Function = unbound


class Rules(NamedTuple):
    """What the adversary plays with."""

    sigma: float
    bias: int
    panel: bool
    filled: int
    joining: int
    leave: bool
    window: int


def biased(bias: int, share: float, equal: float) -> float:
    """Return f(share)."""
    if bias == SQUARE:
        return share * share
    part = (share - equal) / RAMP_WIDTH + 0.5
    return RAMP_LOW + (1.0 - RAMP_LOW) * min(1.0, max(0.0, part))


def seat(
    rules: Rules, members: IntArray, judges: IntArray, leader: int, victim: int, stream: Stream
) -> None:
    """Seat a panel, or the whole committee."""
    for arm in range(len(members)):
        judges[arm] = members[arm]
        if rules.panel:
            judges[arm] = min(members[arm], SEATS)
            if rules.filled == BY_LOT:
                judges[arm] = min(members[arm], int(next_uniform(stream) * (SEATS + 1)))
            elif rules.filled == FAVOURING and arm == victim:
                # Less than the leader in two rounds of three, so that a check is needed.
                judges[arm] = min(members[arm], 1 if next_uniform(stream) < 0.66 else SEATS)


def next_place(rules: Rules, rated: IntArray, rank: IntArray, repetitions: int) -> int:
    """Return the place that is rated next: the one preferred most of those that may be."""
    size = len(rank)
    oldest = size * repetitions
    for place in range(size):
        if rated[place] < repetitions:
            oldest = min(oldest, rated[place] * size + place)
    for at in range(size):
        place = rank[at]
        if rated[place] < repetitions and rated[place] * size + place < oldest + rules.window:
            return int(place)
    return 0


def play(
    state: JudgedState,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    initial: IntArray,
    rules: Rules,
    key: Words,
    horizon: int,
    dropped: IntArray,
) -> None:
    """Play runs to the horizon, one an entry of `dropped`: whether the last group was dropped."""
    groups = len(initial)
    victim = groups - 1
    members = np.empty(groups, dtype=np.int64)
    judges = np.empty(groups, dtype=np.int64)
    rated = np.empty(groups, dtype=np.int64)
    rank = np.empty(groups, dtype=np.int64)
    bets = state.bets
    each = max(1, len(bets.nodes))
    seen = np.empty(groups * each)
    for j in range(len(dropped)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        stream = Stream(key, np.uint64(j), np.zeros(1, dtype=np.uint64))
        for arm in range(groups):
            members[arm] = initial[arm]
        clock = 0
        while clock < horizon and bets.left[0] > 1:
            leader = bets.leader[0]
            seat(rules, members, judges, leader, victim, stream)
            meet(state, judges)
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            compares = size == bets.left[0] and leader >= 0
            # Preferred to come early: the leader, the others, the victim.
            at = 0
            for turn in range(3):
                for place in range(size):
                    arm = planned.arms[place]
                    kind = 0 if arm == leader else (2 if arm == victim else 1)
                    if kind == turn:
                        rank[at] = place
                        at += 1
                    rated[place] = 0
            for i in range(size * each):
                seen[i] = 0.0
            total = judges.sum()
            length = size * repetitions
            for _ in range(length):
                chosen = next_place(rules, rated, rank[:size], repetitions)
                arm = planned.arms[chosen]
                rated[chosen] += 1
                mean = VALUE * biased(rules.bias, judges[arm] / max(1, total), 1.0 / size)
                if rules.sigma == 0.0:
                    node = each - 1 if next_uniform(stream) < mean else 0
                    seen[chosen * each + node] += 1.0
                else:
                    seen[chosen] += mean
                joins = next_uniform(stream) < 0.1
                if rules.joining == LEADERS:
                    # In rounds that only put shares in order one in three joins, or they never end.
                    joins = arm == leader if compares else next_uniform(stream) < 0.33
                elif rules.joining == NOBODY and compares:
                    joins = False
                if joins:
                    members[arm] += 1
                    if not rules.panel:
                        judges[arm] += 1
                        total += 1
            if rules.sigma > 0.0:  # what an order depends on is never a score
                for place in range(size):
                    seen[place] += rules.sigma * math.sqrt(repetitions) * next_normal(stream)
            absorb(state, seen[: size * each])
            if rules.leave and members[victim] > 1 and next_uniform(stream) < 0.3:
                members[victim] -= 1
            clock += length
        dropped[j] = 1 if bets.dropped_in[victim] != 0 else 0


@dataclass(frozen=True)
class Case:
    """Groups of equal value, who judges them, and an adversary."""

    groups: int
    noise: str
    bias: str
    judges: str
    filled: str
    joining: str
    window: int
    leave: bool = False

    @property
    def name(self) -> str:
        """What the case is called in figures."""
        parts = (self.judges, self.groups, self.noise, self.bias, self.filled, self.joining)
        return ".".join(map(str, (*parts, self.window)))


def unguarded(kernels: RoundKernels, judges: str) -> RoundKernels:
    """Return a policy's kernels without what guards its setting."""
    if judges == "members":
        ordered = bind(judged.order_members, passes_among_members=one_pass)
        return kernels._replace(meet=bind(judged.meet_members, order_members=ordered))
    return kernels._replace(absorb=bind(judged.absorb_from_panel, in_order=anyhow))


def one_pass(state: Any) -> int:
    """Return that a round has one pass, which it has not; a kernel."""
    return 1


def anyhow(state: Any, arm: int) -> bool:
    """Return that seats are in order, whatever they are; a kernel."""
    return True


def failure(case: Case, *, guarded: bool = True, runs: int = RUNS, seed: int = 1) -> float:
    """Return how often a group is dropped that is as good as any other."""
    sigma = NOISES[case.noise]
    policy = HandicapElimination(
        sigma=sigma or 1.0,
        bounded=sigma == 0.0,
        failure=FAILURE,
        judges=case.judges,
        in_flight=case.window if case.judges == "members" else None,
    )
    initial = (FAVOURED, *(INITIAL,) * (case.groups - 1))
    packed = pack(policy.start(case.groups, HORIZON))
    kernels = policy.kernels() if guarded else unguarded(policy.kernels(), case.judges)
    dropped = np.zeros(runs, dtype=np.int64)
    rules = Rules(
        sigma=sigma,
        bias=BIASES[case.bias],
        panel=case.judges == "panel",
        filled=PANELS[case.filled],
        joining=JOINING[case.joining],
        leave=case.leave,
        window=case.window,
    )
    loop = bind(play, plan=kernels.plan, absorb=kernels.absorb, meet=kernels.meet)
    compiled(loop, allocates=True)(
        packed.state,
        packed.whole,
        packed.whole.copy(),
        packed.real,
        packed.real.copy(),
        np.array(initial, dtype=np.int64),
        rules,
        key_words(seed, "round"),
        HORIZON,
        dropped,
    )
    return float(dropped.mean())


def cases() -> list[Case]:
    """Return all that are measured."""
    found = []
    for groups in GROUPS:
        for noise in NOISES:
            for bias in BIASES:
                made = (groups, noise, bias)
                found += [
                    Case(*made, "members", "even", joining, window)
                    for joining in JOINING
                    for window in WINDOWS
                ]
                found += [
                    Case(*made, "panel", filled, "1 in 10", LEASE, leave=True) for filled in PANELS
                ]
    return found


def run() -> dict[str, float]:
    """Return every figure."""
    figures = {f"judges.failure.{case.name}": failure(case) for case in cases()}
    limits = [proportion_interval(round(value * RUNS), RUNS)[0] for value in figures.values()]
    figures["judges.broken"] = sum(limit > FAILURE for limit in limits)
    figures["judges.largest"] = max(figures.values())
    for case in cases():
        worst = case.joining == "leader's" or case.filled == "favouring"
        if worst and case.groups == 2:
            figures[f"judges.unguarded.{case.name}"] = failure(case, guarded=False)
    return figures


if __name__ == "__main__":
    sys.exit(main(run))
