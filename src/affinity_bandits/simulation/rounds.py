"""Whole rounds drawn at once: sums of feedback, or exact counts of each score of a list.

A gated score is the lowest one with probability 1 - W, else drawn from the arm's fixed law. So the
number of a round's scores that pass the gate is the number of successes of a coin with p = W
(`count_successes`). Given that number, the counts of the scores are multinomial: one binomial draw
each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from affinity_bandits.kernels.compile import returns_nothing
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.noise.base import (
    BERNOULLI_GATED,
    BERNOULLI_SHIFTED,
    FINITE_GATED,
    GAUSSIAN_GATED,
    GAUSSIAN_SCALED,
    GAUSSIAN_SHIFTED,
)
from affinity_bandits.model.round_sums import bound_sums
from affinity_bandits.policies.contracts import RoundKernels, RoundPolicy, add_score
from affinity_bandits.simulation.draws import (
    Stream,
    Words,
    bound_successes,
    new_read,
    next_binomial,
    next_normal,
)
from affinity_bandits.simulation.environment import (
    BanditArrays,
    arena_of,
    key_words,
    one_left,
    seat_judges,
    why_no_joining,
    why_shares_move,
)

count_successes: Function = unbound
tally_of_arm: Function = unbound


@kernel
def draw_tally(
    arena: BanditArrays,
    stream: Stream,
    arm: int,
    a: float,
    b: float,
    k: float,
    pulls: int,
    tally: IntArray,
) -> None:
    """Draw how often an arm is given each score in a round.

    `tally` gets the number stopped by the gate, then the count of each value.
    """
    code, parameters = arena.code, arena.parameters
    if arena.law == BERNOULLI_GATED:
        passed = count_successes(stream, code, parameters, arena.means[arm], a, b, k, pulls)
        tally[0] = pulls - passed
        tally[1] = passed
        return
    left = count_successes(stream, code, parameters, 1.0, a, b, k, pulls)
    tally[0] = pulls - left
    for place in range(len(arena.values)):
        found = next_binomial(stream, left, arena.conditional[arm, place])
        tally[place + 1] = found
        left -= found


def bound_tally(bias_kernel: Function) -> Function:
    """Return `draw_tally` for a bias, as a kernel."""
    return bind(draw_tally, count_successes=bound_successes(bias_kernel))


def tallied_values(arena: BanditArrays) -> FloatArray:
    """Return the scores that a tally counts, mapped to [0, 1], in its order."""
    if arena.law == BERNOULLI_GATED:
        return np.array([0.0, 1.0])
    return np.array([0.0, *arena.values])


def node_split(arena: BanditArrays, nodes: Sequence[float]) -> FloatArray:
    """Return the part of each score of a tally that is counted at each node, [score, node]."""
    if not nodes:
        return np.zeros((0, 0))
    values = tallied_values(arena)
    parts = np.zeros((len(values), len(nodes)))
    for row, value in zip(parts, values, strict=True):
        add_score(np.array(nodes), float(value), row, 0)
    return parts


def why_no_tallies(bandit: AffinityBandit) -> str | None:
    """Return why the scores of a round cannot be counted at once, or None if they can."""
    reason = why_shares_move(bandit)
    if reason is not None:
        return reason
    if bandit.noise.law_code(str(bandit.mechanism)) not in (BERNOULLI_GATED, FINITE_GATED):
        return f"{bandit.feedback_name} is not one of a list"
    return bandit.noise.why_no_rounds(str(bandit.mechanism))


sums_of_weights: Function = unbound
sum_of_feedback: Function = unbound


class RoundRoom(NamedTuple):
    """Buffers for one round."""

    chosen: IntArray  # its arms
    pulls: IntArray  # of each arm before it
    tally: IntArray  # of one arm: how often each score came
    seen: FloatArray  # what the policy is told
    read: Words  # [0]: words of the stream that have been read
    members: IntArray  # of each arm before the round, where they are counted
    judges: IntArray  # see `environment`, where the policy is told or members are counted
    shares: FloatArray  # of each arm in the round, where they do not move


def round_room(arena: BanditArrays, split: FloatArray, told_judges: bool = False) -> RoundRoom:
    """Return room for the rounds of a bandit; `split` is that of `round_batch`."""
    arms = len(arena.initial)
    counted = arms if arena.seating.counted else 0
    return RoundRoom(
        chosen=np.zeros(arms, dtype=np.int64),
        pulls=np.zeros(arms, dtype=np.int64),
        tally=np.zeros(len(tallied_values(arena)), dtype=np.int64),
        seen=np.zeros(arms * max(1, split.shape[1])),
        read=new_read(),
        members=np.zeros(counted, dtype=np.int64),
        judges=np.zeros(arms + 1 if counted or told_judges else 0, dtype=np.int64),
        shares=np.zeros(counted),
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


_WEIGHED = "sums_of_weights", bound_sums
_COUNTED = "count_successes", bound_successes
SUMS: dict[int, tuple[Function, str, Callable[[Function], Function]]] = {
    BERNOULLI_SHIFTED: (shifted_sum, *_WEIGHED),
    BERNOULLI_GATED: (gated_sum, *_COUNTED),
    GAUSSIAN_SCALED: (normal_sum, *_WEIGHED),
    GAUSSIAN_SHIFTED: (normal_sum, *_WEIGHED),
    GAUSSIAN_GATED: (gated_normal_sum, *_COUNTED),
    FINITE_GATED: (listed_sum, "tally_of_arm", bound_tally),
}
"""The sum of feedback by its law: a kernel, the name that it reads, and the maker of its value."""


@kernel
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
    """Draw the sum of each arm's feedback into `seen`.

    The round has the first `size` of `arms`, after `clock` pulls, `pulls` of each arm. `shares`, if
    there are any, stay fixed, and members are added to `joined`.
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


