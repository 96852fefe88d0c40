"""What answers out of order do to the handicap, and what allowing for them costs.

`python -m bench.order [--json]`. Groups of equal value, a head start of 30 that the policy knows
of, and an adversary who lets answers come in the order that favours the leader most, inside the
rule of the live service: slot s of a round goes out only once every slot up to s - D is answered.
The policy is told D; it is then to drop no group more often than its failure probability. As a
control, what it adds to the head start for D is taken away.

Then the price: choices until a decision where groups differ, against D = 1, next to the other rule
that was thought of (a barrier: hand out D slots and wait for all of them, which takes half the
allowance), and the part of their time that raters are at work under either.
"""

from __future__ import annotations

import heapq
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Power, simulate
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies import HandicapElimination
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, fill_uniform, next_normal
from affinity_bandits.simulation.environment import key_words
from bench.measure import main

HORIZON = 20_000
RUNS = 2_000
FAILURE = 0.05
HEAD_START = 30
VALUE = 0.9
GROUPS = (2, 3, 5)
WINDOWS = (10, 100, 1_000)
NOISES = {"bernoulli": 0.0, "gaussian.1": 0.1, "gaussian.02": 0.02}
SQUARE, RAMP = 0, 1
BIASES = {"x^2": SQUARE, "ramp": RAMP}
RAMP_WIDTH = 0.02
"""Of shares around the equal one, over which the ramp goes from RAMP_LOW to 1."""
RAMP_LOW = 0.2
BLOCKS, SLIDING = 0, 1
ORDERS = {"blocks": BLOCKS, "sliding": SLIDING}
RATING_TIMES = 200
"""Windows over which the time that raters take is measured."""

plan: Function = unbound
absorb: Function = unbound
weight: Function = unbound


def biased(bias: int, share: float, equal: float) -> float:
    """Return f(share)."""
    if bias == SQUARE:
        return share * share
    part = (share - equal) / RAMP_WIDTH + 0.5
    return RAMP_LOW + (1.0 - RAMP_LOW) * min(1.0, max(0.0, part))


