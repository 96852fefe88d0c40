"""The compiled loop of single pulls, with an optional log of decisions."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from affinity_bandits.kernels.compile import compiler, function_pointer, kept_apart, returns_nothing
from affinity_bandits.kernels.kernel import FloatArray, Function, IntArray, bind, kernel, unbound
from affinity_bandits.model.bandit import AffinityBandit
from affinity_bandits.model.bias import quick_weight
from affinity_bandits.model.noise.base import (
    GAUSSIAN_GATED,
    QUANTILE_SCALED,
    is_normal,
    no_quantile,
    reads_gate,
)
from affinity_bandits.policies.contracts import StepKernels
from affinity_bandits.simulation.draws import Words, fill_normal, fill_uniform
from affinity_bandits.simulation.environment import (
    NO_FORMULA,
    BanditArrays,
    Committee,
    change_members,
    joins_committee,
    key_words,
    listed_value,
    one_left,
    seat_judges,
    share_of,
    take_seat,
)
from affinity_bandits.simulation.environment import feedback as pull_feedback

select: Function = unbound
update: Function = unbound
candidate: Function = unbound
decided: Function = unbound
weight: Function = unbound
feedback: Function = unbound
pulls_of_chunk: Function = unbound
fill_noise: Function = unbound
opens: Function = unbound
meet: Function = unbound
fewest_seats: Function = unbound
quantile: Function = unbound
note_round: Function = unbound
note_pull: Function = unbound
rounds_noted = False
"""Whether rounds are looked for where nobody is seated for them."""

CHUNK = 1024
"""Random numbers drawn at a time: enough to fill the pipeline, few enough for the first cache."""


# Every loop contains the biases whose formula takes less time than a call. Other biases, and values
# other than coins and normal numbers, are compiled by themselves and passed to the loop as
# pointers, so that a loop is compiled once for a policy, whatever it runs on.


@kernel
def weight_in_loop(arena: BanditArrays, share: float) -> float:
    """Return the weight of a share."""
    if arena.formula != NO_FORMULA:
        return quick_weight(arena.formula, arena.parameters, share)
    return float(arena.weight_at(arena.code, arena.parameters, share))


@kernel
def value_in_loop(arena: BanditArrays, arm: int, mean: float, u: float) -> float:
    """Return the value of an arm for a uniform number."""
    return float(arena.value_at(arena.noise, arena.values, arena.cumulative, arm, mean, u))


@kernel
def weight_of_share(code: int, parameters: FloatArray, share: float) -> float:
    """Return the weight of a share, converted to a real number."""
    return float(weight(code, parameters, share))


@kernel
def value_of_list(
    noise: FloatArray, values: FloatArray, cumulative: FloatArray, arm: int, mean: float, u: float
) -> float:
    """Return a score of a list."""
    return listed_value(values, cumulative, arm, u)


@kernel
def value_by_quantile(
    noise: FloatArray, values: FloatArray, cumulative: FloatArray, arm: int, mean: float, u: float
) -> float:
    """Return a value by the quantile of a noise."""
    return float(quantile(noise, mean, u))


@kernel
def no_weight(code: int, parameters: FloatArray, share: float) -> float:
    """Stand for the weight in loops that never call it."""
    return 0.0


@kernel
def no_value(
    noise: FloatArray, values: FloatArray, cumulative: FloatArray, arm: int, mean: float, u: float
) -> float:
    """Stand for the value in loops that never call it."""
    return 0.0


def loop_models() -> dict[str, Function]:
    """Return the kernels that loops bind: the weight of a share, and the feedback of a pull."""
    return {"weight": weight_in_loop, "feedback": bind(pull_feedback, true_value=value_in_loop)}


@kernel
def with_functions(arena: BanditArrays, weight_at: Any, value_at: Any) -> BanditArrays:
    """Return the numbers of a bandit with the functions of `loop_functions`.

    Loops do this themselves: numba types tuples with functions slowly.
    """
    return BanditArrays(
        arena.means,
        arena.law,
        arena.noise,
        arena.values,
        arena.cumulative,
        arena.conditional,
        arena.code,
        arena.parameters,
        arena.memory,
        arena.initial,
        arena.total_initial,
        arena.seating,
        arena.formula,
        weight_at,
        value_at,
    )


def loop_functions(arena: BanditArrays, bandit: AffinityBandit) -> tuple[Any, Any]:
    """Return the compiled functions that a loop calls: the weight of a share, and a value."""
    weigh: Function = no_weight
    if arena.formula == NO_FORMULA:
        weigh = bind(weight_of_share, weight=bandit.bias.kernel)
    value: Function = no_value
    if arena.law >= QUANTILE_SCALED and bandit.noise.kernel is not no_quantile:
        value = bind(value_by_quantile, quantile=bandit.noise.kernel)
    elif arena.law > GAUSSIAN_GATED:
        value = value_of_list
    return (
        function_pointer(weigh, lambda: loop_signatures()[0]),
        function_pointer(value, lambda: loop_signatures()[1]),
    )


@cache
def loop_signatures() -> tuple[Any, Any]:
    """Return the signatures of the functions of `loop_functions`."""
    whole, real = compiler.int64, compiler.float64
    row, table = real[::1], real[:, ::1]
    return real(whole, row, real), real(row, row, table, whole, real, real)


class NoiseBuffer(NamedTuple):
    """The keys of a run's random numbers, and buffers to draw some of them into."""

    noise_key: Words
    gate_key: Words
    join_key: Words
    leave_key: Words
    noise: FloatArray
    gates: FloatArray
    joins: FloatArray
    leaves: FloatArray


