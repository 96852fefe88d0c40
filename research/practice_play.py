"""Runs of a round policy on a scenario from practice, until one group is left."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from affinity_bandits.kernels.compile import compile_kernel
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.policies import RoundPolicy
from affinity_bandits.policies.contracts import add_score
from affinity_bandits.policies.state import pack
from affinity_bandits.simulation.draws import Stream, Words, next_uniform
from affinity_bandits.simulation.environment import key_words
from research.practice_scenarios import STARS, Scenario, tilted

MEANS = 2001
"""Means between 0 and 1 whose score probabilities are tabulated. A mean in between is had by
taking one of its two neighbors at random, so it is exact."""

plan: Function = unbound
absorb: Function = unbound


def play(
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    initial: IntArray,
    means: FloatArray,
    bonus: float,
    table: FloatArray,
    split: FloatArray,
    key: Words,
    horizon: int,
    dropped: IntArray,
    choices: IntArray,
) -> None:
    """Play runs, one an entry of `choices`, which is filled with what each took; a kernel.

    `table` has the cumulative probabilities of scores, [mean, score], and `split` what the policy
    is told of each score, [score, number]. Groups dropped are counted in `dropped`.
    """
    groups, each = len(initial), split.shape[1]
    members = np.empty(groups, dtype=np.int64)
    seen = np.empty(groups * each)
    for j in range(len(choices)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        stream = Stream(key, np.uint64(j), np.zeros(1, dtype=np.uint64))
        total = 0
        for arm in range(groups):
            members[arm] = initial[arm]
            total += initial[arm]
        clock = 0
        choices[j] = horizon
        while clock < horizon:
            planned = plan(state)
            size = len(planned.arms)
            if size == 1 and planned.repetitions > horizon:
                choices[j] = clock
                break
            if planned.repetitions > (horizon - clock) // size:
                break
            for place in range(size * each):
                seen[place] = 0.0
            for _ in range(planned.repetitions):
                for place in range(size):
                    arm = planned.arms[place]
                    share = members[arm] / total
                    weight = share if bonus == np.inf else (1.0 + bonus * share) / (1.0 + bonus)
                    at = means[arm] * weight * (len(table) - 1)
                    row = int(at)
                    if next_uniform(stream) < at - row:
                        row += 1
                    u = next_uniform(stream)
                    score = 0
                    while score < len(split) - 1 and u >= table[row, score]:
                        score += 1
                    for number in range(each):
                        seen[place * each + number] += split[score, number]
                    members[arm] += 1
                    total += 1
            absorb(state, seen[: size * each])
            clock += size * planned.repetitions
        for arm in range(groups):
            if state.dropped_in[arm] != 0:
                dropped[arm] += 1


@cache
def score_table(levels: tuple[float, ...] | None) -> tuple[FloatArray, FloatArray]:
    """Return the scores there are, and their cumulative probabilities at each mean."""
    grid = np.linspace(0.0, 1.0, MEANS)
    if levels is None:
        return np.array([0.0, 1.0]), np.stack([1.0 - grid, np.ones(MEANS)], axis=1)
    rows = np.array([tilted(levels, mean) for mean in grid[1:-1]])
    ends = np.eye(len(STARS))
    return STARS, np.cumsum(np.vstack([ends[:1], rows, ends[-1:]]), axis=1)


def played(
    scenario: Scenario, policy: RoundPolicy, *, runs: int, horizon: int, seed: int
) -> tuple[IntArray, IntArray]:
    """Return how often each group was dropped, and the choices that each run took."""
    groups = len(scenario.means)
    packed = pack(policy.start(groups, horizon))
    kernels = policy.kernels()
    scores, table = score_table(scenario.levels)
    split = scores[:, None].copy()  # a policy without nodes is told sums
    if policy.nodes:
        split = np.zeros((len(scores), len(policy.nodes)))
        for row, score in zip(split, scores, strict=True):
            add_score(np.array(policy.nodes), float(score), row, 0)
    dropped = np.zeros(groups, dtype=np.int64)
    choices = np.zeros(runs, dtype=np.int64)
    run_all = compile_kernel(bind(play, plan=kernels.plan, absorb=kernels.absorb), allocates=True)
    run_all(
        packed.state,
        packed.whole,
        packed.whole.copy(),
        packed.real,
        packed.real.copy(),
        np.array(scenario.initial_pulls, dtype=np.int64),
        np.array(scenario.means),
        scenario.bonus,
        table,
        split,
        key_words(seed, "round"),
        horizon,
        dropped,
        choices,
    )
    return dropped, choices