def play(
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    initial: IntArray,
    values: FloatArray,
    sigma: float,
    bias: int,
    window: int,
    order: int,
    key: Words,
    horizon: int,
    dropped: IntArray,
    decided_after: IntArray,
) -> None:
    """Play runs to the horizon, one an entry of `decided_after`; count who is dropped.

    Inside a round the leader's slots are rated as early as the rule lets them, and those of the
    last group (the victim) as late: block by block, or always at the window's far end. (Rating
    all but the leader in turn does the victim less harm.)
    """
    groups = len(initial)
    members = np.empty(groups, dtype=np.int64)
    rated = np.empty(groups, dtype=np.int64)
    rank = np.empty(groups, dtype=np.int64)
    # Scores of 0 and 1 are counted at the ends of the nodes.
    each = max(1, len(state.nodes))
    seen = np.empty(groups * each)
    uniform = np.empty(1024)
    for j in range(len(decided_after)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        stream = Stream(key, np.uint64(j), np.zeros(1, dtype=np.uint64))
        drawn = 0
        total = 0
        for arm in range(groups):
            members[arm] = initial[arm]
            total += initial[arm]
        clock = 0
        decided_after[j] = horizon
        while clock < horizon:
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            if size == 1 and repetitions > horizon:
                decided_after[j] = clock
                break
            if repetitions > (horizon - clock) // size:
                break
            # Places in the order in which they are preferred: the leader, the others, the victim.
            leader = max(0, state.leader[0])
            at = 0
            for turn in range(3):
                for place in range(size):
                    arm = planned.arms[place]
                    kind = 0 if arm == leader else (2 if arm == groups - 1 else 1)
                    if kind == turn:
                        rank[at] = place
                        at += 1
            for place in range(size):
                rated[place] = 0
            for i in range(size * each):
                seen[i] = 0.0
            length = size * repetitions
            for done in range(length):
                # The first slot that may not be rated yet.
                if order == BLOCKS:
                    limit = (done // window + 1) * window
                else:
                    oldest = length
                    for place in range(size):
                        if rated[place] < repetitions:
                            oldest = min(oldest, rated[place] * size + place)
                    limit = oldest + window
                chosen = -1
                for at in range(size):
                    place = rank[at]
                    if rated[place] < repetitions and rated[place] * size + place < limit:
                        chosen = place
                        break
                arm = planned.arms[chosen]
                mean = values[arm] * weight(bias, members[arm] / total, 1.0 / size)
                if sigma == 0.0:
                    if drawn % len(uniform) == 0:
                        fill_uniform(uniform, key, np.uint64(j), drawn)
                    at = each - 1 if uniform[drawn % len(uniform)] < mean else 0
                    seen[chosen * each + at] += 1.0
                    drawn += 1
                else:
                    seen[chosen] += mean
                rated[chosen] += 1
                members[arm] += 1
                total += 1
            if sigma > 0.0:  # what an order depends on is never a score, so noise may come last
                for place in range(size):
                    seen[place] += sigma * math.sqrt(repetitions) * next_normal(stream)
            absorb(state, seen[: size * each])
            clock += length
        for arm in range(groups):
            if state.dropped_in[arm] != 0:
                dropped[arm] += 1


@dataclass(frozen=True)
class Setting:
    """A committee, its bias and its noise."""

    initial: tuple[int, ...]
    values: tuple[float, ...]
    noise: str
    bias: str

    @classmethod
    def equal(cls, groups: int, noise: str, bias: str) -> Setting:
        """Return groups of equal value, of which the first has the head start."""
        return cls((10 + HEAD_START, *(10,) * (groups - 1)), (VALUE,) * groups, noise, bias)


def played(
    setting: Setting,
    window: int,
    order: int,
    *,
    allowance: bool = True,
    runs: int = RUNS,
    horizon: int = HORIZON,
    seed: int = 1,
) -> tuple[FloatArray, IntArray]:
    """Return how often each group was dropped, and after how many choices a run was decided.

    Args:
        setting: who is compared.
        window: what the adversary may use.
        order: how.
        allowance: whether the head start is larger by what the window asks for.
        runs: how many.
        horizon: of each.
        seed: of their chances.
    """
    sigma = NOISES[setting.noise]
    policy = HandicapElimination(
        head_start=HEAD_START,
        sigma=sigma or 1.0,
        bounded=sigma == 0.0,
        failure=FAILURE,
        in_flight=window,
    )
    groups = len(setting.initial)
    state = policy.start(groups, horizon)
    packed = pack(state if allowance else state._replace(order=0))
    dropped = np.zeros(groups, dtype=np.int64)
    decided_after = np.zeros(runs, dtype=np.int64)
    kernels = policy.kernels()
    run_all = compiled(
        bind(play, plan=kernels.plan, absorb=kernels.absorb, weight=biased), allocates=True
    )
    run_all(
        packed.state,
        packed.whole,
        packed.whole.copy(),
        packed.real,
        packed.real.copy(),
        np.array(setting.initial, dtype=np.int64),
        np.array(setting.values),
        sigma,
        BIASES[setting.bias],
        window,
        order,
        key_words(seed, "round"),
        horizon,
        dropped,
        decided_after,
    )
    return dropped / runs, decided_after


def failures() -> dict[str, float]:
    """Measure how often a group is dropped though all are equal, with the allowance and without."""
    figures: dict[str, float] = {}
    for groups in GROUPS:
        for noise in NOISES:
            for bias in BIASES:
                setting = Setting.equal(groups, noise, bias)
                for window in WINDOWS:
                    for name, order in ORDERS.items():
                        label = f"{groups}.{noise}.{bias}.{window}.{name}"
                        kept, _ = played(setting, window, order)
                        figures[f"order.failure.{label}"] = float(kept.max())
                for name, order in ORDERS.items():
                    broken, _ = played(setting, max(WINDOWS), order, allowance=False)
                    label = f"{groups}.{noise}.{bias}.{max(WINDOWS)}.{name}"
                    figures[f"order.failure_without.{label}"] = float(broken.max())
    kept_at = [value for name, value in figures.items() if ".failure." in name]
    figures["order.failure.largest"] = max(kept_at)
    return figures


PRICED = {
    "2 groups, .9 and .7, x": AffinityBandit([0.9, 0.7], bias=Power(1.0), initial_pulls=[10, 40]),
    "2 groups, .9 and .7, x^2": AffinityBandit([0.9, 0.7], bias=Power(2.0), initial_pulls=[10, 40]),
    "2 groups, .9 and .3, x": AffinityBandit([0.9, 0.3], bias=Power(1.0), initial_pulls=[10, 40]),
    "5 groups, .9 and .6, x": AffinityBandit(
        [0.9, *[0.6] * 4], bias=Power(1.0), initial_pulls=[10, 40, 10, 10, 10]
    ),
}


def choices_until_decided(bandit: AffinityBandit, told: int) -> float:
    """Return the median number of choices until one group is left."""
    policy = HandicapElimination(
        head_start=HEAD_START, bounded=True, failure=FAILURE, in_flight=told
    )
    horizon = 10**7
    checkpoints = np.unique(np.geomspace(50, horizon, 400).astype(int))
    found = simulate(
        bandit, policy, horizon, 500, seed=1, checkpoints=checkpoints.tolist(), progress=False
    )
    pulls = found.pulls[0]  # [replicate, checkpoint, arm]
    others = pulls.sum(axis=2) - pulls.max(axis=2)
    # Decided when the pulls of all others have reached what they end with.
    done = (others == others[:, -1:]).argmax(axis=1)
    return float(np.median(checkpoints[done]))


def prices() -> dict[str, float]:
    """Compare choices until a decision, and rating times, for the window and the barrier."""
    figures: dict[str, float] = {}
    for name, bandit in PRICED.items():
        alone = choices_until_decided(bandit, 1)
        figures[f"order.choices.{name}.1"] = alone
        for window in WINDOWS:
            figures[f"order.price.{name}.window_{window}"] = (
                choices_until_decided(bandit, window) / alone
            )
            figures[f"order.price.{name}.barrier_{window}"] = (
                choices_until_decided(bandit, window // 2) / alone
            )
    for window in WINDOWS:
        for law, times in rating_times(window).items():
            for raters in (window // 4 or 1, window):
                name = f"order.busy.{law}.raters_{raters}"
                figures[f"{name}.window_{window}"] = busy(times, raters, window, 1)
                # A barrier of two windows takes the allowance of one window.
                figures[f"{name}.barrier_{window}"] = busy(times, raters, window, window)
                figures[f"{name}.barrier_{2 * window}"] = busy(
                    times, raters, 2 * window, 2 * window
                )
    return figures


def rating_times(window: int) -> dict[str, FloatArray]:
    """Return how long ratings take, on average 1: memoryless, or with a long tail."""
    draws = np.random.default_rng(1)
    count = window * RATING_TIMES
    tail = draws.lognormal(0.0, 1.5, count)
    return {"exponential": draws.exponential(1.0, count), "lognormal": tail / tail.mean()}


def busy(times: FloatArray, raters: int, window: int, step: int) -> float:
    """Return the part of their time that raters rate; the rest they wait for a slot.

    Slot s goes out once all slots before s - window + 1, cut to a multiple of `step`, have their
    answers: a step of 1 is the window that slides, one of a whole window the barrier.
    """
    all_before = np.zeros(len(times) + 1)  # when all slots before this one have their answers
    free = [0.0] * raters
    for slot, time in enumerate(times):
        needed = max(0, slot + 1 - window) if step == 1 else slot // step * step
        end = max(heapq.heappop(free), all_before[needed]) + time
        heapq.heappush(free, end)
        all_before[slot + 1] = max(all_before[slot], end)
    return float(times.sum()) / (raters * float(all_before[-1]))


def run() -> dict[str, float]:
    """Return every figure."""
    return failures() | prices()


if __name__ == "__main__":
    sys.exit(main(run))