@kernel
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
    """Draw how much of each arm's feedback is counted at the policy's nodes.

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


def bound_draws(law: int, tallied: bool, bias_kernel: Function) -> Function:
    """Return the uncompiled draws of a round for a law of feedback and a bias.

    `tallied` tells whether the policy is told counts at its nodes or sums.
    """
    if tallied:
        return bind(draw_tallies, tally_of_arm=bound_tally(bias_kernel))
    sums, part, bound = SUMS[law]
    return bind(draw_sums, sum_of_feedback=bind(sums, **{part: bound(bias_kernel)}))


@cache
def signature_of_draws() -> Any:
    """Return the signature of `bound_draws`, in numba's types."""
    arena, split = arena_of(AffinityBandit([0.0, 1.0])), np.zeros((0, 0))
    room = round_room(arena, split)
    examples = (
        *(arena, np.zeros(0), True, split),
        *(Stream(key_words(0, "round"), np.uint64(0), room.read), room.chosen, 0, 0, 0),
        *(room.pulls, room.tally, room.seen, room.members, room.shares),
    )
    return returns_nothing(examples)


plan: Function = unbound
absorb: Function = unbound
candidate: Function = unbound
decided: Function = unbound
seat: Function = unbound
meet: Function = unbound
fewest_seats: Function = unbound


def round_support(bandit: AffinityBandit, policy: RoundPolicy) -> str | None:
    """Return why whole rounds cannot be drawn at once for this policy, or None if they can."""
    reason = why_shares_move(bandit) or why_no_joining(bandit)
    if reason is not None:
        return reason
    if policy.nodes:
        return why_no_tallies(bandit)
    return bandit.noise.why_no_rounds(str(bandit.mechanism))


