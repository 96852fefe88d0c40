"""The feedback of a whole round, drawn at once: exact in distribution, whatever its length.

There is a kernel for each law of feedback, so that what a run does not draw is not compiled.
`sums_of_weights`, `count_successes` and `tally_of_arm` are bound to a bias's kernels.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from affinity_bandits.bandit import AffinityBandit
from affinity_bandits.kernels import FloatArray, Function, IntArray, bind, unbound
from affinity_bandits.noise.laws import (
    BERNOULLI_GATED,
    BERNOULLI_SHIFTED,
    FINITE_GATED,
    GAUSSIAN_GATED,
    GAUSSIAN_SCALED,
    GAUSSIAN_SHIFTED,
)
from affinity_bandits.round_sums import bound_sums
from affinity_bandits.simulation.binomial import next_binomial
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.draws import Stream, Words, next_normal
from affinity_bandits.simulation.environment import BanditArrays, arena_of, key_words
from affinity_bandits.simulation.pointers import Shared, Types, types_of
from affinity_bandits.simulation.successes import compiled_successes
from affinity_bandits.simulation.tallies import bound_tally, tally_size

sums_of_weights: Function = unbound
count_successes: Function = unbound
tally_of_arm: Function = unbound
sum_of_feedback: Function = unbound


class RoundRoom(NamedTuple):
    """Room for what a round is put together from."""

    chosen: IntArray  # its arms
    pulls: IntArray  # of each arm before it
    tally: IntArray  # of one arm: how often each score came
    seen: FloatArray  # what the policy is told
    read: Words  # [0]: words of the stream that have been read
    members: IntArray  # of each arm before the round, where they are counted
    judges: IntArray  # see `seating`, where the policy is told or members are counted
    shares: FloatArray  # of each arm in the round, where they do not move


def round_room(arena: BanditArrays, split: FloatArray, told_judges: bool = False) -> RoundRoom:
    """Return room for the rounds of a bandit; `split` is that of `round_batch`."""
    arms = len(arena.initial)
    counted = arms if arena.seating.counted else 0
    return RoundRoom(
        chosen=np.zeros(arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        tally=np.zeros(tally_size(arena), dtype=np.int64),
        seen=np.zeros(arms * max(1, split.shape[1])),
        read=np.zeros(1, dtype=np.uint64),
        members=np.zeros(counted, dtype=np.int64),
        judges=np.zeros(arms + 1 if counted or told_judges else 0, dtype=np.int64),
        shares=np.zeros(counted),
    )


@cache
def draw_types() -> Types:
    """Return the types of the arguments of `draw_sums` and `draw_tallies`."""
    arena, split = arena_of(AffinityBandit([0.0, 1.0])), np.zeros((0, 0))
    room = round_room(arena, split)
    stream = Stream(key_words(0, "round"), np.uint64(0), room.read)
    return types_of(
        *(arena, np.zeros(0), True, split, stream, room.chosen, 0, 0, 0),
        *(room.pulls, room.tally, room.seen, room.members, room.shares),
    )


def normal_sum(
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
    """Draw the sum of an arm's Gaussian feedback over a round of m pulls.

    With S1 = sum W and S2 = sum W**2, it is N(mu S1, sigma**2 S2) if scaled and
    N(mu S1, sigma**2 m) if shifted.
    """
    weights, squares = sums_of_weights(
        arena.code, arena.parameters, breakpoints, smooth, a, b, k, pulls
    )
    variance = squares if arena.law == GAUSSIAN_SCALED else float(pulls)
    deviation = arena.noise[arm] * math.sqrt(variance)
    return float(arena.means[arm] * weights + deviation * next_normal(stream))


def gated_normal_sum(
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
    """Draw the sum of gated Gaussian feedback: N(mu C, sigma**2 C), C heads of a coin with W."""
    count = float(count_successes(stream, arena.code, arena.parameters, 1.0, a, b, k, pulls))
    deviation = arena.noise[arm] * math.sqrt(count)
    return float(arena.means[arm] * count + deviation * next_normal(stream))


def shifted_sum(
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
    """Draw the sum of shifted Bernoulli feedback: Binomial(m, mu) + mu (sum W - m)."""
    mean = arena.means[arm]
    weights, _ = sums_of_weights(arena.code, arena.parameters, breakpoints, smooth, a, b, k, pulls)
    return float(next_binomial(stream, pulls, mean) + mean * (weights - pulls))


def gated_sum(
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
    """Draw the sum of gated Bernoulli feedback: the heads of a coin with mu W."""
    mean = arena.means[arm]
    return float(count_successes(stream, arena.code, arena.parameters, mean, a, b, k, pulls))


def listed_sum(
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
    """Draw the sum of gated scores of a list, each as often as `tally`, which is filled, says."""
    tally_of_arm(arena, stream, arm, a, b, k, pulls, tally)
    total = 0.0
    for place in range(len(arena.values)):
        total += tally[place + 1] * arena.values[place]
    return total


SUMS = {
    BERNOULLI_SHIFTED: shifted_sum,
    BERNOULLI_GATED: gated_sum,
    GAUSSIAN_SCALED: normal_sum,
    GAUSSIAN_SHIFTED: normal_sum,
    GAUSSIAN_GATED: gated_normal_sum,
    FINITE_GATED: listed_sum,
}


def draw_sums(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    split: FloatArray,
    stream: Stream,
    arms: IntArray,
    size: int,
    repetitions: int,
    clock: int,
    pulls: IntArray,
    tally: IntArray,
    seen: FloatArray,
    joined: IntArray,
    shares: FloatArray,
) -> None:
    """Draw the sum of each arm's feedback into `seen`; a kernel.

    The round is of the first `size` of `arms`, after `clock` pulls, of each arm `pulls`. Where
    there are `shares`, they do not move, and members are added to `joined`.
    """
    for position in range(size):
        arm = arms[position]
        a = float(arena.initial[arm] + pulls[arm])
        b = float(arena.total_initial + clock + position)
        if len(shares) > 0:
            a, b = shares[arm], np.inf
        seen[position] = sum_of_feedback(
            arena, breakpoints, smooth, stream, arm, a, b, float(size), repetitions, tally
        )
        if len(shares) > 0:
            joined[arm] += next_binomial(stream, repetitions, arena.seating.part)


def draw_tallies(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    split: FloatArray,
    stream: Stream,
    arms: IntArray,
    size: int,
    repetitions: int,
    clock: int,
    pulls: IntArray,
    tally: IntArray,
    seen: FloatArray,
    joined: IntArray,
    shares: FloatArray,
) -> None:
    """Draw how much of each arm's feedback is counted at the policy's nodes; a kernel.

    `split` has how each score of a tally is counted at them, [score, node].
    """
    nodes = split.shape[1]
    for position in range(size):
        arm = arms[position]
        a = float(arena.initial[arm] + pulls[arm])
        b = float(arena.total_initial + clock + position)
        if len(shares) > 0:
            a, b = shares[arm], np.inf
            joined[arm] += next_binomial(stream, repetitions, arena.seating.part)
        tally_of_arm(arena, stream, arm, a, b, float(size), repetitions, tally)
        for node in range(nodes):
            total = 0.0
            for score in range(len(split)):
                total += tally[score] * split[score, node]
            seen[position * nodes + node] = total


@lru_cache(maxsize=256)  # telling kernels apart takes a millisecond or two
def bound_draws(law: int, tallied: bool, bias_kernel: Function, own: str | None = None) -> Shared:
    """Return the compiled draws of a round for a law of feedback and a bias.

    Args:
        law: one whose rounds can be drawn at once.
        tallied: whether the policy is told counts at its nodes, not sums.
        bias_kernel: of the bias.
        own: a digest of the user's own code in it (`own_code`): a function that is the same
            object may read a global that is not.
    """
    if tallied:
        draws = bind(draw_tallies, tally_of_arm=bound_tally(bias_kernel))
    else:
        bound = bind(
            SUMS[law],
            sums_of_weights=bound_sums(bias_kernel),
            count_successes=compiled_successes(bias_kernel),
            tally_of_arm=bound_tally(bias_kernel),
        )
        draws = bind(draw_sums, sum_of_feedback=bound)
    return Shared(compiled(draws, inlined=False, shared=True), draw_types())