def new_buffer(seed: int) -> NoiseBuffer:
    """Return the keys of a seed, and buffers."""
    keys = [key_words(seed, role) for role in ("noise", "gate", "join", "leave")]
    return NoiseBuffer(*keys, *(np.zeros(CHUNK) for _ in keys))


@kernel
def uniform_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw uniform numbers for the pulls after `clock` of them."""
    fill_uniform(tape.noise[:pulls], tape.noise_key, replicate, clock)


@kernel
def normal_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw standard normal numbers for the pulls after `clock` of them."""
    fill_normal(tape.noise[:pulls], tape.noise_key, replicate, clock)


@kernel
def gated_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw the numbers of gates, too."""
    fill_noise(tape, pulls, replicate, clock)
    fill_uniform(tape.gates[:pulls], tape.gate_key, replicate, clock)


@kernel
def member_noise(tape: NoiseBuffer, pulls: int, replicate: np.uint64, clock: int) -> None:
    """Draw the numbers of who joins and who leaves, too."""
    fill_noise(tape, pulls, replicate, clock)
    fill_uniform(tape.joins[:pulls], tape.join_key, replicate, clock)
    fill_uniform(tape.leaves[:pulls], tape.leave_key, replicate, clock)


@kernel
def no_round(log: Any, judges: IntArray) -> None:
    """Ignore the beginning of a round."""


@kernel
def no_pull(
    log: Any,
    arena: BanditArrays,
    committee: Committee,
    total: float,
    place: int,
    arm: int,
    share: float,
    seen: float,
    joined: bool,
) -> None:
    """Ignore a pull."""


@kept_apart
def pull_chunk(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: NoiseBuffer,
    length: int,
    log: Any,
) -> bool:
    """Pull `length` times; return False if the policy chose an unknown arm."""
    arms = len(committee.pulls)
    total = float(arena.total_initial + committee.clock[0])
    for i in range(length):
        if (arena.seating.counted or rounds_noted) and opens(state):
            if arena.seating.counted:
                seat_judges(arena.seating, committee.members, committee.judges, fewest_seats(state))
                meet(state, committee.judges[:arms])
            note_round(log, committee.judges)
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return False
        share = share_of(arena, committee, total, arm)
        seen = feedback(arena, arm, weight(arena, share), tape.noise[i], tape.gates[i])
        joined = not arena.seating.counted or joins_committee(arena.seating, seen, tape.joins[i])
        update(state, arm, seen)
        if committee.clock[1] == 0 and decided(state, arms):
            committee.clock[1] = committee.clock[0] + i + 1
        # Before the committee changes: those who were not chosen are judged by it, too.
        note_pull(log, arena, committee, total, i, arm, share, seen, joined)
        committee.pulls[arm] += 1
        if arena.memory > 0:
            take_seat(arena.memory, committee, arm)
        if arena.seating.counted:
            change_members(
                arena.seating,
                committee.members,
                committee.judges,
                arm,
                joined,
                tape.leaves[i],
            )
        total += 1.0
    committee.clock[0] += length
    return True


@kept_apart
def plain_chunk(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    rng: np.random.Generator,
    tape: NoiseBuffer,
    length: int,
    log: Any,
) -> bool:
    """Do the same, unlogged, if everybody ever chosen judges."""
    arms = len(committee.pulls)
    total = float(arena.total_initial + committee.clock[0])
    for i in range(length):
        arm = select(state, rng)
        if arm < 0 or arm >= arms:
            return False
        share = (arena.initial[arm] + committee.pulls[arm]) / total
        seen = feedback(arena, arm, weight(arena, share), tape.noise[i], tape.gates[i])
        update(state, arm, seen)
        if committee.clock[1] == 0 and decided(state, arms):
            committee.clock[1] = committee.clock[0] + i + 1
        committee.pulls[arm] += 1
        total += 1.0
    committee.clock[0] += length
    return True


class Fresh(NamedTuple):
    """What a replicate begins with, and the buffers that it is copied to."""

    committee_start: IntArray
    committee: IntArray
    whole_start: IntArray
    whole: IntArray
    real_start: FloatArray
    real: FloatArray
    randomized: bool  # whether the policy draws random numbers of its own


@kernel
def start_again(fresh: Fresh) -> None:
    """Put committee and state back to before the first pull."""
    for i in range(len(fresh.committee)):
        fresh.committee[i] = fresh.committee_start[i]
    for i in range(len(fresh.whole)):
        fresh.whole[i] = fresh.whole_start[i]
    for i in range(len(fresh.real)):
        fresh.real[i] = fresh.real_start[i]


def step_batch(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    tape: NoiseBuffer,
    weight_at: Any,
    value_at: Any,
    draws: Any,
    fresh: Fresh,
    rng: np.random.Generator,
    first: np.uint64,
    next_stream: Any,
    at: IntArray,
    until: int,
    pulls: int,
    checkpoints: IntArray,
    out: IntArray,
    ends: IntArray,
) -> bool:
    """Play replicates up to the time `until`; return False if the policy chose an unknown arm.

    They are counted from `first` on. Each has a row of `out` for its pulls at each checkpoint, and
    one of `ends` for its candidates and when one was left. `next_stream` puts the generator at the
    start of the next replicate's stream. The loop stops after `pulls` pulls, and the next call
    continues there: `at` has the row of the replicate being played, and 1 if it has begun.
    """
    arena = with_functions(arena, weight_at, value_at)
    arms = len(committee.pulls)
    left = pulls
    while at[0] < len(ends) and left > 0:
        row = at[0]
        if at[1] == 0:
            start_again(fresh)
            if fresh.randomized:
                next_stream()
            at[1] = 1
        replicate = first + np.uint64(row)
        clock = committee.clock[0]
        end = min(until, clock + left)
        left -= end - clock
        record = 0
        while record < len(checkpoints) and checkpoints[record] <= clock:
            record += 1
        while clock < end:
            stop = min(end, clock + CHUNK)
            if record < len(checkpoints) and checkpoints[record] < stop:
                stop = checkpoints[record]
            length = stop - clock
            draws(tape, length, replicate, clock)
            if not pulls_of_chunk(arena, committee, state, rng, tape, length, 0):
                return False
            clock = stop
            if record < len(checkpoints) and checkpoints[record] == clock:
                for arm in range(arms):
                    out[row, record, arm] = committee.pulls[arm]
                record += 1
        if clock >= until:
            for arm in range(arms):
                ends[row, arm] = 1 if candidate(state, arm) else 0
            ends[row, arms] = committee.clock[1]
            at[0] = row + 1
            at[1] = 0
    return True


def bound_batch(kernels: StepKernels, plain: bool) -> Function:
    """Return the uncompiled `step_batch` of a policy; `plain` if everybody ever chosen judges."""
    notes = {} if plain else {"note_round": no_round, "note_pull": no_pull}
    chunk = bound_chunk(kernels, **notes)
    return bind(step_batch, pulls_of_chunk=chunk, candidate=kernels.candidate)


def bound_chunk(kernels: StepKernels, **noted: Any) -> Function:
    """Return the uncompiled pulls of a chunk for a policy's kernels.

    `noted` has the kernels that note rounds and pulls, and others to bind; by default this is
    `plain_chunk`.
    """
    policy = {"select": kernels.select, "update": kernels.update, **loop_models()}
    policy["decided"] = bind(one_left, candidate=kernels.candidate)
    if not noted:
        return bind(plain_chunk, **policy)
    seated = {name: getattr(kernels, name) for name in ("opens", "meet", "fewest_seats")}
    return bind(pull_chunk, **{**policy, **seated, **noted})


def noise_kernel(law: int, members: bool) -> Function:
    """Return the kernel that draws the random numbers of a law of feedback.

    `members` tells whether chance decides who joins or leaves.
    """
    noise = normal_noise if is_normal(law) else uniform_noise
    drawn = bind(gated_noise, fill_noise=noise) if reads_gate(law) else noise
    return bind(member_noise, fill_noise=drawn) if members else drawn


@cache
def bound_noise(law: int, members: bool) -> Any:
    """Return `noise_kernel` compiled, for `step_batch`."""
    drawn = noise_kernel(law, members)
    examples = (new_buffer(0), 0, np.uint64(0), 0)
    return function_pointer(drawn, lambda: returns_nothing(examples), allocates=True)


BoolArray = npt.NDArray[np.bool_]


class LogRows(NamedTuple):
    """Room for rows of a log, and for the panels of all rounds of the run."""

    written: IntArray  # [0]: rows; [1]: rounds of the run so far
    arm: IntArray
    score: FloatArray
    share: FloatArray
    joined: BoolArray
    round: IntArray
    panels: IntArray  # [round, arm]; empty where all members judge
    scores: FloatArray  # [row, arm]; empty unless everybody is scored
    others: NoiseBuffer  # of the scores of those who were not chosen


def other_noise(seed: int, arms: int) -> NoiseBuffer:
    """Return the keys and buffers for the scores of the `arms` unchosen arms, possibly 0."""
    size = max(CHUNK, arms) if arms else 0
    noise, gate = (key_words(seed, role) for role in ("unchosen noise", "unchosen gate"))
    # Of who joins and leaves nothing is drawn here.
    return NoiseBuffer(noise, gate, noise, gate, *(np.zeros(size) for _ in range(4)))


@kernel
def keep_round(log: LogRows, judges: IntArray) -> None:
    """Write down that a round begins, and its panel."""
    if len(log.panels) > 0:
        for arm in range(log.panels.shape[1]):
            log.panels[log.written[1], arm] = judges[arm]
    log.written[1] += 1


@kernel
def keep_pull(
    log: LogRows,
    arena: BanditArrays,
    committee: Committee,
    total: float,
    place: int,
    arm: int,
    share: float,
    seen: float,
    joined: bool,
) -> None:
    """Write down a pull, before anybody joins or leaves.

    `place` is that of its random numbers in their buffers.
    """
    row = log.written[0]
    log.arm[row] = arm
    log.score[row] = seen
    log.share[row] = share
    log.joined[row] = joined
    log.round[row] = log.written[1] - 1
    if len(log.scores) > 0:
        arms = len(committee.pulls)
        for other in range(arms):
            value = seen
            if other != arm:
                part = share_of(arena, committee, total, other)
                at = place * arms + other
                value = feedback(
                    arena,
                    other,
                    weight(arena, part),
                    log.others.noise[at],
                    log.others.gates[at],
                )
            log.scores[row, other] = value
    log.written[0] = row + 1


def log_segment(
    arena: BanditArrays,
    committee: Committee,
    state: Any,
    tape: NoiseBuffer,
    weight_at: Any,
    value_at: Any,
    draws: Any,
    other_draws: Any,
    rng: np.random.Generator,
    replicate: np.uint64,
    until: int,
    log: LogRows,
) -> bool:
    """Pull until the clock stands at `until`; return False if the policy chose an unknown arm."""
    arena = with_functions(arena, weight_at, value_at)
    clock = committee.clock[0]
    arms = len(committee.pulls)
    while clock < until:
        length = until - clock
        length = min(length, CHUNK)
        if len(log.scores) > 0:
            length = min(length, len(log.others.noise) // arms)
            other_draws(log.others, length * arms, replicate, clock * arms)
        draws(tape, length, replicate, clock)
        if not pulls_of_chunk(arena, committee, state, rng, tape, length, log):
            return False
        clock += length
    return True


def bound_log(kernels: StepKernels) -> Function:
    """Return `log_segment` for a policy's kernels, yet to be compiled."""
    keep = bind(keep_pull, **loop_models())
    chunk = bound_chunk(kernels, note_round=keep_round, note_pull=keep, rounds_noted=True)
    return bind(log_segment, pulls_of_chunk=chunk)