def round_batch(
    arena: BanditArrays,
    breakpoints: FloatArray,
    smooth: bool,
    split: FloatArray,
    draws: Any,
    room: RoundRoom,
    state: Any,
    whole: IntArray,
    whole_start: IntArray,
    real: FloatArray,
    real_start: FloatArray,
    key: Words,
    horizon: int,
    checkpoints: IntArray,
    first: int,
    out: IntArray,
    candidates: IntArray,
) -> bool:
    """Run replicates `first`, `first` + 1, ... to the horizon, one per entry of `out`.

    `split` has the part of each score counted at each node, [score, node]; empty for sums. `state`
    is laid over `whole` and `real`, which are reset for each replicate. A row of `candidates` has
    the final candidates and the pulls until one was left. Returns False if a plan has no arms,
    unknown arms or no repetitions.
    """
    arms = len(arena.initial)
    chosen, pulls, tally, seen = room.chosen, room.pulls, room.tally, room.seen
    each = split.shape[1] if split.shape[1] > 0 else 1
    # Arrays are copied number by number throughout: assigning a slice makes the compiler build
    # the texts of errors that cannot happen, which takes seconds.
    for j in range(len(out)):
        for i in range(len(whole)):
            whole[i] = whole_start[i]
        for i in range(len(real)):
            real[i] = real_start[i]
        for arm in range(arms):
            pulls[arm] = 0
        for arm in range(len(room.members)):
            room.members[arm] = arena.initial[arm]
        stream = Stream(key, np.uint64(first + j), room.read)
        room.read[0] = np.uint64(0)
        clock = 0
        record = 0
        candidates[j, arms] = 0
        while clock < horizon:
            seat(arena, room, state)
            planned = plan(state)
            size = len(planned.arms)
            repetitions = planned.repetitions
            if size < 1 or size > arms or repetitions < 1:
                return False
            for position in range(size):
                chosen[position] = planned.arms[position]
                if chosen[position] < 0 or chosen[position] >= arms:
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
                    out[j, record, chosen[position]] += passes + (1 if position < extra else 0)
                record += 1
            if finished:
                draws(
                    arena,
                    breakpoints,
                    smooth,
                    split,
                    stream,
                    chosen,
                    size,
                    repetitions,
                    clock,
                    pulls,
                    tally,
                    seen,
                    room.members,
                    room.shares,
                )
                for position in range(size):
                    pulls[chosen[position]] += repetitions
                absorb(state, seen[: size * each])
            clock += length
            if finished and candidates[j, arms] == 0 and decided(state, arms):
                candidates[j, arms] = clock
        for arm in range(arms):
            candidates[j, arm] = 1 if candidate(state, arm) else 0
    return True


@kernel
def seat_nobody(arena: BanditArrays, room: RoundRoom, state: Any) -> None:
    """Do nothing, where counts of pulls are enough."""


@kernel
def seat_round(arena: BanditArrays, room: RoundRoom, state: Any) -> None:
    """Seat those who judge a round, and tell the policy."""
    begin_round(arena, room, fewest_seats(state))
    meet(state, room.judges[: len(arena.initial)])


def begin_round(arena: BanditArrays, room: RoundRoom, fewest: int) -> None:
    """Seat those who judge a round, of whom the arm `fewest` should have the fewest seats."""
    arms = len(arena.initial)
    if len(room.members) == 0:  # everybody who was ever chosen judges
        for arm in range(arms):
            room.judges[arm] = arena.initial[arm] + room.pulls[arm]
        return
    seat_judges(arena.seating, room.members, room.judges, fewest)
    for arm in range(arms):
        room.shares[arm] = room.judges[arm] / max(1, room.judges[arms])


def bound_rounds(kernels: RoundKernels, seated: bool) -> Function:
    """Return the uncompiled round loop for a policy's kernels; `seated` if judges are counted."""
    told = bind(seat_round, meet=kernels.meet, fewest_seats=kernels.fewest_seats)
    return bind(
        round_batch,
        seat=told if seated else seat_nobody,
        plan=kernels.plan,
        absorb=kernels.absorb,
        candidate=kernels.candidate,
        decided=bind(one_left, candidate=kernels.candidate),
    )
