"""Is the best group dropped no more often than stated, whoever joins and whoever judges?

`python -m research.judges [--json]`. All groups have equal value, so every drop is a mistake. The
bias is steep where shares lie, and an adversary acts within the assumptions of each setting.
Answers come in the order that favors the leader most, as far as the window allows: slot s of a
round goes out only once every slot up to s - window is answered. Of the whole committee only those
join who help the leader, at once or as people on their way who begin at the beginning, in the
middle or at the end of a later round; panels are filled in the leader's favor. The controls remove
the guard of each setting: the allowance for the window ("chosen"), what the policy is told of those
on their way ("members": it then asks of other groups for as many members more as the round has
passes), and the rule that the leader is not bet on against groups with fewer seats ("panel").

A bias may also have seasons: its level falls to `BAD` and rises again while a round is open. No
theorem covers that if answers come out of order (`tests/policies/test_betting.py`).

`judges.choices.*` is what it costs to be fair where those chosen begin some choices later.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies import HeadStartElimination, MembersElimination, PanelElimination
from affinity_bandits.policies.betting import ParallelBettingElimination
from affinity_bandits.policies.leading import stay
from affinity_bandits.policies.state import pack
from affinity_bandits.policies.wealth import BettingState
from affinity_bandits.simulation.draws import Stream, Words, next_normal, next_uniform
from affinity_bandits.simulation.environment import key_words
from affinity_bandits.simulation.intervals import proportion_interval
from checks.bench.measure import main

HORIZONS = {"chosen": 20_000, "members": 6_000, "panel": 6_000}
RUNS = 2_000
FAILURE = 0.05
VALUE = 0.9
INITIAL, FAVORED = 10, 40
INITIAL_LEAD = FAVORED - INITIAL
SEATS = 6
"""Of a panel, at most, for each group."""
GROUPS = (2, 3, 5)
WINDOWS = {"chosen": (10, 100, 1_000), "members": (1, 100)}
LEASE = 1_000
"""How many slots are handed out at once with panels and recusal; answers come in any order."""
NOISES = {"bernoulli": 0.0, "gaussian.1": 0.1, "gaussian.02": 0.02}
SQUARE, RAMP, STEP, FLAT = 0, 1, 2, 3
BIASES = {"x^2": SQUARE, "ramp": RAMP, "step": STEP, "flat": FLAT}
"""A step is, in every round, just above the share that the last group has when it begins."""
BAD = 0.8
"""What every score is multiplied by in bad seasons, if the bias has seasons."""
RAMP_WIDTH, RAMP_LOW = 0.02, 0.2
NOBODY, LEADERS, TENTH, EVERYBODY, SCORED = 0, 1, 2, 3, 4
JOINING = {
    "leader's": LEADERS,
    "nobody": NOBODY,
    "1 in 10": TENTH,
    "everybody": EVERYBODY,
    "leader's high scores": SCORED,
}
AT_ONCE, BEGINNING, MIDDLE, END = 0, 1, 2, 3
BEGIN = {"at once": AT_ONCE, "beginning": BEGINNING, "middle": MIDDLE, "end": END}
"""When people on their way begin, in a round in which all take part. Of the last group, nobody."""
HELD = 0.85
"""The part of rounds in which nobody begins, so that more are on their way."""
FAVORING, EVEN, BY_LOT = 0, 1, 2
PANELS = {"favoring": FAVORING, "even": EVEN, "by lot": BY_LOT}
BLOCKS, SLIDING = 0, 1
ORDERS = {"blocks": BLOCKS, "sliding": SLIDING}
"""Slots are rated block by block, or always as far ahead as the window allows."""

KINDS: dict[str, type[ParallelBettingElimination]] = {
    "chosen": HeadStartElimination,
    "members": MembersElimination,
    "panel": PanelElimination,
}
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
    order: int
    begin: int
    tell: bool
    season: int


def biased(bias: int, share: float, equal: float, low: float) -> float:
    """Return f(share); a step is just above `low`."""
    if bias == SQUARE:
        return share * share
    if bias == STEP:
        return 1.0 if share > low else RAMP_LOW
    if bias == FLAT:
        return 1.0
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
            elif rules.filled == FAVORING and arm == victim:
                # Less than the leader in two rounds of three, so that a check is needed.
                judges[arm] = min(members[arm], 1 if next_uniform(stream) < 0.66 else SEATS)


def good_season(rules: Rules, choice: int) -> bool:
    """Return whether the level of the bias is high at a choice."""
    return rules.season == 0 or choice // rules.season % 2 == 0


def next_place(
    rules: Rules, rated: IntArray, rank: IntArray, repetitions: int, done: int, good: bool
) -> int:
    """Return the place that is rated next: the one preferred most of those that may be.

    In bad seasons that is the one preferred least in good ones.
    """
    size = len(rank)
    limit = (done // rules.window + 1) * rules.window
    if rules.order == SLIDING:
        oldest = size * repetitions
        for place in range(size):
            if rated[place] < repetitions:
                oldest = min(oldest, rated[place] * size + place)
        limit = oldest + rules.window
    for at in range(size):
        place = rank[at] if good else rank[size - 1 - at]
        if rated[place] < repetitions and rated[place] * size + place < limit:
            return int(place)
    return 0


def play(
    state: BettingState,
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
    coming = np.empty(groups, dtype=np.int64)
    told = np.zeros(3 * groups, dtype=np.int64)
    rated = np.empty(groups, dtype=np.int64)
    rank = np.empty(groups, dtype=np.int64)
    bets = state
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
            coming[arm] = 0
        clock = 0
        while clock < horizon and bets.left[0] > 1:
            leader = bets.leader[0]
            seat(rules, members, judges, leader, victim, stream)
            for arm in range(groups):
                told[arm] = judges[arm]
                told[groups + arm] = coming[arm] if rules.tell else 0
            meet(state, told)
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            compares = size == bets.left[0] and leader >= 0
            total = judges.sum()
            length = size * repetitions
            low = judges[victim] / max(1, total)
            begin = length  # nobody does
            if not compares or next_uniform(stream) >= HELD:
                begin = 0
                if rules.begin == MIDDLE:
                    begin = length // 2
                elif rules.begin == END:
                    begin = length - size
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
            for done in range(length):
                if done == begin:
                    for arm in range(groups):
                        if coming[arm] > 0 and (arm != victim or not compares):
                            members[arm] += coming[arm]
                            judges[arm] += coming[arm]
                            total += coming[arm]
                            coming[arm] = 0
                good = good_season(rules, clock + done - done % size)  # the same for a pass
                chosen = next_place(rules, rated, rank[:size], repetitions, done, good)
                arm = planned.arms[chosen]
                rated[chosen] += 1
                mean = VALUE * biased(rules.bias, judges[arm] / max(1, total), 1.0 / size, low)
                if not good:
                    mean *= BAD
                high = True
                if rules.sigma == 0.0:
                    high = next_uniform(stream) < mean
                    seen[chosen * each + (each - 1 if high else 0)] += 1.0
                else:
                    seen[chosen] += mean
                joins = next_uniform(stream) < 0.1
                if rules.joining in (LEADERS, SCORED):
                    # In rounds that only put shares in order one in three joins, or they never end.
                    joins = arm == leader if compares else next_uniform(stream) < 0.33
                    joins = joins and (high or rules.joining == LEADERS)
                elif rules.joining == NOBODY and compares:
                    joins = False
                elif rules.joining == EVERYBODY:
                    joins = True
                if joins and rules.begin != AT_ONCE:
                    coming[arm] += 1
                elif joins:
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
    order: str = "sliding"
    begin: str = "at once"
    season: int = 0

    @property
    def name(self) -> str:
        """What the case is called in figures."""
        parts = (self.judges, self.groups, self.noise, self.bias, self.filled, self.joining)
        return ".".join(map(str, (*parts, self.window, self.order, self.begin)))


def failure(case: Case, *, guarded: bool = True, runs: int = RUNS, seed: int = 1) -> float:
    """Return how often a group is dropped that is as good as any other."""
    sigma = NOISES[case.noise]
    horizon = HORIZONS[case.judges]
    told: dict[str, Any] = {"sigma": sigma or 1.0, "bounded": sigma == 0.0, "failure": FAILURE}
    if case.judges == "chosen":
        told["initial_lead"] = INITIAL_LEAD
    if case.judges != "panel":
        told["in_flight"] = case.window
    policy = KINDS[case.judges](**told)
    initial = (FAVORED, *(INITIAL,) * (case.groups - 1))
    state = policy.start(case.groups, horizon)
    kernels = policy.kernels()
    if not guarded and case.judges == "chosen":
        state = state._replace(order=0)
    elif not guarded and case.judges == "panel":
        kernels = kernels._replace(absorb=bind(policy.absorb, go_on=stay))
    packed = pack(state)
    dropped = np.zeros(runs, dtype=np.int64)
    rules = Rules(
        sigma=sigma,
        bias=BIASES[case.bias],
        panel=case.judges == "panel",
        filled=PANELS[case.filled],
        joining=JOINING[case.joining],
        leave=case.leave,
        window=case.window,
        order=ORDERS[case.order],
        begin=BEGIN[case.begin],
        tell=guarded,
        season=case.season,
    )
    loop = bind(play, plan=kernels.plan, absorb=kernels.absorb, meet=kernels.meet)
    compile_kernel(loop, allocates=True)(
        packed.state,
        packed.whole,
        packed.whole.copy(),
        packed.real,
        packed.real.copy(),
        np.array(initial, dtype=np.int64),
        rules,
        key_words(seed, "round"),
        horizon,
        dropped,
    )
    return float(dropped.mean())


DELAYS = (0, 40, 150, 300)
COMMITTEE, MEANS, PART, BONUS = (30, 10, 10), (0.6, 0.5, 0.5), 0.1, 0.2
"""The comparison with people who begin later: committee, true means, part that joins, bonus."""
MOST_CHOICES = 20_000


def play_later(
    state: BettingState,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    initial: IntArray,
    means: FloatArray,
    delay: int,
    tell: bool,
    key: Words,
    ends: IntArray,
) -> None:
    """Play until all but one are dropped, where those who join begin so many choices later."""
    groups = len(initial)
    told = np.empty(3 * groups, dtype=np.int64)
    # The group of the person who begins before each choice; -1 if nobody does.
    begins = np.empty(MOST_CHOICES + delay, dtype=np.int64)
    seen = np.empty(groups * len(state.nodes))
    for j in range(len(ends)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        begins[:] = -1
        told[:] = 0
        told[:groups] = initial
        stream = Stream(key, np.uint64(j), np.zeros(1, dtype=np.uint64))
        clock = 0
        while clock < MOST_CHOICES and state.left[0] > 1:
            told[groups:] = 0
            for at in range(clock, clock + delay):
                if begins[at] >= 0 and tell:
                    told[2 * groups + begins[at]] += 1
            meet(state, told)
            planned = plan(state)
            for at in range(clock, clock + min(delay, len(planned.arms) * planned.repetitions)):
                if begins[at] >= 0 and tell:
                    told[2 * groups + begins[at]] -= 1
                    told[groups + begins[at]] += 1
            meet(state, told)  # a round may be shorter now, never longer
            planned = plan(state)
            size = len(planned.arms)
            seen[:] = 0.0
            for slot in range(min(size * planned.repetitions, MOST_CHOICES - clock)):
                if begins[clock] >= 0:
                    told[begins[clock]] += 1
                arm = planned.arms[slot % size]
                share = told[arm] / told[:groups].sum()
                mean = means[arm] * (1.0 + BONUS * share) / (1.0 + BONUS)
                node = 12 if next_uniform(stream) < 2.0 * mean - 0.5 else 4  # scores 3/4 and 1/4
                seen[slot % size * len(state.nodes) + node] += 1.0
                if next_uniform(stream) < PART:
                    if delay == 0:
                        told[arm] += 1
                    else:
                        begins[clock + delay] = arm
                clock += 1
            if clock < MOST_CHOICES:
                absorb(state, seen[: size * len(state.nodes)])
        ends[j] = clock


def choices(delay: int, *, tell: bool = True, runs: int = RUNS, seed: int = 1) -> IntArray:
    """Return the choices of each run until all but one group are dropped."""
    policy = MembersElimination(bounded=True, failure=FAILURE)
    kernels = policy.kernels()
    packed = pack(policy.start(len(COMMITTEE), MOST_CHOICES))
    ends = np.zeros(runs, dtype=np.int64)
    loop = bind(play_later, plan=kernels.plan, absorb=kernels.absorb, meet=kernels.meet)
    compile_kernel(loop, allocates=True)(
        packed.state,
        packed.whole,
        packed.whole.copy(),
        packed.real,
        packed.real.copy(),
        np.array(COMMITTEE, dtype=np.int64),
        np.array(MEANS),
        delay,
        tell,
        key_words(seed, "round"),
        ends,
    )
    return ends


def cases() -> list[Case]:
    """Return all that are measured."""
    found = []
    for groups in GROUPS:
        for noise in NOISES:
            for bias in ("x^2", "ramp"):
                made = (groups, noise, bias)
                found += [
                    Case(*made, "chosen", "even", "everybody", window, order=order)
                    for window in WINDOWS["chosen"]
                    for order in ORDERS
                ]
                found += [
                    Case(*made, "members", "even", joining, window)
                    for joining in ("leader's", "nobody", "1 in 10")
                    for window in WINDOWS["members"]
                ]
                found += [
                    Case(*made, "panel", filled, "1 in 10", LEASE, leave=True) for filled in PANELS
                ]
    return found + joiners()


def joiners() -> list[Case]:
    """Return the cases in which people who were chosen earlier begin in a round."""
    return [
        Case(groups, noise, bias, "members", "even", joining, 1, begin=begin)
        for groups in GROUPS
        for noise in ("bernoulli", "gaussian.1")
        for bias in ("ramp", "step")
        for joining in ("leader's", "leader's high scores", "1 in 10")
        for begin in ("beginning", "middle", "end")
        # Gaussian scores are drawn as sums, on which nothing in a round can depend.
        if noise == "bernoulli" or joining != "leader's high scores"
    ]


def run() -> dict[str, float]:
    """Return every figure."""
    figures = {f"judges.failure.{case.name}": failure(case) for case in cases()}
    limits = [proportion_interval(round(value * RUNS), RUNS)[0] for value in figures.values()]
    figures["judges.broken"] = sum(limit > FAILURE for limit in limits)
    figures["judges.largest"] = max(figures.values())
    for case in cases():
        worst = case.filled == "favoring" or (case.begin == "beginning" and case.bias == "step")
        worst |= case.judges == "chosen" and case.window == max(WINDOWS["chosen"])
        if worst and case.groups == 2:
            figures[f"judges.unguarded.{case.name}"] = failure(case, guarded=False)
    for delay in DELAYS:
        figures[f"judges.choices.{delay}"] = float(choices(delay).mean())
    return figures


if __name__ == "__main__":
    sys.exit(main(run))
