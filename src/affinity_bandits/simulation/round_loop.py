"""The compiled loop of whole rounds: exact in distribution, at a cost that does not grow with them.

`plan`, `absorb` and `candidate` are bound to a policy's kernels, `sums_of_weights`,
`count_successes` and `tally_of_arm` to a bias's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.noise.laws import (
    BERNOULLI_GATED,
    BERNOULLI_SHIFTED,
    FINITE_GATED,
    GAUSSIAN_GATED,
    GAUSSIAN_SCALED,
)
from affinity_bandits.policies.round import RoundKernels, RoundPolicy
from affinity_bandits.round_sums import bound_sums
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, next_normal
from affinity_bandits.simulation.environment import BanditArrays
from affinity_bandits.simulation.successes import bound_successes
from affinity_bandits.simulation.tallies import bound_tally, tally_size, why_no_tallies

plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
sums_of_weights: Function = unbound
count_successes: Function = unbound
tally_of_arm: Function = unbound
sum_of_feedback: Function = unbound


def round_support(bandit: AffinityBandit, policy: RoundPolicy) -> str | None:
    """Return why whole rounds cannot be drawn at once for this policy, or None if they can."""
    if policy.nodes:
        return why_no_tallies(bandit)
    if bandit.memory is not None:
        return "with bounded memory a share depends on who left, not only on counts"
    return bandit.noise.why_no_rounds(str(bandit.mechanism))


def draw_sum(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    stream: Stream,
    arm: int,
    a: float,
    b: float,
    k: float,
    pulls: int,
    tally: IntArray,
) -> float:
    """Draw the sum of an arm's feedback over a round.

    With S1 = sum W, S2 = sum W**2, C the successes of a coin with p = W, and m pulls:
    Gaussian: scaled N(mu S1, sigma**2 S2), shifted N(mu S1, sigma**2 m), gated N(mu C,
    sigma**2 C). Bernoulli: shifted Binomial(m, mu) + mu (S1 - m), gated the successes of a coin
    with p = mu W. Scores of a list, gated: each as often as `tally`, which is filled, says.
    """
    mean = arena.means[arm]
    code, parameters = arena.code, arena.parameters
    if arena.law == FINITE_GATED:
        tally_of_arm(arena, stream, arm, a, b, k, pulls, tally)
        total = 0.0
        for place in range(len(arena.values)):
            total += tally[place + 1] * arena.values[place]
        return total
    if arena.law in (BERNOULLI_GATED, GAUSSIAN_GATED):
        scale = mean if arena.law == BERNOULLI_GATED else 1.0
        count = float(count_successes(stream, code, parameters, scale, a, b, k, pulls))
        if arena.law == BERNOULLI_GATED:
            return count
        return float(mean * count + arena.noise[0] * math.sqrt(count) * next_normal(stream))
    weights, squares = sums_of_weights(code, parameters, breakpoints, smooth, a, b, k, pulls)
    if arena.law == BERNOULLI_SHIFTED:
        return float(next_binomial(stream, pulls, mean) + mean * (weights - pulls))
    variance = squares if arena.law == GAUSSIAN_SCALED else float(pulls)
    return float(mean * weights + arena.noise[0] * math.sqrt(variance) * next_normal(stream))


def round_batch(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    split: FloatArray,
    initial: IntArray,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    key: Words,
    first: int,
    horizon: int,
    checkpoints: IntArray,
    out: IntArray,
    candidates: IntArray,
) -> bool:
    """Run replicates `first`, `first` + 1, ... to the horizon, one an entry of `out`.

    `split` has how each score of a tally is counted at the policy's nodes, [score, node]; nothing
    if it is told sums. `state` is laid over `whole` and `real`, which are reset from their starts
    for each replicate. Returns False if a plan has no arms, unknown arms or no repetitions.
    """
    arms = len(initial)
    pulls = np.empty(arms, dtype=np.int64)
    each = max(1, split.shape[1])
    seen = np.empty(arms * each)
    tally = np.empty(tally_size(arena), dtype=np.int64)
    total_initial = 0
    for arm in range(arms):
        total_initial += initial[arm]
    # Arrays are copied number by number throughout: assigning a slice makes the compiler build
    # the texts of errors that cannot happen, which takes seconds.
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        for arm in range(arms):
            pulls[arm] = 0
        stream = Stream(key, np.uint64(first + j), np.zeros(1, dtype=np.uint64))
        clock = 0
        record = 0
        while clock < horizon:
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            if size < 1 or size > arms or repetitions < 1:
                return False
            for position in range(size):
                if planned.arms[position] < 0 or planned.arms[position] >= arms:
                    return False
            # Divided, not multiplied: a round that lasts forever would overflow the product.
            finished = repetitions <= (horizon - clock) // size
            length = size * repetitions if finished else horizon - clock
            while record < len(checkpoints) and checkpoints[record] <= clock + length:
                passes = (checkpoints[record] - clock) // size
                extra = (checkpoints[record] - clock) % size
                for arm in range(arms):
                    out[j, record, arm] = pulls[arm]
                for position in range(size):
                    out[j, record, planned.arms[position]] += passes + (
                        1 if position < extra else 0
                    )
                record += 1
            if finished:
                for position in range(size):
                    arm = planned.arms[position]
                    members = float(initial[arm] + pulls[arm])
                    everyone = float(total_initial + clock + position)
                    if len(split) == 0:
                        seen[position] = sum_of_feedback(
                            arena,
                            breakpoints,
                            smooth,
                            stream,
                            arm,
                            members,
                            everyone,
                            float(size),
                            repetitions,
                            tally,
                        )
                        continue
                    tally_of_arm(
                        arena, stream, arm, members, everyone, float(size), repetitions, tally
                    )
                    for node in range(each):
                        total = 0.0
                        for score in range(len(split)):
                            total += tally[score] * split[score, node]
                        seen[position * each + node] = total
                for position in range(size):
                    pulls[planned.arms[position]] += repetitions
                absorb(state, seen[: size * each])
            clock += length
        for arm in range(arms):
            candidates[j, arm] = 1 if candidate(state, arm) else 0
    return True


@lru_cache(maxsize=256)  # telling kernels apart takes a millisecond or two
def bound_rounds(kernels: RoundKernels, bias_kernel: Function, own: str | None = None) -> Function:
    """Return the compiled round loop for a policy's kernels and a bias.

    Args:
        kernels: of the policy.
        bias_kernel: of the bias.
        own: a digest of the user's own code in them (`own_code`): a function that is the same
            object may read a global that is not.
    """
    sum_feedback = bind(
        draw_sum,
        sums_of_weights=bound_sums(bias_kernel),
        count_successes=bound_successes(bias_kernel),
        tally_of_arm=bound_tally(bias_kernel),
    )
    return compiled(
        bind(
            round_batch,
            sum_of_feedback=sum_feedback,
            tally_of_arm=bound_tally(bias_kernel),
            **kernels._asdict(),
        ),
        allocates=True,
    )
